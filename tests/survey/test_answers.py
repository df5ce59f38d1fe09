"""Answers become positions, and counts of positions become answers again: exactly, without noise.

`unsafe_exact_plan` flips one bit in four billion. What a table sets is read from its tally, what a
device sets from its batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import krand
import steps
from effort import EFFORT
from krand.testing import FakeChain, FakeCollector, unsafe_simulated_tally
from survey import by_the_book as book
from survey import drawn
from survey.files import asked, counted, plan_of, survey_of, table_of

Values = dict[str, Any]


def test_tables_set_what_the_reference_says() -> None:
    """Random surveys and people: conditions, groups, words, open ends."""
    for seed in range(40 * EFFORT):
        chance = Random(seed)
        survey = drawn.survey(chance)
        people = [drawn.person(chance, book.questions_of(survey)) for _ in range(20)]
        expected = Counter(p for person in people for p in book.positions(survey, person))
        total = sum(size for _, size, _ in book.blocks(survey))
        found = counted(survey, people)
        wrong = {n: (m, expected[n]) for n, m in enumerate(found) if m != expected[n]}
        assert not wrong, f"seed {seed}: found and expected by position {wrong}; {survey}"
        assert len(found) == total, f"seed {seed}: {survey}"


def test_devices_set_what_tables_set(tmp_path: Path) -> None:
    """Through a collector, with seals and lanes; somebody is silent about everything."""
    chance = Random(1)
    grouped = survey_of(asked("yes_no", "a"), asked("yes_no", "b"))
    grouped["together"] = [{"questions": ["a", "b"]}]
    for number, survey in enumerate([grouped, *(drawn.survey(chance) for _ in range(2 * EFFORT))]):
        people = [drawn.person(chance, book.questions_of(survey)) for _ in range(7)] + [{}]
        chain = FakeChain(plan_of(survey))
        for person in people:
            chain.client().submit(person)
        batch = chain.release(tmp_path / str(number))
        tally = krand.tally_batches(chain.plan, [batch], chain.key)
        found, expected = tally.counts.tolist(), counted(survey, people)
        assert found == expected, f"devices set {found}, tables {expected}; {survey}"


def device(plan: krand.Plan, collector: FakeCollector) -> krand.Client:
    return steps.device(plan, transport=collector)


def test_results_name_the_answers_that_people_gave() -> None:
    """Every kind, alone, in a group and behind a condition: each row is the true number."""
    survey = survey_of(
        asked("yes_no", "smokes", counts="both"),
        asked(
            "choice", "pet", choices=["cat", "dog"], asked_if={"question": "smokes", "is": ["yes"]}
        ),
        asked("number", "age", edges=[0, 17.5, 65], open=True),
        asked("number", "children", edges=[0, 1, 3], integer=True),
        asked("scale", "mood", lowest=-1, highest=1, labels=["bad", "good"]),
        asked("pick_any", "tools", choices=["pen", "ink", "quill"], at_most=2),
        together=[{"questions": ["age", "children"]}],
    )
    chance = Random(7)
    people = [drawn.person(chance, _written_out(survey)) for _ in range(200)]
    plan = plan_of(survey)
    tally = unsafe_simulated_tally(plan, table_of(survey, people), seed=1)
    results = krand.make_results(plan, tally)
    for question in book.questions_of(survey):
        names, expected = book.answer_names(question), Counter()
        for person in people:
            given = book.answers_asked_for(survey, person).get(question["name"])
            if question["type"] == "pick_any":
                expected.update(given or ())
            elif given is not None:
                expected[names[book.level(question, given)]] += 1
        table = results.to_arrow(question=question["name"]).to_pylist()
        found = {row["answer"]: round(row["consistent"], 3) for row in table}
        for name in names:
            assert found[name] == expected[name], (question["name"], found, expected)


def _written_out(survey: Values) -> list[Values]:
    """Keys that a file may leave out, and that are drawn from."""
    return [{"open": False, **question} for question in book.questions_of(survey)]


# --- what the promise rests on -------------------------------------------------------------------

THREE = ["a", "b", "c"]
SIZES: list[tuple[Values, int, int]] = [
    (asked("yes_no"), 1, 1),
    (asked("yes_no", counts="both"), 2, 1),
    (asked("choice", choices=THREE), 2, 1),
    (asked("number", edges=[0, 10]), 1, 1),
    (asked("number", edges=[0, 10], open="above"), 2, 1),
    (asked("number", edges=[0, 1, 2.5, 7], open=True), 2, 1),
    (asked("scale", lowest=-1, highest=0), 2, 1),
    (asked("pick_any", choices=THREE), 3, 3),
    (asked("pick_any", choices=THREE, at_most=1), 2, 1),
    (asked("pick_any", choices=list("abcdefg"), at_most=2), 4, 2),
    (asked("words", positions=1000, hashes=2), 4, 2),
    (asked("words", positions=1000, hashes=2, at_most=2), 8, 4),
    (asked("words", positions=3, hashes=2, at_most=2), 3, 3),
]
"""A question, how many bits two people can differ in, and how many one can set."""


def every_answer(question: Values) -> list[Any]:
    """All that can be told apart in the answer to one question; of words a good many."""
    match question["type"]:
        case "yes_no":
            return [None, True, False]
        case "choice":
            return [None, *question["choices"]]
        case "scale":
            return [None, *range(question["lowest"], question["highest"] + 1)]
        case "number":
            edges, ends = question["edges"], question.get("open", False)
            below = [edges[0] - 1] if ends in (True, "below") else []
            return [None, *below, *edges[:-1], *([edges[-1]] if ends in (True, "above") else [])]
        case "pick_any":
            items = question["choices"]
            most = question.get("at_most", len(items))
            return [list(some) for n in range(most + 1) for some in combinations(items, n)]
    words = [f"word {number}" for number in range(7)]
    most = question.get("at_most", 1)
    return [list(some) for n in range(most + 1) for some in combinations(words, n)]


def every_code(survey: Values) -> set[frozenset[int]]:
    """What all possible people would set."""
    questions = book.questions_of(survey)
    names = [question["name"] for question in questions]
    everybody = product(*map(every_answer, questions))
    people = [dict(zip(names, given, strict=True)) for given in everybody]
    return {frozenset(codes_of(survey, person)) for person in people}


def codes_of(survey: Values, person: Values) -> set[int]:
    """The positions that one person sets."""
    return {place for place, ones in enumerate(counted(survey, [person])) if ones}


@pytest.mark.parametrize(("question", "sensitivity", "most_ones"), SIZES, ids=str)
def test_the_worst_pair_of_answers(question: Values, sensitivity: int, most_ones: int) -> None:
    """t and the most ones of a question are reached by some answers and passed by none."""
    survey = survey_of(question)
    codes = every_code(survey)
    assert max(len(a ^ b) for a, b in combinations(codes, 2)) == sensitivity
    assert max(map(len, codes)) == most_ones
    block = plan_of(survey).blocks[0].block
    assert (block.sensitivity, block.most_ones) == (sensitivity, most_ones)


def test_groups_are_one_choice_each() -> None:
    """One bit set, two changed, one position for each cell; a question of two groups is in both."""
    asked_three = (asked("yes_no", "a"), asked("choice", "b", choices=THREE))
    asked_three += (asked("number", "c", edges=[0, 5, 10], open="above"),)
    survey = survey_of(*asked_three, together=[{"questions": ["c", "a", "b"]}])
    assert every_code(survey) == {frozenset()} | {frozenset([cell]) for cell in range(47)}
    block = plan_of(survey).blocks[0].block
    assert (block.positions, block.sensitivity, block.most_ones) == (47, 2, 1)
    groups = [{"questions": ["a", "b"]}, {"questions": ["b", "c"]}]
    survey = survey_of(*asked_three, together=groups)
    codes = every_code(survey)
    assert max(len(a ^ b) for a, b in combinations(codes, 2)) == 4
    assert max(map(len, codes)) == 2
    found = [(block.name, block.positions) for block in plan_of(survey).blocks]
    assert found == [("a+b", 11), ("b+c", 15)]


# --- words ---------------------------------------------------------------------------------------

SAME = [
    ("Zürich", "zu\u0308rich"),
    (" STRASSE\n", "strasse"),
    ("ﬁsh", "FISH"),
    ("ΣΊΣΥΦΟΣ", "σίσυφος"),
    ("K", "\u212a"),
    ("１２", "12"),
    ("STRAẞE", "straße"),
    ("\u00a0a b\u3000", "a b"),
    ("\u0085a\u2029", "a"),
]
OTHER = [("Straße", "strasse"), ("\ufeffa", "a"), ("\x1ca", "a"), ("\u200ba", "a"), ("ab", "a b")]
TOWN = survey_of(asked("words", "town", positions=1024, hashes=2), id="homepages-2026")


def test_positions_of_a_word_never_change() -> None:
    """Responses already collected keep their meaning: these numbers are for ever."""
    assert codes_of(TOWN, {"town": "Zürich"}) == {51, 862}


@pytest.mark.parametrize(("one", "other"), [*SAME, *OTHER])
def test_what_counts_as_the_same_word(one: str, other: str) -> None:
    """Case, width, ligatures, composition, outer spaces; not what trim and strip would remove."""
    is_same = codes_of(TOWN, {"town": one}) == codes_of(TOWN, {"town": other})
    assert is_same == ((one, other) in SAME)


def test_words_of_another_survey_or_question_lie_elsewhere() -> None:
    """A table of words made for one is of no use for another; every position is used alike."""
    codes = [codes_of(TOWN, {"town": "basel"}), codes_of(TOWN | {"id": "b"}, {"town": "basel"})]
    city = survey_of(asked("words", "city", positions=1024, hashes=2), id="homepages-2026")
    codes.append(codes_of(city, {"city": "basel"}))
    assert len(set(map(frozenset, codes))) == 3
    ten = survey_of(asked("words", positions=10, hashes=1))
    found = counted(ten, [{"q": f"w{number}"} for number in range(20_000)])
    assert sum((ones - 2000) ** 2 / 2000 for ones in found) < 49, "χ², 1 in 10⁷"


# --- answers that are wrong ----------------------------------------------------------------------

GOOD = survey_of(
    asked("yes_no", "y"),
    asked("choice", "c", choices=["red", "green", "blue"]),
    asked("pick_any", "p", choices=["red", "green", "blue"], at_most=2),
    asked("number", "n", edges=[0, 10, 20]),
    asked("number", "r", edges=[18, 30, 67], integer=True, open="above", asked_as="ranges"),
    asked("words", "w", positions=64, hashes=2, at_most=2),
    asked("scale", "s", lowest=1, highest=5, labels=["very bad", "very good"]),
    asked("yes_no", "g", counts="both", asked_if={"question": "c", "is": ["red"]}),
)
WRONG: list[tuple[str, Sequence[object]]] = [
    ("y", ["maybe", 2, "y"]),
    ("c", ["pink", "Red", 3, ["red"]]),
    ("p", ["red", ["red", "green", "blue"], ["pink"]]),
    ("n", ["7", "0 to under 10", True, float("nan"), -1, 20, float("inf")]),
    ("r", ["18 to under 30", "67 or above ", 17]),
    ("w", ["  ", ["a", "b", "c"], 7, [7], "x" * 1001, "bad \ud800"]),
    ("s", [0, 6, 2.5, True, "3", "very bad", float("nan"), [3]]),
    ("g_", [True]),
]


def test_wrong_answers_are_refused_by_name(golden: Any) -> None:
    """With the rule and what to do; nothing is sent."""
    plan = steps.named(plan_of(GOOD))
    collector, told = FakeCollector(plan), []
    for name, values in WRONG:
        for value in values:
            with pytest.raises(krand.InvalidInput) as refusal:
                device(plan, collector).submit({name: value})
            assert refusal.value.field in (name, "answers")
            told.append(f"{name} = {value!r:.40}\n  {refusal.value}")
    golden("survey/wrong-answers", "\n".join(told))
    assert collector.people == 0


def test_a_wrong_answer_that_was_not_asked_is_dropped_unread() -> None:
    """Along a chain; but a wrong answer to the gate itself is the mistake."""
    plan = steps.named(plan_of(GOOD))
    collector = FakeCollector(plan)
    device(plan, collector).submit({"c": "blue", "g": "maybe"})
    device(plan, collector).submit({"g": 7})
    assert collector.people == 2
    with pytest.raises(krand.InvalidInput) as refusal:
        device(plan, collector).submit({"c": "mauve", "g": "maybe"})
    assert refusal.value.field == "c"


def test_every_way_to_write_an_answer_is_the_same() -> None:
    """yes and true; picks and words in any order, twice; ranges by their names."""
    for name, *ways in (
        ("y", True, "yes", 1),
        ("p", ["red", "blue"], ["blue", "red", "red"]),
        ("w", "tree", ["Tree", " tree"]),
        ("r", 31, "30 to 66"),
        ("s", 4, 4.0),
    ):
        found = [codes_of(GOOD, {name: way}) for way in ways]
        assert len(found[0]) >= 1
        assert all(each == found[0] for each in found), (name, found)
