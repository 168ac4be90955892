"""Texts into counts of words that were public before the rows were read."""

from __future__ import annotations

from typing import Any, Final, Self, final

from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.information.arrays import Floats

_MOST_FEATURES: Final = 2**14


@final
class TextCanonicalizer(Canonicalizer):
    """An empty vector: words are hashed, or counted by a vocabulary that was given.

    For the columns of a column transformer that hold texts.
    """

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
        if getattr(estimator, "use_idf", False):
            raise NoCanonicalizerError(
                f"{name}(use_idf=True) weighs words by how many rows have them, which is not "
                "noised.",
                "Use use_idf=False.",
            )
        return cls()

    def encode(self, estimator: Any, X: Any) -> Encoding:
        layout = Layout.of({})
        return Encoding(layout.pack({}), layout)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        return template.fit([""])
