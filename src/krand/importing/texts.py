"""Texts of a questionnaire as a survey file has them: no HTML, nothing hidden, not too long."""

from __future__ import annotations

import re
from html import unescape

from krand.survey.rules import MAX_TEXT_LENGTH, without_hidden

LONGEST = 10 * MAX_TEXT_LENGTH
"""Characters of a text that are looked at, HTML included."""
_TAG = re.compile(r"(<[a-zA-Z/!][^<>]*>)")
_NAME = re.compile(r"<(/?)([a-zA-Z0-9]+)")
_TARGET = re.compile(r"""\shref\s*=\s*["']?(?:mailto:|(?=https?://))([^"'\s<>]+)""", re.IGNORECASE)
_BLOCKS = ("p", "div", "br", "li", "ul", "ol", "tr", "h1", "h2", "h3", "h4", "hr")
_UNSEEN = ("script", "style")
_FILLED_IN = re.compile(r"\$\{[^{}]*\}")


def plain_text(text: str) -> str:
    """What people would read: a line for each paragraph."""
    lines = (without_hidden(line).split() for line in "".join(_parts(text)).splitlines())
    return "\n".join(" ".join(words) for words in lines if words)


def plain_line(text: str) -> str:
    """The same in one line."""
    return " ".join(plain_text(text).split())


def filled_in(text: str) -> str:
    """The first place in a text where XLSForm writes an earlier answer; empty if none."""
    found = _FILLED_IN.search(text)
    return found[0] if found else ""


def _parts(text: str) -> list[str]:
    """The text between tags, line breaks and where links lead, which may be how to reach somebody.

    The time grows with its length alone.
    """
    unseen, target, parts = "", "", [""]
    for place, part in enumerate(_TAG.split(text[:LONGEST])):
        tag = _NAME.match(part) if place % 2 else None  # between two texts stands a tag
        if place % 2 == 0 and not unseen:
            parts.append(unescape(part))
        elif tag and tag[2].lower() in _BLOCKS:
            parts.append("\n")
        elif tag and tag[2].lower() in _UNSEEN:
            unseen = "" if tag[1] else tag[2].lower()
        elif tag and tag[2].lower() == "a":
            if target and target not in parts[-1]:
                parts.append(f" ({target})")
            found = _TARGET.search(part)
            target = unescape(found[1]) if found else ""
    return parts
