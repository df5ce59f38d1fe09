"""The top of the page: a line for each question, the promise as the chance of a guess, badges."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from krand.analysis.results import Results
from krand.analysis.results_file import results_in
from krand.batches.provenance import Provenance
from krand.report import report_page
from krand.report.answers import Estimate, scale_tones, stacked, table_decimals
from krand.report.findings import LONGEST, MOST, Glance, glance
from krand.report.labels import labels_of
from krand.report.languages import language_of
from krand.report.promise import badges, promise_box
from krand.report.questions import asked_in
from krand.report.scales import boxes_of
from krand.survey.questions import Scale
from krand.wording.number_format import NumberFormat
from krand.wording.promises import guess_sentence, right_guess
from report.examples import (
    bit_example,
    long_example,
    refused_example,
    single_example,
    small_example,
)
from report.page_reader import read_page, spaced
from report.test_page import shares_of, title_of
from report.variants import results_of

ENGLISH = language_of("en")


def by_eta() -> Results:
    """A survey that promises η."""
    results = bit_example().results
    survey = results.plan.survey
    policy = replace(survey.policy, delta=None, eta=1e-3)
    return replace(results, plan=replace(results.plan, survey=replace(survey, policy=policy)))


MADE: dict[str, Callable[[], Results]] = {
    "bits": lambda: bit_example().results,
    "not kept": lambda: results_of("bits, not kept, nothing refused"),
    "by eta": by_eta,
    "small": lambda: small_example().results,
    "single": lambda: single_example().results,
    "long": lambda: long_example().results,
}


def glance_of(results: Results) -> Glance:
    labels = labels_of(results.plan.survey, ENGLISH)
    return glance(results, asked_in(results, labels, ENGLISH), labels, ENGLISH)


def plain(results: Results) -> dict[str, str]:
    """What is found of each question, and of pairs."""
    shown = glance_of(results)
    return {line.question: line.found.striptags() for line in (*shown.lines, *shown.pairs)}


def test_every_kind_of_question_has_a_line() -> None:
    """The ends of a scale, "yes", the first of many answers, a median, a share among others."""
    found = plain(small_example().results)
    content, fair = found.values()
    boxes = r"\d+ % (\S+( \S+)*) · \d+ % (\S+( \S+)*) · \d+ % (\S+( \S+)*)"
    assert re.fullmatch(boxes, content)
    assert re.fullmatch(r"\d\d % yes ± \d", fair)
    (town,) = plain(long_example().results).values()
    assert re.fullmatch(r"13\.\d+ % Town number 0 ± 0\.\d+", town)
    *_, pair = plain(results_of("bits, a pair alone")).values()
    assert re.fullmatch(r"(.*): [\d.]+ % (.*) ± [\d.]+; [\d.]+ % overall", pair)
    bits = plain(bit_example().results)
    assert re.fullmatch(r"median \d+\syears \(20 to 40\)", bits["How old are you?"])
    assert re.fullmatch(r"[\d.]+ % yes ± [\d.]+", bits["drives"])
    assert plain(results_of("bits, no word found"))["tag"] == "no word was found"
    assert plain(refused_example().results)["tag"] == "not evaluated"
    asked = plain(results_of("bits, of those who answered"))["How old are you?"]
    assert asked.startswith("median")


@pytest.mark.parametrize(("low", "found"), [(20.0, r"median .*"), (0.0, r"[\d.]+ % \d+ to .*")])
def test_a_median_that_may_lie_anywhere_is_no_finding(low: float, found: str) -> None:
    """The most frequent range is told instead."""
    results, made = bit_example().results, []
    for each in results.questions:
        if each.name == "age" and each.distribution is not None:
            wide = (replace(q, low=low, high=60.0) for q in each.distribution.quantiles)
            spread = replace(each.distribution, quantiles=tuple(wide))
            made.append(replace(each, distribution=spread))
        else:
            made.append(each)
    lines = plain(replace(results, questions=tuple(made)))
    assert re.fullmatch(found, lines["How old are you?"])


def only(results: Results, name: str) -> Results:
    """The results of one question alone."""
    kept = tuple(question for question in results.questions if question.name == name)
    survey = results.plan.survey
    asked = tuple(question for question in survey.questions if question.name == name)
    plan = replace(results.plan, survey=replace(survey, questions=asked, together=()))
    return replace(results, plan=plan, questions=kept, joint=(), words=())


@pytest.mark.parametrize("name", MADE)
def test_every_line_leads_to_its_question(name: str) -> None:
    """One for each question of a short survey, each with an anchor that the page has."""
    results = MADE[name]()
    shown = glance_of(results)
    assert len(shown.lines) == len(results.plan.survey.questions) <= MOST
    page = spaced(report_page(results))
    for line in (*shown.lines, *shown.pairs):
        assert f'<h3 id="{line.anchor}" ' in page
        assert spaced(str(line.found)) in page


def test_a_difference_is_beside_the_share_of_everybody() -> None:
    """Both are of the table; the share of a group lies outside what everybody's interval allows."""
    results = results_of("bits, related")
    *_, pair = plain(results).values()
    share, overall = map(float, re.findall(r"([\d.]+) %", pair))
    table = results.joint[0].table
    rows, columns = table.answers
    cells = table.consistent[:rows, :columns]
    totals = [cells.sum(axis=axis) / cells.sum() for axis in (0, 1)]
    assert any(abs(100 * total - overall) <= 0.51 for each in totals for total in each)
    assert abs(share - overall) > 1


def test_of_many_questions_the_weightiest_then_the_clearest_are_shown() -> None:
    """A dozen in the order of the survey; the note says how many there are."""
    results = only(bit_example().results, "drives")
    (asked,), (estimate,) = results.plan.survey.questions, results.questions
    names = [f"q{place:02}" for place in range(20)]
    weights = {"q19": 3.0, "q00": 0.5}
    survey = replace(
        results.plan.survey,
        questions=tuple(replace(asked, name=n, weight=weights.get(n, 1.0)) for n in names),
    )
    vague = replace(estimate, rows=tuple(replace(row, readable=False) for row in estimate.rows))
    many = replace(
        results,
        plan=replace(results.plan, survey=survey),
        questions=tuple(replace(vague if n < "q05" else estimate, name=n) for n in names),
    )
    shown = glance_of(many)
    kept = [line.question for line in shown.lines]
    assert kept == sorted(kept)
    assert len(kept) == MOST
    assert "q19" in kept
    assert kept[0] == "q05"
    assert "12 of 20 questions are shown" in shown.note
    assert "questions are shown" not in glance_of(results).note


def test_a_long_question_is_cut_where_a_word_ends() -> None:
    """The whole of it stands below."""
    results = only(bit_example().results, "drives")
    (asked,) = results.plan.survey.questions
    survey = replace(results.plan.survey, questions=(replace(asked, text="so long " * 100),))
    (line,) = glance_of(replace(results, plan=replace(results.plan, survey=survey))).lines
    assert line.question.endswith((" so …", " long …"))
    assert len(line.question) <= LONGEST


def test_a_line_has_the_numbers_of_its_row_and_the_margin_covers_the_interval() -> None:
    """The share as it is shown, plus and minus the margin, contains the interval of the results."""
    for example in (single_example, long_example):
        results = example().results
        (sentence,) = plain(results).values()
        share, margin = map(float, re.findall(r"([\d.]+) % .* ± ([\d.]+)", sentence)[0])
        row = max(results.questions[0].rows, key=lambda row: row.consistent_share)
        assert share == pytest.approx(100 * row.consistent_share, abs=margin)
        slack = 10.0 ** -len(str(share).partition(".")[2])
        assert share - margin <= 100 * row.share_interval.low + slack
        assert share + margin >= 100 * row.share_interval.high - slack


@pytest.mark.parametrize(
    ("half", "decimals", "shown"),
    [(0.031, 2, "0.04"), (0.03, 2, "0.03"), (3.2, 0, "4"), (0, 1, "0.0")],
)
def test_a_margin_is_rounded_up(half: float, decimals: int, shown: str) -> None:
    """But a margin with exactly these digits stays as it is."""
    assert NumberFormat().margin(half, decimals) == shown


def changed(results: Results, **changes: Any) -> Results:
    """The results with another first row of their first question."""
    first, *others = results.questions
    row, *rest = first.rows
    made = replace(first, rows=(replace(row, **changes), *rest))
    return replace(results, questions=(made, *others))


def test_what_cannot_be_read_is_said_to_be_so() -> None:
    """In its line, instead of a number."""
    results = single_example().results
    assert list(plain(changed(results, readable=False)).values()) == ["too uncertain to read"]


def test_where_nothing_can_be_read_that_is_said_once_and_no_share_is_a_headline() -> None:
    """Of a scale neither its ends nor its mean; the margin is at most everybody."""
    results = small_example().results
    scale, fair = results.questions
    dim = tuple(replace(row, readable=False) for row in scale.rows)
    wide = type(scale.rows[0].share_interval)(0.0, 1.0)
    vague = replace(
        scale,
        rows=tuple(replace(row, standard_error=500.0) for row in dim),
        unanswered=replace(scale.unanswered, readable=False),
        summaries=tuple(
            replace(each, interval=wide if each.statistic.is_share else each.interval)
            for each in scale.summaries
        ),
    )
    shown = spaced(report_page(replace(results, questions=(vague, fair))))
    panel = shown.partition('id="question-1"')[2].partition('id="question-2"')[0]
    assert panel.count("too uncertain to read") == 1
    assert "Of those who answered" not in panel
    assert "Mean " not in panel
    both = replace(results, questions=(vague, replace(fair, rows=vague.rows[:1])))
    assert "± 100 points" in spaced(report_page(both))


def test_one_answer_that_cannot_be_read_is_all_there_is() -> None:
    """Not "1 of 1 answers"."""
    page = read_page(report_page(changed(single_example().results, readable=False))).text
    assert "(its only answer)." in page


def test_of_two_answers_that_may_be_equal_neither_is_called_the_first() -> None:
    """The first answer must be ahead of the second, intervals and all."""
    results = only(bit_example().results, "colour")
    question = results.questions[0]
    first = max(question.rows, key=lambda row: row.consistent_share)
    rows = tuple(replace(first, label=row.label) for row in question.rows)
    (clear,) = plain(results).values()
    assert "too close" not in clear
    (close,) = plain(replace(results, questions=(replace(question, rows=rows),))).values()
    assert close.endswith(": too close to tell which is first")
    assert close.count(" ± ") == 2


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.01])
def test_the_right_guess_is_that_of_the_worst_mechanism(epsilon: float, delta: float) -> None:
    """Randomized response that tells the truth outright with probability δ reaches the bound."""
    factor = math.exp(epsilon)
    truthful = delta + (1 - delta) * factor / (1 + factor)
    assert right_guess(epsilon, delta) == pytest.approx(truthful, rel=1e-12)
    assert right_guess(800.0, delta) == 1.0


@pytest.mark.parametrize(
    ("epsilon", "said"),
    [
        (0.01, "51 times in 100; tossing a coin, 50"),
        (1.0, "74 times in 100; tossing a coin, 50"),
        (5.0, "994 times in 1,000; tossing a coin, 500"),
        (30.0, "noise is too small to hide it"),
    ],
)
def test_a_guess_is_told_in_whole_times_rounded_up(epsilon: float, said: str) -> None:
    """Never as a certainty if it is none, and in more tries if that needs them."""
    assert said in guess_sentence(epsilon, 1e-9)


@pytest.mark.parametrize("name", MADE)
def test_the_promise_on_top_is_that_of_the_results(name: str) -> None:
    """The chance of a right guess for ε and δ of the results, rounded up, also as a bar."""
    results = MADE[name]()
    box = promise_box(results, ENGLISH)
    right, of, half = map(int, re.findall(r"(\d+)", box.promise.replace(",", "")))
    chance = right_guess(results.promise.epsilon, results.promise.delta)
    assert chance <= right / of <= chance + 1 / of
    assert half == of / 2
    assert box.guess is not None
    assert box.guess.length == pytest.approx(100 * (right - half) / half, abs=0.01)
    assert [str(n) in t for n, t in ((half, box.guess.half), (right, box.guess.right))] == [
        True
    ] * 2
    name, slack = "δ", results.promise.delta
    if results.plan.survey.policy.delta is None:
        name, slack = "η", results.promise.eta
    bound = NumberFormat().bound
    assert box.symbols == f"ε = {bound(results.promise.epsilon)}, {name} = {bound(slack, 1)}"
    page = spaced(report_page(results))
    assert box.symbols in page.partition("<summary>In symbols")[2]


def test_a_noise_that_hides_nothing_has_no_bar() -> None:
    """And the sentence says so."""
    results = bit_example().results
    box = promise_box(replace(results, promise=replace(results.promise, epsilon=50.0)), ENGLISH)
    assert box.guess is None
    assert "too small to hide it" in box.promise


def test_the_promise_says_whom_it_relies_on() -> None:
    """A crowd and the collector, a mixer, nobody in a simulation, not the data holder."""
    bits, mixed = bit_example().results, small_example().results
    cases = [
        (bits, "It needs a crowd, here of 20,000 people, and a collector that does not work"),
        (mixed, "however few people take part, as long as one of the 3 mixers follows the rules"),
        (replace(bits, provenance=Provenance.TABLE), "not protect against the data holder"),
        (MADE["not kept"](), "This is less than the survey promised."),
        (bits, "This is proven"),
    ]
    for results, part in cases:
        assert part in promise_box(results, ENGLISH).after, part
    simulated = replace(bits, provenance=Provenance.SIMULATION)
    assert promise_box(simulated, ENGLISH).before.startswith("Nobody was asked, so nothing is")
    assert promise_box(bits, ENGLISH).before == ""


def test_a_tail_that_is_void_is_not_told() -> None:
    """η = 1 says nothing, and is not said; the odds of a guess hold by δ."""
    mixed = small_example().results
    assert mixed.promise.eta > 0.5
    text = read_page(report_page(mixed)).text
    assert "η =" not in text
    assert "δ =" in text
    assert "η =" in read_page(report_page(bit_example().results)).text


@pytest.mark.parametrize(
    ("results", "shown"),
    [
        (lambda: bit_example().results, ("Noise added on every device", "Proven")),
        (lambda: small_example().results, ("Noise added by 3 mixers", "Proven")),
        (lambda: results_of("bits, of a table"), ("Noise added by the data holder", "Proven")),
        (lambda: results_of("bits, of a simulation"), ("Simulation: nobody was asked", "")),
        (MADE["not kept"], ("Noise", "The promise was not kept")),
    ],
)
def test_badges_say_where_the_noise_is_from_and_how_good_the_promise_is(
    results: Callable[[], Results], shown: tuple[str, str]
) -> None:
    """Two labels, which are on the page before anything else."""
    made = results()
    texts = [badge.text for badge in badges(made, ENGLISH)]
    assert all(text.startswith(part) for text, part in zip(texts, shown, strict=True))
    page = read_page(report_page(made)).text
    assert max(page.index(text) for text in texts) < page.index("At a glance")


def test_bars_that_do_not_end_at_everybody_say_where() -> None:
    """Below the heading; a bar of 100 % and a single bar say nothing."""
    html = spaced(report_page(bit_example().results))
    ends = [float(end) for end in re.findall(r"bars end at ([\d.]+) %", html)]
    assert ends
    assert all(0 < end < 100 for end in ends)
    assert "bars end at" not in spaced(report_page(single_example().results))


def estimate(share: float, half: float) -> Estimate:
    return Estimate(label="x", share=share, low=share - half, high=share + half)


def test_digits_follow_the_interval() -> None:
    """As many decimals as the first digit of the table's median margin of error, in every row."""
    assert table_decimals([estimate(0.5, 0.32)]) == 0
    assert table_decimals([estimate(0.5, 0.004), estimate(0.5, 0.004), estimate(0, 1e-9)]) == 1
    for example in (bit_example, small_example, long_example):
        page = read_page(report_page(example().results))
        for question in example().values["questions"]:
            ends = [row["share_interval"] for row in rows_of(question)]
            half = statistics.median(50 * (each["high"] - each["low"]) for each in ends)
            expected = max(0, -math.floor(math.log10(half)))
            title = title_of(example().values, question["name"])
            shares = shares_of(page, title)
            texts = [t for _, share, ends in shares for t in (share, *ends.split(" to "))]
            shown = {len(text.replace("%", "").strip().partition(".")[2]) for text in texts}
            assert shown == {expected}


def rows_of(question: dict[str, Any]) -> list[dict[str, Any]]:
    """Every row of a question of the file, silence included."""
    silent = [] if question["unanswered"] is None else [question["unanswered"]]
    return [*question["rows"], *silent]


def test_a_bar_of_100_percent_is_as_long_as_its_parts() -> None:
    """Colours of a scale differ on both sides of its middle; text is left out where it is cut."""
    assert scale_tones(3) == ("low-strong", "mid", "high-strong")
    assert scale_tones(4) == ("low-strong", "low", "high", "high-strong")
    shown = [("first", "10 %", 0.1), ("b", "40 %", 0.4), ("c", "3 %", 0.03)]
    parts = stacked(shown, scale_tones(3))
    assert sum(part.width for part in parts) == pytest.approx(100, abs=0.05)
    assert [part.said for part in parts] == ["10 %", "40 % b", ""]


def test_a_scale_is_told_by_its_ends_and_its_middle() -> None:
    """In the words of its labels, without "very" where several values are told, and its values."""
    results = small_example().results
    scale = next(q for q in results.plan.survey.questions if isinstance(q, Scale))
    estimate = next(q for q in results.questions if q.name == scale.name)
    for labels, said in (
        (("very dissatisfied", "very satisfied"), ["dissatisfied", "neither", "satisfied"]),
        (("bad", "good"), ["bad", "neither", "good"]),
        (("a", "b", "c", "d", "e"), ["a or b", "c", "d or e"]),
        ((), ["1–2", "3", "4–5"]),
    ):
        boxes = boxes_of(replace(scale, labels=labels), estimate, ENGLISH)
        assert [box.name for box in boxes] == said
        assert [box.values for box in boxes] == ["1–2", "3", "4–5"]
        assert sum(box.part for box in boxes) == pytest.approx(100, abs=0.1)
    ten = replace(scale, lowest=0, highest=10, labels=("never", "always"))
    assert [box.name for box in boxes_of(ten, estimate, ENGLISH)][1] == "in between"
    assert "on the scale from 1" in read_page(report_page(results)).text


def test_shares_for_each_answer_are_those_of_the_results() -> None:
    """Both tables of a pair, every share and interval; everybody's shares come first."""
    values = bit_example().values
    page = read_page(report_page(results_in(values)))
    tables = [t for t in page.tables if t.caption.startswith("Shares of each row")]
    for table, given in zip(tables, values["joint"][0]["given"], strict=True):
        _, everybody, *rows = table.rows
        groups = [g[0]["given"] for g in given["groups"]]
        apart = [row[0].text for row in rows[len(groups) :]]
        assert [row[0].text for row in rows[: len(groups)]] == groups
        assert set(apart) <= {f"{b} − {a}" for a, b in combinations(groups, 2)}
        shares = [float(cell.text.split()[0]) for cell in everybody[1:]]
        assert sum(shares) == pytest.approx(100, abs=len(shares))
        for cells, group in zip(rows, given["groups"], strict=False):
            for cell, share in zip(cells[1:], group, strict=True):
                number = cell.text.split()[0]
                decimals = len(number.partition(".")[2])
                assert float(number) == pytest.approx(
                    100 * share["consistent"], abs=0.5001 * 10.0**-decimals
                )
                low, high = map(float, cell.small.split(" to "))
                assert low == pytest.approx(100 * share["interval"]["low"], abs=10.0**-decimals)
                assert high == pytest.approx(100 * share["interval"]["high"], abs=10.0**-decimals)
        for cells in rows[len(groups) :]:
            for cell in cells[1:]:
                said, (low, high) = cell.text.split()[0], map(_signed, cell.small.split(" to "))
                assert low <= _signed(said) <= high
                assert " points" in cell.text


def _signed(text: str) -> float:
    return float(text.replace("−", "-"))


@pytest.mark.parametrize(
    ("name", "english", "german"),
    [
        ("mixers, in one hand", "so it can read every answer", "kann darum jede Antwort lesen"),
        ("bits, in one hand", "the noise of that person's device alone", "Rauschen ihres Geräts"),
    ],
)
def test_in_one_hand_nobody_is_told_that_the_organiser_would_have_to_guess(
    name: str, english: str, german: str
) -> None:
    """The page says what the organiser can read; the guess is that of readers of the results."""
    results = results_of(name)
    for code, reads, only in (
        ("en", english, "Anyone who sees nothing but these results"),
        ("de", german, "Wer nur diese Ergebnisse sieht"),
    ):
        odds = promise_box(results, language_of(code))
        assert reads in odds.before
        assert odds.promise.startswith(only)
        page = report_page(results, language=code)
        assert page.count(only) == 1
        assert "the analyst can see" not in page
        assert "die auswertende Stelle sehen kann" not in page
