"""The report: its numbers are those of the results, it stands alone, everybody can read it."""

from __future__ import annotations

import copy
import html
import itertools
import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from markupsafe import Markup

from krand.analysis.results_file import results_in
from krand.errors import InvalidInput
from krand.planning.coalitions import Coalition, Remainder, Remains
from krand.report import Section, report_page
from krand.report.answers import Axis
from krand.report.languages import language_of, languages
from krand.report.page import date_in
from krand.report.pages import filled
from krand.report.promise import keeps_all
from krand.showing import number as shown_number
from krand.wording.number_format import NumberFormat
from krand.wording.parties import remains_text
from krand.wording.promises import assumption_texts
from report.examples import (
    PEOPLE,
    SCRIPT,
    Example,
    bit_example,
    mixed_example,
    record_example,
    refused_example,
    statements_example,
)
from report.page_reader import Page, Table, colours, contrast, read_page, spaced
from report.variants import results_of

EXAMPLES = [bit_example, refused_example, record_example]
bound = NumberFormat().bound


def page_of(values: dict[str, Any]) -> Page:
    return read_page(report_page(results_in(values)))


def shown(text: str) -> float:
    """A number as it is printed."""
    return float(text.replace("%", "").replace(",", "").replace("\N{MINUS SIGN}", "-").strip())


def assert_shows(text: str, value: float, scale: float = 1.0) -> None:
    """The text is the value, rounded to as many digits as are printed."""
    decimals = len(text.replace("%", "").strip().partition(".")[2])
    assert abs(shown(text) - scale * value) <= 0.5000001 * 10.0**-decimals, (text, value)


def assert_ends(text: str, interval: dict[str, float], scale: float = 1.0) -> None:
    for end, name in zip(text.split(" to "), ("low", "high"), strict=True):
        assert_shows(end, interval[name], scale)


def body(table: Table) -> list[list[Any]]:
    return table.rows[1:]


def title_of(values: dict[str, Any], name: str) -> str:
    """What a question is called on the page."""
    asked = values["plan"]["survey"]["question"]
    return next(q.get("text") or name for q in asked if q["name"] == name)


def shares_of(page: Page, title: str) -> list[tuple[str, str, str]]:
    """Every answer with its share and interval: of a table, or of yes and no in one line."""
    tables = page.below(title)
    if tables:
        return [(row[0].text, row[-2].text, row[-1].small) for row in body(tables[0])]
    (line,) = (p for p in page.paragraphs if p.below == title and p.kind == "boxes")
    found = re.findall(r"([\d.]+ %) (.+?) ([\d.]+ to [\d.]+)(?: · |$)", spaced(line.text))
    return [(label, share, ends) for share, label, ends in found]


@pytest.mark.check
@pytest.mark.parametrize("example", EXAMPLES)
def test_every_number_of_every_answer_is_that_of_the_release(
    example: Callable[[], Example],
) -> None:
    """Shares with their intervals, and in the annex counts, silence included, in their order."""
    values = example().values
    page = page_of(values)
    for question in values["questions"]:
        title = title_of(values, question["name"])
        silent = [] if question["unanswered"] is None else [question["unanswered"]]
        expected = [*question["rows"], *silent]
        for (label, share, ends), row in zip(shares_of(page, title), expected, strict=True):
            assert label.replace(",", "") == row["label"]
            assert_shows(share, row["consistent_share"], 100)
            assert_ends(ends, row["share_interval"], 100)
        counts = body(page.table(f"People who gave each answer: {title}"))
        for (label, people, ends, raw), row in zip(counts, expected, strict=True):
            assert label.text.replace(",", "") == row["label"]
            assert_shows(people.text, row["consistent"])
            assert_ends(ends.text, row["interval"])
            assert_shows(raw.text, row["count"])


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en",
            (
                r"Answer \(years\)",
                r"median \d+ years \(\d+ to \d+\)",
                r"mean is \d+ years \(\d+ to \d+\)",
                "below 20 years",
                r"mean is at least [\d.,]+ €",
                "100 to under 1,000",
                "below 1,000 €",
            ),
        ),
        ("de", (r"Antwort \(€\)", r"Median \d+ years \(", "100 bis unter 1.000", "unter 1.000 €")),
    ],
)
def test_numbers_have_their_unit_and_one_format(language: str, said: tuple[str, ...]) -> None:
    """In the heading of ranges, in sentences and below each edge, with one sign for thousands."""
    text = read_page(report_page(bit_example().results, language=language)).text
    for each in said:
        assert re.search(each.replace(r"Answer \(years\)", r"Answer \(years\)"), text), each
    assert not re.search(r"\b1000\b", text)


@pytest.mark.parametrize("language", languages())
def test_no_line_ends_between_a_number_and_its_sign(language: str) -> None:
    """ε = 1, ± 7 people and 95 % stay together, wherever a page is narrow."""
    page = report_page(bit_example().results, language=language)
    page = re.sub(r"(?s)<(style|code|pre)\b.*?</\1>", "", page)
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    assert re.search("ε\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}1", text)
    assert not re.search(r"[εδη]₀? = \d|± \d|\d %|\d (people|Personen|personnes|personas)\b", text)


@pytest.mark.parametrize("example", EXAMPLES)
def test_heat_maps_hold_every_cell(example: Callable[[], Example]) -> None:
    """The count and its interval; more than two questions are several maps."""
    values = example().values
    maps = [
        t
        for t in page_of(values).tables
        if re.search(r"People, with \d+ % confidence intervals", t.caption) is not None
    ]
    expected = []
    for joint in values["joint"]:
        table = joint["table"]
        whole = (table["consistent"], table["interval"]["low"], table["interval"]["high"])
        slices = list(zip(*whole, strict=True))
        expected += [whole] if len(table["questions"]) == 2 else slices
    assert len(maps) == len(expected) > 0
    for found, whole in zip(maps, expected, strict=True):
        for cells, *rows in zip(body(found), *whole, strict=True):
            for cell, count, low, high in zip(cells[1:], *rows, strict=True):
                assert_shows(cell.text, count)
                assert_ends(cell.small, {"low": low, "high": high})


def test_the_darkest_cell_is_the_fullest() -> None:
    """Shades follow the counts."""
    values = bit_example().values
    (joint,) = values["joint"]
    cells = [c for r in body(page_of(values).table("People, with")) for c in r[1:]]
    counts = [count for row in joint["table"]["consistent"] for count in row]
    shades = [int(re.search(r"h(\d)", cell.attributes["class"])[1]) for cell in cells]
    assert shades[counts.index(max(counts))] == max(shades) == 9
    assert all(shade == round(9 * c / max(counts)) for shade, c in zip(shades, counts, strict=True))


def test_numbers_are_told_as_distributions() -> None:
    """Quantiles and mean in words, the distribution function as a table."""
    values = bit_example().values
    page = page_of(values)
    (age,) = (q for q in values["questions"] if q["name"] == "age")
    median = age["distribution"]["quantiles"][1]
    assert f"median {median['value']:.0f} years ({median['low']} to {median['high']})" in page.text
    mean = age["distribution"]["mean"]
    assert (
        10 < (mean["high"] - mean["low"]) / 2 < 100
    )  # so tens are the last digits that mean something
    ends = f"{mean['low']:.0f} to {mean['high']:.0f}"
    assert f"The mean is {mean['value']:.0f} years ({ends})" in page.text
    assert "assume that values are spread evenly within each range" in page.text
    rows = body(page.table("How old are you?: below each edge"))
    for (label, _, share, ends), point in zip(rows, age["distribution"]["cdf"], strict=True):
        assert label.text == f"below {point['edge']} years"
        assert_shows(share.text, point["share"], 100)
        assert_ends(ends.small, point["interval"], 100)
    assert "the mean is at least" in page.text  # debts have no upper end


def test_picks_and_words_are_told() -> None:
    """Picks for each person; words with limit of detection and false discovery rate."""
    values = bit_example().values
    page = page_of(values)
    (pets,) = (q for q in values["questions"] if q["name"] == "pets")
    picks = pets["picks"]
    shown = [f"{n:.3f}" for n in (picks["consistent"], *picks["interval"].values())]
    assert "Picks per person on average: {} ({} to {}).".format(*shown) in page.text
    (words,) = values["words"]
    found = [row for row in words["rows"] if row["found"]]
    assert [row["word"] for row in found] == ["jazz"]
    ((label, share, _),) = shares_of(page, "tag")
    assert label == "jazz"
    assert_shows(share, found[0]["count"] / PEOPLE, 100)
    ((_, people, _, raw),) = body(page.table("People who gave each answer: tag"))
    assert_shows(people.text, found[0]["count"])
    assert raw.text == ""
    assert "1 of 3 words on the list was found" in page.text
    assert "at most 5 % of the words found were named by nobody" in page.text
    assert f"a word that {words['detection_limit']:,.0f} people named is found" in page.text


@pytest.mark.parametrize(
    ("named", "unexplained", "said"),
    [
        (310.0, 40.0, "About 310 words were named in all, of which 40 are not among those found."),
        (310.0, -70.0, "About 310 words were named in all; as far as the noise tells, those found"),
        (310.0, 400.0, "About 310 words were named in all, of which 310 are not among"),
        (-20.0, -70.0, "words on the list"),
    ],
)
def test_words_that_are_left_over_are_none_to_all(
    named: float, unexplained: float, said: str
) -> None:
    """Noise may make a number negative, or a part larger than the whole; no sentence does."""
    values = copy.deepcopy(bit_example().values)
    values["words"][0] |= {"named": named, "unexplained": unexplained}
    text = page_of(values).text
    assert said in text
    assert ("words were named in all" in text) == (named > 0)
    assert "70 are not among" not in text


@cache
def text_of(name: str) -> str:
    """What a page of these results says."""
    return read_page(report_page(results_of(name))).text


ALONE = "bits, as they are"
SAID = {
    "words without candidates are not passed over, with how to decode them": [
        ("not kept", "krand estimate --candidates tag=words.txt"),
    ],
    "what ε₀ is worth if others collude is told in words, and a large one is no protection": [
        ("bits, real protection", "Then real protection remains."),
        ("bits, weak protection", "Then only weak protection remains."),
        ("bits, slight protection", "Then hardly any protection remains."),
        (ALONE, "Then there is no protection:"),
        ("bits, a long number", "by a factor of up to 10⁴³⁵ (ε₀ = 1,000)."),
    ],
    "it says how many helpers the promise allows for, and what refused messages count for": [
        (ALONE, "The promise assumes that nobody who takes part helps the analyst."),
        ("bits, one colluder", "even if 1 of the people who take part tells the analyst"),
        ("bits, some colluders", "even if 1,234 of the people who take part tell the analyst"),
        ("bits, one refused", "as if the refused message came from another person who added"),
        ("bits, refused", "refused messages came from another person"),
    ],
    "a pair that was not tested is not said to be unrelated": [
        ("bits, not tested", "Independence was not tested", "are related"),
    ],
    "intervals speak of the people themselves, or of the population that they are a sample of": [
        (ALONE, "people themselves", "about 1,000,000 people"),
        ("not kept", "about 1,000,000 people, of which these"),
        ("not kept", "Shares are of the population that 20,000 people are a sample of"),
    ],
    "it says what travelled, and how often it was flipped": [
        (ALONE, "sent by itself in a sealed message"),
        ("records, as they are", "sent 3 copies, each with its own noise"),
        ("records, as they are", "own noise, of the whole record of 5 bits"),
        ("records, of a table", "it handed on 3 copies", "Every person sent"),
    ],
    "mixers take the place of crowd and flips": [
        ("mixers, as they are", "as long as one of the 3 mixers follows the rules"),
        ("mixers, as they are", "even if all other people who take part"),
        ("mixers, as they are", "Each of 3 mixers added up to", "was flipped"),
        ("mixers, as they are", "exact law of one honest mixer", "If collector and analyst"),
    ],
    "a data holder has no coalitions: nobody is between it and the analyst": [
        ("bits, of a table without coalitions", "data holder", "What remains if others"),
    ],
}
"""Results, what is said of them, and what is not."""


@pytest.mark.parametrize("rule", SAID)
def test_a_page_says_what_is_true_of_its_results(rule: str) -> None:
    """And nothing else of that kind."""
    for name, said, *unsaid in SAID[rule]:
        assert said in text_of(name), (name, said)
        assert [words for words in unsaid if words in text_of(name)] == [], name


def test_everything_is_there_that_is_needed_to_verify() -> None:
    """The plan, versions, batches and the command; the noise of records and of mixers."""
    values = bit_example().values
    version = f"krand {values['versions']['krand']}"
    for part in (values["plan_hash"], "ab" * 32, version, "krand verify results.json"):
        assert part in text_of(ALONE)
    records, mixers = (example().plan.blocks[0] for example in (record_example, mixed_example))
    assert f"q = {records.noise:.4g}" in text_of("records, as they are")
    assert shown_number(mixers.precision.sigma) in text_of("mixers, as they are")


def test_of_a_crowd_that_is_no_sample_nothing_is_said_of_one() -> None:
    """Before the annex, which explains all terms."""
    assert "a sample of" not in text_of(ALONE).partition("Technical annex")[0]


def test_the_promise_is_the_releases_own() -> None:
    """ε, δ, η, ε₀ and every assumption, for the crowd that came."""
    values = bit_example().values
    page, promise = page_of(values), values["promise"]
    for part in (
        "by a factor of at most 2.72 (ε = 1), plus at most",
        f"plus at most δ = {bound(promise['delta'], 1)}",
        f"ε = 1, δ = {bound(promise['delta'], 1)}",
        f"η = {bound(promise['eta'], 1)}",
        f"ε₀ = {bound(promise['local_epsilon'])}",
        "Proven: this is a theorem",
        "right at most 74 times in 100; tossing a coin, 50 times",
        f"promised to each of the {PEOPLE:,} people who took part",
    ):
        assert part in page.text, part
    for text in assumption_texts(results_in(bit_example().values).promise):
        assert text[1:].replace("'", "’") in page.text
    by_eta = page_of(record_example().values).text
    assert "except with probability η" in by_eta


def test_bounds_are_rounded_up() -> None:
    """What is printed promises no more than what is proven."""
    assert [bound(x) for x in (1e-6, 1.0480094e-07, 0.25, 0.123451)] == [
        "10⁻⁶",
        "1.049\u00a0×\u00a010⁻⁷",
        "0.25",
        "0.1235",
    ]


def test_a_broken_promise_is_loud() -> None:
    """A heading before everything else, both numbers, the refused messages; none otherwise."""
    values = refused_example().values
    page = page_of(values)
    assert page.headings[1] == (2, "The promise was not kept")
    assert f"only δ = {bound(values['promise']['delta'], 2)} can be shown" in page.text
    assert "promised people δ = 10⁻⁶" in page.text
    assert "2,000 wrong length" in page.text
    assert "not kept" not in page_of(bit_example().values).text.lower()


def test_what_dishonest_people_could_have_done_is_told() -> None:
    """For each block, too high and too low."""
    values = bit_example().values
    page = page_of(values)
    assert "One dishonest person could have changed" in page.text
    rows = body(page.table("The most by which a count could be off"))
    for (name, high, low), shift in zip(rows, values["plan"]["shifts"], strict=True):
        assert name.text == shift["name"]
        assert shown(high.text) == math.ceil(shift["too_high"])
        assert shown(low.text) == math.ceil(shift["too_low"])


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_page_needs_nothing_but_itself(example: Callable[[], Example]) -> None:
    """No script, no frame, no request; links lead inside the page."""
    html = report_page(example().results)
    page = read_page(html)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "iframe", "object", "embed", "img", "base", "form"}
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in ("href", "src", "xlink:href", "action"):
                assert value.startswith("#")
                assert value[1:] in ids
            assert "://" not in (value or "")
    style = html[html.index("<style>") : html.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_page_can_be_read_by_everybody(example: Callable[[], Example]) -> None:
    """Language, landmarks, headings in order, captions, scopes, focus for what scrolls."""
    html = report_page(example().results)
    page = read_page(html)
    assert page.of("html")[0]["lang"] == "en"
    assert (len(page.of("main")), len(page.of("footer"))) == (1, 1)
    assert page.of("a")[0] == {"class": "skip", "href": "#content"}
    levels = [level for level, _ in page.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert all(text.strip() for _, text in page.headings)
    assert all(table.caption.strip() for table in page.tables)
    for table in page.tables:
        cells = [cell for row in table.rows for cell in row if cell.tag == "th"]
        assert all(cell.attributes.get("scope") in ("row", "col") for cell in cells)
    for attributes in page.of("div"):
        if attributes.get("class") == "wide":
            assert attributes["tabindex"] == "0"
            assert attributes["role"] == "region"
            assert attributes["aria-label"]
    assert all(a.get("aria-hidden") == "true" or a.get("aria-label") for a in page.of("svg"))
    assert "@media print" in html


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_in_both_schemes(dark: bool) -> None:
    """At least 4.5 : 1, in the darkest cell of a heat map too."""
    html = report_page(bit_example().results)
    named = colours(html, dark=dark)
    for ground in ("paper", "back"):
        for ink in ("ink", "faint", "record"):
            assert contrast(named[ink], named[ground]) >= 4.5, (ink, ground)
    for ink in ("ink", "alarm"):
        assert contrast(named[ink], named["alarm-back"]) >= 4.5
    (strength,) = re.findall(r"\.h9 \{ background: rgb\(var\(--shade\) / (\d+)%\)", html)
    part = int(strength) / 100
    red, green, blue = (
        part * shade + (1 - part) * paper
        for shade, paper in zip(named["shade"], named["paper"], strict=True)
    )
    assert contrast(named["ink"], (red, green, blue)) >= 4.5


def test_hostile_names_are_text() -> None:
    """Wherever they come from: question, choice, word, id, reason, versions, caption."""
    values = bit_example().values
    values["rejected"] = {SCRIPT: 3}
    values["versions"] = {SCRIPT: SCRIPT}
    values["batches"] = [SCRIPT]
    values["questions"][0]["name"] = SCRIPT
    values["joint"][0]["table"]["questions"][0] = SCRIPT
    values["words"][0]["rows"][0]["word"] = SCRIPT
    results = results_in(values)
    survey = copy.copy(results.plan.survey)
    object.__setattr__(survey, "id", f"2026 {SCRIPT}")  # which no survey takes for its id
    results = replace(results, plan=replace(results.plan, survey=survey))
    html = report_page(results, [Section(SCRIPT, Markup("<p>mine</p>"))])
    assert "<script" not in html.lower()
    page = read_page(html)
    assert page.title.startswith(f"2026 {SCRIPT}")
    assert page.text.count(SCRIPT) >= 10
    assert (1, f"2026 {SCRIPT}") in page.headings


def test_further_sections_come_after_the_results() -> None:
    """With their markup as it is, and before the annex."""
    html = report_page(bit_example().results, [Section("Truth & all", Markup("<p>as it was</p>"))])
    page = read_page(html)
    titles = [text for level, text in page.headings if level == 2]
    assert titles.index("How answers relate") + 1 == titles.index("Truth & all")
    assert titles.index("Truth & all") < titles.index("Technical annex")
    assert "<p>as it was</p>" in html


def many_answers(number: int) -> dict[str, Any]:
    """The results with so many answers to its first question, each more frequent than the last."""
    values = bit_example().values
    question = values["questions"][0]
    row = question["rows"][0]
    question["rows"] = []
    for place in range(number):
        made = copy.deepcopy(row)
        made |= {"label": f"answer {place}", "consistent": float(place)}
        question["rows"].append(made)
    return values


def test_long_lists_show_the_most_frequent() -> None:
    """Twenty at once, two thousand in all, and where the rest is."""
    page = page_of(many_answers(2_200))
    title = f"Which colour? {SCRIPT}"
    tables = page.below(title)
    labels = [[row[0].text for row in body(table)] for table in tables]
    assert labels[0][:20] == [f"answer {place}" for place in range(2199, 2179, -1)]
    assert labels[0][20:] == ["unanswered"]
    assert labels[1] == [f"answer {place}" for place in range(2179, 199, -1)]
    assert "the most frequent of 2,200" in tables[0].caption
    assert "200 more are in the results file" in page.text
    short = page_of(many_answers(20))
    assert len(shares_of(short, title)) == 21


def test_ranges_stay_in_their_order_however_many_they_are() -> None:
    """A histogram whose bars are sorted, or folded away, is none."""
    values = bit_example().values
    (age,) = (q for q in values["questions"] if q["name"] == "age")
    row = age["rows"][0]
    age["rows"] = [
        {**copy.deepcopy(row), "label": f"range {place}", "consistent": float(place)}
        for place in range(60)
    ]
    labels = [label for label, _, _ in shares_of(page_of(values), "How old are you?")]
    assert labels == [*(f"range {place}" for place in range(60)), "unanswered"]


def test_raw_counts_below_zero_are_in_the_annex() -> None:
    """With a minus sign and an explanation; other counts have none."""
    values = bit_example().values
    row = values["questions"][0]["rows"][1]
    row |= {"count": -12.0, "share": -12 / PEOPLE}
    page = page_of(values)
    _, people, _, raw = body(page.table("People who gave each answer: Which colour?"))[1]
    assert "\N{MINUS SIGN}" not in people.text
    assert raw.text == "\N{MINUS SIGN}12.0"
    assert "negative" in page.text.partition("Technical annex")[2]


def test_what_cannot_be_read_is_said_on_top_and_beside_it() -> None:
    """Where the margin of error is above 15 % of the people; nowhere else."""
    values = bit_example().values
    values["joint"][0]["given"] = []  # shares in which a group may be empty
    assert "oo uncertain to read" not in page_of(values).text
    values["questions"][0]["rows"][1]["readable"] = False
    values["joint"][0]["table"]["readable"][0][1] = False
    page = page_of(values)
    cells = sum(len(row) for row in values["joint"][0]["table"]["readable"])
    top = page.text.partition("How answers were protected")[0]
    assert f"Which colour? {SCRIPT} (1 of 4 answers), " in top
    assert f"(1 of {cells} cells)" in top
    assert page.text.count("oo uncertain to read") == 3


@pytest.mark.parametrize(
    ("survey_id", "date"),
    [
        ("browser-2026-11", "November 2026"),
        ("room-2024", ""),
        ("2026-03-07.rooms", "7 March 2026"),
        ("v12026", ""),
        ("habits", ""),
        ("x-2026-13", ""),
        ("room-2024-12-345", ""),
    ],
)
def test_a_survey_id_may_hold_a_date(survey_id: str, date: str) -> None:
    """It is told in words where it does; a year alone may as well be a room."""
    assert date_in(survey_id, language_of("en").texts.date) == date


@pytest.mark.parametrize(
    ("most", "end"), [(0.397, 0.4), (0.4, 0.4), (0.0021, 0.0025), (0.93, 1.0), (1.2, 1.0), (0, 1.0)]
)
def test_bars_end_at_a_round_number(most: float, end: float) -> None:
    """Nothing is longer than its axis."""
    scale = Axis.up_to(most)
    assert scale.end == pytest.approx(end)
    assert scale.bar(most, -1.0, 9.0).length <= 1000
    assert (scale.bar(0, -1.0, 9.0).low, scale.bar(0, -1.0, 9.0).high) == (0, 1000)


KEYS = (
    *("format", "plan_hash", "plan", "round", "people", "crowd", "promise", "kept", "questions"),
    *("words", "joint", "nulls", "rejected", "batches", "versions"),
)
DAMAGES: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("format", lambda v: v.update(format="krand-release-2")),
    ("people", lambda v: v.update(people=0)),
    ("people", lambda v: v.update(people="20000")),
    ("people", lambda v: v.update(people=10**400)),
    ("questions", lambda v: v["questions"][0].update(rows=[])),
    ("confidence", lambda v: v["questions"][0].update(confidence=1.0)),
    ("population", lambda v: v["questions"][0].update(sampling={"population": -1})),
    ("fewer people", lambda v: v["questions"][0].update(sampling={"population": 7})),
    ("joint", lambda v: v["joint"][0]["table"]["counts"].pop()),
    ("joint", lambda v: v["joint"][0]["table"]["counts"][0].append("x")),
    ("count", lambda v: v["questions"][0]["rows"][0].update(count=None)),
    ("noise", lambda v: v["plan"]["blocks"][0].update(noise_numerator=2**31)),
    ("epsilon", lambda v: v["plan"]["survey"]["policy"].update(epsilon=-1)),
    *((key, lambda v, key=key: v.pop(key)) for key in KEYS),
    *((key, lambda v, key=key: v.update({key: "?"})) for key in KEYS),
]


@pytest.mark.parametrize(("named", "damage"), DAMAGES)
def test_what_is_no_results_file_is_refused_by_name(
    named: str, damage: Callable[[dict[str, Any]], object]
) -> None:
    """Every part that is missing or of another kind; never a traceback, never a page."""
    values = bit_example().values
    damage(values)
    with pytest.raises(InvalidInput, match=re.escape(named)) as refused:
        results_in(values)
    assert refused.value.field == "results"


@pytest.mark.parametrize("example", [bit_example, refused_example, mixed_example])
def test_coalitions_are_shown_in_words_and_numbers(example: Callable[[], Example]) -> None:
    """Every row of the results, with who works together and what remains, after a sentence."""
    results = example().results
    page = spaced(report_page(results))
    start = page.index("What remains if others work with the analyst")
    part = html.unescape(page[start : page.index("What it relies on")])
    shown = re.findall(r'class="label">(.*?)</th><td>(.*?)</td><td>(.*?)</td>', part)
    rows = [(who, remains) for who, remains, _ in shown]
    for (_, words, symbols), row in zip(shown, results.coalitions, strict=True):
        said = remains_text(row, results.plan)
        assert (
            symbols.replace("\N{NO-BREAK SPACE}", "")
            in (said.replace("\N{NO-BREAK SPACE}", ""), "–")
            or symbols in said
        )
        assert words in said or ("promise" in words and said.startswith("ε ="))
    assert rows[0][0] == "The analyst alone"
    assert rows[0][1] == ("the whole promise" if results.kept else "a weaker promise")
    assert rows[-1] == ("Whoever serves the web form, for people who use it", "no protection")
    assert "could replace its code" in part
    assert any(f" of {results.crowd:,} people" in who for who, _ in rows)
    alone = "only the noise of your own device is left"
    assert (alone in part) != results.plan.survey.trust.noise.has_dummies
    assert part.index("<p>") < part.index("<table")


def test_the_whole_promise_needs_both_of_its_numbers() -> None:
    """ε, and δ or η as the survey promises it; what is not known is not kept."""
    plan = bit_example().results.plan
    policy = plan.survey.policy
    assert policy.delta is not None
    row = Remainder(
        coalition=Coalition.ANALYST,
        people=0,
        mixers=0,
        remains=Remains.PROMISE,
        epsilon=policy.epsilon,
        delta=policy.delta,
        eta=1.0,
    )
    assert keeps_all(row, plan)
    assert not keeps_all(replace(row, delta=2 * policy.delta), plan)
    assert not keeps_all(replace(row, epsilon=2 * policy.epsilon), plan)
    assert not keeps_all(replace(row, delta=None), plan)


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_was_signed_is_checked_with_a_file_that_exists(language: str) -> None:
    """Mixers write a chain; only a collector with devices' noise writes a manifest."""
    for name in ("mixers, of devices",):
        page = report_page(results_of(name), language=language)
        assert "krand verify batch.chain.json --plan plan.json<" in page
        assert "manifest" not in page.lower()
    page = report_page(bit_example().results, language=language)
    assert "krand verify batch.manifest.json" in page
    assert "chain.json" not in page


def test_statements_stand_below_one_wording_and_show_no_and_no_answer() -> None:
    """The wording once, a question for each statement; ranges are counted however they came."""
    page = page_of(statements_example().values)
    assert page.text.count("Do you agree?") == 1
    titles = [text for level, text in page.headings if level == 3]
    assert titles[:2] == ["My pay is fair.", "My manager listens."]
    true = {"pay": (300, 500, 200), "boss": (0, 300, 700), "age": (300, 500, 200)}
    for question in statements_example().results.questions:
        rows = (*question.rows, question.unanswered)
        for row, people in zip(rows, true[question.name], strict=True):
            assert row is not None
            assert abs(row.count - people) <= 6 * row.standard_error  # of one fixed seed
    labels = [row.label for row in statements_example().results.questions[0].rows]
    assert labels == ["yes", "no"]


def test_only_markup_that_is_filled_in_stays_markup() -> None:
    """Neither a text nor another value can bring in elements, or end an attribute."""
    page = filled('"<b>" & {code}: {name}', code=Markup("<code>x</code>"), name="<i>")
    assert page == "&#34;&lt;b&gt;&#34; &amp; <code>x</code>: &lt;i&gt;"
