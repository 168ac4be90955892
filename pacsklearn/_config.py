"""What is set once a process or a block, and never for one estimator, as scikit-learn's is."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_DEFAULTS: Final = {"fast_fit": True, "debug": False}
_local = threading.local()


def get_config() -> dict[str, bool]:
    """Return this thread's configuration.

    Returns
    -------
    dict
        A copy, with the names that :func:`set_config` takes.

    Examples
    --------
    >>> from pacsklearn import get_config
    >>> get_config()
    {'fast_fit': True, 'debug': False}
    """
    return {**_DEFAULTS, **vars(_local)}


def set_config(*, fast_fit: bool | None = None, debug: bool | None = None) -> None:
    """Set this thread's configuration; what is None stays as it is.

    Parameters
    ----------
    fast_fit : bool, optional
        True (to begin with) fits all candidates at once where that gives the same models, to
        solver tolerance: least squares, ridge, logistic regression, linear support vector machines
        with a squared loss, Poisson and gamma regression, lasso, elastic net, K-Means, linear
        discriminants, PCA, Gaussian naive Bayes, nearest centroids, standardisation and pipelines
        of these. False fits one after the other. A session keeps what was set when it was made.
    debug : bool, optional
        True: when a candidate cannot be fitted, or cannot answer, fit it once more in a separate
        process, which can release nothing, ask it about its own rows, and write its error in full
        to standard error. The words may quote rows: for the curator's terminal, never for a
        service.

    Raises
    ------
    ValueError
    """
    for name, value in (("fast_fit", fast_fit), ("debug", debug)):
        if value is None:
            continue
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be True, False or None, got {value!r}.")
        setattr(_local, name, value)


@contextmanager
def config_context(*, fast_fit: bool | None = None, debug: bool | None = None) -> Iterator[None]:
    """Set this thread's configuration inside a ``with`` block.

    Parameters
    ----------
    fast_fit, debug : bool, optional
        As for :func:`set_config`.

    Examples
    --------
    >>> from pacsklearn import config_context, get_config
    >>> with config_context(fast_fit=False):
    ...     get_config()["fast_fit"]
    False
    """
    before = get_config()
    try:
        set_config(fast_fit=fast_fit, debug=debug)
        yield
    finally:
        set_config(**before)
