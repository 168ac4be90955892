"""The fixtures of the ledger's tests, and a server for them."""

from tests.conftest import _nothing_released, _same_subsets, in_a_child, secret_subsets
from tests.kernel.ledger.conftest import address, make_event, path, server, uri

__all__ = [
    "_nothing_released",
    "_same_subsets",
    "address",
    "in_a_child",
    "make_event",
    "path",
    "secret_subsets",
    "server",
    "uri",
]
