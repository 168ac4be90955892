"""Why the parameters of some estimators cannot be released."""

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
