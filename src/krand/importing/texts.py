"""Texts of a questionnaire as a survey file has them: their language, and why some are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape

from krand.survey.rules import LANGUAGE_PATTERN, MAX_TEXT_LENGTH, without_hidden

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


NAMES = {
    "arabic": "ar",
    "deutsch": "de",
    "english": "en",
    "español": "es",
    "espanol": "es",
    "french": "fr",
    "français": "fr",
    "francais": "fr",
    "german": "de",
    "hindi": "hi",
    "indonesian": "id",
    "italian": "it",
    "kiswahili": "sw",
    "portuguese": "pt",
    "russian": "ru",
    "spanish": "es",
    "swahili": "sw",
    "turkish": "tr",
    "ukrainian": "uk",
}
"""Languages that questionnaires name without a tag."""
_IN_BRACKETS = re.compile(r"\(([A-Za-z-]{2,35})\)\s*$")


def language_tag(name: str) -> str:
    """The tag that a name such as `English (en)` or `German` means; empty if nobody knows."""
    given = name.strip()
    if found := _IN_BRACKETS.search(given):
        given = found[1]
    elif given.casefold() in NAMES:
        return NAMES[given.casefold()]
    is_tag = re.fullmatch(LANGUAGE_PATTERN, given) and (len(given) <= 3 or "-" in given)
    return given if is_tag else ""


def main_language(names: Iterable[str], wanted: str) -> str:
    """The one of these names that a form calls its own; else the first."""
    known = list(names)
    same = [name for name in known if name.casefold() == wanted.strip().casefold()]
    tags = [name for name in known if wanted and language_tag(name) == language_tag(wanted)]
    return [*same, *tags, *known, ""][0]


FREE_TEXT = "free text cannot be made anonymous: offer choices, or ask it outside of krand"
EXACT_TIME = "an exact date or time: offer ranges as choices"
PLACE = "an exact place: offer areas as choices"
MEDIA = "a recording or a file cannot be made anonymous"
DEVICE = "krand records nothing about devices, people or times"
COMPUTED = "krand computes nothing from answers"
RANKING = "a ranking has no counterpart: ask for the first choice"
NO_BOUNDS = (
    "krand counts numbers by ranges, and nothing says where they begin and end: add a number with"
    " edges to the survey file"
)
NO_HEADINGS = "the form has no headings: say in the questions what they are about"
NO_QUESTION = "a text that is no question: put it into a question, the introduction or thanks"
OTHER_TOOL = "written for another tool: check what they say about data, contacts and promises"
NO_LANGUAGE = "nobody knows the tag of this language, or it is there already"
