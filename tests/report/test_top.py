"""The top of the page: findings that are sure enough, the promise as odds of a guess, badges."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from krand.analysis.results import Results
from krand.analysis.results_file import results_in
from krand.batches.provenance import Provenance
from krand.promise import Assurance
from krand.report import report_page
from krand.report.answers import Estimate, displayed_sum, table_decimals
from krand.report.figures import diverging
from krand.report.findings import MOST, WIDEST, findings
from krand.report.labels import labels_of
from krand.report.languages import language_of
from krand.report.summary import badges, promise_in_odds
from krand.wording.number_format import NumberFormat
from krand.wording.promises import guess_sentence, right_guess
from report.examples import bit_example, long_example, single_example, small_example
from report.page_reader import read_page, spaced
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


def plain(results: Results) -> list[str]:
    shown = findings(results, labels_of(results.plan.survey, ENGLISH), ENGLISH)
    return [each.sentence.striptags() for each in shown]


def test_every_kind_of_question_has_a_sentence() -> None:
    """A mean, "yes", the first of many answers, a median, a share among others."""
    mean, fair = plain(small_example().results)
    assert re.fullmatch(r"How content are you with your work\?: mean 4\.\d ± 0\.\d", mean)
    assert re.fullmatch(r"Were you treated fairly this year\?: yes, \d\d % ± \d", fair)
    (town,) = plain(long_example().results)
    assert re.fullmatch(r"Where do you live\?: Town number 0, 13\.\d+ % ± 0\.\d+", town)
    text = " / ".join(plain(results_of("bits, a pair alone")))
    assert re.fullmatch(r"(smokes|Which colour\?.*): \S+, .* of those who answered \S+ to .*", text)
    (age,) = plain(only(bit_example().results, "age"))
    assert re.fullmatch(r"How old are you\?: median \d+\syears \(20 to 40\)", age)


def only(results: Results, name: str) -> Results:
    """The results of one question alone."""
    kept = tuple(question for question in results.questions if question.name == name)
    return replace(results, questions=kept, joint=(), words=())


@pytest.mark.parametrize("name", MADE)
def test_findings_are_few_and_lead_to_their_question(name: str) -> None:
    """At most three, each with an anchor that the page has."""
    results = MADE[name]()
    shown = findings(results, labels_of(results.plan.survey, ENGLISH), ENGLISH)
    assert len(shown) <= MOST
    page = spaced(report_page(results))
    assert all(f'<h3 id="{each.anchor}">' in page for each in shown)
    assert all(spaced(str(each.sentence)) in page for each in shown)


def test_a_finding_has_the_numbers_of_its_row_and_the_margin_covers_the_interval() -> None:
    """The share as it is shown, plus and minus the margin, contains the interval of the results."""
    for example in (single_example, long_example):
        results = example().results
        (sentence,) = plain(results)
        share, margin = map(float, re.findall(r"([\d.]+) % ± ([\d.]+)", sentence)[0])
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


def test_what_is_too_uncertain_is_no_finding() -> None:
    """An interval that is too wide, contains one half, or cannot be read; the page says so."""
    results = single_example().results
    interval = type(results.questions[0].rows[0].share_interval)
    share = results.questions[0].rows[0].consistent_share
    wide = interval(share - 2.1 * WIDEST, min(1.0, share + 2.1 * WIDEST))
    for uncertain in (
        changed(results, share_interval=wide),
        changed(results, share_interval=interval(0.45, 0.55), consistent_share=0.5),
        changed(results, readable=False),
    ):
        assert plain(uncertain) == []
        assert "No answer is clear enough to be a main finding." in report_page(uncertain)
    assert len(plain(results)) == 1


def test_one_answer_that_cannot_be_read_is_all_there_is() -> None:
    """Not "1 of 1 answers"."""
    page = read_page(report_page(changed(single_example().results, readable=False))).text
    assert "fair (its only answer)." in page


def test_two_answers_that_may_be_equal_are_no_finding() -> None:
    """The first answer must be ahead of the second, intervals and all."""
    results = only(bit_example().results, "colour")
    question = results.questions[0]
    first = max(question.rows, key=lambda row: row.consistent_share)
    rows = tuple(replace(first, label=row.label) for row in question.rows)
    assert len(plain(results)) == 1
    assert plain(replace(results, questions=(replace(question, rows=rows),))) == []


def test_the_survey_s_main_questions_come_first() -> None:
    """The largest weight first; of the same weight, the clearest answer."""
    results = bit_example().results
    first = plain(results)[0]
    survey = results.plan.survey
    asked = tuple(
        replace(question, weight=9.0) if question.name == "age" else question
        for question in survey.questions
    )
    plan = replace(results.plan, survey=replace(survey, questions=asked))
    assert first.startswith("How old are you?") is False
    assert plain(replace(results, plan=plan))[0].startswith("How old are you?")


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
    """The probability of a right guess for ε and δ of the results, rounded up, never down."""
    results = MADE[name]()
    said = promise_in_odds(results, ENGLISH).promise
    percent = float(re.findall(r"at most ([\d.]+) %", said)[0])
    right = 100 * right_guess(results.promise.epsilon, results.promise.delta)
    assert right <= percent <= right + 0.02
    name, slack = "δ", results.promise.delta
    if results.plan.survey.policy.delta is None:
        name, slack = "η", results.promise.eta
    bound = NumberFormat().bound
    assert f"(ε = {bound(results.promise.epsilon)}, {name} = {bound(slack)})" in said
    void = replace(results, promise=replace(results.promise, epsilon=60.0))
    said = promise_in_odds(void, ENGLISH).promise
    assert "the noise is too small to hide it (ε = 60, " in said


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
        assert part in promise_in_odds(results, ENGLISH).after, part
    outlier = replace(bits, promise=replace(bits.promise, assurance=Assurance.OUTLIER))
    assert "a conjecture" in promise_in_odds(outlier, ENGLISH).after
    assert "proven" not in promise_in_odds(outlier, ENGLISH).after
    simulated = replace(bits, provenance=Provenance.SIMULATION)
    assert promise_in_odds(simulated, ENGLISH).before.startswith("Nobody was asked, so nothing is")
    assert promise_in_odds(bits, ENGLISH).before == ""


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
        (lambda: results_of("bits, outlier"), ("Noise", "Not proven: the promise is a conjecture")),
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
    assert max(page.index(text) for text in texts) < page.index("Main findings")


def test_all_questions_have_one_scale_and_each_its_own() -> None:
    """The same label in every table; the stretch between both scales is that of their labels."""
    html = spaced(report_page(bit_example().results))
    (common,) = set(re.findall(r'class="common">(.*?) %<', html))
    own = re.findall(r'class="own">(.*?) %<', html)
    stretched = re.findall(r'style="--stretch: ([\d.]+)"', html)
    assert len(set(own)) > 1
    for label, stretch in zip(own, stretched, strict=True):
        assert float(stretch) == pytest.approx(float(common) / float(label), rel=1e-3)
    assert 'id="own-scale"' in html
    assert 'id="own-scale"' not in report_page(single_example().results)


def estimate(share: float, half: float) -> Estimate:
    return Estimate(
        label="x",
        share=share,
        low=share - half,
        high=share + half,
        people=1,
        people_low=0,
        people_high=2,
        readable=True,
    )


def test_shares_that_do_not_add_up_are_explained() -> None:
    """By what they add up to, as they are shown; nothing is said where they do."""
    thirds = [estimate(1 / 3, 0.02)] * 3
    assert displayed_sum(thirds) == 99
    assert displayed_sum([estimate(0.25, 0.02)] * 4) == 100
    page = read_page(report_page(small_example().results)).text
    shares = [row.consistent_share for row in small_example().results.questions[0].all_rows]
    assert sum(shares) == pytest.approx(1)
    assert "Because of rounding, the shares shown add up to 99 %." in page
    assert "Because of rounding" not in read_page(report_page(single_example().results)).text


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
            table = next(t for t in page.tables if t.caption.startswith(f"{question['name']}:"))
            texts = [
                t for row in table.rows[1:] for t in (row[1].text, *row[1].small.split(" to "))
            ]
            shown = {len(text.replace("%", "").strip().partition(".")[2]) for text in texts}
            assert shown == {expected}


def rows_of(question: dict[str, Any]) -> list[dict[str, Any]]:
    """Every row of a question of the file, silence included."""
    silent = [] if question["unanswered"] is None else [question["unanswered"]]
    return [*question["rows"], *silent]


def test_a_scale_diverges_from_its_middle() -> None:
    """Half of the middle answer on each side; the longer side fills its half of the drawing."""
    drawn = diverging(["1", "2", "3"], [0.1, 0.4, 0.5])
    assert [part.tone for part in drawn.segments] == ["low-strong", "mid", "high-strong"]
    left = drawn.indent + drawn.segments[0].width + drawn.segments[1].width / 2
    assert left == pytest.approx(50, abs=0.05)
    assert drawn.indent + sum(part.width for part in drawn.segments) == pytest.approx(100, abs=0.05)
    four = diverging(["1", "2", "3", "4"], [0.4, 0.3, 0.2, 0.1])
    assert four.indent == 0
    assert four.segments[0].width + four.segments[1].width == pytest.approx(50, abs=0.05)
    assert 'class="likert"' in report_page(small_example().results)
    assert 'class="likert"' not in report_page(bit_example().results)


def test_shares_for_each_answer_are_those_of_the_results() -> None:
    """Both tables of a pair, every share and interval."""
    values = bit_example().values
    page = read_page(report_page(results_in(values)))
    for given in values["joint"][0]["given"]:
        table = page.table(f"The answers to {given['question']} among those")
        assert [row[0].text for row in table.rows[1:]] == [g[0]["given"] for g in given["groups"]]
        for cells, group in zip(table.rows[1:], given["groups"], strict=True):
            for cell, share in zip(cells[1:], group, strict=True):
                number = cell.text.split()[0]
                decimals = len(number.partition(".")[2])
                assert float(number) == pytest.approx(
                    100 * share["consistent"], abs=0.5001 * 10.0**-decimals
                )
                low, high = map(float, cell.small.split(" to "))
                assert low == pytest.approx(100 * share["interval"]["low"], abs=10.0**-decimals)
                assert high == pytest.approx(100 * share["interval"]["high"], abs=10.0**-decimals)


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
        odds = promise_in_odds(results, language_of(code))
        assert reads in odds.before
        assert odds.promise.startswith(only)
        page = report_page(results, language=code)
        assert page.count(only) == 2
        assert "the analyst can see" not in page
        assert "die auswertende Stelle sehen kann" not in page
