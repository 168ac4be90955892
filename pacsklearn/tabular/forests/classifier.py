"""Forests of complete trees that classify."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from pacsklearn._sklearn_compat import StrOptions
from pacsklearn._validation import is_word
from pacsklearn.kernel.bounds.arrays import Floats
from pacsklearn.tabular.forests.fixed_structure_forest import (
    FixedStructureForest,
    common_votes,
    on_simplex,
    shrunken_leaves,
)
from pacsklearn.tabular.forests.growth import Statistics, entropy


@dataclass(eq=False, repr=False)
class FixedStructureForestClassifier(ClassifierMixin, FixedStructureForest):
    """Forest of complete trees of a given depth, made to be released.

    Which feature each level of each tree asks about is public, drawn with ``random_state``, so that
    models of different subsets differ in numbers only: a threshold for each inner node and class
    probabilities for each leaf. Fewer and steadier numbers need less noise: choose few shallow
    trees, a coarse grid and a penalty for small budgets.

    Parameters
    ----------
    n_estimators : int, default=3
        Trees.
    depth : int, default=3
        Levels of questions; a tree has ``2**depth`` leaves.
    thresholds : {"learned", "random"}, default="learned"
        "learned" takes the grid's threshold that leaves the least entropy, regularised as below.
        "random" draws them with ``random_state`` and learns the leaves only.
    feature_range : (low, high), default=None
        Public range of the features: two numbers, or two arrays with a number for each feature.
        Thresholds lie inside. It must not be looked up in the data. With None the grid spans 2.5
        standard deviations to either side of the mean, of the rows that ``fit`` is given; what is
        released then are thresholds in the features' own units, where that scale is noised with
        them. A range that is known beforehand needs less noise.
    step : float, default=0.1
        Distance of neighbours on the grid of thresholds, which runs from -1 to 1 over the range
        (the published ``p``).
    smoothing : float, default=0.3
        Weight of the neighbouring thresholds' entropy (the published ``w1``), in [0, 1].
    penalty : float, default=0.1
        Nats a row added for each unit of a threshold's distance from the middle of the range (the
        published ``w2``). Nodes that few rows reach stay in the middle.
    prior_count : float, default=5.0
        Each node's probabilities are shrunk towards its parent's, and the root's towards equal
        ones, as if this many rows of them had been seen.
    leaves : {"probabilities", "votes"}, default="probabilities"
        With "votes" every leaf names its most probable class, all with one common confidence:
        the share of rows whose leaf names their class. Where all candidates agree on the names,
        as they may in a regularised forest on many rows, the confidence is all that needs noise.
    class_weight : dict, "root", "balanced" or None, default="root"
        Weight of the rows of each class. Averages of shallow trees stay near the classes' shares,
        so that without weights a rare class is never named. "root" weighs each class by one over
        the root of its share, half way to "balanced", which weighs classes equally; probabilities
        are then those of such rows. None weighs all rows equally. The default serves balanced
        accuracy, whatever the budget: with one row in five of the rare class (3,000 rows, default
        parameters, 32 simulated releases at 1, 1/4, 1/16 nat) "root" has .63 .57 .52 and accuracy
        .82 .76 .68, None .52 .55 .52 and .80 .80 .72, where a constant has .80. Where every
        error counts alike and the budget is small, use None.
    random_state : int, default=0
        Public seed of the features asked about and of random thresholds. It must be an integer: the
        forest has to be a function of the rows alone.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    features_ : ndarray of shape (n_estimators, 2**depth - 1)
        Feature of each inner node, level by level; public.
    thresholds_ : ndarray of shape (n_estimators, 2**depth - 1)
        A row goes to the right child where its feature is above.
    leaf_values_ : ndarray of shape (n_estimators, 2**depth, n_classes)
        Class probabilities; of a released forest, their noisy counterparts, which sum to one and
        may be negative.
    centre_, half_width_ : ndarray of shape (n_features,)
        Range of the grid.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Raises
    ------
    ValueError
        From ``fit``, when a parameter is out of range; the message names it.

    Notes
    -----
    The cost of a threshold ``v`` is ``(1 - w1) H(v) + w1 (H(v - p) + H(v + p)) + w2 |v|``, with
    ``H`` the entropy left behind, weighted by the share of the subset's rows. Source:
    pac-private-algorithms, section 5.4; there leaves hold labels, here probabilities, which
    change less from subset to subset and say how sure they are.

    Leaves of a released forest are averaged as they are, and the average is brought onto the
    simplex: noise that the trees' average cancels would not cancel any more if each leaf was.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pacsklearn.tabular import FixedStructureForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> FixedStructureForestClassifier(10).fit(X, y).score(X, y) > 0.9
    True
    """

    _: KW_ONLY
    leaves: str = "probabilities"
    class_weight: Any = "root"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FixedStructureForest._parameter_constraints,
        "leaves": [StrOptions({"probabilities", "votes"})],
    }
    impurity = staticmethod(entropy)

    def read_targets(self, y: Any) -> NDArray[np.intp]:
        """Set ``classes_``, and return the place of each row's class among them."""
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        return np.asarray(codes)

    def statistics(self, targets: NDArray[np.intp], weights: Floats) -> Statistics:
        """Return each row's weight, for the sum of its class."""
        if is_word(self.class_weight, "root"):
            # Shares of the weighted rows: a row of weight two counts like two rows.
            mass = np.bincount(targets, weights, self.classes_.size).astype(np.float64)
            weights = weights * root_weights(mass)[targets]
        elif self.class_weight is not None:
            weights = weights * compute_sample_weight(self.class_weight, self.classes_[targets])
        total = np.bincount(targets, weights, self.classes_.size).astype(np.float64)
        return Statistics(targets.astype(np.uint32), weights[None], total, weights)

    def leaf_means(self, sums: Floats, origins: Floats) -> Floats:
        """Compute class probabilities from the statistics' sums in every node of some trees."""
        equal = np.full(sums.shape[-1], 1 / sums.shape[-1])
        return shrunken_leaves(sums, sums.sum(axis=-1), equal, self.prior_count)

    def set_leaves(self, means: Floats, sums: Floats) -> None:
        """Set what the leaves say, by their probabilities and the sums in every node."""
        if self.leaves == "votes":
            means = common_votes(means, sums[:, -means.shape[1] :], self.prior_count)
        self.leaf_values_ = means

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities, the trees' mean on the simplex; (n_rows, n_classes)."""
        average = self.average(X)
        return average if average.min() >= 0 else on_simplex(average)  # rows sum to one

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row."""
        best = self.average(X).argmax(axis=1)
        return np.asarray(self.classes_[best])


def root_weights(counts: Floats) -> Floats:
    """Return one over the root of each class's share; equal classes weigh one."""
    shares = counts * counts.size
    return np.sqrt(np.divide(counts.sum(), shares, out=np.ones_like(shares), where=shares > 0))
