"""Rows behind a public encoder, encoded once for all models that begin with it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, final

from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer


@final
class EncodedRows:
    """Tables as one public encoder gives them, for many models of the same rows."""

    def __init__(self) -> None:
        self._encoder: Any = None
        self._encoded: dict[int, tuple[Any, Any]] = {}

    def look_up(self, model: Any, canonicalizer: Canonicalizer, X: Any, own: Any) -> None:
        """Have the public first step of a model look up ``X`` where an equal one encoded it.

        Parameters
        ----------
        model : estimator
            Decoded for this alone: it cannot be pickled any more.
        canonicalizer : Canonicalizer
            Of the model.
        X : table
            The same object whenever the same rows are meant.
        own : table
            What the model will be asked about: ``X``, or a copy.
        """
        name, first = getattr(canonicalizer, "steps", [("", None)])[0]
        if not getattr(first, "is_public", False) or name not in model.named_steps:
            return
        encoder = model.named_steps[name]
        params = encoder.get_params()
        if params != self._encoder:  # rows as one encoder gives them, not as all
            self._encoder, self._encoded = params, {}
        if id(X) not in self._encoded:
            self._encoded[id(X)] = X, encoder.transform(X)
        known, transform = self._encoded[id(X)][1], encoder.transform
        # A copy: a step after it may work in place.
        encoder.transform = lambda rows: deepcopy(known) if rows is own else transform(rows)
