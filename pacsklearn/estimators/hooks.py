"""Kinds of plugins that this ring declares, for our own distributions: they may change."""

from __future__ import annotations

from collections.abc import Iterable

from pacsklearn.kernel.plugins.kinds import kind


@kind("advice", "pacsklearn.estimators.advice:Advice", internal=True)
def pacsklearn_advice() -> Iterable[type | str]:
    """Return what a curator is told about a release that may be poor.

    Returns
    -------
    iterable of subclasses of Advice, or of their names
    """
    return ()


@kind("codebook", "pacsklearn.estimators.codebook:Codebook", internal=True)
def pacsklearn_codebooks() -> Iterable[type | str]:
    """Return how estimators read a table by a codebook.

    Returns
    -------
    iterable of subclasses of Codebook, or of their names
    """
    return ()


@kind("secret_space", "pacsklearn.estimators.table_space:TableSpace")
def pacsklearn_secret_spaces() -> Iterable[type | str]:
    """Draw candidates from a kind of table that is given as ``X``, which it claims by class.

    Returns
    -------
    iterable of subclasses of TableSpace, or of their names
    """
    return ()
