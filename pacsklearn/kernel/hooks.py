"""Hooks of the entry-point group ``pacsklearn`` for what the kernel knows, and its own of each.

Every hook yields classes, or ``"package.module:Class"``, and does nothing else: no plugin can alter
a mechanism unseen. Other rings declare further kinds in modules of this name.
"""

from __future__ import annotations

from collections.abc import Iterable

from pacsklearn.kernel.plugins.kinds import kind


@kind("canonicalizer", "pacsklearn.kernel.outputs.canonicalizer:Canonicalizer")
def pacsklearn_canonicalizers() -> Iterable[type | str]:
    """Turn a kind of fitted estimator into a vector that can be noised, and back.

    Returns
    -------
    iterable of subclasses of Canonicalizer, or of their names

    Examples
    --------
    >>> from pacsklearn.plugins import hookimpl
    >>> @hookimpl
    ... def pacsklearn_canonicalizers():
    ...     yield "clinic.private:TrimmedMeanCanonicalizer"
    """
    return ()


@kind("batch_predictor", "pacsklearn.kernel.outputs.batch_predictor:BatchPredictor")
def pacsklearn_batch_predictors() -> Iterable[type | str]:
    """Predict with the models of all candidates at once, for fast private answers.

    Returns
    -------
    iterable of subclasses of BatchPredictor, or of their names
    """
    return ()


@kind("subset_fitter", "pacsklearn.kernel.outputs.subset_fitter:SubsetFitter")
def pacsklearn_subset_fitters() -> Iterable[type | str]:
    """Fit the models of all candidates at once, to the same numbers as one after the other.

    Returns
    -------
    iterable of subclasses of SubsetFitter, or of their names
    """
    return ()


@kind("noise_backend", "pacsklearn.kernel.noise.noise_backend:NoiseBackend")
def pacsklearn_noise_backends() -> Iterable[type | str]:
    """Calibrate noise to a budget, for ``PACPrivate(..., noise=name)``.

    Returns
    -------
    iterable of subclasses of NoiseBackend, or of their names
    """
    return ("pacsklearn.kernel.noise.lattice:LogdetBackend",)


@kind("budget", "pacsklearn.kernel.budget.budget:Budget")
def pacsklearn_budgets() -> Iterable[type | str]:
    """Say what is promised and in which unit, for ``PACPrivate(..., budget=Budget(...))``.

    Returns
    -------
    iterable of subclasses of Budget, or of their names
        A cap on an adversary's success derives from :class:`~pacsklearn.plugins.Cap`, and makes a
        criterion for a secret space.
    """
    return (
        "pacsklearn.kernel.budget.nats:Nats",
        "pacsklearn.kernel.budget.caps:Membership",
        "pacsklearn.kernel.budget.caps:Identification",
        "pacsklearn.kernel.budget.caps:KOfN",
    )


@kind("stated_secret", "pacsklearn.kernel.secret.stated_secret:PACSecret")
def pacsklearn_stated_secrets() -> Iterable[type | str]:
    """State a kind of secret that guarantees are about, which they are read with again.

    Returns
    -------
    iterable of subclasses of PACSecret, or of their names
    """
    return (
        "pacsklearn.kernel.secret.secret_rows:SecretRows",
        "pacsklearn.kernel.secret.stated_secret:SecretCandidate",
    )


@kind("guarantee", "pacsklearn.kernel.guarantee.guarantee:Guarantee", internal=True)
def pacsklearn_guarantees() -> Iterable[type | str]:
    """State what releases of a framework promise, by whose name they are read again.

    Returns
    -------
    iterable of subclasses of Guarantee, or of their names
    """
    return ("pacsklearn.kernel.guarantee.pac_guarantee:PACGuarantee",)


@kind("event", "pacsklearn.kernel.ledger.event:Event", internal=True)
def pacsklearn_events() -> Iterable[type | str]:
    """State what ledgers charge, with what prices it again, by whose name rows are read.

    Returns
    -------
    iterable of subclasses of Event, or of their names
    """
    return tuple(
        f"pacsklearn.kernel.ledger.event:{name}"
        for name in ("LatticeNoise", "Bookkeeping", "QueryAnswers")
    )


@kind("ledger_scheme", "pacsklearn.kernel.ledger.log:Log")
def pacsklearn_ledger_schemes() -> Iterable[type | str]:
    """Keep ledgers in a kind of database, for ``ledger="name://..."``.

    Returns
    -------
    iterable of subclasses of Log, or of their names
    """
    return ("pacsklearn.kernel.ledger.sqlite_log:SQLiteLog",)
