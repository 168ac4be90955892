"""Encoders of categories that are public."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pacsklearn.canonical.features import feature_facts
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.exceptions import NoCanonicalizerError


@final
class PublicCategoriesCanonicalizer(Canonicalizer):
    """An empty vector: with the categories given, an encoder learns nothing from the rows.

    It is fitted again on one made-up row.
    """

    methods = ("transform", "inverse_transform")
    noised = ()

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]
    ) -> PublicCategoriesCanonicalizer:
        name = type(estimator).__name__
        if isinstance(estimator.categories, str):
            raise NoCanonicalizerError(
                f"{name}(categories={estimator.categories!r}) learns from the rows which "
                "categories there are, which cannot be noised; give categories=[...], one list "
                "for each feature, written down without looking at the rows, or take them from a "
                "Schema: schema.supply(estimator)."
            )
        for parameter in ("min_frequency", "max_categories"):
            if getattr(estimator, parameter, None) is not None:
                raise NoCanonicalizerError(
                    f"{name}({parameter}=...) learns from the rows which categories are rare, "
                    f"which cannot be noised; leave {parameter} out, or give fewer categories."
                )
        return cls()

    def encode(self, estimator: Any, X: Any) -> Encoding:
        types = tuple(values.dtype.str for values in estimator.categories_)
        layout = Layout.of({}, dtypes=types, **feature_facts(estimator))
        return Encoding(layout.pack({}), layout)

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

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return estimator.transform(X)
