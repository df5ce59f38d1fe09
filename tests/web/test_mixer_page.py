"""The page of a mixer's service: what everybody may know, in two languages, and nothing runs."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import date

import pytest

from krand.partners.mixer_service import Overview, ShownSurvey
from krand.partners.records import Refusal, RoundState
from krand.web.mixer_page import mixer_page

SURVEY = ShownSurvey(
    survey="team-<b>climate</b>",
    plan="9c" * 32,
    organiser="The <i>council</i>",
    organiser_words="zoo zone youth young you yellow year wrong write wrist",
    epsilon=1.0,
    delta=1e-6,
    hop=2,
    mixers=3,
    closes=date(2027, 1, 31),
    erased_by=date(2027, 3, 2),
    state="signed",
    rounds=(RoundState.CLOSED, RoundState.MIXED, RoundState.OPEN),
)
REFUSAL = Refusal(day="2026-11-17", asked="keys", rule="epsilon: must be at most 2")
SHOWN = Overview(
    name="university",
    identity="3b" * 32,
    words="abandon ability able about above absent absorb abstract absurd abuse",
    digits="5a5a 5a5a 5a5a 5a5a 5a5a 5a5a 5a5a",
    surveys=(SURVEY,),
    refusals=(REFUSAL,),
)
IN_GERMAN = ("Fingerabdruck in Wörtern", "Mischer 2 von 3", "geschlossen", "gemischt", "offen")
IN_ENGLISH = ("Fingerprint in words", "mixer 2 of 3", "closed", "mixed", "open")


@pytest.mark.parametrize(
    ("accepted", "language", "expected"),
    [
        ("", "en", IN_ENGLISH),
        ("pt-BR", "en", IN_ENGLISH),
        ("ar", "en", IN_ENGLISH),
        ("de-AT,de;q=0.9", "de", IN_GERMAN),
        ("fr", "en", IN_ENGLISH),
    ],
)
def test_the_page_says_who_promises_what(
    accepted: str, language: str, expected: tuple[str, ...]
) -> None:
    """In the first language of the browser, and in English if krand lacks it."""
    page = mixer_page(SHOWN, accepted).content.decode().replace("\N{NO-BREAK SPACE}", " ")
    assert f'<html lang="{language}">' in page
    told = (SHOWN.words, SHOWN.digits, SURVEY.plan, SURVEY.organiser_words, "2027-03-02", "ε = 1")
    assert [each for each in (*told, *expected, REFUSAL.rule) if each not in page] == []


def test_nothing_that_others_wrote_becomes_part_of_the_page() -> None:
    """Names of surveys and organisers are text."""
    page = mixer_page(SHOWN).content.decode()
    assert "team-&lt;b&gt;climate&lt;/b&gt;" in page
    assert "<i>council" not in page


def test_nothing_runs_and_nothing_is_loaded() -> None:
    """The only style is the page's own, by its hash; there is no script."""
    page = mixer_page(SHOWN)
    text = page.content.decode()
    (style,) = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = dict(page.headers)["Content-Security-Policy"]
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'; ")
    assert "unsafe" not in policy
    assert not re.search(r"<script|\son\w+=|style=|src=|http", text.replace(style, ""))


def test_an_empty_service_has_a_page_too() -> None:
    """Before the first survey."""
    page = mixer_page(
        Overview(name="union", identity="3b" * 32, words="abandon", digits="5a5a")
    ).content.decode()
    assert "No plan was signed yet." in page
    assert "Nothing was refused." in page
