"""Addresses of databases: the kind they name, their one spelling, and how they are printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pacsklearn._validation import brief
from pacsklearn.exceptions import LedgerError, UnknownNameError
from pacsklearn.kernel.host import host

if TYPE_CHECKING:  # whose messages print addresses
    from pacsklearn.kernel.ledger.log import Log


def log_class(address: object) -> type[Log]:
    """Return the kind of database that an address names.

    Raises
    ------
    LedgerError
        When no plugin brings it, with the way to install one that does.
    """
    from pacsklearn.kernel.plugins.registry import registry

    name = str(address).partition(":")[0].partition("+")[0]
    try:
        return registry().load("ledger_scheme", name)  # type: ignore[no-any-return]
    except UnknownNameError:
        shown = repr(without_password(address)) if isinstance(address, str) else brief(address)
        raise LedgerError(
            "ledger must be None, an address such as 'sqlite:///clinic.db' or "
            f"'postgresql://host/database', or a ledger, got {shown}."
            f"{host().install_hint('ledger_scheme', name)}"
        ) from None


def database_address(uri: str) -> str:
    """Return the one address of the database that a user's address names.

    Raises
    ------
    LedgerError
        When it names none.
    """
    return log_class(uri).own_address(uri)


# Up to the last @, which users and passwords may hold too; or a word of the driver; or any option
# (a driver knows many that are secret, and quotes none of those it does not know) but for these.
HIDDEN = (
    r"(?is)(^(?:[\w+]+://|(?!.*://)(?:[\w+]+:)?)[^:/?]*:)(?!\d*/[^/?@]*\?[^=@]*=)"
    r"((?:(?!(?:pass|pwd|secret)\w*\s*=).)*)(?=@)|((?:pass|pwd|secret|scram)\w*\s*=\s*"
    r"|[?&](?!(?:user|host|hostaddr|port|dbname|service|sslmode|keepalives\w*|\w+_(?:name|timeout))=)"
    r"[^=&\s]+=)('[^']*'|(?:[^&\s]|&(?!\w+=))+)"
)


def without_password(address: str) -> str:
    """Return the address of a database as it may be printed."""
    return re.sub(HIDDEN, r"\1\3***", address)
