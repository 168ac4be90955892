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
    """Return traceback of candidate ``index`` by itself, in a process that can release nothing.

    It gets that candidate's rows and knows nothing else: neither the other candidates nor which
    one is the secret, no ledger, no noise.
    """
    X, y, space = candidates.space.judged(candidates.X, candidates.y)
    rows = space.rows(index)
    own = [safe_indexing(part, rows) for part in (X, y) if part is not None]
    params = cut_params(candidates.options.fit_params, rows, X.shape[0])
    with ProcessPoolExecutor(max_workers=1) as process:
        return str(process.submit(_words, seeded_clone(candidates.estimator), own, params).result())


def _words(template: Any, own: list[Any], params: Any) -> str:
    try:
        model = template.fit(*own, **params)
        if hasattr(model, "predict"):
            model.predict(own[0])
    except Exception:  # noqa: BLE001 - whatever it is, it is shown
        return traceback.format_exc()
    return "It was fitted, and answers its own rows, without an error; what failed comes after."
