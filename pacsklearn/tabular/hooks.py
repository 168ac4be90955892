"""What this ring adds to the registry: models of tables."""

from collections.abc import Iterator

from pacsklearn.kernel.plugins.kinds import hookimpl


@hookimpl
def pacsklearn_canonicalizers() -> Iterator[str]:
    """Yield the canonicalizers of this ring."""
    yield from (
        "pacsklearn.tabular.forests.canonicalizer:FixedStructureForestCanonicalizer",
        "pacsklearn.tabular.schema.canonicalizer:SchemaEncoderCanonicalizer",
        "pacsklearn.tabular.additive.canonicalizer:AdditiveCanonicalizer",
    )


@hookimpl
def pacsklearn_subset_fitters() -> Iterator[str]:
    """Yield the subset fitters of this ring."""
    yield from (
        "pacsklearn.tabular.forests.joint_fit:FixedForestFitter",
        "pacsklearn.tabular.additive.joint_fit:AdditiveFitter",
        "pacsklearn.tabular.stepwise.joint_fit:StepwiseClassifierFitter",
        "pacsklearn.tabular.stepwise.joint_fit:StepwiseRegressorFitter",
    )


@hookimpl
def pacsklearn_advice() -> Iterator[str]:
    """Yield the advice about every kind of release."""
    yield from (
        "pacsklearn.tabular.choosing.planning:ParametersAdvice",
        "pacsklearn.tabular.choosing.answers_plan:AnswersAdvice",
        "pacsklearn.tabular.students.student_plan:StudentAdvice",
    )


@hookimpl
def pacsklearn_codebooks() -> Iterator[str]:
    """Yield how estimators read tables by a schema."""
    yield "pacsklearn.tabular.schema.stated_schema:SchemaArgument"
