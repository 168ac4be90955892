"""Errors and warnings of pacsklearn.

The tree::

    PacsklearnError
    ├── BudgetError (ValueError)              a budget that is not a positive number of nats
    ├── BudgetExhaustedError                  a release would pass the ceiling; nothing was computed
    ├── DesignError (ValueError)              a secret space that cannot be built as asked
    ├── ScenarioError (ValueError)            a Pufferfish scenario that the rows do not allow
    ├── CanonicalizationError
    │   ├── NoCanonicalizerError (TypeError)  no canonicalizer supports the estimator
    │   ├── StructureMismatchError            the fitted structure differs between subsets
    │   └── GaugeError                        decode does not predict what encode saw
    ├── SubsetFitError (ValueError)           the estimator failed on a candidate subset
    ├── FunctionError (ValueError)            a released function failed, or gave no numbers
    ├── NonDeterministicError                 two fits on one subset differ
    ├── LedgerError                           an account that cannot be opened, reached or charged
    │   ├── LedgerCorruptedError              its rows were altered
    │   ├── LedgerUnknownError                whether a charge was made is not known yet
    │   ├── LedgerMismatchError (ValueError)  not the account, the unit or the event it should be
    │   └── SessionRolledBackError            a session went on after the state that is here
    ├── ForeignProcessError (RuntimeError)    something secret was used outside its own process
    ├── AuditViolationError                   an attack did better than a guarantee allows
    ├── SessionFileError (ValueError)         not a session's file, or one that was altered
    ├── BundleError (ValueError)              a model that may not be published, or not this one
    └── PluginError                           something is wrong with a plugin
        ├── PluginClashError                  two plugins claim one name
        └── UnknownNameError (ValueError)     no plugin of that name

    PrivacyLeakWarning (UserWarning)          predictable noise, or a model that ignores its rows
    BudgetWarning (UserWarning)               a bare number of nats that looks like a success
    DesignWarning (UserWarning)               few candidates differ; the promise is for these
    FewCandidatesWarning (UserWarning)        fewer candidates than released numbers
    PluginWarning (UserWarning)               a plugin failed and was left out
    AnswersWarning (UserWarning)              "auto" releases answers: no such model can be released
    RepeatedReleaseWarning (UserWarning)      one table released about again; caps add up
    UtilityWarning (UserWarning)              a release expected to be no better than a constant

No message ever quotes a data value, a fitted number or the secret.
"""

from __future__ import annotations

import os


class PacsklearnError(Exception):
    """Base class of every error raised by pacsklearn."""


class BudgetError(PacsklearnError, ValueError):
    """The budget is not a positive, finite number of nats."""


class BudgetExhaustedError(PacsklearnError):
    """A release would take the ledger past its ceiling.

    Raised before anything is computed from the secret; the ledger is unchanged.

    Parameters
    ----------
    spent, asked, ceiling : float
        Nats already charged, nats this release would charge, and the ledger's ceiling.
    owner : str, default=""
        User or project whose ceiling it is; empty for the account itself.
    rows, rows_left : int, optional
        For answers: how many rows of the batch would be charged, and how many rows the budget
        still lasts for.
    is_cap : bool, default=False
        Whether the figures are successes, of which a second release would need another.
    """

    def __init__(
        self,
        spent: float,
        asked: float,
        ceiling: float,
        owner: str = "",
        *,
        rows: int | None = None,
        rows_left: int | None = None,
        is_cap: bool = False,
    ) -> None:
        super().__init__(spent, asked, ceiling, owner)
        self.spent = spent
        self.asked = asked
        self.ceiling = ceiling
        self.owner = owner
        self.rows = rows  # pickled with the other attributes
        self.rows_left = rows_left
        self.is_cap = is_cap

    def __str__(self) -> str:
        if self.is_cap:
            return (
                "The budget is exhausted: a cap allows one release, and it was made; successes do "
                "not add up. Nothing was released and nothing was charged. Release all that is "
                "needed at once, or state nats, budget=1/16, which add up."
            )
        of_whom = f" of {self.owner}" if self.owner else ""
        sentence = (
            f"The budget{of_whom} is exhausted: {self.spent:.6g} nats are spent, this release "
            f"asks for {self.asked:.6g}, and the ceiling is {self.ceiling:.6g}. Nothing was "
            "released and nothing was charged."
        )
        if self.rows is None:
            return f"{sentence} Ask for at most {max(self.ceiling - self.spent, 0.0):.6g} nats."
        return (
            f"{sentence} In rows: {self.rows} of the rows asked about are contested, and the "
            f"budget lasts for {self.rows_left} more of them. Ask about fewer rows "
            "(preview(X) counts the contested ones; the others are free), or allow for more "
            "answers, with a larger budget."
        )


class DesignError(PacsklearnError, ValueError):
    """The secret space cannot be built as asked."""


class ScenarioError(PacsklearnError, ValueError):
    """The rows do not allow the Pufferfish scenario that was asked for."""


class CanonicalizationError(PacsklearnError):
    """A fitted estimator could not be turned into a canonical vector or back."""


class NoCanonicalizerError(CanonicalizationError, TypeError):
    """No canonicalizer supports the estimator, so its parameters cannot be released.

    Parameters
    ----------
    why : str
        What about the estimator cannot be released.
    advice : str, default=""
        What to do instead.
    """

    def __init__(self, why: str, advice: str = "") -> None:
        super().__init__(why, advice)
        self.why = why
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.why} {self.advice}".strip()


class StructureMismatchError(CanonicalizationError):
    """The fitted structure differs between candidate subsets, so it cannot be noised."""


class GaugeError(CanonicalizationError):
    """A canonicalizer's decode does not predict what its encode saw."""


class SubsetFitError(PacsklearnError, ValueError):
    """The estimator failed on one of the candidate subsets.

    Attributes
    ----------
    subset : int or None
        The first candidate it failed on.
    """

    subset: int | None = None


class FunctionError(PacsklearnError, ValueError):
    """A function failed on a candidate, or returned something that cannot be released."""


class NonDeterministicError(PacsklearnError):
    """Two fits on the same subset with the same public seeds gave different results."""


class LedgerError(PacsklearnError):
    """A ledger cannot be opened, reached or charged; nothing was charged and nothing released."""


class LedgerCorruptedError(LedgerError):
    """A ledger's rows are not the ones that were written.

    Parameters
    ----------
    sequence : int
        Number of the first row that is wrong; 0 for the account itself.
    reason : str
        What is wrong with it.
    """

    def __init__(self, sequence: int, reason: str) -> None:
        super().__init__(sequence, reason)
        self.sequence = sequence
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"The ledger was altered: row {self.sequence} {self.reason}. Do not release anything "
            "under it; restore a copy whose position is not behind what was released."
        )


class LedgerUnknownError(LedgerError):
    """Whether a ledger took a change is not known: its database was lost while it was written.

    The next use of the ledger in this process finds out before it does anything else; nothing may
    be released until then.
    """


class LedgerMismatchError(LedgerError, ValueError):
    """An account, a unit, a ceiling or an event is not the one the ledger holds."""


class SessionRolledBackError(LedgerError):
    """A session was charged or resumed elsewhere after the state that is here."""


class SessionFileError(PacsklearnError, ValueError):
    """A file does not hold a session, or not the one that was saved in it."""


class BundleError(PacsklearnError, ValueError):
    """A model that must not be published, or a bundle that is not the one that was signed."""


class ForeignProcessError(PacsklearnError, RuntimeError):
    """Something that belongs to one process (a secret, an account, noise) was used in another.

    Nothing was drawn, charged or answered.

    Parameters
    ----------
    what : str
        What belongs to the process.
    process : int, optional
        Id of the process it belongs to.
    """

    def __init__(self, what: str, process: int | None = None) -> None:
        super().__init__(what, process)
        self.what = what
        self.process = process

    def __str__(self) -> str:
        home = "another process" if self.process is None else f"the process {self.process}"
        return (
            f"{self.what} stays in the process that made it, {home}; this is the process "
            f"{os.getpid()}. A fork or a copy would spend the same budget about the same secret "
            "once more, so nothing was drawn or charged. Ask the process that made it. In a server "
            "or a search with several workers (n_jobs), fit in each worker, after the fork, under "
            "one ledger in a database (ledger='sqlite:///path', which pacsklearn ledger found "
            "makes); to move a session, use PrivacySession.save and load; to publish a model, "
            "distil it or release parameters."
        )


class AuditViolationError(PacsklearnError):
    """An attack did better than a guarantee allows: the mechanism does not keep its promise."""


class PluginError(PacsklearnError):
    """Something is wrong with a plugin or with the name of one."""


class PluginClashError(PluginError):
    """Two plugins claim the same name."""


class UnknownNameError(PluginError, ValueError):
    """No registered plugin has the requested name."""


class PrivacyLeakWarning(UserWarning):
    """A result that may tell more than its guarantee says: do not release it as it is.

    The noise can be predicted (``random_state`` was given), or fits on different rows give one and
    the same model.
    """


class BudgetWarning(UserWarning):
    """A bare number of nats may have been meant as a success; or nats are not given back."""


class DesignWarning(UserWarning):
    """Far fewer candidates differ than were asked for; what is promised is promised for these."""


class FewCandidatesWarning(UserWarning):
    """There are fewer candidates than released numbers.

    Noise lives in the directions in which candidates differ; all else of the released vector is a
    function of the whole table.
    """


class AnswersWarning(UserWarning):
    """``release="auto"`` releases private answers, since no model of the kind can be released."""


class UtilityWarning(UserWarning):
    """A release that is expected to be no better than a constant answer, or that is one."""


class RepeatedReleaseWarning(UserWarning):
    """A second release about one table in a process: a guarantee is about its release alone."""


class PluginWarning(UserWarning):
    """A plugin failed to load and was left out."""


__all__ = sorted(  # noqa: PLE0605 - each name stands in the tree and at its class, and no third time
    name for name, kind in vars().items() if isinstance(kind, type) and kind.__module__ == __name__
)
