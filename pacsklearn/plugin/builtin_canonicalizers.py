"""The canonicalizers that come with pacsklearn, and the estimators they are for."""

from __future__ import annotations

from collections.abc import Iterator

from pacsklearn.plugin.records import CanonicalizerRecord

__all__ = ["canonicalizer_records"]


def canonicalizer_records() -> Iterator[CanonicalizerRecord]:
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
            "pacsklearn.stepwise.classifier.StepwiseClassifier",
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
            "pacsklearn.stepwise.regressor.StepwiseRegressor",
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
        "schema_encoder",
        "pacsklearn.canonical.schema_encoder:SchemaEncoderCanonicalizer",
        ("pacsklearn.schema.encoder.SchemaEncoder",),
        "encoders by a public codebook, which learn nothing from the rows",
    )
    yield CanonicalizerRecord(
        "additive",
        "pacsklearn.canonical.additive:AdditiveCanonicalizer",
        (
            "pacsklearn.additive.classifier.AdditiveClassifier",
            "pacsklearn.additive.regressor.AdditiveRegressor",
        ),
        "one number a level of additive models on public bins",
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
        "stacking",
        "pacsklearn.canonical.stacking:StackingCanonicalizer",
        ("sklearn.ensemble.StackingClassifier", "sklearn.ensemble.StackingRegressor"),
        "several models and one that learns from their predictions",
    )
    yield CanonicalizerRecord(
        "transformed_target",
        "pacsklearn.canonical.transformed_target:TransformedTargetCanonicalizer",
        ("sklearn.compose.TransformedTargetRegressor",),
        "a regressor of a target transformed by public functions, or linear and of a scaled one",
    )
    yield CanonicalizerRecord(
        "text",
        "pacsklearn.canonical.text:TextCanonicalizer",
        (
            "sklearn.feature_extraction.text.CountVectorizer",
            "sklearn.feature_extraction.text.HashingVectorizer",
            "sklearn.feature_extraction.text.TfidfVectorizer",
        ),
        "texts into hashed words, or counts of a public vocabulary",
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
