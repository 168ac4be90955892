"""Transformers that learn nothing from the rows: stateless ones, and those of public categories."""

from __future__ import annotations

from typing import Any, Final, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import (
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
)

from pacsklearn.canonical.features import encoding_of, feature_facts
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Encoding, Layout

_LEARNED = (
    ("n_components", ("auto",), "the number of its outputs", "a number"),
    ("gamma", ("scale",), "their variance", "a number"),
    (
        "knots",
        ("uniform", "quantile"),
        "its knots",
        "public ones, shape (n_knots, n_features), or schema= with the columns' ranges",
    ),
)


@final
class StatelessCanonicalizer(Canonicalizer):
    """An empty vector: the step is public and is fitted again on zeros of the right width.

    What it draws at random comes from a public seed.
    """

    name = "stateless"
    description = "transformers that learn nothing from the rows"
    estimators = (
        "sklearn.feature_extraction.text.TfidfTransformer",
        "sklearn.kernel_approximation.AdditiveChi2Sampler",
        "sklearn.kernel_approximation.PolynomialCountSketch",
        "sklearn.kernel_approximation.RBFSampler",
        "sklearn.kernel_approximation.SkewedChi2Sampler",
        "sklearn.preprocessing.Binarizer",
        "sklearn.preprocessing.FunctionTransformer",
        "sklearn.preprocessing.Normalizer",
        "sklearn.preprocessing.PolynomialFeatures",
        "sklearn.preprocessing.SplineTransformer",
        "sklearn.random_projection.GaussianRandomProjection",
        "sklearn.random_projection.SparseRandomProjection",
    )
    methods = ("transform",)
    noised = ()
    reads_rows = False

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> Self:
        for parameter, words, what, public in _LEARNED:
            stated = getattr(estimator, parameter, None)
            if isinstance(stated, str) and stated in words:
                raise NoCanonicalizerError(
                    f"{type(estimator).__name__}({parameter}={stated!r}) takes {what} from the "
                    f"rows, which cannot be noised; give {parameter} {public}."
                )
        _check_no_shares(estimator)
        canonicalizer = cls()
        # Others may write into the rows, and users' functions and subclasses mix several of them.
        canonicalizer.is_public = type(estimator) in (PolynomialFeatures, RBFSampler) or (
            type(estimator) is SplineTransformer
            and _are_listed(estimator.knots)
            and estimator.extrapolation != "error"
        )
        return canonicalizer

    def encode(self, estimator: Any, X: Any) -> Encoding:
        facts = feature_facts(estimator) if hasattr(estimator, "n_features_in_") else {}
        facts.setdefault("n_features_in_", int(X.shape[1]))
        layout = Layout.of({}, **facts)
        return Encoding(layout.pack({}), layout)

    def decode(self, vector: NDArray[np.float64], layout: Layout, template: Any) -> Any:
        return template.fit(zero_rows(layout))


def _check_no_shares(estimator: Any) -> None:
    if getattr(estimator, "use_idf", False):
        raise NoCanonicalizerError(
            f"{type(estimator).__name__}(use_idf=True) weighs words by how many rows have them, "
            "which is not noised.",
            "Use use_idf=False.",
        )


def _are_listed(values: Any) -> bool:
    """Return whether values are lists of lists, which can be compared."""
    kinds = (list, tuple)
    return isinstance(values, kinds) and all(isinstance(each, kinds) for each in values)


def zero_rows(layout: Layout) -> Any:
    """Return two rows of zeros with the features of a layout's facts."""
    zeros: Any = np.zeros((2, layout.fact("n_features_in_")))
    names = dict(layout.facts).get("feature_names_in_")
    if names is None:
        return zeros
    import pandas as pd  # names come from a DataFrame, so pandas is here

    return pd.DataFrame(zeros, columns=names)


@final
class PublicCategoriesCanonicalizer(Canonicalizer):
    """An empty vector: with the categories given, an encoder learns nothing from the rows.

    It is fitted again on one made-up row.
    """

    name = "public_categories"
    description = "encoders whose categories are given, not learned"
    estimators = (
        "sklearn.preprocessing.OneHotEncoder",
        "sklearn.preprocessing.OrdinalEncoder",
    )
    methods = ("transform", "inverse_transform")
    noised = ()
    reads_rows = False

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> Self:
        name = type(estimator).__name__
        if isinstance(estimator.categories, str):
            raise NoCanonicalizerError(
                f"{name}(categories={estimator.categories!r}) learns from the rows which "
                "categories there are, which cannot be noised; give categories=[...], one list "
                "for each feature, written down without looking at the rows, or a codebook that "
                "lists them: PACPrivate(..., schema='codebook.yaml'). schema='from table' looks "
                "them up, and publishes them exactly."
            )
        for parameter in ("min_frequency", "max_categories"):
            if getattr(estimator, parameter, None) is not None:
                raise NoCanonicalizerError(
                    f"{name}({parameter}=...) learns from the rows which categories are rare, "
                    f"which cannot be noised; leave {parameter} out, or give fewer categories."
                )
        canonicalizer = cls()
        # Of itself alone.
        is_own = type(estimator) in (OneHotEncoder, OrdinalEncoder)
        canonicalizer.is_public = is_own and _are_listed(estimator.categories)
        return canonicalizer

    def encode(self, estimator: Any, X: Any) -> Encoding:
        types = tuple(values.dtype.str for values in estimator.categories_)
        return encoding_of(estimator, {}, dtypes=types)

    def decode(self, vector: NDArray[np.float64], layout: Layout, template: Any) -> Any:
        types = layout.fact("dtypes")
        firsts = [values[0] for values in template.categories]
        names = dict(layout.facts).get("feature_names_in_")
        if names is not None:
            import pandas as pd  # names come from a DataFrame, so pandas is here

            columns = {
                name: np.array([first], dtype=kind)
                for name, first, kind in zip(names, firsts, types, strict=True)
            }
            return template.fit(pd.DataFrame(columns))
        one_type = types[0] if len(set(types)) == 1 else object
        row = np.empty((1, len(firsts)), dtype=one_type)
        row[0, :] = firsts
        return template.fit(row)


_MOST_FEATURES: Final = 2**14


@final
class TextCanonicalizer(Canonicalizer):
    """An empty vector: words are hashed, or counted by a vocabulary that was given.

    For the columns of a column transformer that hold texts.
    """

    name = "text"
    description = "texts into hashed words, or counts of a public vocabulary"
    estimators = (
        "sklearn.feature_extraction.text.CountVectorizer",
        "sklearn.feature_extraction.text.HashingVectorizer",
        "sklearn.feature_extraction.text.TfidfVectorizer",
    )
    methods = ("transform",)
    noised = ()
    reads_rows = False

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Any) -> Self:
        name = type(estimator).__name__
        if getattr(estimator, "vocabulary", ()) is None:
            raise NoCanonicalizerError(
                f"{name} learns from the rows which words there are, which cannot be noised.",
                "Give it a public vocabulary=, or use HashingVectorizer, with few n_features.",
            )
        width = getattr(estimator, "n_features", 0)
        if width > _MOST_FEATURES:
            raise NoCanonicalizerError(
                f"{name} hashes words to {width:,} features, each of which would be numbers to "
                "release under noise.",
                f"Give it n_features=256, say, at most {_MOST_FEATURES:,}.",
            )
        _check_no_shares(estimator)
        return cls()

    def encode(self, estimator: Any, X: Any) -> Encoding:
        layout = Layout.of({})
        return Encoding(layout.pack({}), layout)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        return template.fit([""])
