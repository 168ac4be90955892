"""What comes with pacsklearn, through the same door as every plugin."""

from __future__ import annotations

from collections.abc import Iterator

from pacsklearn.plugin.builtin_canonicalizers import canonicalizer_records
from pacsklearn.plugin.hookspecs import hookimpl
from pacsklearn.plugin.records import (
    AttackRecord,
    BatchPredictorRecord,
    CanonicalizerRecord,
    CriterionRecord,
    NoiseBackendRecord,
    ScenarioRecord,
    SubsetFitterRecord,
)

__all__ = [
    "pacsklearn_attacks",
    "pacsklearn_batch_predictors",
    "pacsklearn_canonicalizers",
    "pacsklearn_criteria",
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
    yield from canonicalizer_records()


@hookimpl
def pacsklearn_criteria() -> Iterator[CriterionRecord]:
    """Criteria of pacsklearn."""
    yield CriterionRecord(
        "membership",
        "pacsklearn.core.membership_criterion:MembershipCriterion",
        "telling whether any one unit was used",
    )
    yield CriterionRecord(
        "identification",
        "pacsklearn.core.guess_criterion:identification",
        "naming the candidate that was used",
    )
    yield CriterionRecord(
        "k_of_n",
        "pacsklearn.core.guess_criterion:k_of_n",
        "naming as many units as a subset holds, k of them right; asked for as 35_of_n",
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
        "known_rows",
        "pacsklearn.audit.known_rows_attack:KnownRowsAttack",
        "one unit's membership, knowing that of k others",
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
        "figures",
        "pacsklearn.audit.figures_attack:FiguresAttack",
        "a secret about the data, by what is printed beside the release",
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
    yield AttackRecord(
        "rmia",
        "pacsklearn.audit.rmia_attack:RMIAAttack",
        "one unit's membership, judged against how other rows fare",
    )
    yield AttackRecord(
        "robust_lira",
        "pacsklearn.audit.robust_lira_attack:RobustLiRAAttack",
        "one unit's membership, by few models whose rows are known",
    )
    yield AttackRecord(
        "quantile",
        "pacsklearn.audit.quantile_attack:QuantileAttack",
        "one unit's membership, by the confidence that such rows usually get",
    )
    yield AttackRecord(
        "label_only",
        "pacsklearn.audit.label_only_attack:LabelOnlyAttack",
        "one unit's membership, by predicted labels alone",
    )
    yield AttackRecord(
        "property",
        "pacsklearn.audit.property_attack:PropertyAttack",
        "a property of all rows that were used",
    )
    yield AttackRecord(
        "attribute",
        "pacsklearn.audit.attribute_attack:AttributeAttack",
        "one attribute of a record whose other attributes are known",
    )
    yield AttackRecord(
        "record",
        "pacsklearn.audit.record_attack:RecordAttack",
        "the one unknown record, from a linear model or a PCA",
    )
    yield AttackRecord(
        "poisoning",
        "pacsklearn.audit.poisoning_attack:PoisoningAttack",
        "one unit's membership, by rows put in and queries",
    )
    yield AttackRecord(
        "prices",
        "pacsklearn.audit.prices_attack:PricesAttack",
        "one unit's membership, by what answers cost and when they stop",
    )
    yield AttackRecord(
        "existence",
        "pacsklearn.audit.existence_attack:ExistenceAttack",
        "whether a row was in the universe at all",
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
        "ridge_classifier",
        "pacsklearn.fitting.ridge_classifier:RidgeClassifierFitter",
        ("sklearn.linear_model.RidgeClassifier",),
        "normal equations of all subsets by one matrix product",
    )
    yield SubsetFitterRecord(
        "logistic_regression",
        "pacsklearn.fitting.logistic_regression:LogisticRegressionFitter",
        ("sklearn.linear_model.LogisticRegression",),
        "quasi-Newton steps of all subsets by two matrix products each",
    )
    yield SubsetFitterRecord(
        "linear_svm",
        "pacsklearn.fitting.linear_svm:LinearSVMFitter",
        ("sklearn.svm.LinearSVC", "sklearn.svm.LinearSVR"),
        "quasi-Newton steps of all subsets by two matrix products each",
    )
    yield SubsetFitterRecord(
        "generalised_linear",
        "pacsklearn.fitting.generalised_linear:GeneralisedLinearFitter",
        (
            "sklearn.linear_model.PoissonRegressor",
            "sklearn.linear_model.GammaRegressor",
            "sklearn.linear_model.TweedieRegressor",
        ),
        "quasi-Newton steps of all subsets by two matrix products each",
    )
    yield SubsetFitterRecord(
        "kmeans",
        "pacsklearn.fitting.kmeans:KMeansFitter",
        ("sklearn.cluster.KMeans",),
        "Lloyd's iterations from scikit-learn's starts, without distances that cannot matter",
    )
    yield SubsetFitterRecord(
        "gaussian_mixture",
        "pacsklearn.fitting.gaussian_mixture:GaussianMixtureFitter",
        ("sklearn.mixture.GaussianMixture",),
        "expectation maximisation of all subsets by two matrix products each",
    )
    yield SubsetFitterRecord(
        "elastic_net",
        "pacsklearn.fitting.elastic_net:ElasticNetFitter",
        ("sklearn.linear_model.Lasso", "sklearn.linear_model.ElasticNet"),
        "coordinate descent on the sums of products of all subsets",
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
        "fixed_forest",
        "pacsklearn.fitting.fixed_forest:FixedForestFitter",
        (
            "pacsklearn.forests.classifier.FixedStructureForestClassifier",
            "pacsklearn.forests.regressor.FixedStructureForestRegressor",
        ),
        "histograms of all subsets from one table, whose rows are not copied",
    )
    yield SubsetFitterRecord(
        "random_forest",
        "pacsklearn.fitting.random_forest:RandomForestFitter",
        ("sklearn.ensemble.RandomForestClassifier",),
        "trees on the rows of one table, each feature of which is sorted once",
    )
    yield SubsetFitterRecord(
        "additive",
        "pacsklearn.fitting.additive:AdditiveFitter",
        (
            "pacsklearn.additive.classifier.AdditiveClassifier",
            "pacsklearn.additive.regressor.AdditiveRegressor",
        ),
        "Newton's method for all subsets on one design of public bins",
    )
    yield SubsetFitterRecord(
        "stepwise_classifier",
        "pacsklearn.fitting.stepwise:StepwiseClassifierFitter",
        ("pacsklearn.stepwise.classifier.StepwiseClassifier",),
        "columns and directions of all subsets from one matrix product",
    )
    yield SubsetFitterRecord(
        "stepwise_regressor",
        "pacsklearn.fitting.stepwise:StepwiseRegressorFitter",
        ("pacsklearn.stepwise.regressor.StepwiseRegressor",),
        "columns and weights of all subsets from one matrix product",
    )
    yield SubsetFitterRecord(
        "pipeline",
        "pacsklearn.fitting.pipeline:PipelineFitter",
        ("sklearn.pipeline.Pipeline",),
        "scalers and components that pass moments on; encoders that learn nothing, applied once",
    )


@hookimpl
def pacsklearn_batch_predictors() -> Iterator[BatchPredictorRecord]:
    """Batch predictors of pacsklearn; linear models need none."""
    yield BatchPredictorRecord(
        "stacked_svm",
        "pacsklearn.candidates.stacked_svm:StackedSVM",
        ("sklearn.svm.SVC", "sklearn.svm.SVR", "sklearn.pipeline.Pipeline"),
        "kernels of all candidates' support vectors by matrix products",
    )
    yield BatchPredictorRecord(
        "stacked_forest",
        "pacsklearn.candidates.stacked_forest:StackedForest",
        (
            "sklearn.ensemble.RandomForestClassifier",
            "sklearn.ensemble.RandomForestRegressor",
            "sklearn.ensemble.ExtraTreesClassifier",
            "sklearn.ensemble.ExtraTreesRegressor",
            "sklearn.ensemble.GradientBoostingClassifier",
            "sklearn.ensemble.GradientBoostingRegressor",
            "pacsklearn.forests.classifier.FixedStructureForestClassifier",
            "pacsklearn.forests.regressor.FixedStructureForestRegressor",
        ),
        "trees of all candidates in one pass over the rows",
    )
