"""Why some estimators of scikit-learn have no canonicalizer, for the error's text."""

from __future__ import annotations

from pacsklearn.kernel.plugins.records import public_names

_TRANSDUCTIVE = "it labels the rows it was fitted on and no others, so there is no model to release"
_EMBEDS = "it gives places to the rows it was fitted on, so what it learns is about single rows"
_STORES = "its model holds rows it was fitted on"
_TREES = "the shape of its trees is learned from the rows and cannot be noised"
_VARYING = (
    "how many parts its model has depends on the rows, so models of two subsets have no vector of "
    "one length"
)
_SELECTS = (
    "which features it keeps is structure that cannot be noised; right before a linear model in a "
    "pipeline its choice is folded into the released weights"
)
_TARGETS = "it names the values it has seen, which cannot be noised; encode before you fit"
_TEXT = "it reads something else than a table of numbers; apply it before you fit"
_SYMMETRIES = "its parameters have symmetries that no canonicalizer here removes"
_NO_ANSWERS = "it describes the rows and predicts nothing"
_PARTS = "its parts are many, or feed on one another's answers: noise leaves little of them"
_NOT_YET = "no canonicalizer has been written for it"

_REASONS = {
    _TRANSDUCTIVE: (
        "sklearn.cluster.AffinityPropagation",
        "sklearn.cluster.AgglomerativeClustering",
        "sklearn.cluster.DBSCAN",
        "sklearn.cluster.HDBSCAN",
        "sklearn.cluster.OPTICS",
        "sklearn.cluster.SpectralBiclustering",
        "sklearn.cluster.SpectralClustering",
        "sklearn.cluster.SpectralCoclustering",
    ),
    _EMBEDS: (
        "sklearn.manifold.ClassicalMDS",
        "sklearn.manifold.MDS",
        "sklearn.manifold.SpectralEmbedding",
        "sklearn.manifold.TSNE",
    ),
    _STORES: (
        "sklearn.decomposition.KernelPCA",
        "sklearn.gaussian_process.GaussianProcessClassifier",
        "sklearn.gaussian_process.GaussianProcessRegressor",
        "sklearn.impute.KNNImputer",
        "sklearn.kernel_approximation.Nystroem",
        "sklearn.kernel_ridge.KernelRidge",
        "sklearn.manifold.Isomap",
        "sklearn.manifold.LocallyLinearEmbedding",
        "sklearn.neighbors.KNeighborsClassifier",
        "sklearn.neighbors.KNeighborsRegressor",
        "sklearn.neighbors.KNeighborsTransformer",
        "sklearn.neighbors.KernelDensity",
        "sklearn.neighbors.LocalOutlierFactor",
        "sklearn.neighbors.NearestNeighbors",
        "sklearn.neighbors.RadiusNeighborsClassifier",
        "sklearn.neighbors.RadiusNeighborsRegressor",
        "sklearn.neighbors.RadiusNeighborsTransformer",
        "sklearn.preprocessing.KernelCenterer",
        "sklearn.semi_supervised.LabelPropagation",
        "sklearn.semi_supervised.LabelSpreading",
        "sklearn.svm.NuSVC",
        "sklearn.svm.NuSVR",
        "sklearn.svm.OneClassSVM",
        "sklearn.svm.SVC",
        "sklearn.svm.SVR",
    ),
    _TREES: (
        "sklearn.ensemble.ExtraTreesClassifier",
        "sklearn.ensemble.ExtraTreesRegressor",
        "sklearn.ensemble.GradientBoostingClassifier",
        "sklearn.ensemble.GradientBoostingRegressor",
        "sklearn.ensemble.HistGradientBoostingClassifier",
        "sklearn.ensemble.HistGradientBoostingRegressor",
        "sklearn.ensemble.IsolationForest",
        "sklearn.ensemble.RandomForestClassifier",
        "sklearn.ensemble.RandomForestRegressor",
        "sklearn.ensemble.RandomTreesEmbedding",
        "sklearn.tree.DecisionTreeClassifier",
        "sklearn.tree.DecisionTreeRegressor",
        "sklearn.tree.ExtraTreeClassifier",
        "sklearn.tree.ExtraTreeRegressor",
    ),
    _VARYING: (
        "sklearn.cluster.Birch",
        "sklearn.cluster.FeatureAgglomeration",
        "sklearn.cluster.MeanShift",
        "sklearn.isotonic.IsotonicRegression",
    ),
    _SELECTS: (
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
    ),
    _TARGETS: (
        "sklearn.preprocessing.LabelBinarizer",
        "sklearn.preprocessing.LabelEncoder",
        "sklearn.preprocessing.MultiLabelBinarizer",
        "sklearn.preprocessing.TargetEncoder",
    ),
    _TEXT: (
        "sklearn.feature_extraction.DictVectorizer",
        "sklearn.feature_extraction.FeatureHasher",
        "sklearn.feature_extraction.image.PatchExtractor",
    ),
    _SYMMETRIES: (
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
    ),
    _NO_ANSWERS: ("sklearn.covariance.EmpiricalCovariance",),
    _PARTS: (
        "sklearn.ensemble.AdaBoostClassifier",
        "sklearn.ensemble.AdaBoostRegressor",
        "sklearn.ensemble.BaggingClassifier",
        "sklearn.ensemble.BaggingRegressor",
        "sklearn.impute.IterativeImputer",
    ),
    _NOT_YET: (
        "sklearn.calibration.CalibratedClassifierCV",
        "sklearn.covariance.EllipticEnvelope",
        "sklearn.dummy.DummyClassifier",
        "sklearn.dummy.DummyRegressor",
        "sklearn.feature_extraction.text.TfidfTransformer",
        "sklearn.linear_model.RANSACRegressor",
        "sklearn.model_selection.FixedThresholdClassifier",
        "sklearn.model_selection.TunedThresholdClassifierCV",
        "sklearn.multioutput.ClassifierChain",
        "sklearn.multioutput.RegressorChain",
        "sklearn.preprocessing.SplineTransformer",
        "sklearn.semi_supervised.SelfTrainingClassifier",
    ),
}
_BY_NAME = {name: reason for reason, names in _REASONS.items() for name in names}
_KIN = {
    _TRANSDUCTIVE: "KMeans, BisectingKMeans and GaussianMixture can be released. ",
    _EMBEDS: "PCA and NMF, which place new rows as well, can be released. ",
    "sklearn.ensemble.IsolationForest": "SGDOneClassSVM can be released. ",
    "sklearn.neighbors.LocalOutlierFactor": "SGDOneClassSVM can be released. ",
    "sklearn.svm.OneClassSVM": "SGDOneClassSVM can be released. ",
    "sklearn.impute.KNNImputer": "SimpleImputer(strategy='mean') can be released. ",
    "sklearn.impute.IterativeImputer": "SimpleImputer(strategy='mean') can be released. ",
}


def reason_for(cls: type) -> str | None:
    """Why the nearest class along the MRO that is known here has no canonicalizer."""
    name = _known_name(cls)
    return None if name is None else _BY_NAME[name]


def advice_for(cls: type) -> str:
    """Which estimators of the same purpose can be released; empty where none is known."""
    name = _known_name(cls)
    return "" if name is None else _KIN.get(name, _KIN.get(_BY_NAME[name], ""))


def _known_name(cls: type) -> str | None:
    for ancestor in cls.__mro__:
        for name in public_names(ancestor):
            if name in _BY_NAME:
                return name
    return None
