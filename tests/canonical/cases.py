"""Every estimator with a canonicalizer, on real data, and its candidates' models."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import linear_model
from sklearn.base import clone
from sklearn.cluster import BisectingKMeans, KMeans, MiniBatchKMeans
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.decomposition import (
    NMF,
    PCA,
    FactorAnalysis,
    FastICA,
    IncrementalPCA,
    MiniBatchNMF,
    SparsePCA,
    TruncatedSVD,
)
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import (
    AdditiveChi2Sampler,
    PolynomialCountSketch,
    RBFSampler,
)
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import (
    OneVsOneClassifier,
    OneVsRestClassifier,
    OutputCodeClassifier,
)
from sklearn.multioutput import MultiOutputRegressor
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)
from sklearn.neighbors import NearestCentroid
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
from sklearn.svm import SVC, LinearSVC, LinearSVR

from pacsklearn.kernel.outputs.subset_fitting import seeded_clone
from pacsklearn.plugins import Canonicalizer, Layout, registry
from pacsklearn.secrets import balanced_space
from pacsklearn.tabular import FixedStructureForestClassifier, FixedStructureForestRegressor

Floats = NDArray[np.float64]


@cache
def data(name: str) -> tuple[Any, Any]:
    """Rows and targets; real data, cut to a size that fits in moments."""
    whole = {"iris": load_iris, "breast cancer": load_breast_cancer, "diabetes": load_diabetes}
    if name in whole:
        return whole[name](return_X_y=True)
    if name == "gaps":
        X, y = load_iris(return_X_y=True)
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
        return X, y
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500]
    if name == "digits":
        return X, y
    if name == "sparse digits":
        return sparse.csr_matrix(X), y
    if name == "digits categories":
        return X[:, 18:46] // 4, y
    diabetes = load_diabetes()
    if name == "two targets":
        return diabetes.data, np.column_stack([diabetes.target, diabetes.data[:, 2] * 1000])
    if name == "one column target":
        return diabetes.data, diabetes.target[:, None]
    if name == "several labels":
        iris = load_iris()
        labels = np.column_stack([iris.target == 0, iris.target == 1, iris.data[:, 0] > 5.8])
        return iris.data, labels.astype(int)
    raise KeyError(name)


@dataclass
class Case:
    """An estimator, its data, and lazily the models of a few candidates."""

    name: str
    make: Callable[[], Any]
    data: str
    n_subsets: int = 4

    @property
    def X(self) -> Any:
        return data(self.data)[0]

    @property
    def y(self) -> Any:
        return data(self.data)[1]

    @cached_property
    def template(self) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return seeded_clone(self.make())

    @cached_property
    def canonicalizer(self) -> Canonicalizer:
        return registry().canonicalizer("auto", self.template)

    @cached_property
    def rows(self) -> list[NDArray[np.int64]]:
        strata = self.y if self.y.ndim == 1 and np.unique(self.y).size <= 10 else None
        space = balanced_space(self.X.shape[0], n_subsets=self.n_subsets, strata=strata)
        return [space.rows(i) for i in range(self.n_subsets)]

    def blank(self) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return clone(self.template)

    def fit(self, X: Any, y: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.blank().fit(X, y)

    @cached_property
    def models(self) -> list[Any]:
        return [self.fit(self.X[rows], self.y[rows]) for rows in self.rows]

    @cached_property
    def layout(self) -> Layout:
        return self.canonicalizer.encode(self.models[0], self.X[self.rows[0]]).layout

    @cached_property
    def vectors(self) -> Floats:
        encoded = [
            self.canonicalizer.encode(model, self.X[rows])
            for model, rows in zip(self.models, self.rows, strict=True)
        ]
        assert not any(self.layout.differences(encoding.layout) for encoding in encoded)
        return np.stack([encoding.vector for encoding in encoded])

    @cached_property
    def aligned(self) -> Floats:
        return self.canonicalizer.align(self.vectors, self.layout)

    def decode(self, vector: Floats) -> Any:
        return self.canonicalizer.decode(vector, self.layout, self.blank())


def _of(kind: str, where: str, **estimators: Callable[[], Any]) -> list[Case]:
    return [Case(f"{kind}: {name}", make, where) for name, make in estimators.items()]


def _deprecated(name: str) -> dict[str, Callable[[], Any]]:
    found = getattr(linear_model, name, None)
    return {} if found is None else {name: lambda: found(random_state=0)}


LINEAR_CLASSIFIERS = [
    *_of(
        "binary",
        "breast cancer",
        LinearSVC=LinearSVC,
        logistic=lambda: LogisticRegression(max_iter=50),
        liblinear=lambda: LogisticRegression(solver="liblinear"),
        LogisticRegressionCV=lambda: LogisticRegressionCV(Cs=3, cv=3, max_iter=20),
        RidgeClassifier=RidgeClassifier,
        RidgeClassifierCV=RidgeClassifierCV,
        hinge=SGDClassifier,
        log_loss=lambda: SGDClassifier(loss="log_loss"),
        modified_huber=lambda: SGDClassifier(loss="modified_huber"),
        Perceptron=Perceptron,
        LDA=LinearDiscriminantAnalysis,
        LDA_lsqr=lambda: LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1),
        LDA_eigen=lambda: LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1),
        **_deprecated("PassiveAggressiveClassifier"),
    ),
    *_of(
        "multiclass",
        "iris",
        LinearSVC=LinearSVC,
        LinearSVC_no_intercept=lambda: LinearSVC(fit_intercept=False),
        crammer_singer=lambda: LinearSVC(multi_class="crammer_singer"),
        logistic=LogisticRegression,
        LogisticRegressionCV=lambda: LogisticRegressionCV(Cs=3, cv=3),
        RidgeClassifier=RidgeClassifier,
        RidgeClassifierCV=RidgeClassifierCV,
        hinge=SGDClassifier,
        log_loss=lambda: SGDClassifier(loss="log_loss"),
        modified_huber=lambda: SGDClassifier(loss="modified_huber"),
        Perceptron=Perceptron,
        LDA=LinearDiscriminantAnalysis,
        LDA_lsqr=lambda: LinearDiscriminantAnalysis(solver="lsqr"),
        LDA_eigen=lambda: LinearDiscriminantAnalysis(solver="eigen"),
        **_deprecated("PassiveAggressiveClassifier"),
    ),
    *_of("sparse", "sparse digits", LinearSVC=lambda: LinearSVC(C=0.01), ridge=RidgeClassifier),
    *_of("multilabel", "several labels", ridge=RidgeClassifier, ridge_cv=RidgeClassifierCV),
]

LINEAR_REGRESSORS = [
    *_of(
        "regressor",
        "diabetes",
        **{
            name: getattr(linear_model, name)
            for name in (
                "ARDRegression",
                "BayesianRidge",
                "ElasticNet",
                "ElasticNetCV",
                "GammaRegressor",
                "HuberRegressor",
                "Lars",
                "LarsCV",
                "Lasso",
                "LassoCV",
                "LassoLars",
                "LassoLarsCV",
                "LassoLarsIC",
                "LinearRegression",
                "OrthogonalMatchingPursuit",
                "OrthogonalMatchingPursuitCV",
                "PoissonRegressor",
                "QuantileRegressor",
                "Ridge",
                "RidgeCV",
                "SGDRegressor",
                "TweedieRegressor",
            )
        },
        **_deprecated("PassiveAggressiveRegressor"),
        TheilSen=lambda: linear_model.TheilSenRegressor(max_subpopulation=50),
        tweedie_log=lambda: linear_model.TweedieRegressor(power=1.5, link="log"),
        no_intercept=lambda: Ridge(fit_intercept=False),
        LinearSVR=LinearSVR,
    ),
    *_of(
        "regressor of two targets",
        "two targets",
        **{
            name: getattr(linear_model, name)
            for name in (
                "LinearRegression",
                "Ridge",
                "RidgeCV",
                "Lasso",
                "Lars",
                "MultiTaskElasticNet",
                "MultiTaskElasticNetCV",
                "MultiTaskLasso",
                "MultiTaskLassoCV",
                "OrthogonalMatchingPursuit",
            )
        },
    ),
    *_of(
        "regressor of one column",
        "one column target",
        LinearRegression=linear_model.LinearRegression,
        Ridge=Ridge,
    ),
]

CLUSTERINGS = [
    *_of(
        "clusters",
        "iris",
        KMeans=lambda: KMeans(3, n_init=3),
        KMeans_one=lambda: KMeans(1, n_init=1),
        MiniBatchKMeans=lambda: MiniBatchKMeans(3, n_init=3),
        BisectingKMeans=lambda: BisectingKMeans(3),
        BisectingKMeans_one=lambda: BisectingKMeans(1),
        BisectingKMeans_two=lambda: BisectingKMeans(2, bisecting_strategy="largest_cluster"),
    ),
    *_of("clusters", "digits", KMeans_ten=lambda: KMeans(10, n_init=1)),
    *_of("clusters", "sparse digits", KMeans_sparse=lambda: KMeans(4, n_init=1)),
]

DECOMPOSITIONS = [
    *_of(
        "components",
        "iris",
        PCA=lambda: PCA(2),
        PCA_full=lambda: PCA(4),
        PCA_default=PCA,
        PCA_whiten=lambda: PCA(2, whiten=True),
        PCA_full_whiten=lambda: PCA(whiten=True),
        IncrementalPCA=lambda: IncrementalPCA(2),
        IncrementalPCA_whiten=lambda: IncrementalPCA(2, whiten=True),
        TruncatedSVD=lambda: TruncatedSVD(2),
    ),
    *_of(
        "components",
        "digits",
        PCA_eight=lambda: PCA(8),
        PCA_randomized=lambda: PCA(3, svd_solver="randomized"),
    ),
    *_of(
        "components",
        "sparse digits",
        TruncatedSVD_sparse=lambda: TruncatedSVD(5),
        IncrementalPCA_sparse=lambda: IncrementalPCA(5),
    ),
]

SCALERS = [
    # Digits have pixels that are zero everywhere, and others that are in some subsets.
    *_of(
        "scaler",
        "digits",
        StandardScaler=StandardScaler,
        StandardScaler_no_mean=lambda: StandardScaler(with_mean=False),
        StandardScaler_no_std=lambda: StandardScaler(with_std=False),
        StandardScaler_nothing=lambda: StandardScaler(with_mean=False, with_std=False),
        MinMaxScaler=MinMaxScaler,
        MinMaxScaler_range=lambda: MinMaxScaler((-3, 5)),
        MinMaxScaler_clip=lambda: MinMaxScaler(clip=True),
        MaxAbsScaler=MaxAbsScaler,
        RobustScaler=RobustScaler,
        RobustScaler_no_centre=lambda: RobustScaler(with_centering=False),
        RobustScaler_no_scale=lambda: RobustScaler(with_scaling=False),
        RobustScaler_unit=lambda: RobustScaler(unit_variance=True, quantile_range=(10, 90)),
    ),
    *_of(
        "scaler",
        "sparse digits",
        StandardScaler_sparse=lambda: StandardScaler(with_mean=False),
        MaxAbsScaler_sparse=MaxAbsScaler,
        RobustScaler_sparse=lambda: RobustScaler(with_centering=False),
    ),
]

STATELESS = _of(
    "stateless",
    "iris",
    Binarizer=lambda: Binarizer(threshold=3.0),
    Normalizer=Normalizer,
    PolynomialFeatures=lambda: PolynomialFeatures(2),
    SplineTransformer=lambda: SplineTransformer(knots=[[0.0] * 4, [3.0] * 4, [8.0] * 4]),
    FunctionTransformer=lambda: FunctionTransformer(np.log1p),
    AdditiveChi2Sampler=AdditiveChi2Sampler,
    RBFSampler=lambda: RBFSampler(gamma=0.5, n_components=7),
    PolynomialCountSketch=lambda: PolynomialCountSketch(n_components=8),
    GaussianRandomProjection=lambda: GaussianRandomProjection(3),
    SparseRandomProjection=lambda: SparseRandomProjection(3),
)

PIPELINES = [
    *_of(
        "folded",
        "breast cancer",
        standard_svc=lambda: make_pipeline(StandardScaler(), LinearSVC(C=0.1)),
        minmax_logistic=lambda: make_pipeline(MinMaxScaler((-1, 2)), LogisticRegression()),
        robust_ridge=lambda: make_pipeline(RobustScaler(with_scaling=False), RidgeClassifier()),
        maxabs_lda=lambda: make_pipeline(MaxAbsScaler(), LinearDiscriminantAnalysis()),
        pca_svc=lambda: make_pipeline(StandardScaler(), PCA(5), LinearSVC(C=0.1)),
        whiten_svc=lambda: make_pipeline(PCA(5, whiten=True), LinearSVC(C=0.1)),
        select_svc=lambda: make_pipeline(SelectKBest(k=6), StandardScaler(), LinearSVC(C=0.1)),
        passthrough=lambda: Pipeline(
            [("a", "passthrough"), ("b", StandardScaler()), ("c", None), ("d", LinearSVC(C=0.1))]
        ),
        nested=lambda: make_pipeline(
            StandardScaler(), make_pipeline(MinMaxScaler(), LogisticRegression())
        ),
    ),
    *_of(
        "folded",
        "iris",
        svd_svc=lambda: make_pipeline(TruncatedSVD(3), LinearSVC()),
        incremental_svc=lambda: make_pipeline(IncrementalPCA(3), LinearSVC()),
        several_classes=lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    ),
    *_of(
        "folded",
        "diabetes",
        select_ridge=lambda: make_pipeline(SelectKBest(f_regression, k=4), Ridge()),
        scaled_sgd=lambda: make_pipeline(StandardScaler(), SGDRegressor()),
        scaled_poisson=lambda: make_pipeline(StandardScaler(), linear_model.PoissonRegressor()),
    ),
    *_of(
        "folded",
        "two targets",
        scaled_ridge=lambda: make_pipeline(MinMaxScaler(), Ridge()),
    ),
    *_of(
        "partly folded",
        "iris",
        polynomial=lambda: make_pipeline(
            PolynomialFeatures(2), StandardScaler(), LogisticRegression()
        ),
        two_scalers=lambda: make_pipeline(
            StandardScaler(), Normalizer(), MinMaxScaler(), LinearSVC()
        ),
    ),
    *_of(
        "unfolded",
        "iris",
        clip_svc=lambda: make_pipeline(MinMaxScaler(clip=True), LinearSVC()),
        scaled_kmeans=lambda: make_pipeline(StandardScaler(), KMeans(3, n_init=1)),
        pca_kmeans=lambda: make_pipeline(PCA(2), KMeans(3, n_init=1)),
        scaled_pca=lambda: make_pipeline(StandardScaler(), PCA(2)),
        two_scalers=lambda: make_pipeline(StandardScaler(), MinMaxScaler()),
        nested=lambda: make_pipeline(
            make_pipeline(StandardScaler(), Normalizer()),
            make_pipeline(MinMaxScaler(), KMeans(2, n_init=1)),
        ),
    ),
]

SEARCHES = [
    *_of(
        "search",
        "iris",
        grid=lambda: GridSearchCV(LinearSVC(), {"C": [0.1, 1]}, cv=3),
        randomized=lambda: RandomizedSearchCV(
            LogisticRegression(), {"C": [0.1, 1, 10]}, n_iter=2, cv=3
        ),
        around_pipeline=lambda: GridSearchCV(
            make_pipeline(StandardScaler(), LinearSVC()),
            {"linearsvc__C": [0.1, 1], "standardscaler": [MinMaxScaler(), "passthrough"]},
            cv=3,
        ),
        inside_pipeline=lambda: make_pipeline(
            StandardScaler(), GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=3)
        ),
        both=lambda: GridSearchCV(
            make_pipeline(StandardScaler(), GridSearchCV(LinearSVC(), {"C": [0.1, 1]}, cv=2)),
            {"gridsearchcv__cv": [2, 3]},
            cv=2,
        ),
    ),
    *_of(
        "search",
        "breast cancer",
        of_features=lambda: GridSearchCV(
            Pipeline(
                [("scale", StandardScaler()), ("select", SelectKBest()), ("svm", LinearSVC(C=0.1))]
            ),
            {"select__k": [3, 8], "scale": ["passthrough", StandardScaler()]},
            cv=2,
        ),
    ),
    *_of("search", "diabetes", regressor=lambda: GridSearchCV(Ridge(), {"alpha": [0.1, 9]}, cv=3)),
]

BAYES = [
    *_of(
        "bayes",
        "iris",
        GaussianNB=GaussianNB,
        QDA=QuadraticDiscriminantAnalysis,
        QDA_regularised=lambda: QuadraticDiscriminantAnalysis(reg_param=0.1, store_covariance=True),
        NearestCentroid=NearestCentroid,
        NearestCentroid_manhattan=lambda: NearestCentroid(metric="manhattan"),
        NearestCentroid_shrunk=lambda: NearestCentroid(shrink_threshold=0.2),
    ),
    *_of(
        "bayes",
        "breast cancer",
        GaussianNB=GaussianNB,
        QDA=lambda: QuadraticDiscriminantAnalysis(reg_param=0.01),
        NearestCentroid=NearestCentroid,
    ),
    *_of(
        "bayes",
        "digits",
        GaussianNB=lambda: GaussianNB(var_smoothing=1e-3),
        MultinomialNB=MultinomialNB,
        MultinomialNB_uniform=lambda: MultinomialNB(fit_prior=False),
        ComplementNB=ComplementNB,
        ComplementNB_norm=lambda: ComplementNB(norm=True),
        BernoulliNB=lambda: BernoulliNB(binarize=8.0),
        NearestCentroid=NearestCentroid,
    ),
    *_of(
        "bayes",
        "sparse digits",
        MultinomialNB_sparse=MultinomialNB,
        BernoulliNB_sparse=BernoulliNB,
        NearestCentroid_sparse=NearestCentroid,
    ),
    *_of("bayes", "digits categories", CategoricalNB=lambda: CategoricalNB(min_categories=5)),
]

MIXTURES = [
    *_of(
        "mixture",
        "iris",
        full=lambda: GaussianMixture(3),
        tied=lambda: GaussianMixture(2, covariance_type="tied"),
        diag=lambda: GaussianMixture(4, covariance_type="diag"),
        spherical=lambda: GaussianMixture(3, covariance_type="spherical"),
    ),
    *_of("mixture", "breast cancer", diag=lambda: GaussianMixture(2, covariance_type="diag")),
]


def _network(*units: int, activation: str = "relu") -> MLPClassifier:
    return MLPClassifier(units, activation=activation, max_iter=20, learning_rate_init=0.05)


NETWORKS = [
    *_of(
        "network",
        "iris",
        relu=lambda: _network(6),
        tanh=lambda: _network(5, 4, activation="tanh"),
        logistic=lambda: _network(5, activation="logistic"),
        identity=lambda: _network(3, 3, activation="identity"),
    ),
    *_of("network", "breast cancer", relu_binary=lambda: _network(4, 3)),
    *_of("network", "several labels", labels=lambda: _network(4)),
    *_of(
        "network",
        "diabetes",
        regressor=lambda: MLPRegressor(hidden_layer_sizes=(5,), max_iter=20),
    ),
    *_of(
        "network",
        "two targets",
        targets=lambda: MLPRegressor(hidden_layer_sizes=(5, 3), max_iter=20),
    ),
]

META = [
    *_of(
        "meta",
        "iris",
        one_vs_rest=lambda: OneVsRestClassifier(LinearSVC()),
        one_vs_rest_pipeline=lambda: OneVsRestClassifier(
            make_pipeline(StandardScaler(), LogisticRegression())
        ),
        one_vs_rest_bayes=lambda: OneVsRestClassifier(GaussianNB()),
        one_vs_one=lambda: OneVsOneClassifier(LinearSVC()),
        one_vs_one_ridge=lambda: OneVsOneClassifier(make_pipeline(MinMaxScaler(), Ridge())),
        output_code=lambda: OutputCodeClassifier(
            LogisticRegression(), code_size=1.5, random_state=6
        ),
        output_code_constant=lambda: OutputCodeClassifier(
            LogisticRegression(), code_size=2, random_state=2
        ),
        votes=lambda: VotingClassifier(
            [("svm", LinearSVC()), ("bayes", GaussianNB()), ("none", "drop")]
        ),
        soft_votes=lambda: VotingClassifier(
            [("bayes", GaussianNB()), ("logistic", LogisticRegression())],
            voting="soft",
            weights=[1, 2],
        ),
    ),
    *_of(
        "meta",
        "iris",
        stacked=lambda: StackingClassifier(
            [("svm", LinearSVC()), ("none", "drop"), ("bayes", GaussianNB())], cv=2
        ),
        stacked_beside_rows=lambda: StackingClassifier(
            [("bayes", GaussianNB())], LinearSVC(), cv=2, passthrough=True
        ),
    ),
    *_of(
        "meta",
        "breast cancer",
        stacked_of_two=lambda: StackingClassifier(
            [("ridge", RidgeClassifier()), ("bayes", GaussianNB())], RidgeClassifier(), cv=2
        ),
    ),
    *_of(
        "meta",
        "diabetes",
        stacked_numbers=lambda: StackingRegressor([("a", Ridge()), ("b", LinearSVR())], cv=2),
    ),
    *_of("meta", "breast cancer", one_vs_rest_binary=lambda: OneVsRestClassifier(LinearSVC())),
    *_of("meta", "several labels", one_vs_rest_labels=lambda: OneVsRestClassifier(LinearSVC())),
    *_of("meta", "diabetes", average=lambda: VotingRegressor([("a", Ridge()), ("b", LinearSVR())])),
    *_of(
        "meta",
        "diabetes",
        root_of_target=lambda: TransformedTargetRegressor(
            make_pipeline(StandardScaler(), Ridge()), func=np.sqrt, inverse_func=np.square
        ),
        target_as_it_is=TransformedTargetRegressor,
        scaled_target=lambda: TransformedTargetRegressor(
            make_pipeline(StandardScaler(), Ridge()), transformer=StandardScaler()
        ),
        target_from_0_to_1=lambda: TransformedTargetRegressor(
            LinearSVR(), transformer=MinMaxScaler()
        ),
    ),
    *_of(
        "meta",
        "two targets",
        scaled_targets=lambda: TransformedTargetRegressor(Ridge(), transformer=StandardScaler()),
    ),
    *_of("meta", "two targets", each_target=lambda: MultiOutputRegressor(LinearSVR())),
]

FORESTS = [
    *_of(
        "forest",
        "iris",
        learned=lambda: FixedStructureForestClassifier(2, 2),
        in_range=lambda: FixedStructureForestClassifier(2, 3, feature_range=(0, 8)),
        random=lambda: FixedStructureForestClassifier(4, 2, thresholds="random"),
        random_in_range=lambda: FixedStructureForestClassifier(
            4, 2, thresholds="random", feature_range=(0, 8)
        ),
    ),
    *_of(
        "forest",
        "breast cancer",
        binary=lambda: FixedStructureForestClassifier(2, 2),
        votes=lambda: FixedStructureForestClassifier(2, 2, leaves="votes"),
        balanced=lambda: FixedStructureForestClassifier(3, 1, class_weight="balanced"),
    ),
    *_of(
        "forest",
        "diabetes",
        regressor=lambda: FixedStructureForestRegressor(2, 2),
        random_regressor=lambda: FixedStructureForestRegressor(
            4, 2, thresholds="random", feature_range=(-0.2, 0.2), target_range=(0, 400)
        ),
    ),
]

PREPROCESSING = [
    *_of(
        "preprocessing",
        "iris",
        quantile=lambda: QuantileTransformer(n_quantiles=20),
        quantile_normal=lambda: QuantileTransformer(n_quantiles=10, output_distribution="normal"),
        power=PowerTransformer,
        power_raw=lambda: PowerTransformer(standardize=False),
        boxcox=lambda: PowerTransformer("box-cox"),
        bins=lambda: KBinsDiscretizer(4, encode="ordinal", strategy="kmeans"),
        bins_onehot=lambda: KBinsDiscretizer(3, strategy="uniform"),
        imputer=SimpleImputer,
        imputer_median=lambda: SimpleImputer(strategy="median"),
        union=lambda: FeatureUnion([("a", StandardScaler()), ("b", "passthrough")]),
        columns=lambda: ColumnTransformer(
            [("scale", StandardScaler(), [0, 1]), ("range", MinMaxScaler(), slice(2, 3))],
            remainder="passthrough",
        ),
        columns_dropped=lambda: ColumnTransformer(
            [("scale", StandardScaler(), [3, 1]), ("none", "drop", [0])],
            remainder=RobustScaler(),
        ),
    ),
]

AXES = [
    *_of(
        "axes",
        "iris",
        factors=lambda: FactorAnalysis(2),
        independent=lambda: FastICA(3, whiten="unit-variance", max_iter=1000),
        sparse_components=lambda: SparsePCA(3, alpha=0.1, max_iter=60),
    ),
]

FACTORISATIONS = [
    *_of(
        "factors",
        "digits",
        NMF=lambda: NMF(4, max_iter=60),
        NMF_penalised=lambda: NMF(3, alpha_W=1e-3, max_iter=1000),
        NMF_mu=lambda: NMF(3, solver="mu", max_iter=60),
        MiniBatchNMF=lambda: MiniBatchNMF(3, max_iter=10),
    ),
    *_of("factors", "sparse digits", NMF_sparse=lambda: NMF(3, max_iter=60)),
]

ENCODERS = _of(
    "encoder",
    "digits categories",
    one_hot=lambda: OneHotEncoder(categories=[[0.0, 1.0, 2.0, 3.0, 4.0]] * 28),
    one_hot_dropped=lambda: OneHotEncoder(
        categories=[[0, 1, 2, 3, 4]] * 28, drop="first", sparse_output=False
    ),
    ordinal=lambda: OrdinalEncoder(categories=[[0, 1, 2, 3, 4]] * 28),
)

PIPELINES += [
    *_of(
        "unfolded",
        "breast cancer",
        columns_svc=lambda: make_pipeline(
            ColumnTransformer([("a", StandardScaler(), [0, 1, 2])], remainder="passthrough"),
            StandardScaler(),
            LinearSVC(C=0.1),
        ),
        union_svc=lambda: make_pipeline(
            FeatureUnion([("a", StandardScaler()), ("b", MinMaxScaler())]), LinearSVC(C=0.1)
        ),
        quantile_logistic=lambda: make_pipeline(
            QuantileTransformer(n_quantiles=10), LogisticRegression()
        ),
        power_svc=lambda: make_pipeline(PowerTransformer(), LinearSVC(C=0.1)),
        scaled_bayes=lambda: make_pipeline(StandardScaler(), GaussianNB()),
    ),
    *_of(
        "unfolded",
        "digits categories",
        one_hot_ridge=lambda: make_pipeline(
            OneHotEncoder(categories=[[0, 1, 2, 3, 4]] * 28), RidgeClassifier()
        ),
    ),
]

PIPELINES += [
    *_of(
        "folded",
        "iris",
        one_vs_rest=lambda: make_pipeline(
            StandardScaler(), OneVsRestClassifier(LogisticRegression())
        ),
        one_vs_one=lambda: make_pipeline(MinMaxScaler(), OneVsOneClassifier(LinearSVC())),
        output_code=lambda: make_pipeline(
            StandardScaler(),
            OutputCodeClassifier(LogisticRegression(), code_size=2, random_state=2),
        ),
        soft_votes=lambda: make_pipeline(
            StandardScaler(),
            VotingClassifier(
                [("a", LogisticRegression()), ("b", LogisticRegression(C=0.1))], voting="soft"
            ),
        ),
        stacked=lambda: make_pipeline(
            StandardScaler(),
            StackingClassifier([("a", LogisticRegression()), ("b", LinearSVC(C=0.1))], cv=2),
        ),
        network=lambda: make_pipeline(StandardScaler(), _network(6)),
        union=lambda: make_pipeline(
            FeatureUnion(
                [("a", StandardScaler()), ("b", PCA(2)), ("c", "passthrough"), ("d", "drop")],
                transformer_weights={"b": 3.0},
            ),
            LinearSVC(),
        ),
        search_of_pipeline=lambda: make_pipeline(
            StandardScaler(),
            GridSearchCV(make_pipeline(PCA(3), LinearSVC()), {"pca__n_components": [2, 3]}, cv=2),
        ),
        nested=lambda: make_pipeline(
            make_pipeline(StandardScaler(), PCA(3)), make_pipeline(MinMaxScaler(), LinearSVC())
        ),
    ),
    *_of(
        "folded",
        "diabetes",
        average=lambda: make_pipeline(
            StandardScaler(), VotingRegressor([("a", Ridge()), ("b", LinearSVR())])
        ),
    ),
    *_of(
        "partly folded",
        "gaps",
        imputed=lambda: make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression(C=0.1)),
        scaled_first=lambda: make_pipeline(
            StandardScaler(), SimpleImputer(strategy="median"), MinMaxScaler(), LinearSVC()
        ),
        nested=lambda: make_pipeline(
            make_pipeline(StandardScaler(), SimpleImputer(), PCA(3)), LinearSVC()
        ),
        nested_last=lambda: make_pipeline(
            SimpleImputer(), make_pipeline(StandardScaler(), LinearSVC())
        ),
        columns=lambda: make_pipeline(
            ColumnTransformer(
                [
                    ("gaps", make_pipeline(SimpleImputer(), StandardScaler()), [3, 0]),
                    ("powers", make_pipeline(SimpleImputer(), PolynomialFeatures(2)), [1]),
                    ("none", "drop", []),
                ],
                remainder=make_pipeline(RobustScaler(), SimpleImputer()),
                transformer_weights={"gaps": 2.0},
            ),
            StandardScaler(),
            LogisticRegression(C=0.1),
        ),
        union=lambda: make_pipeline(
            FeatureUnion(
                [
                    ("a", make_pipeline(SimpleImputer(), StandardScaler())),
                    ("b", make_pipeline(SimpleImputer(strategy="median"), PCA(2))),
                ],
                transformer_weights={"b": 0.5},
            ),
            LinearSVC(),
        ),
        scaled_bayes=lambda: make_pipeline(SimpleImputer(), StandardScaler(), GaussianNB()),
        clusters=lambda: make_pipeline(SimpleImputer(), KMeans(2, n_init=1)),
    ),
    *_of(
        "partly folded",
        "breast cancer",
        columns=lambda: make_pipeline(
            ColumnTransformer([("a", StandardScaler(), [2, 0, 1]), ("b", PCA(2), slice(5, 9))]),
            LinearSVC(C=0.1),
        ),
        columns_search=lambda: make_pipeline(
            ColumnTransformer([("a", StandardScaler(), [2, 0, 1])], remainder="passthrough"),
            MinMaxScaler(),
            GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2),
        ),
    ),
]

STATELESS += ENCODERS
PREDICTORS = [*LINEAR_CLASSIFIERS, *LINEAR_REGRESSORS, *CLUSTERINGS, *PIPELINES, *SEARCHES, *BAYES]
PREDICTORS += [*NETWORKS, *META, *MIXTURES, *FORESTS]
TRANSFORMERS = [*DECOMPOSITIONS, *SCALERS, *STATELESS, *PREPROCESSING, *AXES, *FACTORISATIONS]
CASES = [*PREDICTORS, *TRANSFORMERS]
WITHOUT_CANONICALIZER = [SVC(), make_pipeline(StandardScaler(), SVC())]


def families(case: Case, **others: Hashable) -> tuple[Hashable, ...]:
    """Return what a sample of cases should hold: every kind, canonicalizer and estimator."""
    kind = case.name.partition(":")[0]
    estimator = type(case.template).__name__
    return (kind, type(case.canonicalizer).__name__, estimator, *others.values())


def names(cases: list[Case]) -> list[str]:
    """Identifiers for parametrize."""
    return [f"{case.name} on {case.data}" for case in cases]
