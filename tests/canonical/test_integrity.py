"""The integrity rules for every canonicalizer: S-only, everything noised, hygiene."""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from pacsklearn.kernel.outputs.outputs import fit_subset
from tests.canonical.cases import CASES, STATELESS, Case, families, names

PUBLIC = {
    "classes_",
    "feature_names_in_",
    # Which feature a node of a forest asks about.
    "features_",
    "n_components_",
    "n_features_in_",
    # Drawn with a public seed; levels of quantiles; numbers of bins and what they are called.
    "code_book_",
    "references_",
    "n_bins_",
    "categories_",
    "_encoder",
    # How a factorisation steps.
    "_gamma",
    "_rho",
    # The link of a generalised linear model.
    "_base_loss",
    # What a transformer without memory learns from zeros of the right width.
    "n_output_features_",
    "powers_",
}
LEARNING = [case for case in CASES if case not in STATELESS]
# One of a kind is enough where the code is the same.
ONE_OF_A_KIND = [case for case in CASES if "regressor of" not in case.name][::2]


def garbled(case: Case, rows: NDArray[np.int64]) -> tuple[Any, Any]:
    """The universe with all other rows replaced by something else."""
    generator = np.random.default_rng(1)
    others = np.setdiff1d(np.arange(case.X.shape[0]), rows)
    X = case.X.toarray() if sparse.issparse(case.X) else case.X.copy()
    y = case.y.copy()
    X[others] = X[generator.permutation(others)] * 3 + 1
    y[others] = y[generator.permutation(others)]
    return sparse.csr_matrix(X) if sparse.issparse(case.X) else X, y


def public_names(case: Case) -> set[str]:
    """Attributes that no row has a say in."""
    given = {"class_prior_", "class_log_prior_", "priors_"}
    blocks = dict(case.layout.blocks)
    if "leaves" in blocks and not {"thresholds", "centre"} & blocks.keys():
        given |= {"thresholds_"}  # of a forest, random and in a public range
    return PUBLIC if "log_prior" in blocks else PUBLIC | given


def numbers(thing: Any, path: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    """Every array and float an object learnt: in names that begin or end with an underscore."""
    if isinstance(thing, np.ndarray):
        yield path, thing
    elif isinstance(thing, float):
        yield path, np.array(thing)
    elif isinstance(thing, (list, tuple)):
        for i, part in enumerate(thing):
            yield from numbers(part, f"{path}[{i}]")
    elif hasattr(thing, "__dict__") and not isinstance(thing, type):
        for name, part in vars(thing).items():
            if name in ("steps", "transformer_list") or name.endswith("_") or name.startswith("_"):
                yield from numbers(part, f"{path}.{name}")


@pytest.mark.product(by=families, only=33)
@pytest.mark.parametrize("case", ONE_OF_A_KIND, ids=names(ONE_OF_A_KIND))
def test_the_vector_depends_on_the_subsets_rows_alone(case: Case) -> None:
    rows = case.rows[1]
    X, y = garbled(case, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, own = fit_subset(case.template, X, y, rows, {})
    assert np.array_equal(case.canonicalizer.encode(model, own).vector, case.vectors[1])


@pytest.mark.product(by=families, only=33)
@pytest.mark.parametrize("case", LEARNING, ids=names(LEARNING))
def test_every_number_comes_from_the_vector(case: Case) -> None:
    spread = np.max(np.abs(case.vectors), initial=0.0) or 1.0
    generator = np.random.default_rng(2)
    first = case.vectors[0]
    # Larger than what a fit can give, so that no repair brings two back to one.
    second = first + spread * generator.uniform(0.1, 0.3, first.shape)
    left, right = (dict(numbers(case.decode(vector))) for vector in (first, second))
    assert left.keys() == right.keys()
    noised = {path for path in left if not public_names(case) & set(re.split(r"[.\[]", path))}
    assert bool(noised) == bool(first.size)
    for path in noised:
        if np.issubdtype(left[path].dtype, np.floating):
            triangle = path.endswith("_cholesky_") and left[path] == 0
            assert np.all((left[path] != right[path]) | triangle), (
                f"{path} does not come out of the vector"
            )


@pytest.mark.product(by=families, only=33)
@pytest.mark.parametrize("case", LEARNING, ids=names(LEARNING))
def test_decode_leaves_the_vector_alone_and_remembers_none(case: Case) -> None:
    vector = case.vectors[0].copy()
    released = case.decode(vector)
    assert np.array_equal(vector, case.vectors[0])
    told = pickle.dumps(released)
    vector += 1.0
    assert pickle.dumps(released) == told
    other = case.decode(case.vectors[1])
    assert other is not released
    assert pickle.dumps(case.decode(case.vectors[0])) == told


@pytest.mark.product(by=families, only=33)
@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_no_row_is_in_what_is_released(case: Case) -> None:
    noisy = case.vectors[0] * 1.001 + 1e-3
    pickled = pickle.dumps((case.decode(noisy), case.canonicalizer))
    X = case.X.toarray() if sparse.issparse(case.X) else case.X
    for dtype in (np.float64, np.float32):
        rows = np.ascontiguousarray(X, dtype=dtype)
        assert not any(row.tobytes() in pickled for row in rows if np.unique(row).size > 2)
        columns = np.ascontiguousarray(X.T[:, :8], dtype=dtype)
        assert not any(c.tobytes() in pickled for c in columns if np.unique(c).size > 3)


@pytest.mark.product(by=families, only=33)
@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_canonicalizers_are_sent_to_workers_and_learn_nothing(case: Case) -> None:
    before = pickle.dumps(case.canonicalizer)
    worker = pickle.loads(before)
    encoding = worker.encode(case.models[2], case.X[case.rows[2]])
    assert np.array_equal(encoding.vector, case.vectors[2])
    assert pickle.dumps(worker) == before
    assert encoding.vector.dtype == np.float64
    assert encoding.vector.shape == (case.layout.size,)


@pytest.mark.product(by=families, only=33)
@pytest.mark.parametrize("case", LEARNING, ids=names(LEARNING))
def test_encode_shares_no_memory_with_the_model(case: Case) -> None:
    model = case.models[3]
    before = pickle.dumps(model)
    vector = case.canonicalizer.encode(model, case.X[case.rows[3]]).vector
    vector += 1.0
    assert pickle.dumps(model) == before
