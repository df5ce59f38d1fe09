"""A report speaks one language: each sentence, label and number comes from its texts."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import pytest

from krand.analysis.results import Results
from krand.errors import InvalidInput
from krand.languages.catalogs import spoken
from krand.partners.siblings import Sibling
from krand.report import report_page, save_report
from krand.report import texts as report_texts
from krand.report.labels import labels_of
from krand.report.languages import Language, language_of, languages
from krand.survey.choices import Choices
from krand.survey.encoding import UNANSWERED
from krand.survey.plain_values import Malformed, typed
from krand.survey.questions import Choice, Number, PickAny, Scale, YesNo
from krand.wording import texts as shared_texts
from report.examples import bit_example
from report.foreign import Foreign, foreign_language, texts_in, untranslated
from report.variants import UNKNOWN_REASON, VARIANTS, results_of

ENGLISH = language_of("en")


@pytest.fixture(scope="module")
def foreign() -> Foreign:
    return foreign_language(ENGLISH)


def page_in(language: Language, results: Results, patch: pytest.MonkeyPatch) -> str:
    patch.setattr(
        "krand.report.labels.language_of", lambda code, _: {language.code: language}[code]
    )
    return report_page(results, language=language.code)


def known_of(results: Results) -> set[str]:
    """What no language changes: the survey's own words, hashes, versions, codes, commands."""
    survey = results.plan.survey
    chosen = (q.choices for q in survey.questions if isinstance(q, Choice | PickAny))
    scales = [q for q in survey.questions if isinstance(q, Scale)]
    return {
        *(f"krand estimate --candidates {q.name}=words.txt" for q in survey.questions),
        UNKNOWN_REASON,
        survey.id,
        *(survey.about.title, survey.about.organiser, survey.about.contact),
        *(q.name for q in survey.questions),
        *(q.text for q in survey.questions),
        *(q.unit for q in survey.questions if isinstance(q, Number)),
        *(choice for choices in chosen for choice in choices),
        *(q.level_name(level) for q in scales for level in range(q.levels)),
        *(label for q in scales for label in q.labels),
        *(w for e in results.words for r in e.rows for w in (r.word, *r.same_positions)),
        results.plan.hash,
        *results.batches,
        *(mixer.name for mixer in results.plan.mixing.mixers),
        *(told for s in _siblings(results) for told in (s.plan, s.closes)),
        results.tally_sha256,
        *(f"{name} {version}" for name, version in results.versions.items()),
    }


def _siblings(results: Results) -> tuple[Sibling, ...]:
    return () if results.siblings is None else results.siblings.plans


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
    "texts.scales.very",
    *("texts.workbook.", "texts.trend.", "texts.scales.between"),
    *("texts.page.all_questions", "texts.glance.left_out", "texts.glance.among."),
    *("texts.odds.period_results", "texts.promise.period"),
    *("shared.proofs.methods.", "shared.proofs.converted", "shared.proofs.assumptions."),
    *("shared.phrases.reasons.", "shared.phrases.senders", "shared.coalitions.people.one"),
    "shared.coalitions.local",
    "shared.parties.readers_and_people.one",
)
"""One for each code or number, of which the pages of the tests do not have all."""


@pytest.mark.check
def test_the_pages_need_every_text(foreign: Foreign, monkeypatch: pytest.MonkeyPatch) -> None:
    """No text of the catalogs is unused, and no sentence escapes the test above."""
    pages = "".join(page_in(foreign.language, results_of(n), monkeypatch) for n in VARIANTS)
    told = foreign.numbers.items()
    unused = [path for path, at in told if f"⟦{at}⟧" not in pages and not path.startswith(BY_CODE)]
    assert unused == []


def test_an_unknown_language_is_refused_with_those_there_are(tmp_path: Path) -> None:
    """Before anything is written."""
    with pytest.raises(InvalidInput, match="must be one of: de, en") as refused:
        save_report(bit_example().results, tmp_path / "report.html", language="fr")
    assert (refused.value.field, refused.value.value) == ("language", "fr")
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
    assert set(labels.silence.values()) == {UNANSWERED}


def test_an_answer_of_the_survey_is_shown_as_it_is(foreign: Foreign) -> None:
    """Also if krand has a word like it."""
    asked = (Choice(name="vote", choices=Choices(["yes", "no", "perhaps"])), YesNo(name="came"))
    survey = replace(bit_example().plan.survey, questions=asked, together=())
    labels = labels_of(survey, foreign.language)
    assert labels.answer("vote", "yes") == "yes"
    assert labels.answer("came", "yes") == foreign.language.texts.labels.yes


@pytest.mark.parametrize("room", [report_texts, shared_texts], ids=["report", "shared"])
def test_another_language_gives_every_text(room: ModuleType) -> None:
    """Plain data that leaves a text out, or has one more, is refused by the text's name."""
    package = room.__name__.rpartition(".")[0]
    content = files(package).joinpath("texts_en.toml").read_text(encoding="utf-8")
    values = spoken(tomllib.loads(content), package.removeprefix("krand."), "de")
    group, texts = list(values.items())[-1]
    name = next(iter(texts))
    for change, said in (
        ({}, "is missing"),
        ({**texts, name: 3}, name),
        ({**texts, "odd": ""}, "odd"),
    ):
        with pytest.raises(Malformed, match=rf"{group}.*{said}"):
            typed(room.Texts, {**values, group: change})


def test_all_languages_have_the_same_codes() -> None:
    """Texts by a code too; a language that lacks one would fail only where it is told."""
    english, *others = ({_name(p) for p, _ in texts_in(language_of(c))} for c in languages())
    assert english
    assert [paths ^ english for paths in others] == [set()] * len(others)


def _name(path: str) -> str:
    """Without the form of a plural."""
    return re.sub(r"\.(zero|one|two|few|many|other)$", "", path)


def test_german_has_german_signs() -> None:
    """Numbers, the space before percent, and quotation marks, except in a survey file."""
    german = language_of("de")
    assert (german.numbers.whole(1_234), german.numbers.rounded(1_234.5, 1)) == ("1.234", "1.234,5")
    assert german.numbers.percent_of(0.95, "g") == "95\N{NO-BREAK SPACE}%"
    texts = [*texts_in(german.texts), *texts_in(german.shared)]
    assert len(texts) > 300
    quoted = [path for path, text in texts if '"' in text.replace('noise = "mixers"', "")]
    percent = [path for path, text in texts if re.search(r"(?<!\u00a0)%", text)]
    opened = [path for path, text in texts if text.count("„") != text.count("“")]
    assert (quoted, percent, opened) == ([], [], [])
