"""Names and ids made from texts that people wrote."""

from __future__ import annotations

import re
import unicodedata

LONGEST_NAME = 40
WORDS = re.compile(r"[a-z0-9]+")


def name_from(text: str, between: str) -> str:
    """Letters and digits of a text, for ids and column names; it may be empty."""
    plain = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    name = ""
    for word in WORDS.findall(plain):
        longer = f"{name}{between}{word}" if name else word
        if len(longer) > LONGEST_NAME:
            break
        name = longer
    return name


def unused_name(name: str, number: int, seen: set[str]) -> str:
    """A name that begins with a letter, and that no question before has; it is then seen."""
    if not name[:1].isalpha():
        name = f"question_{number}"
    while name in seen:
        name = f"{name}_{number}"
    seen.add(name)
    return name
