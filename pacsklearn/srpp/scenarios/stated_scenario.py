"""What a Pufferfish guarantee is about, with its words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from pacsklearn.kernel.guarantee.figure import Figure
from pacsklearn.kernel.guarantee.statement_rendering import Rows, rounded_up
from pacsklearn.kernel.secret.stated_secret import PREPARATION, StatedSecret


def pair_success(divergence: float) -> float:
    """Bound success at telling two equally likely secrets apart by a Kullback-Leibler divergence.

    It is half of one and the total variation, whose square is at most ``1 - exp(-divergence)``.
    Source: Bretagnolle and Huber (1979).
    """
    return (1 + math.sqrt(-math.expm1(-divergence))) / 2


@dataclass(frozen=True, kw_only=True)
class SecretWorlds(StatedSecret):
    """Which secret of a scenario is true.

    Parameters
    ----------
    protects : str
        What is secret.
    n_secrets, n_pairs, n_priors, n_draws : int
        Size of the scenario: secrets, pairs kept apart, priors, data sets a secret stands for.
    coupling : str
        How data sets of two secrets are compared.
    holds_for : str
        Which tables the promise is for, where it is for tables drawn from stated laws.
    averaged_over : str
        What the bound is a mean over, when it is one.
    """

    protects: str
    n_secrets: int
    n_pairs: int
    n_priors: int
    n_draws: int
    coupling: str
    holds_for: str = ""
    averaged_over: str = ""

    name = "worlds"
    unit = "secret"
    threats = (
        "The adversary has unlimited computing power.",
        (
            "The adversary knows every data set of the scenario, the estimator and the law of the "
            "noise."
        ),
        "The adversary may hold any belief about how likely which secret is beforehand.",
        "Hidden is which of the scenario's secrets is true.",
    )
    limits = (
        (
            "Membership of single rows: the secret is the one named above and nothing else. Use "
            "PACPrivate to hide who was in the data."
        ),
        (
            "The noise: its shape, the alignment and whatever all data sets agree on are "
            "functions of the scenario's data sets, which the adversary is assumed to know; "
            "hidden is only which is true."
        ),
        PREPARATION,
        (
            "Choices made by looking at the private data (epsilon, hyper-parameters, which of "
            "several results to publish), and releases chosen after looking at earlier ones: "
            "charges on one ledger add up for releases that are fixed beforehand."
        ),
    )

    @property
    def figures(self) -> tuple[Figure, ...]:
        pairs = f"Secrets; {self.n_pairs} pairs kept apart."
        return (
            Figure("unit of privacy", self.protects, "", "What is secret."),
            Figure("candidates", self.n_secrets, "count", pairs),
        )

    @property
    def pair_success(self) -> float | None:
        """Bound on success at telling two secrets apart, where it follows from what is stated."""
        return None

    def rows(self) -> Rows:
        """Return the rows of the text about the secret."""
        size = (
            f"{self.n_secrets} secrets, {self.n_pairs} pairs, {self.n_priors} prior(s), up to "
            f"{self.n_draws} data sets a secret"
        )
        return [("scenario", size), ("comparison", self.coupling)]


@final
@dataclass(frozen=True, kw_only=True)
class SecretBatches(SecretWorlds):
    """The same, met by a run of noised steps on batches of the rows.

    Parameters
    ----------
    n_steps, batch_size, n_rows : int
        Steps taken so far, rows of a batch, rows of the table.
    sampling : str
        How batches are drawn.
    largest : int
        Most differing rows in a batch.
    second_moment : float
        Their mean square.
    source : str
        Where the two figures come from.
    norms : tuple of float
        Clipping norms of a row's gradient, a block each.
    n_parameters : int
        Numbers that a step moves.
    information : float, optional
        Bound on the Kullback-Leibler divergence between protected secrets, in nats; None before
        the first step.
    """

    n_steps: int
    batch_size: int
    n_rows: int
    sampling: str
    largest: int
    second_moment: float
    source: str
    norms: tuple[float, ...]
    n_parameters: int
    information: float | None = None

    name = "batches"
    limits = (
        PREPARATION,
        (
            "Choices made by looking at the private data: epsilon, clipping norm, step size, "
            "number of steps, scaling of the columns, which of several results to publish."
        ),
        (
            "Other secrets than the one named above. Use DifferingRows(1) to hide any single row, "
            "or PACPrivate to hide who was in the data."
        ),
        (
            "Copies: a pickled model that is trained further is a run of its own. Runs on the same "
            "rows add up on a shared ledger, and nowhere else."
        ),
    )

    @property
    def pair_success(self) -> float | None:
        return None if self.information is None else pair_success(self.information)

    def rows(self) -> Rows:
        norms = ", ".join(f"{norm:.6g}" for norm in self.norms)
        run = (
            f"{self.n_steps:,} steps of {self.batch_size:,} of {self.n_rows:,} rows, "
            f"{self.sampling}; each was charged before it was taken"
        )
        differing = (
            f"at most {self.largest:,} in a batch, {self.second_moment:.6g} in mean square; "
            f"{self.source}"
        )
        clipping = f"norm {norms} a row, {self.n_parameters:,} parameters"
        lines = [*super().rows(), ("run", run)]
        lines += [("differing rows", differing), ("clipping", clipping)]
        if self.information is not None:
            known = ", on average over the batches" if self.averaged_over else ""
            every = self.n_pairs == self.n_secrets * (self.n_secrets - 1) // 2
            secret = "; so is the information on the secret" if every else ""
            bound = (
                "Kullback-Leibler divergence between protected secrets at most "
                f"{rounded_up(self.information, 6)} nats{known}{secret}"
            )
            lines.append(("information", bound))
        return lines
