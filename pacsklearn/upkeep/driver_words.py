"""What drivers of databases say, without what an address hides."""

from __future__ import annotations

import re
from urllib.parse import unquote


def hide(text: str, address: str) -> str:
    """Return the words of a driver without the passwords that an address holds."""
    secret = re.findall(
        r"://[^:/@?]*:(.*)@(?=[^@]*$)|[?&]\w*password=([^&]*)", address, re.IGNORECASE
    )
    for each in {word for pair in secret for word in pair if word}:
        text = text.replace(each, "***").replace(unquote(each), "***")
    return text
