"""What this ring adds to the registry: joint fits."""

from collections.abc import Iterator

from pacsklearn.kernel.plugins.kinds import hookimpl


@hookimpl
def pacsklearn_batch_predictors() -> Iterator[str]:
    """Yield the batch predictors of this ring."""
    yield "pacsklearn.joint.stacked_linear:StackedLinear"
    yield "pacsklearn.joint.stacked_svm:StackedSVM"
    yield "pacsklearn.joint.stacked_neighbors:StackedNeighbors"


@hookimpl
def pacsklearn_subset_fitters() -> Iterator[str]:
    """Yield the subset fitters of this ring."""
    yield from (
        "pacsklearn.joint.least_squares:LeastSquaresFitter",
        "pacsklearn.joint.least_squares:RidgeClassifierFitter",
        "pacsklearn.joint.logistic_regression:LogisticRegressionFitter",
        "pacsklearn.joint.linear_svm:LinearSVMFitter",
        "pacsklearn.joint.generalised_linear:GeneralisedLinearFitter",
        "pacsklearn.joint.huber:HuberFitter",
        "pacsklearn.joint.kmeans:KMeansFitter",
        "pacsklearn.joint.gaussian_mixture:GaussianMixtureFitter",
        "pacsklearn.joint.elastic_net:ElasticNetFitter",
        "pacsklearn.joint.pca:PCAFitter",
        "pacsklearn.joint.gaussian_nb:GaussianNBFitter",
        "pacsklearn.joint.lda:LDAFitter",
        "pacsklearn.joint.nearest_centroid:NearestCentroidFitter",
        "pacsklearn.joint.standard_scaler:StandardScalerFitter",
        "pacsklearn.joint.pipeline:PipelineFitter",
    )
