"""What this ring adds to the registry: canonicalizers, one a family, and reasons for none."""

from collections.abc import Iterable, Iterator

from pacsklearn.kernel.plugins.kinds import hookimpl, kind


@hookimpl
def pacsklearn_canonicalizers() -> Iterator[str]:
    """Yield the canonicalizers of this ring."""
    yield from (
        "pacsklearn.canonical.linear:LinearClassifierCanonicalizer",
        "pacsklearn.canonical.linear:LinearRegressorCanonicalizer",
        "pacsklearn.canonical.kmeans:KMeansCanonicalizer",
        "pacsklearn.canonical.kmeans:BisectingKMeansCanonicalizer",
        "pacsklearn.canonical.gaussian_nb:GaussianNBCanonicalizer",
        "pacsklearn.canonical.discrete_nb:DiscreteNBCanonicalizer",
        "pacsklearn.canonical.discrete_nb:CategoricalNBCanonicalizer",
        "pacsklearn.canonical.nearest_centroid:NearestCentroidCanonicalizer",
        "pacsklearn.canonical.qda:QDACanonicalizer",
        "pacsklearn.canonical.pca:PCACanonicalizer",
        "pacsklearn.canonical.scaler:ScalerCanonicalizer",
        "pacsklearn.canonical.stateless:StatelessCanonicalizer",
        "pacsklearn.canonical.linear:LinearOutlierCanonicalizer",
        "pacsklearn.canonical.mlp:MLPCanonicalizer",
        "pacsklearn.canonical.gaussian_mixture:GaussianMixtureCanonicalizer",
        "pacsklearn.canonical.pca:AxesCanonicalizer",
        "pacsklearn.canonical.nmf:NMFCanonicalizer",
        "pacsklearn.canonical.binned:QuantileTransformerCanonicalizer",
        "pacsklearn.canonical.power_transformer:PowerTransformerCanonicalizer",
        "pacsklearn.canonical.binned:BinnedCanonicalizer",
        "pacsklearn.canonical.scaler:ImputerCanonicalizer",
        "pacsklearn.canonical.stateless:PublicCategoriesCanonicalizer",
        "pacsklearn.canonical.multiclass:MulticlassCanonicalizer",
        "pacsklearn.canonical.voting:VotingCanonicalizer",
        "pacsklearn.canonical.stacking:StackingCanonicalizer",
        "pacsklearn.canonical.transformed_target:TransformedTargetCanonicalizer",
        "pacsklearn.canonical.stateless:TextCanonicalizer",
        "pacsklearn.canonical.column_transformer:UnionCanonicalizer",
        "pacsklearn.canonical.column_transformer:ColumnTransformerCanonicalizer",
        "pacsklearn.canonical.pipeline:PipelineCanonicalizer",
        "pacsklearn.canonical.pipeline:SearchCanonicalizer",
    )


@kind("unsupported", "pacsklearn.canonical.unsupported:Unsupported")
def pacsklearn_unsupported() -> Iterable[type | str]:
    """Say why the parameters of some estimators cannot be released.

    Returns
    -------
    iterable of subclasses of Unsupported, or of their names
    """
    from pacsklearn.canonical.unsupported import Unsupported  # where it is asked for

    home = Unsupported.__module__  # a plugin's own reasons come from its hook
    own = (each for each in Unsupported.__subclasses__() if each.__module__ == home)
    return [f"{home}:{each.__qualname__}" for each in own]
