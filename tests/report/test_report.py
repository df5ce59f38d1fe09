"""The report: what it says in English and German, and that its numbers are the results'."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import world
from command_line import done, refused
from components import require
from golden import Golden
from html_pages import Page, read_page, text_of, untranslated
from krand import (
    InvalidInput,
    Results,
    ResultsOptions,
    make_plan,
    make_results,
    make_trend,
    parse_survey,
    save_report,
)
from krand.testing import simulated_table, unsafe_simulated_tally

HIDE = {r"krand \d[\d.]+\S*, python .*": "<versions>"}
SCRIPT = '<script>alert("1")</script>'


def html_of(results: Results, folder: Path, **options: Any) -> str:
    path = folder / "report.html"
    save_report(results, path, **options)
    return path.read_text(encoding="utf-8")


# ---- What it says


@cache
def refused_messages() -> Results:
    """So many messages refused that the promise is not kept; the people taken as a sample."""
    tally, plan = world.tally("kinds"), world.plan("kinds")
    kept = [tally.counts[lane.offset : lane.offset + lane.positions].sum() for lane in plan.lanes]
    sent = [tally.people * lane.messages for lane in plan.lanes]
    empty = np.array(sent) - np.array(kept)
    empty[0] -= 2_001
    refused = {"wrong_length": 2_000, "repeated": 1}
    tally = replace(tally, nulls=int(empty.sum()), lane_nulls=empty, rejected=refused)
    options = ResultsOptions(confidence=0.9, sample_of=1_000_000)
    return make_results(plan, tally, options)


def came_from(name: str, source: str, **trust: Any) -> Results:
    """The same numbers, as if they had come from devices or a data holder's table."""
    plan, tally = world.plan(name), world.tally(name)
    if trust:
        plan = replace(plan, survey=plan.survey.changed(trust=plan.survey.trust.changed(**trust)))
        tally = replace(tally, plan_hash=plan.hash)
    options = ResultsOptions(**world.OPTIONS.get(name, {}))
    results = make_results(plan, tally, options)
    return replace(results, provenance=type(results.provenance)(source))


ODD = f"""\
id = "odd-2026-03"
title = "Odd {SCRIPT.replace('"', "'")}"
organiser = "<b>جهة</b> 🙂"
language = "en"
[policy]
epsilon = 2.0
delta = 0.01
minimum_crowd = 60
[trust]
noise = "devices"
[[question]]
name = "no_text"
type = "yes_no"
[[question]]
name = "long"
type = "choice"
text = "{"Q" * 150} {"w " * 70}end"
choices = ["{"W" * 120}", "<i>a</i> 👍🏽"]
[[question]]
name = "ends"
type = "scale"
text = "كم؟ (1–11)"
lowest = 1
highest = 11
labels = ["not at all satisfied with anything", "راضٍ جدًا 🙂"]
[[question]]
name = "way"
type = "number"
edges = [-5, 0.5, 1500]
open = true
unit = "km & <u>miles</u>"
"""


@cache
def odd() -> Results:
    """Too few people to read anything; names that are code, long, missing, of other alphabets."""
    plan = make_plan(parse_survey(ODD))
    return make_results(plan, unsafe_simulated_tally(plan, simulated_table(plan.survey, 60, 1), 1))


BASES: dict[str, Callable[[], Results]] = {
    **{name: lambda name=name: world.results(name) for name in world.COUNTED},  # type: ignore[misc]
    "odd": odd,
}
VARIANTS: dict[str, tuple[str, Callable[[], Results]]] = {
    "refused": ("kinds", refused_messages),
    "devices": ("mixers", lambda: came_from("mixers", "devices")),
    "one-hand": ("mixer", lambda: came_from("mixer", "devices", analyst_runs=(1,))),
    "table": ("copies", lambda: came_from("copies", "table")),
}
"""The same results in another way: kept is what is then said differently."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], str]:
    """The report of a case in a language."""
    folder = tmp_path_factory.mktemp("reports")

    @cache
    def page(name: str, language: str = "en") -> str:
        make = BASES.get(name) or VARIANTS[name][1]
        return html_of(make(), folder, language=language)

    return page


Pages = Callable[..., str]


@pytest.mark.parametrize("name", [*BASES, *VARIANTS])
def test_what_a_report_says(pages: Pages, golden: Golden, name: str) -> None:
    """In English and German; nothing but the survey's own words is in both."""
    texts = {language: text_of(pages(name, language)) for language in ("en", "de")}
    results = (BASES.get(name) or VARIANTS[name][1])()
    own = json.dumps(json.loads(results.plan.bytes), ensure_ascii=False)
    left = untranslated(texts["de"], texts["en"], own)
    assert [line for line in left if not re.match(r"krand |[0-9a-f]{64}$", line)] == []
    for language, text in texts.items():
        assert f'<html lang="{language}">' in pages(name, language)
        if name in VARIANTS:
            base = set(text_of(pages(VARIANTS[name][0], language)).splitlines())
            text = "\n".join(line for line in text.splitlines() if line not in base)
        golden(f"report/{name}.{language}", text, HIDE)


def test_a_broken_promise_is_loud(pages: Pages) -> None:
    """A heading before everything else, both numbers, the refused messages; none otherwise."""
    text = text_of(pages("refused"))
    headings = re.findall("(?m)^#+ (.*)", text)
    assert headings[1] == "The promise was not kept"
    assert "promised people δ = 10⁻⁶" in text
    assert "2,000 wrong length" in text
    assert "Proven" not in text.partition("## At a glance")[0]
    assert "not kept" not in text_of(pages("kinds")).lower()


def test_nobody_is_called_safe_from_an_organiser_who_runs_it_all(pages: Pages) -> None:
    """The page says who can read every answer, and the guess is that of readers of the results."""
    text = text_of(pages("one-hand"))
    assert "so it can read every answer" in text
    assert "the analyst can see" not in text
    assert text.count("Anyone who sees nothing but these results") == 1


# ---- Its numbers


def shown(text: str) -> float:
    return float(text.replace(" %", "").replace(",", "").replace("\N{MINUS SIGN}", "-"))


def says(text: str, value: float) -> None:
    """The text is the value, rounded to as many digits as are printed."""
    digits = len(text.replace(" %", "").partition(".")[2])
    assert math.isclose(shown(text), value, rel_tol=0, abs_tol=0.5001 / 10**digits), (text, value)


@pytest.mark.parametrize("name", ["kinds", "branches", "copies", "mixers"])
def test_every_number_of_every_answer_is_that_of_the_results(pages: Pages, name: str) -> None:
    """In the annex: counts with their intervals, silence included, in the order of the survey."""
    results = BASES[name]()
    told = text_of(pages(name)).partition("### Counts of people")[2]
    for question in results.questions:
        title = next(
            q.text or q.name for q in results.plan.survey.questions if q.name == question.name
        )
        rows = told.partition(f"People who gave each answer: {title}\n")[2].splitlines()[1:]
        silent = () if question.unanswered is None else (question.unanswered,)
        for line, row in zip(rows, (*question.rows, *silent), strict=False):
            label, people, ends, raw = line.split(" | ")
            assert label.replace(",", "") in (row.label, f"{row.label} or not asked"), line
            low, high = ends.split(" to ")
            says(people, row.consistent)
            says(low, row.interval.low)
            says(high, row.interval.high)
            says(raw, row.count)


def bars(html: str) -> list[tuple[float, float, float]]:
    """Every bar of a table: how long it is, the share beside it, and the last digit of that."""
    found = re.findall(r'class="fill" width="([\d.]+)".*?<td class="n">([\d.,−]+)\s%', html)
    digits = [len(share.partition(".")[2]) for _, share in found]
    return [
        (float(length), shown(share), 10.0**-after)
        for (length, share), after in zip(found, digits, strict=True)
    ]


@pytest.mark.parametrize("name", ["kinds", "mixers"])
def test_bars_are_as_long_as_their_numbers(pages: Pages, name: str) -> None:
    """Below one heading all bars have one scale; parts of a whole are 100 % together."""
    for table in pages(name).split("<table ")[1:]:
        if found := bars(table.partition("</table>")[0]):
            longest, most, _ = max(found)
            for length, share, digit in found:
                assert length <= 1000
                assert length * most == pytest.approx(longest * share, abs=longest * digit * 1.1)
    for whole in re.findall(r'<span class="stacked" [^>]*>(.*?)</span></span>', pages(name)):
        parts = [float(width) for width in re.findall(r"width: ([\d.]+)%", whole)]
        assert sum(parts) == pytest.approx(100, abs=0.1)


def test_a_guess_is_never_told_safer_than_it_is(pages: Pages) -> None:
    """Randomized response that tells the truth outright with probability δ reaches the bound."""
    for name in world.COUNTED:
        promise = world.results(name).promise
        right = promise.delta + (1 - promise.delta) / (1 + math.exp(-promise.epsilon))
        of, times = re.search(
            r"right at most ([\d,]+) times in ([\d,]+)", text_of(pages(name))
        ).group(2, 1)
        assert right <= shown(times) / shown(of) <= right + 1 / shown(of), name


# ---- How it is made


@pytest.mark.parametrize("name", ["kinds", "copies", "mixers", "odd", "refused"])
def test_the_page_needs_nothing_but_itself_and_can_be_read_by_everybody(
    pages: Pages, name: str
) -> None:
    """No script, no request; links lead inside it; landmarks, headings in order, captions."""
    html = pages(name)
    page: Page = read_page(html)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "iframe", "object", "embed", "img", "base", "form"}
    ids = [known["id"] for _, known in page.elements if "id" in known]
    assert len(ids) == len(set(ids))
    for tag, known in page.elements:
        for key, value in known.items():
            assert not key.startswith("on"), (tag, key)
            assert "://" not in (value or "") or key == "xmlns"
            assert key not in ("href", "src") or str(value)[1:] in ids, f"{tag} {key}={value}"
    assert "url(" not in html
    assert (len(page.of("main")), len(page.of("footer"))) == (1, 1)
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels)), levels
    assert html.count("<table") == html.count("<caption")
    assert all("scope" in known for known in page.of("th"))


def test_names_that_are_code_are_text(pages: Pages) -> None:
    """Wherever they come from; what cannot be read is no headline."""
    html, text = pages("odd"), text_of(pages("odd"))
    assert "alert(" in text
    for name in ("<script", "<b>جهة", "<i>a", "<u>miles"):
        assert name not in html.lower()
        assert name in text.lower()
    glance = text.partition("## At a glance")[2].partition("\n## ")[0]
    unclear = [line for line in glance.splitlines() if "too uncertain to read" in line]
    assert unclear
    assert not [line for line in unclear if re.search(r"\d %", line)]
    assert not re.search(r"\b(nan|inf|None)\b(?!:)|-0 %", text)


def test_no_line_ends_between_a_number_and_its_sign(pages: Pages) -> None:
    """ε = 1, ± 7 people and 95 % stay together, wherever a page is narrow."""
    for language in ("en", "de"):
        text = re.sub("(?s)<style>.*?</style>|<[^>]*>", "", pages("kinds", language))
        assert not re.search(r"[εδη]₀? = \d|± \d|\d %|\d (people|Personen)\b", text), language


# ---- The command


def test_the_command_writes_what_python_writes(tmp_path: Path, pages: Pages) -> None:
    """Of one round, with how many were invited; the files of a world are enough."""
    at = world.files("kinds", tmp_path)
    done("report results.json -o report.html --language de", at=at)
    assert (at / "report.html").read_text(encoding="utf-8") == pages("kinds", "de")
    invited = html_of(came_from("mixers", "devices"), at, invited=12_345)
    assert "12,345" in text_of(invited)
    before = sorted(path.name for path in at.iterdir())
    for line in ("report results.json -o x.html --language xx", "report plan.json -o x.html"):
        assert refused(line, at=at)["field"] in ("language", "results")
    assert sorted(path.name for path in at.iterdir()) == before


def test_a_report_of_several_rounds_shows_what_changed(tmp_path: Path, golden: Golden) -> None:
    """About the last one; the trend is that of a page of its own, and ends with its round."""
    at = world.files("weeks", tmp_path)
    names = " ".join(["results.json", *(f"results-{number}.json" for number in range(2, 5))])
    for language in ("en", "de"):
        done(f"report {names} -o report.html --force --language {language}", at=at)
        html = (at / "report.html").read_text(encoding="utf-8")
        base = set(text_of(html_of(world.results("weeks", 4), at, language=language)).splitlines())
        new = [line for line in text_of(html).splitlines() if line not in base]
        golden(f"report/trend.{language}", "\n".join(new), HIDE)
    done(f"trend {names} -o trend.html --force --language de", at=at)
    lines = [line for line in new if len(line) > 60]
    own = text_of((at / "trend.html").read_text(encoding="utf-8"))
    assert sum(line in own for line in lines) > len(lines) / 2
    trend = make_trend([world.results("weeks", number) for number in (1, 2)])
    with pytest.raises(InvalidInput, match="must end with the round of the report"):
        save_report(world.results("weeks", 3), at / "x.html", trend=trend)


def test_a_workbook_has_the_numbers_of_the_results(tmp_path: Path) -> None:
    """A sheet to read, one for each question, and the flat table."""
    at = world.files("branches", tmp_path)
    done("export results.json -o results.xlsx", at=at)
    book = require("openpyxl").load_workbook(at / "results.xlsx", data_only=True)
    results = world.results("branches")
    assert (book.sheetnames[0], book.sheetnames[-1]) == ("Overview", "results")
    for number, question in enumerate(results.questions, 1):
        (sheet,) = (each for each in book.worksheets if each.title.startswith(f"{number} "))
        cells = {value for row in sheet.values for value in row}
        found = [value for value in cells if isinstance(value, float)]
        for row in question.rows:
            assert row.label in {str(value) for value in cells} or question.kind.value == "scale"
            share = row.consistent_share
            assert min(abs(value - share) for value in found) < 1e-4, (question.name, row.label)


TRANSLATED = """
[translations.pl]
title = "pl: A week"
organiser = "pl: Council"
[translations.pl.question.fair]
text = "pl: Fair?"
[translations.pl.question.lunch]
text = "pl: Lunch?"
[translations.pl.question.lunch.choices]
soup = "salad"
salad = "none"
none = "soup"
"""
ASKED = """\
id = "week"
title = "A week"
organiser = "Council"
language = "en"
[policy]
epsilon = 40.0
delta = 1e-3
minimum_crowd = 300
[trust]
noise = "devices"
[[question]]
name = "fair"
type = "yes_no"
text = "Fair?"
[[question]]
name = "lunch"
type = "choice"
text = "Lunch?"
choices = ["soup", "salad", "none"]
"""


def test_a_survey_is_shown_in_another_of_its_languages(tmp_path: Path) -> None:
    """Numbers stay with their answers, though choices exchange their names."""
    plan = make_plan(parse_survey(ASKED + TRANSLATED))
    people = simulated_table(plan.survey, 300, seed=5)
    results = make_results(plan, unsafe_simulated_tally(plan, people, seed=1))
    own, polish = (text_of(html_of(results, tmp_path, language=code)) for code in ("en", "pl"))
    assert "pl:" not in own
    for text in ("pl: A week", "pl: Council", "pl: Fair?", "pl: Lunch?"):
        assert text in polish
    names = {"soup": "salad", "salad": "none", "none": "soup"}
    for ours, theirs in names.items():
        number = re.search(rf"(?m)^{ours} \|\n?.*?([\d.]+ %)", own)
        assert number is not None
        assert re.search(rf"(?m)^{theirs} \|\n?.*?{re.escape(number[1])}", polish), ours
    with pytest.raises(InvalidInput, match="must be one of: de, en, pl, found 'fr'"):
        save_report(results, tmp_path / "x.html", language="fr")
