"""Why the parameters of some estimators of scikit-learn cannot be released."""

from __future__ import annotations

from typing import ClassVar


class Unsupported:
    """Estimators without a canonicalizer, and what the error about them says.

    Attributes
    ----------
    name : str
        Unique among these classes.
    description : str
        The reason, to end the sentence "its parameters cannot be released privately: ...".
    estimators : tuple of str or type
        What it is about, and every subclass for which nothing nearer is known.
    advice : str
        Which estimators of the same purpose can be released.
    """

    name: ClassVar[str] = ""
    description: ClassVar[str] = ""
    estimators: ClassVar[tuple[str | type, ...]] = ()
    advice: ClassVar[str] = ""


class Transductive(Unsupported):
    """Clusterings of the rows they were fitted on."""

    name = "transductive"
    description = (
        "it labels the rows it was fitted on and no others, so there is no model to release"
    )
    advice = "KMeans, BisectingKMeans and GaussianMixture can be released."
    estimators = (
        "sklearn.cluster.AffinityPropagation",
        "sklearn.cluster.AgglomerativeClustering",
        "sklearn.cluster.DBSCAN",
        "sklearn.cluster.HDBSCAN",
        "sklearn.cluster.OPTICS",
        "sklearn.cluster.SpectralBiclustering",
        "sklearn.cluster.SpectralClustering",
        "sklearn.cluster.SpectralCoclustering",
    )


class Embeds(Unsupported):
    """Places for the rows they were fitted on."""

    name = "embeds"
    description = (
        "it gives places to the rows it was fitted on, so what it learns is about single rows"
    )
    advice = "PCA and NMF, which place new rows as well, can be released."
    estimators = (
        "sklearn.manifold.ClassicalMDS",
        "sklearn.manifold.MDS",
        "sklearn.manifold.SpectralEmbedding",
        "sklearn.manifold.TSNE",
    )


class StoresRows(Unsupported):
    """Models that hold rows."""

    name = "stores_rows"
    description = "its model holds rows it was fitted on"
    estimators = (
        "sklearn.decomposition.KernelPCA",
        "sklearn.gaussian_process.GaussianProcessClassifier",
        "sklearn.gaussian_process.GaussianProcessRegressor",
        "sklearn.kernel_approximation.Nystroem",
        "sklearn.kernel_ridge.KernelRidge",
        "sklearn.manifold.Isomap",
        "sklearn.manifold.LocallyLinearEmbedding",
        "sklearn.neighbors.KNeighborsClassifier",
        "sklearn.neighbors.KNeighborsRegressor",
        "sklearn.neighbors.KNeighborsTransformer",
        "sklearn.neighbors.KernelDensity",
        "sklearn.neighbors.NearestNeighbors",
        "sklearn.neighbors.RadiusNeighborsClassifier",
        "sklearn.neighbors.RadiusNeighborsRegressor",
        "sklearn.neighbors.RadiusNeighborsTransformer",
        "sklearn.preprocessing.KernelCenterer",
        "sklearn.semi_supervised.LabelPropagation",
        "sklearn.semi_supervised.LabelSpreading",
        "sklearn.svm.NuSVC",
        "sklearn.svm.NuSVR",
        "sklearn.svm.SVC",
        "sklearn.svm.SVR",
    )


class StoringImputer(Unsupported):
    """Imputers that hold rows."""

    name = "storing_imputer"
    description = StoresRows.description
    advice = "SimpleImputer(strategy='mean') can be released."
    estimators = ("sklearn.impute.KNNImputer",)


class OneClassStores(Unsupported):
    """Models that hold rows and find outliers."""

    name = "one_class_stores"
    description = StoresRows.description
    advice = "SGDOneClassSVM can be released."
    estimators = (
        "sklearn.neighbors.LocalOutlierFactor",
        "sklearn.svm.OneClassSVM",
    )


class Trees(Unsupported):
    """Trees whose shape is learned."""

    name = "trees"
    description = "the shape of its trees is learned from the rows and cannot be noised"
    estimators = (
        "sklearn.ensemble.ExtraTreesClassifier",
        "sklearn.ensemble.ExtraTreesRegressor",
        "sklearn.ensemble.GradientBoostingClassifier",
        "sklearn.ensemble.GradientBoostingRegressor",
        "sklearn.ensemble.HistGradientBoostingClassifier",
        "sklearn.ensemble.HistGradientBoostingRegressor",
        "sklearn.ensemble.RandomForestClassifier",
        "sklearn.ensemble.RandomForestRegressor",
        "sklearn.ensemble.RandomTreesEmbedding",
        "sklearn.tree.DecisionTreeClassifier",
        "sklearn.tree.DecisionTreeRegressor",
        "sklearn.tree.ExtraTreeClassifier",
        "sklearn.tree.ExtraTreeRegressor",
    )


class OneClassTrees(Unsupported):
    """Trees that find outliers."""

    name = "one_class_trees"
    description = Trees.description
    advice = "SGDOneClassSVM can be released."
    estimators = ("sklearn.ensemble.IsolationForest",)


class VaryingParts(Unsupported):
    """Models of as many parts as the rows ask for."""

    name = "varying_parts"
    description = (
        "how many parts its model has depends on the rows, so models of two subsets have no "
        "vector of one length"
    )
    estimators = (
        "sklearn.cluster.Birch",
        "sklearn.cluster.FeatureAgglomeration",
        "sklearn.cluster.MeanShift",
        "sklearn.isotonic.IsotonicRegression",
    )


class SelectsFeatures(Unsupported):
    """Choices of features."""

    name = "selects_features"
    description = (
        "which features it keeps is structure that cannot be noised; right before a linear "
        "model in a pipeline its choice is folded into the released weights"
    )
    estimators = (
        "sklearn.feature_selection.GenericUnivariateSelect",
        "sklearn.feature_selection.RFE",
        "sklearn.feature_selection.RFECV",
        "sklearn.feature_selection.SelectFdr",
        "sklearn.feature_selection.SelectFpr",
        "sklearn.feature_selection.SelectFromModel",
        "sklearn.feature_selection.SelectFwe",
        "sklearn.feature_selection.SelectKBest",
        "sklearn.feature_selection.SelectPercentile",
        "sklearn.feature_selection.SequentialFeatureSelector",
        "sklearn.feature_selection.VarianceThreshold",
        "sklearn.impute.MissingIndicator",
    )


class SeenValues(Unsupported):
    """Codes of values that were seen."""

    name = "seen_values"
    description = "it names the values it has seen, which cannot be noised; encode before you fit"
    estimators = (
        "sklearn.preprocessing.LabelBinarizer",
        "sklearn.preprocessing.LabelEncoder",
        "sklearn.preprocessing.MultiLabelBinarizer",
        "sklearn.preprocessing.TargetEncoder",
    )


class OtherData(Unsupported):
    """Readers of texts, mappings and images."""

    name = "other_data"
    description = "it reads something else than a table of numbers; apply it before you fit"
    estimators = (
        "sklearn.feature_extraction.DictVectorizer",
        "sklearn.feature_extraction.FeatureHasher",
        "sklearn.feature_extraction.image.PatchExtractor",
    )


class Symmetries(Unsupported):
    """Parameters that many models share."""

    name = "symmetries"
    description = "its parameters have symmetries that no canonicalizer here removes"
    estimators = (
        "sklearn.cross_decomposition.CCA",
        "sklearn.cross_decomposition.PLSCanonical",
        "sklearn.cross_decomposition.PLSRegression",
        "sklearn.cross_decomposition.PLSSVD",
        "sklearn.decomposition.DictionaryLearning",
        "sklearn.decomposition.LatentDirichletAllocation",
        "sklearn.decomposition.MiniBatchDictionaryLearning",
        "sklearn.decomposition.SparseCoder",
        "sklearn.mixture.BayesianGaussianMixture",
        "sklearn.neighbors.NeighborhoodComponentsAnalysis",
        "sklearn.neural_network.BernoulliRBM",
    )


class NoAnswers(Unsupported):
    """Descriptions of the rows."""

    name = "no_answers"
    description = "it describes the rows and predicts nothing"
    estimators = ("sklearn.covariance.EmpiricalCovariance",)


class ManyParts(Unsupported):
    """Models of many parts."""

    name = "many_parts"
    description = (
        "its parts are many, or feed on one another's answers: noise leaves little of them"
    )
    estimators = (
        "sklearn.ensemble.AdaBoostClassifier",
        "sklearn.ensemble.AdaBoostRegressor",
        "sklearn.ensemble.BaggingClassifier",
        "sklearn.ensemble.BaggingRegressor",
    )


class ImputerOfParts(Unsupported):
    """Imputers of many models."""

    name = "imputer_of_parts"
    description = ManyParts.description
    advice = "SimpleImputer(strategy='mean') can be released."
    estimators = ("sklearn.impute.IterativeImputer",)


class NotYet(Unsupported):
    """Estimators that a canonicalizer could be written for."""

    name = "not_yet"
    description = "no canonicalizer has been written for it"
    estimators = (
        "sklearn.calibration.CalibratedClassifierCV",
        "sklearn.covariance.EllipticEnvelope",
        "sklearn.dummy.DummyClassifier",
        "sklearn.dummy.DummyRegressor",
        "sklearn.linear_model.RANSACRegressor",
        "sklearn.model_selection.FixedThresholdClassifier",
        "sklearn.model_selection.TunedThresholdClassifierCV",
        "sklearn.multioutput.ClassifierChain",
        "sklearn.multioutput.RegressorChain",
        "sklearn.semi_supervised.SelfTrainingClassifier",
    )
