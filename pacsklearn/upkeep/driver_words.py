"""What drivers of databases say, without what an address hides."""

from __future__ import annotations

import re
from urllib.parse import unquote

from pacsklearn.kernel.ledger.address import HIDDEN


def hide(text: str, address: str) -> str:
    """Return the words of a driver without the passwords that an address holds."""
    for match in re.finditer(HIDDEN, address):
        if each := match[2] or match[4]:
            text = text.replace(each, "***").replace(unquote(each), "***")
    return text
