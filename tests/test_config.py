"""What is configured holds in its thread and block, and what is made there keeps it."""

from __future__ import annotations

import threading

import pytest

from pacsklearn import config_context, get_config, set_config
from pacsklearn.kernel.outputs.candidates import FitOptions

BEGINNING = {"fast_fit": True, "debug": False}


def test_a_block_gives_back_what_was_set() -> None:
    assert get_config() == BEGINNING
    with config_context(fast_fit=False):
        with config_context(debug=True):
            assert get_config() == {"fast_fit": False, "debug": True}
        assert get_config() == {"fast_fit": False, "debug": False}
    with pytest.raises(RuntimeError), config_context(debug=True):
        raise RuntimeError
    assert get_config() == BEGINNING


def test_another_thread_is_not_configured() -> None:
    seen = []
    with config_context(fast_fit=False):
        thread = threading.Thread(target=lambda: seen.append(get_config()))
        thread.start()
        thread.join()
    assert seen == [BEGINNING]


def test_how_candidates_are_fitted_is_fixed_when_it_is_stated() -> None:
    with config_context(fast_fit=False):
        options = FitOptions()
    assert not options.fast_fit
    assert FitOptions().fast_fit


def test_only_truth_values_are_set() -> None:
    with pytest.raises(ValueError, match="fast_fit"):
        set_config(fast_fit=0)  # type: ignore[arg-type]
    assert get_config() == BEGINNING
