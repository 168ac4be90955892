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
    return (
        "pacsklearn.canonical.unsupported:Transductive",
        "pacsklearn.canonical.unsupported:Embeds",
        "pacsklearn.canonical.unsupported:StoresRows",
        "pacsklearn.canonical.unsupported:StoringImputer",
        "pacsklearn.canonical.unsupported:OneClassStores",
        "pacsklearn.canonical.unsupported:Trees",
        "pacsklearn.canonical.unsupported:OneClassTrees",
        "pacsklearn.canonical.unsupported:VaryingParts",
        "pacsklearn.canonical.unsupported:SelectsFeatures",
        "pacsklearn.canonical.unsupported:SeenValues",
        "pacsklearn.canonical.unsupported:OtherData",
        "pacsklearn.canonical.unsupported:Symmetries",
        "pacsklearn.canonical.unsupported:NoAnswers",
        "pacsklearn.canonical.unsupported:ManyParts",
        "pacsklearn.canonical.unsupported:ImputerOfParts",
        "pacsklearn.canonical.unsupported:NotYet",
    )
