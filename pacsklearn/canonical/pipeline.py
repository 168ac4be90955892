"""Pipelines: affine steps folded into a linear model, the others laid side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

from pacsklearn.canonical.affine import FoldingCanonicalizer, affine_map, is_affine
from pacsklearn.core.canonicalizer import Canonicalizer, Encoding
from pacsklearn.core.layout import Layout
from pacsklearn.core.metric import BlockMetric, Metric
from pacsklearn.core.secret_space import SecretSpace
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.information.arrays import Floats

__all__ = ["PipelineCanonicalizer"]


@final
class PipelineCanonicalizer(Canonicalizer):
    """A pipeline whose every step has a canonicalizer.

    Affine steps right before a linear model are folded into it: only the composed weights are
    released, and the released pipeline has ``"passthrough"`` in their place. When no other step
    is left, the linear model itself is released.

    Parameters
    ----------
    steps : tuple of (str, Canonicalizer)
        Canonicalizers of the steps that are released; the last one is the model's.
    folded : tuple of str
        Names of the affine steps folded into the model.
    """

    def __init__(self, steps: tuple[tuple[str, Canonicalizer], ...], folded: tuple[str, ...]):
        self.steps = steps
        self.folded = folded
        self.methods = steps[-1][1].methods
        self.is_searched = any(part.is_searched for _, part in steps)
        self.reads_rows = any(part.reads_rows for _, part in steps)
        self.noised = tuple(f"{name}: {what}" for name, part in steps for what in part.noised)
        if len(steps) == 1:
            self.noised = steps[0][1].noised

    @classmethod
    def for_estimator(
        cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]
    ) -> PipelineCanonicalizer:
        *inner, (last_name, last) = estimator.steps
        inner = [(name, step) for name, step in inner if step not in (None, "passthrough")]
        if last in (None, "passthrough"):
            if not inner:
                raise NoCanonicalizerError("The pipeline has no step that learns anything.")
            *inner, (last_name, last) = inner
        final_part = resolve(last)
        folded: list[str] = []
        if isinstance(final_part, FoldingCanonicalizer):
            while inner and is_affine(inner[-1][1]):
                folded.insert(0, inner.pop()[0])
        steps = [(name, resolve(step)) for name, step in inner]
        for name, part in steps:
            if not part.is_exact:
                raise NoCanonicalizerError(
                    f"Pipeline step {name!r} may turn its outputs when it is released, which the "
                    "step after it would not follow. Put it last, or (PCA) use whiten=False."
                )
        return cls((*steps, (last_name, final_part)), tuple(folded))

    def encode(self, estimator: Any, X: Any) -> Encoding:
        arrays, children = {}, []
        for name, part, fitted, rows in self._walk(estimator, X):
            vector, layout = part.encode(fitted, rows)
            arrays[name] = vector
            children.append((name, layout))
        layout = Layout(children=tuple(children))
        return Encoding(layout.pack(arrays), layout)

    def encode_jointly(
        self, models: Sequence[Any], X: Any, space: SecretSpace
    ) -> list[Encoding] | None:
        if len(self.steps) > 1:
            return super().encode_jointly(models, X, space)
        ((name, part),) = self.steps
        encoded = part.encode_jointly([self.folded_model(model) for model in models], X, space)
        if encoded is None:
            return None
        wrapped = []
        for vector, child in encoded:
            layout = Layout(children=((name, child),))
            wrapped.append(Encoding(layout.pack({name: vector}), layout))
        return wrapped

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        arrays, layouts = layout.unpack(vector), dict(layout.children)
        blank = dict(template.steps)
        decoded = {
            name: part.decode(arrays[name], layouts[name], blank[name]) for name, part in self.steps
        }
        if len(self.steps) == 1:
            return decoded[self.steps[0][0]]
        return template.set_params(**decoded, **dict.fromkeys(self.folded, "passthrough"))

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        # Only the last step's outputs are not read by another step.
        name, part = self.steps[-1]
        where = layout.slices()[name]
        aligned = vectors.copy()
        aligned[:, where] = part.align(vectors[:, where], dict(layout.children)[name])
        return aligned

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        layouts, where, blocks = dict(layout.children), layout.slices(), []
        for name, part, fitted, rows in self._walk(estimator, X):
            metric = part.metric(layouts[name], fitted, rows, vectors[:, where[name]])
            blocks.append((layouts[name].size, metric))
        return BlockMetric(tuple(blocks))

    def behaviour(self, estimator: Any, X: Any) -> Any:
        last, part = self.steps[-1]
        if not hasattr(estimator, "steps"):
            return part.behaviour(estimator, X)
        # Through the steps as they are, so that a step folded wrongly shows; one may write into X.
        X = X.copy()
        for name, step in estimator.steps:
            if name == last:
                return part.behaviour(step, X)
            if step not in (None, "passthrough"):
                X = step.transform(X)
        raise AssertionError("the last released step is a step of the pipeline")

    def folded_model(self, estimator: Any) -> Any:
        """Last step of a fitted pipeline with the affine steps before it folded in."""
        *_, (_, _, model, _) = self._walk(estimator, None)
        return model

    def _walk(self, estimator: Any, X: Any) -> Any:
        """Each released step with its fitted part and the rows that part was fitted on."""
        fitted = dict(estimator.steps)
        for name, part in self.steps[:-1]:
            yield name, part, fitted[name], X
            X = fitted[name].transform(X)
        name, part = self.steps[-1]
        model = fitted[name]
        for step in reversed(self.folded):
            if isinstance(part, FoldingCanonicalizer) and fitted[step] not in (None, "passthrough"):
                model = part.fold(model, affine_map(fitted[step]))
        # A search may have replaced some of them by "passthrough".
        folded = [fitted[step] for step in self.folded if fitted[step] not in (None, "passthrough")]
        yield name, part, _on_input(model, folded[0]) if folded else model, X


def _on_input(model: Any, first: Any) -> Any:
    """Give a folded model the features of the first step folded into it."""
    model.n_features_in_ = first.n_features_in_
    names = getattr(first, "feature_names_in_", None)
    if names is not None:
        model.feature_names_in_ = names
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_
    return model
