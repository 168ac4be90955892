"""Pipelines: affine steps folded into the model, the others noised where its outputs feel it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any, Self, final

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from pacsklearn.canonical.affine import AffineMap, FoldingCanonicalizer
from pacsklearn.canonical.end_metric import end_metric
from pacsklearn.canonical.heads import FoldPlan, fold_plan, fold_steps, head_of, is_nothing
from pacsklearn.canonical.parts import Part, decode_parts, encode_parts, joined, metric_of_parts
from pacsklearn.exceptions import NoCanonicalizerError
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.kernel.outputs.canonicalizer import Canonicalizer, Constant, Encoding, Layout
from pacsklearn.kernel.outputs.metric import Metric
from pacsklearn.kernel.secret.secret_space import SecretSpace


@final
class SearchCanonicalizer(Canonicalizer):
    """``best_estimator_`` of a search, each subset searching on its own rows.

    Which parameters were best depends on the secret, so they are not released: the decoded model
    carries the parameters the search started from.

    Parameters
    ----------
    part : Canonicalizer
        Of the estimator searched over.
    """

    name = "search"
    description = "the best estimator of a search made inside the subset"
    estimators = (
        "sklearn.model_selection.GridSearchCV",
        "sklearn.model_selection.HalvingGridSearchCV",
        "sklearn.model_selection.HalvingRandomSearchCV",
        "sklearn.model_selection.RandomizedSearchCV",
    )
    is_searched = True

    def __init__(self, part: Canonicalizer) -> None:
        self.part = part
        self.methods = part.methods
        self.noised = part.noised
        self.is_exact = part.is_exact
        self.has_affine_score = part.has_affine_score

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]) -> Self:
        if not estimator.refit:
            raise NoCanonicalizerError(
                f"{type(estimator).__name__}(refit=False) has no best_estimator_ to release; use "
                "refit=True."
            )
        return cls(resolve(estimator.estimator))

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return self.part.encode(estimator.best_estimator_, X)

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        return self.part.decode(vector, layout, template.estimator)

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        return self.part.align(vectors, layout)

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        return self.part.metric(layout, estimator.best_estimator_, X, vectors)

    def constant(self, layout: Layout, value: float, template: Any) -> Constant | None:
        return self.part.constant(layout, value, template.estimator)

    def keeping_scores(self) -> SearchCanonicalizer:
        return SearchCanonicalizer(self.part.keeping_scores())

    def behaviour(self, estimator: Any, X: Any) -> Any:
        return self.part.behaviour(getattr(estimator, "best_estimator_", estimator), X)


@final
class PipelineCanonicalizer(Canonicalizer):
    """A pipeline whose every step has a canonicalizer.

    Affine steps before a model that can take them over are folded into it, and so is the affine
    map that a column transformer, a union or a pipeline inside ends with: only the composed
    weights are released. When no other step is left, the model itself is released. Pipelines and
    searches in the last place are opened.

    Parameters
    ----------
    steps : tuple of (str, Canonicalizer)
        Canonicalizers of the steps that are released; the last one is the model's.
    plan : FoldPlan
        What is folded into the model.
    """

    name = "pipeline"
    description = "steps folded together where they are affine, side by side otherwise"
    estimators = ("sklearn.pipeline.Pipeline", "imblearn.pipeline.Pipeline")

    def __init__(self, steps: tuple[tuple[str, Canonicalizer], ...], plan: FoldPlan) -> None:
        self.steps = steps
        self.plan = plan
        self.methods = steps[-1][1].methods
        self.is_searched = any(part.is_searched for _, part in steps)
        self.reads_rows = any(part.reads_rows for _, part in steps)
        *inner, (_, last) = steps
        self.has_affine_score = last.has_affine_score and all(part.is_public for _, part in inner)
        self.noised = tuple(f"{name}: {what}" for name, part in steps for what in part.noised)
        if len(steps) == 1:
            self.noised = steps[0][1].noised
        if plan.folded:
            self.noised += (f"{' and '.join(plan.folded)} (folded into these)",)

    @property
    def folded(self) -> tuple[str, ...]:
        """Names of the steps of which nothing is left."""
        return self.plan.folded

    @classmethod
    def for_estimator(cls, estimator: Any, resolve: Callable[[Any], Canonicalizer]) -> Self:
        steps, searched = _opened(estimator, resolve)
        *inner, (last_name, last) = steps
        final_part = resolve(last)
        plan = fold_plan(inner) if final_part.folds else FoldPlan((), ())
        parts = [
            (name, resolve(head_of(step) if name in plan.headed else step))
            for name, step in inner
            if name not in plan.folded and not is_nothing(step)
        ]
        for name, part in parts:
            if not part.is_exact:
                raise NoCanonicalizerError(
                    f"Pipeline step {name!r} may turn its outputs when it is released, which the "
                    "step after it would not follow. Put it last, or (PCA) use whiten=False."
                )
        canonicalizer = cls((*parts, (last_name, final_part)), plan)
        canonicalizer.is_searched = canonicalizer.is_searched or searched
        return canonicalizer

    def keeping_scores(self) -> PipelineCanonicalizer:
        *inner, (name, last) = self.steps
        other = PipelineCanonicalizer((*inner, (name, last.keeping_scores())), self.plan)
        other.is_searched = self.is_searched
        return other

    def encode(self, estimator: Any, X: Any) -> Encoding:
        return encode_parts(self._walk(estimator, X))

    def encode_jointly(
        self, models: Sequence[Any], X: Any, space: SecretSpace
    ) -> list[Encoding] | None:
        *inner, (last, part) = self.steps
        # A search may have given the steps of each candidate other parameters.
        if inner and (self.is_searched or not all(step.is_public for _, step in inner)):
            return super().encode_jointly(models, X, space)
        fitted = [dict(self._parts(model)) for model in models]
        before: list[dict[str, Encoding]] = [{} for _ in models]
        rows = X
        for name, step in inner:
            for encodings, own in zip(before, fitted, strict=True):
                encodings[name] = deepcopy(step).encode(own[name], rows[:1])
            rows = fitted[0][name].transform(deepcopy(rows))
        encoded = part.encode_jointly([own[last] for own in fitted], rows, space)
        if encoded is None:
            return None
        return [joined(own | {last: end}) for own, end in zip(before, encoded, strict=True)]

    def decode(self, vector: Floats, layout: Layout, template: Any) -> Any:
        blank = dict(_flat(template))
        blank |= {name: head_of(blank[name]) for name in self.plan.headed}
        decoded = decode_parts(vector, layout, dict(self.steps), blank)
        if len(self.steps) == 1:
            return decoded[self.steps[0][0]]
        if blank.keys() != dict(template.steps).keys():
            kept = list(decoded.items())
            return Pipeline(kept, memory=template.memory, verbose=template.verbose)
        template.set_params(**decoded, **dict.fromkeys(self.folded, "passthrough"))
        while is_nothing(template.steps[0][1]):  # the first step is asked about the features
            del template.steps[0]
        return template

    def align(self, vectors: Floats, layout: Layout) -> Floats:
        # Only the last step's outputs are not read by another step.
        name, part = self.steps[-1]
        where = layout.slices()[name]
        aligned = vectors.copy()
        aligned[:, where] = part.align(vectors[:, where], dict(layout.children)[name])
        return aligned

    def metric(self, layout: Layout, estimator: Any, X: Any, vectors: Floats) -> Metric:
        """Return the expected squared change of the model's outputs, whichever step it comes from.

        Where the model has no outputs that change smoothly, each step's own metric.
        """
        walked = list(self._walk(estimator, X))
        if len(walked) > 1:
            at_end = end_metric(walked, layout, X, vectors)
            if at_end is not None:
                return at_end
        return metric_of_parts(walked, layout, vectors)

    def constant(self, layout: Layout, value: float, template: Any) -> Constant | None:
        name, part = self.steps[-1]
        child = layout.children[-1][1]
        constant = part.constant(child, value, clone(dict(_flat(template))[name]))
        return None if constant is None else constant.behind(layout.size - child.size)

    def behaviour(self, estimator: Any, X: Any) -> Any:
        last, part = self.steps[-1]
        if not hasattr(estimator, "steps"):
            return part.behaviour(estimator, X)
        # Through the steps as they are, so that a step folded wrongly shows; one may write into X.
        X = deepcopy(X)
        for name, step in _flat(estimator):
            if name == last:
                return part.behaviour(step, X)
            if not is_nothing(step):
                X = step.transform(X)
        raise AssertionError("the last released step is a step of the pipeline")

    def linear_weights(self, estimator: Any) -> tuple[Floats, Floats] | None:
        if len(self.steps) > 1:
            return None
        return self.steps[0][1].linear_weights(self._parts(estimator)[-1][1])

    def _walk(self, estimator: Any, X: Any) -> Iterator[Part]:
        """Yield each released step with its fitted part and the rows that part was fitted on."""
        canonicalizers = dict(self.steps)
        *inner, (last, model) = self._parts(estimator)
        for name, fitted in inner:
            yield Part(name, canonicalizers[name], fitted, X)
            X = fitted.transform(deepcopy(X))  # which may write into them
        yield Part(last, canonicalizers[last], model, X)

    def _parts(self, estimator: Any) -> list[tuple[str, Any]]:
        last, part = self.steps[-1]
        inner = []
        for name, step in _flat(estimator):
            if name == last:
                break
            inner.append((name, step))
        kept, tail = fold_steps(inner, self.plan)
        model = dict(_flat(estimator))[last]
        if tail is not None and isinstance(part, FoldingCanonicalizer):
            names = _names_before(model, kept, inner, self.plan.headed)
            model = _on_input(part.fold(model, tail), tail, names)
        return [*kept, (last, model)]


def _opened(
    estimator: Any, resolve: Callable[[Any], Canonicalizer]
) -> tuple[list[tuple[str, Any]], bool]:
    """Return the steps of an unfitted pipeline, those of inner pipelines and searches too."""
    steps, searched = list(estimator.steps), False
    while True:
        while steps and is_nothing(steps[-1][1]):
            steps.pop()
        if not steps:
            raise NoCanonicalizerError("The pipeline has no step that learns anything.")
        name, last = steps[-1]
        if type(last) is Pipeline:
            steps[-1:] = _inside(name, last)
        elif isinstance(resolve(last), SearchCanonicalizer):
            steps[-1] = (name, last.estimator)
            searched = True
        else:
            return steps, searched


def _flat(estimator: Any) -> list[tuple[str, Any]]:
    """Return the same of a fitted pipeline, of an unfitted template, or of a released one."""
    steps = list(estimator.steps)
    while True:
        name, last = steps[-1]
        if type(last) is Pipeline:
            steps[-1:] = _inside(name, last)
        elif hasattr(last, "best_estimator_"):
            steps[-1] = (name, last.best_estimator_)
        elif hasattr(last, "refit") and hasattr(last, "estimator"):
            steps[-1] = (name, last.estimator)
        elif is_nothing(last) and len(steps) > 1:
            steps.pop()
        else:
            return steps


def _inside(name: str, pipeline: Any) -> list[tuple[str, Any]]:
    return [(f"{name}-{inner}", step) for inner, step in pipeline.steps]


def _on_input(model: Any, tail: AffineMap, names: Any) -> Any:
    """Give a folded model the features of what the tail acts on."""
    for each in (model, *getattr(model, "estimators_", ())):
        if not isinstance(getattr(type(each), "n_features_in_", None), property):
            each.n_features_in_ = tail.n_inputs
        if names is not None:
            each.feature_names_in_ = names
        elif "feature_names_in_" in vars(each):
            del each.feature_names_in_
    return model


def _names_before(model: Any, kept: Sequence[Any], inner: Sequence[Any], headed: Any) -> Any:
    """Return the names of the features that a folded model sees, if they have any.

    Those that the next step saw after the last that is left; or what this one hands on now, if only
    its head is left, or if it stood last and was moved forward.
    """
    names = [name for name, step in inner if not is_nothing(step)]
    last = kept[-1][0] if kept else None
    after = names[names.index(last) + 1 :] if kept else names
    seen = getattr(dict(inner)[after[0]] if after else model, "feature_names_in_", None)
    is_other = seen is not None and (last in headed or not after)
    return kept[-1][1].get_feature_names_out() if is_other else seen
