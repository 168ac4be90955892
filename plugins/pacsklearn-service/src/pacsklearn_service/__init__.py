"""Private answers over HTTP: a client that is an estimator, and the server behind it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what __getattr__ imports
    from pacsklearn_service.private_model import PrivateModel

__all__ = ["PrivateModel"]


def __getattr__(name: str) -> object:
    # When it is first asked for: a command line that only lists its commands imports nothing.
    if name != "PrivateModel":
        raise AttributeError(f"module 'pacsklearn_service' has no attribute {name!r}")
    from pacsklearn_service.private_model import PrivateModel

    return PrivateModel
