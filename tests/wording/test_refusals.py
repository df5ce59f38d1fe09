"""What krand refuses, in German: every template is there, is found, and leaves no English."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from docs.pages import script
from krand.accounting.calibration import plan_noise
from krand.errors import CannotMeet, InvalidInput, KrandError, Unavailable
from krand.languages.catalogs import catalog, named, serves
from krand.promise import Policy, ResponseFormat
from krand.survey.problems import SurveyErrors
from krand.survey.reading import parse_survey
from krand.wording.failures import explain, explain_in
from krand.wording.refusals import MESSAGES, ROOM, translated
from survey import test_reading, test_schema, test_trust

SAMPLES = ("7", "'x'", "a.b")
SURVEYS = [
    *(case[0] for case in test_reading.MISTAKES),
    *(case[0] for case in test_trust.WRONG),
    *test_schema.WRONG,
]
ENGLISH = re.compile(r"\b(must|the|be|of|or|and|with|is|not|found|line|you|has|it)\b")


@pytest.fixture(scope="module")
def templates() -> set[str]:
    """Those of all refusals in the source."""
    found: set[str] = set(script("developing/refusals.py").templates())
    return found


def filled(template: str, sample: str) -> dict[str, str]:
    """Something for each hole; what must be a message is one."""
    names = [name for _, name, *_ in Formatter().parse(template) if name]
    return {name: "must be given" if name in MESSAGES else sample for name in names}


def test_every_refusal_is_translated(templates: set[str]) -> None:
    """In German as a whole; a language without them shows no refusals in it."""
    assert len(templates) > 500
    assert {named(ROOM, each) for each in templates} <= catalog("de").texts.keys()
    assert serves("de", ROOM)
    assert not serves("fr", ROOM)
    assert translated("must be given", "fr") is None


@pytest.mark.parametrize("sample", SAMPLES)
def test_each_template_finds_itself(templates: set[str], sample: str) -> None:
    """Of all templates that match a message, its own is taken."""
    texts = catalog("de").texts
    for template in templates:
        holes = filled(template, sample)
        german = str(texts[named(ROOM, template)])
        inside = {
            name: "muss angegeben sein" if name in MESSAGES else text
            for name, text in holes.items()
        }
        assert translated(template.format(**holes), "de") == german.format(**inside), template


def quoted(text: str) -> str:
    """A text without what is code, a name, or a quotation."""
    return re.sub(r"„[^“]*“|\"[^\"]*\"|'[^']*'|\[\[?\w+\]?\]", "", text)


@pytest.mark.parametrize("text", SURVEYS, ids=range(len(SURVEYS)))
def test_a_broken_survey_is_told_in_german(text: str, tmp_path: Path) -> None:
    """Rules, what was found, and hints, with nothing English left."""
    with pytest.raises(SurveyErrors) as refused:
        parse_survey(text, str(tmp_path))
    for problem in refused.value.problems:
        for said in (problem.rule, problem.hint):
            german = translated(said, "de") if said else ""
            assert german is not None, said
            known = german.partition("bekannte Schlüssel")[0]
            assert not ENGLISH.search(quoted(known)), german
    whole = explain_in(refused.value, "de")
    assert whole is not None
    assert whole.splitlines()[0].endswith(" Fehler")
    assert not re.search(r"\b(must|found|line)\b", quoted(whole))
    assert explain_in(refused.value, "en") == explain(refused.value)


SAID: list[tuple[KrandError, str | None]] = [
    (
        InvalidInput("count", "must be at least the planned crowd of 10,000", "about 40"),
        "count: muss mindestens die geplante Zahl von 10.000 sein, gefunden: 'etwa 40'",
    ),
    (
        InvalidInput("x", "must be 'a', 'b' or 'c'", "must be given", "for example x = 1.5"),
        "x: muss 'a', 'b' oder 'c' sein, gefunden: 'must be given'\n  zum Beispiel x = 1.5",
    ),
    (
        InvalidInput(
            "out", "must not exist yet", None, "name another file, or replace it with --force"
        ),
        "out: darf noch nicht existieren\n"
        "  nennen Sie eine andere Datei, oder ersetzen Sie diese mit --force",
    ),
    (
        Unavailable("https://a.example cannot be reached now: Connection refused"),
        "https://a.example ist jetzt nicht erreichbar: „Connection refused“",
    ),
    (
        InvalidInput("mail", "a b/c.csv: has 2 mistakes\n  line 1: must be UTF-8, found 'x'", None),
        "mail: a b/c.csv: hat 2 Fehler\n  Zeile 1: muss UTF-8 sein, gefunden: 'x'",
    ),
    (InvalidInput("x", "must have some 7 answers", None), None),
    (InvalidInput("This is English", "must be given", None), None),
    (InvalidInput("x", "must be something that nobody has written yet", 1), None),
    (InvalidInput("x", "must be given", 1, "a hint that nobody has translated"), None),
    (CannotMeet("line 3 of a.txt: a rule that nobody knows"), None),
]


@pytest.mark.parametrize(("error", "said"), SAID, ids=range(len(SAID)))
def test_an_error_is_told_in_one_language_or_not_at_all(
    error: KrandError, said: str | None
) -> None:
    """Numbers as Germans write them, files as they are written; never half of a message."""
    assert explain_in(error, "de") == said


def test_what_can_be_met_instead_is_told() -> None:
    """A promise that cannot be kept, with its nearest requests, as they are searched for."""
    policy = Policy(epsilon=0.5, delta=1e-6, minimum_crowd=100)
    with pytest.raises(CannotMeet) as refused:
        plan_noise(policy, ResponseFormat(20), True)
    assert refused.value.nearest
    said = explain_in(refused.value, "de")
    assert said is not None
    assert "\nähnliche Anfragen, die sich erfüllen lassen:\n  • " in said
    assert not ENGLISH.search(said)
