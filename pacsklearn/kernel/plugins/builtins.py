"""What comes with pacsklearn, through the same door as every plugin.

An entry of a table is ``name = module:Object``, the module below pacsklearn; then, indented, one
line that describes it, and lines ``package: Class Class ...`` of the estimators that it claims.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

from pacsklearn.kernel.plugins.hookspecs import hookimpl
from pacsklearn.kernel.plugins.records import (
    AttackRecord,
    BatchPredictorRecord,
    CanonicalizerRecord,
    CriterionRecord,
    NoiseBackendRecord,
    ScenarioRecord,
    SubsetFitterRecord,
)

_NOISE_BACKENDS: Final = """
isotropic = kernel.noise.lattice:IsotropicBackend
    the same noise on every output; the baseline
diagonal = kernel.noise.diagonal:DiagonalBackend
    noise shaped by the variance of each output (Efficient-PAC)
eigen = kernel.noise.lattice:EigenBackend
    noise shaped by the eigenvalues of the output covariance (Auto-PAC)
logdet = kernel.noise.lattice:LogdetBackend
    least noise under the log-determinant bound; the default
residual = kernel.noise.residual:ResidualBackend
    least noise under the true mutual information, certified (SR-PAC, exact)
criterion = kernel.noise.criterion:CriterionBackend
    least noise under a cap on the optimal adversary's success; with criterion=
"""

_CRITERIA: Final = """
membership = kernel.budget.membership_criterion:MembershipCriterion
    telling whether any one unit was used
identification = kernel.budget.guess_criterion:identification
    naming the candidate that was used
k_of_n = kernel.budget.guess_criterion:k_of_n
    naming as many units as a subset holds, k of them right; asked for as 35_of_n
"""

_SCENARIOS: Final = """
prevalence = srpp.scenarios.prevalence_scenario:PrevalenceScenario
    the secret is how frequent a value is; the default
differing_rows = srpp.scenarios.differing_rows:DifferingRows
    whatever a few rows decide; for private gradient descent
group = srpp.scenarios.group_scenario:GroupScenario
    the secret is which group of rows the released model is about
"""

_ATTACKS: Final = """
optimal_membership = audit.membership_attack:OptimalMembershipAttack
    the best possible attack on one unit's membership
identification = audit.identification_attack:IdentificationAttack
    the best possible attack on the whole secret
map = audit.map_attack:MapAttack
    the likeliest secret about the data, by the prior and the mean outputs
lira = audit.lira_attack:LiRAAttack
    one unit's membership, by the confidence of the released model
"""

_BATCH_PREDICTORS: Final = """
stacked_svm = joint.stacked_svm:StackedSVM
    kernels of all candidates' support vectors by matrix products
    sklearn.svm: SVC SVR
    sklearn.pipeline: Pipeline
"""

_SUBSET_FITTERS: Final = """
least_squares = joint.least_squares:LeastSquaresFitter
    normal equations of all subsets by one matrix product
    sklearn.linear_model: LinearRegression Ridge
ridge_classifier = joint.least_squares:RidgeClassifierFitter
    normal equations of all subsets by one matrix product
    sklearn.linear_model: RidgeClassifier
logistic_regression = joint.logistic_regression:LogisticRegressionFitter
    quasi-Newton steps of all subsets by two matrix products each
    sklearn.linear_model: LogisticRegression
linear_svm = joint.linear_svm:LinearSVMFitter
    quasi-Newton steps of all subsets by two matrix products each
    sklearn.svm: LinearSVC LinearSVR
generalised_linear = joint.generalised_linear:GeneralisedLinearFitter
    quasi-Newton steps of all subsets by two matrix products each
    sklearn.linear_model: PoissonRegressor GammaRegressor TweedieRegressor
huber = joint.huber:HuberFitter
    quasi-Newton steps of all subsets by two matrix products each, scales among them
    sklearn.linear_model: HuberRegressor
kmeans = joint.kmeans:KMeansFitter
    Lloyd's iterations from scikit-learn's starts, without distances that cannot matter
    sklearn.cluster: KMeans
gaussian_mixture = joint.gaussian_mixture:GaussianMixtureFitter
    expectation maximisation of all subsets by two matrix products each
    sklearn.mixture: GaussianMixture
elastic_net = joint.elastic_net:ElasticNetFitter
    coordinate descent on the sums of products of all subsets
    sklearn.linear_model: Lasso ElasticNet
pca = joint.pca:PCAFitter
    covariance matrices of all subsets by one matrix product
    sklearn.decomposition: PCA
gaussian_nb = joint.gaussian_nb:GaussianNBFitter
    means and variances of the classes by one matrix product each
    sklearn.naive_bayes: GaussianNB
lda = joint.lda:LDAFitter
    scatter within the classes of all subsets by one matrix product
    sklearn.discriminant_analysis: LinearDiscriminantAnalysis
nearest_centroid = joint.nearest_centroid:NearestCentroidFitter
    means of the classes by one matrix product each
    sklearn.neighbors: NearestCentroid
standard_scaler = joint.standard_scaler:StandardScalerFitter
    means and variances of all subsets by one matrix product
    sklearn.preprocessing: StandardScaler
fixed_forest = tabular.forests.joint_fit:FixedForestFitter
    histograms of all subsets from one table, whose rows are not copied
    pacsklearn: FixedStructureForestClassifier
    pacsklearn: FixedStructureForestRegressor
additive = tabular.additive.joint_fit:AdditiveFitter
    Newton's method for all subsets on one design of public bins
    pacsklearn: AdditiveClassifier
    pacsklearn: AdditiveRegressor
stepwise_classifier = tabular.stepwise.joint_fit:StepwiseClassifierFitter
    columns and directions of all subsets from one matrix product
    pacsklearn: StepwiseClassifier
stepwise_regressor = tabular.stepwise.joint_fit:StepwiseRegressorFitter
    columns and weights of all subsets from one matrix product
    pacsklearn: StepwiseRegressor
pipeline = joint.pipeline:PipelineFitter
    scalers and components that pass moments on; encoders that learn nothing, applied once
    sklearn.pipeline: Pipeline
"""

_CANONICALIZERS: Final = """
linear_classifier = canonical.linear:LinearClassifierCanonicalizer
    coefficients and intercepts of a linear decision function
    sklearn.discriminant_analysis: LinearDiscriminantAnalysis
    sklearn.linear_model: LogisticRegression LogisticRegressionCV PassiveAggressiveClassifier
    sklearn.linear_model: Perceptron RidgeClassifier RidgeClassifierCV SGDClassifier
    sklearn.svm: LinearSVC
    pacsklearn: StepwiseClassifier
linear_regressor = canonical.linear:LinearRegressorCanonicalizer
    coefficients and intercept of a linear model
    sklearn.linear_model: ARDRegression BayesianRidge ElasticNet ElasticNetCV GammaRegressor
    sklearn.linear_model: HuberRegressor Lars LarsCV Lasso LassoCV LassoLars LassoLarsCV
    sklearn.linear_model: LassoLarsIC LinearRegression MultiTaskElasticNet
    sklearn.linear_model: MultiTaskElasticNetCV MultiTaskLasso MultiTaskLassoCV
    sklearn.linear_model: OrthogonalMatchingPursuit OrthogonalMatchingPursuitCV
    sklearn.linear_model: PassiveAggressiveRegressor PoissonRegressor QuantileRegressor Ridge
    sklearn.linear_model: RidgeCV SGDRegressor TheilSenRegressor TweedieRegressor
    sklearn.svm: LinearSVR
    pacsklearn: StepwiseRegressor
kmeans = canonical.kmeans:KMeansCanonicalizer
    cluster centres in an agreed order
    sklearn.cluster: KMeans MiniBatchKMeans
bisecting_kmeans = canonical.kmeans:BisectingKMeansCanonicalizer
    a tree of pairs of centres in an agreed order
    sklearn.cluster: BisectingKMeans
gaussian_nb = canonical.gaussian_nb:GaussianNBCanonicalizer
    mean and variance of each class and feature
    sklearn.naive_bayes: GaussianNB
discrete_nb = canonical.discrete_nb:DiscreteNBCanonicalizer
    log-probabilities of counts or bits for each class
    sklearn.naive_bayes: BernoulliNB ComplementNB MultinomialNB
categorical_nb = canonical.discrete_nb:CategoricalNBCanonicalizer
    log-probabilities of public categories for each class
    sklearn.naive_bayes: CategoricalNB
nearest_centroid = canonical.nearest_centroid:NearestCentroidCanonicalizer
    one point a class
    sklearn.neighbors: NearestCentroid
qda = canonical.qda:QDACanonicalizer
    mean and covariance matrix of each class
    sklearn.discriminant_analysis: QuadraticDiscriminantAnalysis
pca = canonical.pca:PCACanonicalizer
    principal axes in an agreed orientation
    sklearn.decomposition: IncrementalPCA PCA TruncatedSVD
scaler = canonical.scaler:ScalerCanonicalizer
    shift and scale of each feature
    sklearn.preprocessing: MaxAbsScaler MinMaxScaler RobustScaler StandardScaler
stateless = canonical.stateless:StatelessCanonicalizer
    transformers that learn nothing from the rows
    sklearn.kernel_approximation: AdditiveChi2Sampler PolynomialCountSketch RBFSampler
    sklearn.kernel_approximation: SkewedChi2Sampler
    sklearn.preprocessing: Binarizer FunctionTransformer Normalizer PolynomialFeatures
    sklearn.random_projection: GaussianRandomProjection SparseRandomProjection
linear_outlier = canonical.linear:LinearOutlierCanonicalizer
    weights and offset of a linear one-class model
    sklearn.linear_model: SGDOneClassSVM
fixed_structure_forest = tabular.forests.canonicalizer:FixedStructureForestCanonicalizer
    thresholds and leaves of complete trees of public structure
    pacsklearn: FixedStructureForestClassifier
    pacsklearn: FixedStructureForestRegressor
mlp = canonical.mlp:MLPCanonicalizer
    weights of a network with its hidden units in an agreed order
    sklearn.neural_network: MLPClassifier MLPRegressor
gaussian_mixture = canonical.gaussian_mixture:GaussianMixtureCanonicalizer
    weights, means and covariances in an agreed order
    sklearn.mixture: GaussianMixture
axes = canonical.pca:AxesCanonicalizer
    components in an agreed order and direction
    sklearn.decomposition: FactorAnalysis FastICA MiniBatchSparsePCA SparsePCA
nmf = canonical.nmf:NMFCanonicalizer
    non-negative components in an agreed order
    sklearn.decomposition: MiniBatchNMF NMF
quantile_transformer = canonical.binned:QuantileTransformerCanonicalizer
    rising quantiles of each feature
    sklearn.preprocessing: QuantileTransformer
power_transformer = canonical.power_transformer:PowerTransformerCanonicalizer
    exponent, origin and scale of each feature
    sklearn.preprocessing: PowerTransformer
binned = canonical.binned:BinnedCanonicalizer
    rising edges of the bins of each feature
    sklearn.preprocessing: KBinsDiscretizer
imputer = canonical.scaler:ImputerCanonicalizer
    the number that stands for a missing one, for each feature
    sklearn.impute: SimpleImputer
public_categories = canonical.stateless:PublicCategoriesCanonicalizer
    encoders whose categories are given, not learned
    sklearn.preprocessing: OneHotEncoder OrdinalEncoder
schema_encoder = tabular.schema.canonicalizer:SchemaEncoderCanonicalizer
    encoders by a public codebook, which learn nothing from the rows
    pacsklearn: SchemaEncoder
additive = tabular.additive.canonicalizer:AdditiveCanonicalizer
    one number a level of additive models on public bins
    pacsklearn: AdditiveClassifier
    pacsklearn: AdditiveRegressor
multiclass = canonical.multiclass:MulticlassCanonicalizer
    one model a class, a pair of classes or a target
    sklearn.multiclass: OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier
    sklearn.multioutput: MultiOutputClassifier MultiOutputRegressor
voting = canonical.voting:VotingCanonicalizer
    votes and averages of several models
    sklearn.ensemble: VotingClassifier VotingRegressor
stacking = canonical.stacking:StackingCanonicalizer
    several models and one that learns from their predictions
    sklearn.ensemble: StackingClassifier StackingRegressor
transformed_target = canonical.transformed_target:TransformedTargetCanonicalizer
    a regressor of a target transformed by public functions, or linear and of a scaled one
    sklearn.compose: TransformedTargetRegressor
text = canonical.stateless:TextCanonicalizer
    texts into hashed words, or counts of a public vocabulary
    sklearn.feature_extraction.text: CountVectorizer HashingVectorizer TfidfVectorizer
union = canonical.column_transformer:UnionCanonicalizer
    several transformers side by side
    sklearn.pipeline: FeatureUnion
column_transformer = canonical.column_transformer:ColumnTransformerCanonicalizer
    each transformer on columns of its own
    sklearn.compose: ColumnTransformer
pipeline = canonical.pipeline:PipelineCanonicalizer
    steps folded together where they are affine, side by side otherwise
    sklearn.pipeline: Pipeline
search = canonical.pipeline:SearchCanonicalizer
    the best estimator of a search made inside the subset
    sklearn.model_selection: GridSearchCV HalvingGridSearchCV HalvingRandomSearchCV
    sklearn.model_selection: RandomizedSearchCV
"""


_UNNAMED: Final = """
    canonical.transformed_target:ScaledTargetCanonicalizer
    kernel.noise.sampled_law:SampledLaw
    kernel.noise.one_sided:OneSidedBackend
"""
"""What has a part in releases and is chosen by no name."""

_TABLES: Final = (
    _NOISE_BACKENDS,
    _CRITERIA,
    _SCENARIOS,
    _ATTACKS,
    _BATCH_PREDICTORS,
    _SUBSET_FITTERS,
    _CANONICALIZERS,
    _UNNAMED,
)

TARGETS: Final = {
    name: f"pacsklearn.{module}:{name}"
    for module, name in re.findall(r"^\w* *=? *([\w.]+):(\w+)$", "".join(_TABLES), re.MULTILINE)
}
"""Where each built-in is defined, by the name that :mod:`pacsklearn.plugins` has for it."""


def public_room() -> Any:
    """Module that users import built-ins from."""
    return import_module("pacsklearn.plugins")


def public_target(name: str) -> str:
    """``"package:Object"`` of a built-in, as users import it."""
    package = import_module("pacsklearn")
    return f"pacsklearn:{name}" if name in package.__all__ else f"pacsklearn.plugins:{name}"


def _records(kind: Any, table: str) -> Iterator[Any]:
    for entry in re.split(r"\n(?=\S)", table.strip()):
        first, description, *claims = map(str.strip, entry.splitlines())
        name, _, target = first.partition(" = ")
        estimators: list[str] = []
        for claim in claims:
            package, _, classes = claim.partition(": ")
            estimators += [f"{package}.{each}" for each in classes.split()]
        claimed = [tuple(estimators)] if claims else []
        yield kind(name, f"pacsklearn.{target}", *claimed, description)


@hookimpl
def pacsklearn_noise_backends() -> Iterator[NoiseBackendRecord]:
    """Noise backends of pacsklearn."""
    return _records(NoiseBackendRecord, _NOISE_BACKENDS)


@hookimpl
def pacsklearn_criteria() -> Iterator[CriterionRecord]:
    """Criteria of pacsklearn."""
    return _records(CriterionRecord, _CRITERIA)


@hookimpl
def pacsklearn_scenarios() -> Iterator[ScenarioRecord]:
    """Pufferfish scenarios of pacsklearn."""
    return _records(ScenarioRecord, _SCENARIOS)


@hookimpl
def pacsklearn_attacks() -> Iterator[AttackRecord]:
    """Attacks of pacsklearn."""
    return _records(AttackRecord, _ATTACKS)


@hookimpl
def pacsklearn_batch_predictors() -> Iterator[BatchPredictorRecord]:
    """Batch predictors of pacsklearn; linear models need none."""
    return _records(BatchPredictorRecord, _BATCH_PREDICTORS)


@hookimpl
def pacsklearn_subset_fitters() -> Iterator[SubsetFitterRecord]:
    """Subset fitters of pacsklearn."""
    return _records(SubsetFitterRecord, _SUBSET_FITTERS)


@hookimpl
def pacsklearn_canonicalizers() -> Iterator[CanonicalizerRecord]:
    """Canonicalizers of pacsklearn."""
    return _records(CanonicalizerRecord, _CANONICALIZERS)
