"""What comes with pacsklearn, through the same door as every plugin."""

from __future__ import annotations

from collections.abc import Iterator

from pacsklearn.plugin.hookspecs import hookimpl
from pacsklearn.plugin.records import CanonicalizerRecord, NoiseBackendRecord

__all__ = ["pacsklearn_canonicalizers", "pacsklearn_noise_backends"]


@hookimpl
def pacsklearn_noise_backends() -> Iterator[NoiseBackendRecord]:
    """Noise backends of pacsklearn."""
    yield NoiseBackendRecord(
        "isotropic",
        "pacsklearn.noise.isotropic:IsotropicBackend",
        "the same noise on every output; the baseline",
    )
    yield NoiseBackendRecord(
        "diagonal",
        "pacsklearn.noise.diagonal:DiagonalBackend",
        "noise shaped by the variance of each output (Efficient-PAC)",
    )
    yield NoiseBackendRecord(
        "eigen",
        "pacsklearn.noise.eigen:EigenBackend",
        "noise shaped by the eigenvalues of the output covariance (Auto-PAC)",
    )
    yield NoiseBackendRecord(
        "logdet",
        "pacsklearn.noise.logdet:LogdetBackend",
        "least noise under the log-determinant bound; the default",
    )


@hookimpl
def pacsklearn_canonicalizers() -> Iterator[CanonicalizerRecord]:
    """Canonicalizers of pacsklearn."""
    yield CanonicalizerRecord(
        "linear_classifier",
        "pacsklearn.canonical.linear_classifier:LinearClassifierCanonicalizer",
        (
            "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
            "sklearn.linear_model.LogisticRegression",
            "sklearn.linear_model.LogisticRegressionCV",
            "sklearn.linear_model.PassiveAggressiveClassifier",
            "sklearn.linear_model.Perceptron",
            "sklearn.linear_model.RidgeClassifier",
            "sklearn.linear_model.RidgeClassifierCV",
            "sklearn.linear_model.SGDClassifier",
            "sklearn.svm.LinearSVC",
        ),
        "coefficients and intercepts of a linear decision function",
    )
    yield CanonicalizerRecord(
        "linear_regressor",
        "pacsklearn.canonical.linear_regressor:LinearRegressorCanonicalizer",
        (
            "sklearn.linear_model.ARDRegression",
            "sklearn.linear_model.BayesianRidge",
            "sklearn.linear_model.ElasticNet",
            "sklearn.linear_model.ElasticNetCV",
            "sklearn.linear_model.GammaRegressor",
            "sklearn.linear_model.HuberRegressor",
            "sklearn.linear_model.Lars",
            "sklearn.linear_model.LarsCV",
            "sklearn.linear_model.Lasso",
            "sklearn.linear_model.LassoCV",
            "sklearn.linear_model.LassoLars",
            "sklearn.linear_model.LassoLarsCV",
            "sklearn.linear_model.LassoLarsIC",
            "sklearn.linear_model.LinearRegression",
            "sklearn.linear_model.MultiTaskElasticNet",
            "sklearn.linear_model.MultiTaskElasticNetCV",
            "sklearn.linear_model.MultiTaskLasso",
            "sklearn.linear_model.MultiTaskLassoCV",
            "sklearn.linear_model.OrthogonalMatchingPursuit",
            "sklearn.linear_model.OrthogonalMatchingPursuitCV",
            "sklearn.linear_model.PassiveAggressiveRegressor",
            "sklearn.linear_model.PoissonRegressor",
            "sklearn.linear_model.QuantileRegressor",
            "sklearn.linear_model.Ridge",
            "sklearn.linear_model.RidgeCV",
            "sklearn.linear_model.SGDRegressor",
            "sklearn.linear_model.TheilSenRegressor",
            "sklearn.linear_model.TweedieRegressor",
            "sklearn.svm.LinearSVR",
        ),
        "coefficients and intercept of a linear model",
    )
    yield CanonicalizerRecord(
        "kmeans",
        "pacsklearn.canonical.kmeans:KMeansCanonicalizer",
        ("sklearn.cluster.KMeans", "sklearn.cluster.MiniBatchKMeans"),
        "cluster centres in an agreed order",
    )
    yield CanonicalizerRecord(
        "pca",
        "pacsklearn.canonical.pca:PCACanonicalizer",
        ("sklearn.decomposition.PCA", "sklearn.decomposition.TruncatedSVD"),
        "principal axes in an agreed orientation",
    )
    yield CanonicalizerRecord(
        "scaler",
        "pacsklearn.canonical.scaler:ScalerCanonicalizer",
        (
            "sklearn.preprocessing.MaxAbsScaler",
            "sklearn.preprocessing.MinMaxScaler",
            "sklearn.preprocessing.RobustScaler",
            "sklearn.preprocessing.StandardScaler",
        ),
        "shift and scale of each feature",
    )
    yield CanonicalizerRecord(
        "stateless",
        "pacsklearn.canonical.stateless:StatelessCanonicalizer",
        (
            "sklearn.preprocessing.Binarizer",
            "sklearn.preprocessing.FunctionTransformer",
            "sklearn.preprocessing.Normalizer",
            "sklearn.preprocessing.PolynomialFeatures",
        ),
        "transformers that learn nothing from the rows",
    )
    yield CanonicalizerRecord(
        "pipeline",
        "pacsklearn.canonical.pipeline:PipelineCanonicalizer",
        ("sklearn.pipeline.Pipeline",),
        "steps folded together where they are affine, side by side otherwise",
    )
    yield CanonicalizerRecord(
        "search",
        "pacsklearn.canonical.search:SearchCanonicalizer",
        (
            "sklearn.model_selection.GridSearchCV",
            "sklearn.model_selection.HalvingGridSearchCV",
            "sklearn.model_selection.HalvingRandomSearchCV",
            "sklearn.model_selection.RandomizedSearchCV",
        ),
        "the best estimator of a search made inside the subset",
    )
