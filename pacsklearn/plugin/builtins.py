"""What comes with pacsklearn, through the same door as every plugin."""

from __future__ import annotations

from collections.abc import Iterator

from pacsklearn.plugin.hookspecs import hookimpl
from pacsklearn.plugin.records import (
    AttackRecord,
    CanonicalizerRecord,
    NoiseBackendRecord,
    ScenarioRecord,
    SubsetFitterRecord,
)

__all__ = [
    "pacsklearn_attacks",
    "pacsklearn_canonicalizers",
    "pacsklearn_noise_backends",
    "pacsklearn_scenarios",
    "pacsklearn_subset_fitters",
]


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
    yield NoiseBackendRecord(
        "residual",
        "pacsklearn.noise.residual:ResidualBackend",
        "least noise under the true mutual information, certified (SR-PAC, exact)",
    )
    yield NoiseBackendRecord(
        "criterion",
        "pacsklearn.noise.criterion:CriterionBackend",
        "least noise under a cap on the optimal adversary's success; with criterion=",
    )
    yield NoiseBackendRecord(
        "stackelberg",
        "pacsklearn.noise.stackelberg:StackelbergBackend",
        "SR-PAC as published, with a learned decoder: an estimate for comparison",
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
        "bisecting_kmeans",
        "pacsklearn.canonical.bisecting_kmeans:BisectingKMeansCanonicalizer",
        ("sklearn.cluster.BisectingKMeans",),
        "a tree of pairs of centres in an agreed order",
    )
    yield CanonicalizerRecord(
        "gaussian_nb",
        "pacsklearn.canonical.gaussian_nb:GaussianNBCanonicalizer",
        ("sklearn.naive_bayes.GaussianNB",),
        "mean and variance of each class and feature",
    )
    yield CanonicalizerRecord(
        "discrete_nb",
        "pacsklearn.canonical.discrete_nb:DiscreteNBCanonicalizer",
        (
            "sklearn.naive_bayes.BernoulliNB",
            "sklearn.naive_bayes.ComplementNB",
            "sklearn.naive_bayes.MultinomialNB",
        ),
        "log-probabilities of counts or bits for each class",
    )
    yield CanonicalizerRecord(
        "categorical_nb",
        "pacsklearn.canonical.categorical_nb:CategoricalNBCanonicalizer",
        ("sklearn.naive_bayes.CategoricalNB",),
        "log-probabilities of public categories for each class",
    )
    yield CanonicalizerRecord(
        "nearest_centroid",
        "pacsklearn.canonical.nearest_centroid:NearestCentroidCanonicalizer",
        ("sklearn.neighbors.NearestCentroid",),
        "one point a class",
    )
    yield CanonicalizerRecord(
        "qda",
        "pacsklearn.canonical.qda:QDACanonicalizer",
        ("sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis",),
        "mean and covariance matrix of each class",
    )
    yield CanonicalizerRecord(
        "pca",
        "pacsklearn.canonical.pca:PCACanonicalizer",
        (
            "sklearn.decomposition.IncrementalPCA",
            "sklearn.decomposition.PCA",
            "sklearn.decomposition.TruncatedSVD",
        ),
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
            "sklearn.kernel_approximation.AdditiveChi2Sampler",
            "sklearn.kernel_approximation.PolynomialCountSketch",
            "sklearn.kernel_approximation.RBFSampler",
            "sklearn.kernel_approximation.SkewedChi2Sampler",
            "sklearn.preprocessing.Binarizer",
            "sklearn.preprocessing.FunctionTransformer",
            "sklearn.preprocessing.Normalizer",
            "sklearn.preprocessing.PolynomialFeatures",
            "sklearn.random_projection.GaussianRandomProjection",
            "sklearn.random_projection.SparseRandomProjection",
        ),
        "transformers that learn nothing from the rows",
    )
    yield CanonicalizerRecord(
        "linear_outlier",
        "pacsklearn.canonical.linear_outlier:LinearOutlierCanonicalizer",
        ("sklearn.linear_model.SGDOneClassSVM",),
        "weights and offset of a linear one-class model",
    )
    yield CanonicalizerRecord(
        "fixed_structure_forest",
        "pacsklearn.canonical.fixed_structure_forest:FixedStructureForestCanonicalizer",
        (
            "pacsklearn.forests.classifier.FixedStructureForestClassifier",
            "pacsklearn.forests.regressor.FixedStructureForestRegressor",
        ),
        "thresholds and leaves of complete trees of public structure",
    )
    yield CanonicalizerRecord(
        "mlp",
        "pacsklearn.canonical.mlp:MLPCanonicalizer",
        (
            "sklearn.neural_network.MLPClassifier",
            "sklearn.neural_network.MLPRegressor",
        ),
        "weights of a network with its hidden units in an agreed order",
    )
    yield CanonicalizerRecord(
        "gaussian_mixture",
        "pacsklearn.canonical.gaussian_mixture:GaussianMixtureCanonicalizer",
        ("sklearn.mixture.GaussianMixture",),
        "weights, means and covariances in an agreed order",
    )
    yield CanonicalizerRecord(
        "axes",
        "pacsklearn.canonical.axes:AxesCanonicalizer",
        (
            "sklearn.decomposition.FactorAnalysis",
            "sklearn.decomposition.FastICA",
            "sklearn.decomposition.MiniBatchSparsePCA",
            "sklearn.decomposition.SparsePCA",
        ),
        "components in an agreed order and direction",
    )
    yield CanonicalizerRecord(
        "nmf",
        "pacsklearn.canonical.nmf:NMFCanonicalizer",
        ("sklearn.decomposition.MiniBatchNMF", "sklearn.decomposition.NMF"),
        "non-negative components in an agreed order",
    )
    yield CanonicalizerRecord(
        "quantile_transformer",
        "pacsklearn.canonical.quantile_transformer:QuantileTransformerCanonicalizer",
        ("sklearn.preprocessing.QuantileTransformer",),
        "rising quantiles of each feature",
    )
    yield CanonicalizerRecord(
        "power_transformer",
        "pacsklearn.canonical.power_transformer:PowerTransformerCanonicalizer",
        ("sklearn.preprocessing.PowerTransformer",),
        "exponent, origin and scale of each feature",
    )
    yield CanonicalizerRecord(
        "binned",
        "pacsklearn.canonical.binned:BinnedCanonicalizer",
        ("sklearn.preprocessing.KBinsDiscretizer",),
        "rising edges of the bins of each feature",
    )
    yield CanonicalizerRecord(
        "imputer",
        "pacsklearn.canonical.imputer:ImputerCanonicalizer",
        ("sklearn.impute.SimpleImputer",),
        "the number that stands for a missing one, for each feature",
    )
    yield CanonicalizerRecord(
        "public_categories",
        "pacsklearn.canonical.public_categories:PublicCategoriesCanonicalizer",
        (
            "sklearn.preprocessing.OneHotEncoder",
            "sklearn.preprocessing.OrdinalEncoder",
        ),
        "encoders whose categories are given, not learned",
    )
    yield CanonicalizerRecord(
        "multiclass",
        "pacsklearn.canonical.multiclass:MulticlassCanonicalizer",
        (
            "sklearn.multiclass.OneVsOneClassifier",
            "sklearn.multiclass.OneVsRestClassifier",
            "sklearn.multiclass.OutputCodeClassifier",
            "sklearn.multioutput.MultiOutputClassifier",
            "sklearn.multioutput.MultiOutputRegressor",
        ),
        "one model a class, a pair of classes or a target",
    )
    yield CanonicalizerRecord(
        "voting",
        "pacsklearn.canonical.voting:VotingCanonicalizer",
        ("sklearn.ensemble.VotingClassifier", "sklearn.ensemble.VotingRegressor"),
        "votes and averages of several models",
    )
    yield CanonicalizerRecord(
        "union",
        "pacsklearn.canonical.union:UnionCanonicalizer",
        ("sklearn.pipeline.FeatureUnion",),
        "several transformers side by side",
    )
    yield CanonicalizerRecord(
        "column_transformer",
        "pacsklearn.canonical.column_transformer:ColumnTransformerCanonicalizer",
        ("sklearn.compose.ColumnTransformer",),
        "each transformer on columns of its own",
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


@hookimpl
def pacsklearn_attacks() -> Iterator[AttackRecord]:
    """Attacks of pacsklearn."""
    yield AttackRecord(
        "optimal_membership",
        "pacsklearn.audit.membership_attack:OptimalMembershipAttack",
        "the best possible attack on one unit's membership",
    )
    yield AttackRecord(
        "identification",
        "pacsklearn.audit.identification_attack:IdentificationAttack",
        "the best possible attack on the whole secret",
    )
    yield AttackRecord(
        "map",
        "pacsklearn.audit.map_attack:MapAttack",
        "the likeliest secret about the data, by the prior and the mean outputs",
    )
    yield AttackRecord(
        "loss_threshold",
        "pacsklearn.audit.loss_threshold_attack:LossThresholdAttack",
        "one unit's membership, by the loss of the published model",
    )
    yield AttackRecord(
        "lira",
        "pacsklearn.audit.lira_attack:LiRAAttack",
        "one unit's membership, by the confidence of the released model",
    )
    yield AttackRecord(
        "reconstruction",
        "pacsklearn.audit.reconstruction_attack:ReconstructionAttack",
        "a whole subset with many of its rows right",
    )
    yield AttackRecord(
        "canaries",
        "pacsklearn.audit.canary_attack:CanaryAttack",
        "the membership of outliers that are put in to be found",
    )
    yield AttackRecord(
        "low_order_bits",
        "pacsklearn.audit.low_order_bits_attack:LowOrderBitsAttack",
        "the whole secret, by numbers without noise or with floating-point noise",
    )


@hookimpl
def pacsklearn_scenarios() -> Iterator[ScenarioRecord]:
    """Pufferfish scenarios of pacsklearn."""
    yield ScenarioRecord(
        "prevalence",
        "pacsklearn.scenarios.prevalence_scenario:PrevalenceScenario",
        "the secret is how frequent a value is; the default",
    )
    yield ScenarioRecord(
        "differing_rows",
        "pacsklearn.scenarios.differing_rows:DifferingRows",
        "whatever a few rows decide; for private gradient descent",
    )
    yield ScenarioRecord(
        "group",
        "pacsklearn.scenarios.group_scenario:GroupScenario",
        "the secret is which group of rows the released model is about",
    )


@hookimpl
def pacsklearn_subset_fitters() -> Iterator[SubsetFitterRecord]:
    """Subset fitters of pacsklearn."""
    yield SubsetFitterRecord(
        "least_squares",
        "pacsklearn.fitting.least_squares:LeastSquaresFitter",
        ("sklearn.linear_model.LinearRegression", "sklearn.linear_model.Ridge"),
        "normal equations of all subsets by one matrix product",
    )
    yield SubsetFitterRecord(
        "pca",
        "pacsklearn.fitting.pca:PCAFitter",
        ("sklearn.decomposition.PCA",),
        "covariance matrices of all subsets by one matrix product",
    )
    yield SubsetFitterRecord(
        "gaussian_nb",
        "pacsklearn.fitting.gaussian_nb:GaussianNBFitter",
        ("sklearn.naive_bayes.GaussianNB",),
        "means and variances of the classes by one matrix product each",
    )
    yield SubsetFitterRecord(
        "lda",
        "pacsklearn.fitting.lda:LDAFitter",
        ("sklearn.discriminant_analysis.LinearDiscriminantAnalysis",),
        "scatter within the classes of all subsets by one matrix product",
    )
    yield SubsetFitterRecord(
        "nearest_centroid",
        "pacsklearn.fitting.nearest_centroid:NearestCentroidFitter",
        ("sklearn.neighbors.NearestCentroid",),
        "means of the classes by one matrix product each",
    )
    yield SubsetFitterRecord(
        "standard_scaler",
        "pacsklearn.fitting.standard_scaler:StandardScalerFitter",
        ("sklearn.preprocessing.StandardScaler",),
        "means and variances of all subsets by one matrix product",
    )
    yield SubsetFitterRecord(
        "pipeline",
        "pacsklearn.fitting.pipeline:PipelineFitter",
        ("sklearn.pipeline.Pipeline",),
        "scalers and components that pass moments on",
    )
