"""A report speaks one language: each sentence, label and number comes from its texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from types import ModuleType

import pytest

from krand.analysis.results import Results
from krand.errors import InvalidInput
from krand.report import report_page, save_report
from krand.report import texts as report_texts
from krand.report.labels import labels_of
from krand.report.languages import DEFAULT_LANGUAGE, LANGUAGES, Language
from krand.survey.choices import Choices
from krand.survey.questions import Choice, Number, PickAny, Scale, YesNo
from krand.wording import texts as shared_texts
from krand.wording.texts import Plural
from report.examples import bit_example
from report.foreign import Foreign, foreign_language, named_in, texts_in, untranslated
from report.variants import UNKNOWN_REASON, VARIANTS, results_of

ENGLISH = LANGUAGES[DEFAULT_LANGUAGE]
ROOT = Path(__file__).parents[2]
MOST_FILES = 6
ALL_ANSWERS = "krand estimate -o results.csv"


@pytest.fixture(scope="module")
def foreign() -> Foreign:
    return foreign_language(ENGLISH)


def page_in(language: Language, results: Results, patch: pytest.MonkeyPatch) -> str:
    patch.setitem(LANGUAGES, language.code, language)
    return report_page(results, language=language.code)


def known_of(results: Results) -> set[str]:
    """What no language changes: the survey's own words, hashes, versions, codes, commands."""
    survey = results.plan.survey
    chosen = (q.choices for q in survey.questions if isinstance(q, Choice | PickAny))
    scales = [q for q in survey.questions if isinstance(q, Scale)]
    return {
        ALL_ANSWERS,
        *(f"krand estimate --candidates {q.name}=words.txt" for q in survey.questions),
        UNKNOWN_REASON,
        survey.id,
        *(survey.about.title, survey.about.organiser, survey.about.contact),
        *(q.name for q in survey.questions),
        *(q.text for q in survey.questions),
        *(q.unit for q in survey.questions if isinstance(q, Number)),
        *(choice for choices in chosen for choice in choices),
        *(q.level_name(level) for q in scales for level in range(q.levels)),
        *(w for e in results.words for r in e.rows for w in (r.word, *r.same_positions)),
        results.plan.hash,
        *results.batches,
        *(told for s in results.signatures for told in (s.signer, s.fingerprint)),
        *(f"{name} {version}" for name, version in results.versions.items()),
    }


@pytest.mark.parametrize("name", VARIANTS)
def test_every_word_and_number_of_a_page_is_in_its_language(
    name: str, foreign: Foreign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No sentence, label, sign of a number or text of an attribute is left in code or templates."""
    results = results_of(name)
    page = page_in(foreign.language, results, monkeypatch)
    assert untranslated(page, known_of(results)) == []
    assert '<html lang="xx">' in page


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("shared.devices.beside", "bits, more colluders than refused"),
        ("texts.labels.unanswered", "bits, as they are"),
        ("texts.page.contents", "bits, as they are"),
        ("shared.collusion.weak", "bits, weak protection"),
        ("shared.numbers", "bits, as they are"),
    ],
)
def test_one_text_in_english_is_found(
    path: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of a sentence, a label, an attribute, a shared phrase, the signs of numbers."""
    results = results_of(name)
    language = foreign_language(ENGLISH, but=[path]).language
    assert untranslated(page_in(language, results, monkeypatch), known_of(results)) != []


BY_CODE = (
    "texts.date.months.",
    *(
        "shared.guarantees.methods.",
        "shared.guarantees.converted",
        "shared.guarantees.assumptions.",
    ),
    *("shared.phrases.reasons.", "shared.phrases.senders", "shared.coalitions.people.one"),
    "shared.coalitions.local",
)
"""One for each code or number, of which the pages of the tests do not have all."""


def test_the_pages_need_every_text(foreign: Foreign, monkeypatch: pytest.MonkeyPatch) -> None:
    """No text of the catalogs is unused, and no sentence escapes the test above."""
    pages = "".join(page_in(foreign.language, results_of(n), monkeypatch) for n in VARIANTS)
    told = foreign.numbers.items()
    unused = [path for path, at in told if f"⟦{at}⟧" not in pages and not path.startswith(BY_CODE)]
    assert unused == []


def test_an_unknown_language_is_refused_with_those_there_are(tmp_path: Path) -> None:
    """Before anything is written."""
    with pytest.raises(InvalidInput, match="must be one of: de, en") as refused:
        save_report(bit_example().results, tmp_path / "report.html", language="tlh")
    assert (refused.value.field, refused.value.value) == ("language", "tlh")
    assert list(tmp_path.iterdir()) == []


def test_english_labels_are_those_of_the_results() -> None:
    """Whatever the ends of the ranges are, but for their signs, and for yes and no."""
    asked = (
        Number(name="a", edges=(-5, 0.5, 1500), open_below=True, open_above=True),
        Number(name="b", edges=(0, 1, 10), open_above=True, integer=True),
        YesNo(name="c"),
    )
    survey = replace(bit_example().plan.survey, questions=asked, together=())
    labels = labels_of(survey, ENGLISH)
    for question in asked:
        for level in range(question.levels):
            name = question.level_name(level)
            shown = labels.answers[question.name][name]
            assert shown.replace(",", "").replace("−", "-") == name
    assert all(shown == name for name, shown in labels.silence.items())


def test_an_answer_of_the_survey_is_shown_as_it_is(foreign: Foreign) -> None:
    """Also if krand has a word like it."""
    asked = (Choice(name="vote", choices=Choices(["yes", "no", "perhaps"])), YesNo(name="came"))
    survey = replace(bit_example().plan.survey, questions=asked, together=())
    labels = labels_of(survey, foreign.language)
    assert labels.answer("vote", "yes") == "yes"
    assert labels.answer("came", "yes") == foreign.language.texts.labels.yes


def invented(language: Language) -> Iterator[str]:
    """The texts of a language that name something which is not filled in."""
    for own, english in ((language.texts, ENGLISH.texts), (language.shared, ENGLISH.shared)):
        known = dict(texts_in(english))
        for path, text in texts_in(own):
            group = path.removesuffix(".one").removesuffix(".other")
            names = {n for p, t in known.items() if p.startswith(group) for n in named_in(t)}
            if not named_in(text) <= names:
                yield f"{path} names {named_in(text) - names}"


def test_texts_name_only_what_is_filled_in(foreign: Foreign) -> None:
    """In every language; a plural may name its number in one of two texts."""
    texts = foreign.language.texts
    asked = Plural("question to {people}", "{numbre} questions")
    odd = replace(texts, page=replace(texts.page, asked=asked))
    assert list(invented(replace(foreign.language, texts=odd))) == [
        ".page.asked.other names {'numbre'}"
    ]
    assert [fault for language in LANGUAGES.values() for fault in invented(language)] == []


def left_in_english(source: str, room: ModuleType) -> list[str]:
    """The texts that a module of a language does not give, of the groups of its room."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    given = {
        call.func.id: {keyword.arg for keyword in call.keywords}
        for call in calls
        if isinstance(call.func, ast.Name)
    }
    groups = {name: getattr(room, name) for name in room.__all__ if name.endswith("Texts")}
    return [
        f"{name}.{each.name}"
        for name, group in groups.items()
        for each in fields(group)
        if each.name not in given.get(name, ())
    ]


@pytest.mark.parametrize("room", [report_texts, shared_texts])
def test_another_language_gives_every_text(room: ModuleType) -> None:
    """What it leaves out would be English; a group that it leaves out altogether too."""
    everything = left_in_english("", room)
    assert len(everything) > 40
    first, second, *_ = everything
    group, _, name = first.partition(".")
    left = left_in_english(f"X = Texts(a={group}({name}='Wort'))", room)
    assert first not in left
    assert second in left
    assert room.__file__ is not None
    for path in Path(room.__file__).parent.glob("texts_*.py"):
        assert left_in_english(path.read_text(encoding="utf-8"), room) == [], path.name


def test_the_guide_names_at_most_six_files() -> None:
    """All of those that are not new exist."""
    text = (ROOT / "docs" / "developing" / "add-a-language.md").read_text(encoding="utf-8")
    steps = re.findall(r"^(\d)\. `([^`]+)`(, a new module)?", text, re.MULTILINE)
    assert [int(number) for number, _, _ in steps] == list(range(1, len(steps) + 1))
    assert 3 <= len(steps) <= MOST_FILES
    assert [path for _, path, new in steps if not new and not (ROOT / path).is_file()] == []
    rooms = {Path(path).parent for _, path, new in steps if new}
    assert all((ROOT / "src" / "krand" / room / "texts.py").is_file() for room in rooms)


def test_german_has_german_signs() -> None:
    """Numbers, the narrow space before percent, and quotation marks, except in a survey file."""
    german = LANGUAGES["de"]
    assert (german.numbers.whole(1_234), german.numbers.rounded(1_234.5, 1)) == ("1.234", "1.234,5")
    assert german.numbers.percent_of(0.95, "g") == "95\N{NARROW NO-BREAK SPACE}%"
    texts = [*texts_in(german.texts), *texts_in(german.shared)]
    assert len(texts) > 300
    quoted = [path for path, text in texts if '"' in text.replace('noise = "mixers"', "")]
    percent = [path for path, text in texts if re.search(r"(?<!\u202f)%", text)]
    opened = [path for path, text in texts if text.count("„") != text.count("“")]
    assert (quoted, percent, opened) == ([], [], [])
