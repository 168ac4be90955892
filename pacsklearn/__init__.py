"""Private scikit-learn models with a provable guarantee.

Wrap an estimator, state a budget, call ``fit``::

    model = PACPrivate(LinearSVC(), budget=1 / 16).fit(X, y)
    print(model.guarantee_)
    publish(model, "model.pac", key="curator.key")
"""

__version__ = "0.1.0.dev0"

# Every name is imported when it is first asked for: importing pacsklearn costs next to nothing. The
# stub beside this file lists them, a line each, for type checkers too.
_ROOMS = frozenset(
    {
        "audit",
        "bounds",
        "datasets",
        "exceptions",
        "kernel",
        "plugins",
        "priors",
        "srpp",
        "tabular",
        "testing",
    }
)


def _homes() -> dict[str, str]:
    with open(f"{__file__}i", encoding="utf-8") as stub:  # noqa: PTH123 - pathlib takes longer
        listed = [line.split() for line in stub if line.startswith("from ")]
    return {name: home for _, home, _, name, _, _ in listed}


_HOMES = _homes()
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> object:
    import importlib

    if name in _ROOMS:
        return importlib.import_module(f"pacsklearn.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'pacsklearn' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_ROOMS})
