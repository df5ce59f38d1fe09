"""A mixer's overview becomes one page: no script, nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from krand.collector.public import Page
from krand.languages.catalogs import main_language
from krand.report.pages import render
from krand.wording.number_format import number_format
from krand.wording.texts import Plural, read_texts

if TYPE_CHECKING:
    from krand.partners.mixer_service import Overview

HTML = "text/html; charset=utf-8"
STYLE = re.compile("<style>(.*?)</style>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class MixerTexts:
    """The sentences of the page."""

    title: str
    skip: str
    lead: str
    identity: str
    identity_lead: str
    words: str
    digits: str
    key: str
    promises: str
    promise: tuple[str, ...]
    limits: str
    surveys: str
    no_surveys: str
    organiser: str
    unnamed: str
    promised: str
    place: str
    place_of: str
    closes: str
    erased_by: str
    state: str
    states: Mapping[str, str]
    rounds: Plural
    round_states: Mapping[str, str]
    plan: str
    needed: str
    signed_list: str
    refusals: str
    no_refusals: str
    day: str
    asked: str
    rule: str
    footer: str


ROOM = "mixer"


@cache
def texts_in(language: str) -> MixerTexts:
    """The sentences in a language that has all of them."""
    return read_texts(MixerTexts, "krand.web", "mixer_en.toml", room=ROOM, language=language)


def mixer_page(overview: Overview, accepted: str = "") -> Page:
    """The page in the first language of `accepted`, a browser's Accept-Language."""
    language = main_language(re.split("[,;]", accepted.strip(), maxsplit=1)[0], ROOM)
    content = render(
        "mixer.html",
        room=__package__,
        texts=texts_in(language),
        language=language,
        overview=overview,
        at_most=number_format(language).at_most,
    )
    headers = (
        ("Content-Security-Policy", _policy(content)),
        ("Cache-Control", "no-store"),
        ("Vary", "Accept-Language"),
        ("X-Frame-Options", "DENY"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
    )
    return Page(content.encode(), HTML, headers)


def _policy(content: str) -> str:
    """Nothing is run or loaded; the only style is the page's own, named by its hash."""
    digests = (hashlib.sha256(style.encode()).digest() for style in STYLE.findall(content))
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; style-src {allowed}; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'"
    )
