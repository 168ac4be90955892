"""Attacks that learn from shadow rounds: by loss, confidence, labels, or prices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from pacsklearn.audit.attack import ThreatModel
from pacsklearn.audit.game import Round
from pacsklearn.audit.shadow_attack import Learnt, ScoreRule, ShadowAttack, rounds_with
from pacsklearn_attacks.inserting_attacks import centre_and_spread

_MOST_PAIRS = 20_000
_LEVELS = (0.5, 0.9)
_SCALES = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6)


@final
class LossThresholdAttack(ShadowAttack):
    """Calls a row a member when the model's loss on it is low.

    Parameters
    ----------
    unit : int, optional
        Row, or unit of privacy, to attack; the game's target, or the one whose loss tells most,
        when not given.
    n_shadow : int, optional
        Models trained beforehand, on which row and threshold are chosen; 50 when not given.

    Notes
    -----
    The simplest attack there is: it needs no model of its own, and finds models that have learnt
    their rows by heart. Row and rule are chosen on the models seen beforehand, so that the interval
    of the result is valid. Source: srpp, appendix W.3, after Yeom et al. (2018).
    """

    name = "loss_threshold"
    description = "one unit's membership, by the loss of the published model"
    shadows = 50
    automatic = True
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="the row; 50 models whose rows it knows",
        power="looks at the released model",
        reference="Yeom et al. 2018",
        cost="50 releases beforehand; one loss a round",
    )


@final
class RMIAAttack(ShadowAttack):
    """Relative membership inference: is the row surer than other rows, allowing for how hard it is.

    For each row the model's confidence is compared with the mean over a few reference models; the
    score is the share of all other rows that gain less.

    Parameters
    ----------
    unit : int, optional
        Unit of privacy to attack; chosen when not given.
    n_shadow : int, optional
        Models released beforehand: half are the references, half choose unit and threshold; 16
        when not given.

    Notes
    -----
    Confidences of a game are log-odds, or negative losses, so a ratio of likelihoods is a
    difference of confidences. The mean over the references is taken of these logarithms, and the
    factor by which a row has to dominate another is 1: both make the score independent of the
    scale of the confidences, which models without probabilities do not have in common.

    Source: Zarifzadeh, Liu and Shokri (2024), Low-cost high-power membership inference attacks.
    """

    name = "rmia"
    description = "one unit's membership, judged against how other rows fare"
    shadows = 16
    pooled = True
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="all rows; a few models whose rows it knows",
        power="looks at the released model",
        reference="Zarifzadeh, Liu and Shokri 2024",
        cost="16 releases beforehand; the confidence in all rows a round",
    )

    def learn(self, game: Any, rounds: Sequence[Round], seed: int) -> Learnt:
        # Rounds apart from those that the rule is chosen on: a row is never its own reference.
        references = rounds[: len(rounds) // 2]
        usual = np.mean([game.confidences(played.released) for played in references], axis=0)

        def score(played: Round, units: Any) -> Any:
            gains = game.confidences(played.released) - usual
            ranks = np.searchsorted(np.sort(gains), gains[units], side="right")
            return ranks / gains.size

        return score, rounds[len(rounds) // 2 :]


@final
class RobustLiRAAttack(ShadowAttack):
    """Likelihood ratio of two normal densities whose variances are shared by all rows.

    A variance for every row takes hundreds of shadow models; a mean takes a few. With one variance
    of members and one of non-members, over all rows, sixteen shadow models are enough.

    Parameters
    ----------
    unit : int, optional
        Unit of privacy to attack; chosen when not given.
    n_shadow : int, optional
        Models released beforehand; 16 when not given.

    Notes
    -----
    The verdict is by Bayes' rule for the fitted densities; no threshold is learnt.
    Source: Carlini et al. (2022), the attack with a global variance.
    """

    name = "robust_lira"
    description = "one unit's membership, by few models whose rows are known"
    shadows = 16
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="all rows; a few models whose rows it knows",
        power="looks at the released model",
        reference="Carlini et al. 2022, global variance",
        cost="16 releases beforehand; one confidence a round",
    )

    def learn(self, game: Any, rounds: Sequence[Round], seed: int) -> Learnt:
        shown = np.stack([game.confidences(played.released) for played in rounds])
        inside = rounds_with(game.members, rounds)
        means, spreads = [], []
        for side in (inside, ~inside):
            count = side.sum(axis=0)
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = np.where(side, shown, 0).sum(axis=0) / count
            left = np.where(side, shown - mean, 0)[:, count > 1]
            freedom = int((count[count > 1] - 1).sum())
            means.append(mean)
            spreads.append(float((left**2).sum()) / max(freedom, 1))
        # Without any spread the nearer mean decides.
        spread = [max(each, np.finfo(np.float64).tiny ** 0.5) for each in spreads]

        def score(played: Round, units: Any) -> Any:
            own = game.confidences(played.released)[units]
            logs = [
                -((own - mean[units]) ** 2) / (2 * each) - np.log(each) / 2
                for mean, each in zip(means, spread, strict=True)
            ]
            return np.nan_to_num(logs[0] - logs[1], nan=0.0)

        return score, rounds

    def rule(self, shown: Any, inside: Any, prior: float) -> ScoreRule:
        with np.errstate(divide="ignore"):
            edge = float(np.log1p(-prior) - np.log(prior))
        return ScoreRule(np.asarray, edge, "ratio of densities with shared variances")


@final
class QuantileAttack(ShadowAttack):
    """Quantile regression of the confidence in non-members on their features.

    A row is suspicious when the model is surer of it than of rows with such features that were not
    used. What is usual is learnt from features to confidences, not for each row by shadow models.

    Parameters
    ----------
    unit : int, optional
        Unit of privacy to attack; chosen when not given.
    n_shadow : int, optional
        Releases whose rows are known: half of them teach the regression, half the threshold; 8
        when not given.

    Notes
    -----
    The score is the distance above the median, in units of the distance between median and 90 %
    quantile. Source: Bertran et al. (2023), Scalable membership inference attacks via quantile
    regression.
    """

    name = "quantile"
    description = "one unit's membership, by the confidence that such rows usually get"
    needs = ("units", "confidences", "features")
    shadows = 8
    pooled = True
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="features and targets of all rows; a few models whose rows it knows",
        power="looks at the released model",
        reference="Bertran et al. 2023",
        cost="8 releases beforehand and two regressions; one confidence a round",
    )

    def learn(self, game: Any, rounds: Sequence[Round], seed: int) -> Learnt:
        half = len(rounds) // 2
        taught = rounds[:half]
        shown = np.stack([game.confidences(played.released) for played in taught])
        # Where units were not used: what is usual must not be learnt from members.
        numbers, units = np.nonzero(~rounds_with(game.members, taught))
        if len(units) > _MOST_PAIRS:
            kept = np.random.default_rng(seed).permutation(len(units))[:_MOST_PAIRS]
            numbers, units = numbers[kept], units[kept]
        if not len(units):
            raise ValueError(
                "n_shadow must be larger: every unit was used in all rounds that teach what is "
                "usual for rows that are not."
            )
        features = np.asarray(game.features)
        # A column in which nothing is known teaches nothing, and is refused by the regression.
        features = np.where(np.isnan(features[units]).all(axis=0), 0.0, features)
        usual = []
        for level in _LEVELS:
            regression = HistGradientBoostingRegressor(
                loss="quantile", quantile=level, max_iter=50, max_depth=4, random_state=0
            ).fit(features[units], shown[numbers, units])
            usual.append(regression.predict(features))
        # Quantiles that coincide leave no unit to measure a distance in.
        width = np.maximum(usual[1] - usual[0], 1e-9 * max(float(np.ptp(shown)), 1e-9))

        def score(played: Round, units: Any) -> Any:
            own = game.confidences(played.released)[units]
            return (own - usual[0][units]) / width[units]

        return score, rounds[half:]


@final
class LabelOnlyAttack(ShadowAttack):
    """How far a row may be pushed until its label changes: the distance to the boundary.

    A model that fits a row has its boundary farther away from it. The label of the row and of
    copies with noise of growing size added are asked; the score is the share that has the row's
    own label.

    Parameters
    ----------
    unit : int, optional
        Unit of privacy to attack; chosen among 64 when not given.
    n_shadow : int, default=50
        Models released beforehand, to choose unit and threshold.
    n_copies : int, default=8
        Copies for each of five sizes of the noise: 0.1 to 1.6 standard deviations of a feature.

    Notes
    -----
    The copies are drawn once, by the seed. Source: Choquette-Choo et al. (2021), Label-only
    membership inference attacks; Li and Zhang (2021).
    """

    name = "label_only"
    description = "one unit's membership, by predicted labels alone"
    needs = ("units", "labels", "features", "targets")
    most_units = 64
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="the row and its label; 50 models whose rows it knows",
        power="asks the released model for labels only",
        reference="Choquette-Choo et al. 2021; Li and Zhang 2021",
        cost="50 releases beforehand; 41 labels a round",
    )

    def __init__(self, unit: int | None = None, n_shadow: int = 50, n_copies: int = 8) -> None:
        super().__init__(unit, n_shadow)
        self.n_copies = n_copies

    def learn(self, game: Any, rounds: Sequence[Round], seed: int) -> Learnt:
        features, targets = np.asarray(game.features), np.asarray(game.targets)
        generator = np.random.default_rng(seed)
        noise = [
            scale * generator.standard_normal((self.n_copies if scale else 1, features.shape[1]))
            for scale in _SCALES
        ]
        pushes = np.concatenate(noise) * centre_and_spread(features)[1]

        def score(played: Round, units: Any) -> Any:
            copies = features[units][:, None] + pushes
            labels = game.labels(played.released, copies.reshape(-1, features.shape[1]))
            own = np.repeat(targets[units], len(pushes), axis=0)
            return (np.asarray(labels) == own).reshape(len(units), -1).mean(axis=1)

        return score, rounds


@final
class PricesAttack(ShadowAttack):
    """Reads prices, free answers and the moment of exhaustion; never an answer.

    Membership is regressed on what every step of a conversation cost, which of them were free, and
    how many answers there were. A price that depends on the secret beyond the answers, a refusal
    that comes earlier for some rows, is found.

    Parameters
    ----------
    unit : int, optional
        Unit of privacy to attack; chosen when not given.
    n_shadow : int, optional
        Conversations held beforehand; 200 when not given.

    Notes
    -----
    Ridge regression of the membership of every unit on the steps' charges, learnt on half of the
    shadow rounds; threshold and unit are chosen on the other half.
    Source: the side channels of budgets: Haeberlen, Pierce and Narayan (2011), Differential privacy
    under fire.
    """

    name = "prices"
    description = "one unit's membership, by what answers cost and when they stop"
    needs = ("units", "prices")
    shadows = 200
    automatic = True
    threat: ClassVar = ThreatModel(
        goal="membership of one row",
        knowledge="prices of conversations whose secret it knows",
        power="asks queries; reads prices and refusals, no answer",
        reference="Haeberlen, Pierce and Narayan 2011",
        cost="200 conversations beforehand; one regression",
    )

    def learn(self, game: Any, rounds: Sequence[Round], seed: int) -> Learnt:
        half = len(rounds) // 2
        facts = np.stack([_facts(game.prices(played.released)) for played in rounds[:half]])
        truth = rounds_with(game.members, rounds[:half]).astype(np.float64)
        scaler, ridge = StandardScaler().fit(facts), Ridge(0.01 * half)
        ridge.fit(scaler.transform(facts), truth)
        weights = ridge.coef_ / scaler.scale_
        start = ridge.intercept_ - weights @ scaler.mean_

        def score(played: Round, units: Any) -> Any:
            return weights[units] @ _facts(game.prices(played.released)) + start[units]

        return score, rounds[half:]


def _facts(prices: Any) -> Any:
    """Charge and freedom of every step, and how many steps there were; NaN: not taken."""
    charges = np.asarray(prices, dtype=np.float64)
    taken = ~np.isnan(charges)
    return np.concatenate([np.where(taken, charges, 0.0), taken & (charges == 0), [taken.sum()]])
