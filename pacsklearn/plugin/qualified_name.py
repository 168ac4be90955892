"""The names by which a class is known, whatever private module it lives in today."""

from __future__ import annotations

__all__ = ["is_dotted_name", "public_name", "public_names"]


def is_dotted_name(value: object, minimum: int = 2) -> bool:
    """Whether ``value`` is a string of at least ``minimum`` identifiers joined by dots."""
    if not isinstance(value, str):
        return False
    parts = value.split(".")
    return len(parts) >= minimum and all(part.isidentifier() for part in parts)


def public_name(name: str) -> str:
    """Dotted name without the private components on its path.

    Examples
    --------
    >>> public_name("sklearn.svm._classes.LinearSVC")
    'sklearn.svm.LinearSVC'
    """
    *path, last = name.split(".")
    return ".".join([*(part for part in path if not part.startswith("_")), last])


def public_names(cls: type) -> tuple[str, ...]:
    """Names that claim ``cls``; none for a class that no other process could import.

    Parameters
    ----------
    cls : type

    Returns
    -------
    tuple of str
        The path without its private components, and the path cut at the first of them, since
        ``sklearn.linear_model._glm.glm`` exports to ``sklearn.linear_model``.

    Examples
    --------
    >>> from pathlib import PurePath
    >>> public_names(PurePath)[0]
    'pathlib.PurePath'
    """
    module, qualname = cls.__module__, cls.__qualname__
    if module == "__main__" or "<locals>" in qualname:
        return ()
    path = module.split(".")
    private = [i for i, part in enumerate(path) if part.startswith("_")]
    names = [public_name(f"{module}.{qualname}")]
    if private and private[0] > 0:
        names.append(public_name(".".join([*path[: private[0]], qualname])))
    return tuple(dict.fromkeys(names))
