"""The error of a candidate's fit, for the curator's eyes."""

from __future__ import annotations

import sys
import traceback
from typing import Any

from joblib.externals.loky import ProcessPoolExecutor

from pacsklearn._config import get_config
from pacsklearn._sklearn_compat import safe_indexing
from pacsklearn.exceptions import SubsetFitError
from pacsklearn.kernel.outputs.candidates import Candidates
from pacsklearn.kernel.outputs.subset_fitting import cut_params, seeded_clone


def explain(candidates: Candidates, error: SubsetFitError) -> None:
    """Show why a candidate's fit failed, where that is configured.

    The words, which may quote rows, go to the terminal and into no exception, log or file.
    """
    if get_config()["debug"] and error.subset is not None and sys.stderr is not None:
        sys.stderr.write(
            f"Candidate {error.subset} fitted by itself, for your eyes only (this may quote "
            f"rows):\n{words_of_failure(candidates, error.subset)}\n"
        )


def words_of_failure(candidates: Candidates, index: int) -> str:
    """Return traceback of fitting candidate ``index`` alone, in a process that can release nothing.

    It gets that candidate's rows and knows nothing else: neither the other candidates nor which
    one is the secret, no ledger, no noise.
    """
    X, y, space = candidates.space.judged(candidates.X, candidates.y)
    rows = space.rows(index)
    work = (
        seeded_clone(candidates.estimator),
        safe_indexing(X, rows),
        None if y is None else safe_indexing(y, rows),
        cut_params(candidates.options.fit_params, rows, X.shape[0]),
    )
    with ProcessPoolExecutor(max_workers=1) as process:
        words: str = process.submit(_words, *work).result()
    return words


def _words(template: Any, X: Any, y: Any, params: Any) -> str:
    try:
        template.fit(X, **params) if y is None else template.fit(X, y, **params)
    except Exception:  # noqa: BLE001 - whatever it is, it is shown
        return traceback.format_exc()
    return "It was fitted without an error; what failed comes after the fit."
