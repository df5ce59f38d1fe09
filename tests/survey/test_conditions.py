"""Questions with a condition: whom they are asked, and that nothing else tells who was asked."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from client.vector_plans import known_plan
from client.vectors import KnownBytes
from krand.client.randomizer import payloads
from krand.errors import InvalidInput
from krand.promise import NOISE_GRID, Linkage
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.conditions import Condition, asked_answers
from krand.survey.encoding import encode
from krand.survey.layout import layout_of
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Number, PickAny, Question, Scale, Words, YesNo
from krand.survey.reading import parse_survey
from krand.survey.rules import SurveyErrors
from krand.survey.survey import Survey, Together, Trust
from krand.wire.messages import Payload
from survey.drawing import POLICY, asking, every_answer
from tables.rows import encode_lists

THREE = Choices(["red", "green", "blue"])
GATES: dict[str, Question] = {
    "yes_no": YesNo(name="gate"),
    "choice": Choice(name="gate", choices=THREE),
    "pick_any": PickAny(name="gate", choices=THREE),
    "number": Number(name="gate", edges=(0, 5, 1e-5 + 10), open_below=True),
    "whole": Number(name="gate", edges=(0, 5, 6, 10), integer=True, open_above=True),
    "scale": Scale(name="gate", lowest=-1, highest=1, labels=("bad", "good")),
}
HEAD = """\
id = "s"
[policy]
epsilon = 1
delta = 1e-6
minimum_crowd = 1000
[[question]]
name = "smokes"
type = "yes_no"
[[question]]
name = "brand"
type = "choice"
choices = ["Camel", "Gauloises"]
[[question]]
name = "words"
type = "words"
positions = 8
hashes = 1
[[question]]
name = "years"
type = "number"
edges = [0, 5, 10]
"""
LINE = HEAD.count("\n") + 4
"""Of the condition of the next question."""


@pytest.mark.parametrize(
    ("gate", "given", "named"),
    [
        ("yes_no", True, ["yes"]),
        ("yes_no", ["No", 1], ["yes", "no"]),
        ("choice", ("blue", "red", "blue"), ["red", "blue"]),
        ("pick_any", "green", ["green"]),
        ("number", [7, -1], ["below 0", "5 to under 10.00001"]),
        ("number", "0 to under 5", ["0 to under 5"]),
        ("whole", [5, "10 or above", "0 to 4"], ["0 to 4", "5", "10 or above"]),
        ("scale", [1, "0", "-1 (bad)"], ["-1 (bad)", "0", "1 (good)"]),
    ],
)
def test_answers_of_a_condition_may_be_written_as_answers_are(
    gate: str, given: Any, named: list[str]
) -> None:
    """They become the names of the gate's answers, in its order, and each once."""
    asked = YesNo(name="q", asked_if=Condition("gate", given))
    survey = asking(GATES[gate], asked)
    condition = survey.questions[1].asked_if
    assert condition == Condition("gate", tuple(named))
    assert survey == replace(survey), "names stay as they are"
    like_a_file = YesNo(name="q", asked_if={"question": "gate", "is": given})  # type: ignore[arg-type]
    assert asking(GATES[gate], like_a_file) == survey


@pytest.mark.parametrize("gate", GATES)
def test_a_condition_holds_for_its_answers_and_no_others(gate: str) -> None:
    """All answers to the gate, each as the one that a condition names: who is asked follows."""
    question = GATES[gate]
    count = question.positions if gate == "pick_any" else question.levels  # type: ignore[attr-defined]
    for place in range(count):
        name = question.position_name(place)
        survey = asking(question, YesNo(name="q", asked_if=Condition("gate", (name,))))
        for answer in every_answer(question):
            gave = answer is not None and place in question.places_of(answer)
            person = {"gate": answer, "q": True}
            assert ("q" in asked_answers(survey.questions, person)) == gave, (name, answer)


CHAIN = asking(
    YesNo(name="a"),
    Choice(name="b", choices=THREE, asked_if=Condition("a", True)),
    PickAny(name="c", choices=THREE, at_most=2, asked_if=Condition("b", ["red", "blue"])),
    Words(name="d", size=9, hashes=2, asked_if=Condition("c", ["green"])),
)


@pytest.mark.parametrize(
    ("person", "asked"),
    [
        ({"a": True, "b": "red", "c": ["green"], "d": "x"}, "abcd"),
        ({"a": False, "b": "red", "c": ["green"], "d": "x"}, "a"),
        ({"b": "red", "c": ["green"], "d": "x"}, ""),
        ({"a": True, "b": "green", "c": ["green"], "d": 7}, "ab"),
        ({"a": True, "b": None, "c": "no list"}, "ab"),
        ({"a": True, "b": "blue", "c": ["red", "blue"], "d": "x"}, "abc"),
        ({"a": False, "b": 1, "c": 2, "d": 3}, "a"),
    ],
)
def test_answers_that_were_not_asked_are_dropped_unread(person: dict[str, Any], asked: str) -> None:
    """Along a chain, even wrong ones; in a table as for one person."""
    layout = layout_of(CHAIN)
    kept = {name: answer for name, answer in person.items() if name in asked}
    assert asked_answers(CHAIN.questions, person) == kept
    assert encode(layout, person) == encode(layout, kept)
    table = encode_lists(layout, {name: [answer] for name, answer in person.items()})
    assert (table.bad.size, tuple(table.positions)) == (0, encode(layout, kept))


@pytest.mark.parametrize(
    ("person", "field"),
    [
        ({"a": "perhaps", "b": "mauve"}, "a"),
        ({"a": True, "b": "mauve", "c": 7}, "b"),
        ({"a": True, "b": "red", "c": ["green", "mauve"], "d": 7}, "c"),
        ({"a": True, "b": "red", "c": list(THREE), "d": 7}, "c"),
        ({"a": True, "b": "red", "c": "green", "d": 7}, "c"),
    ],
)
def test_a_wrong_answer_to_a_gate_is_the_mistake(person: dict[str, Any], field: str) -> None:
    """What depends on it is not asked; the gate is named, in a table as for one person."""
    with pytest.raises(InvalidInput) as caught:
        encode(layout_of(CHAIN), person)
    assert caught.value.field == field
    table = encode_lists(layout_of(CHAIN), {name: [answer] for name, answer in person.items()})
    assert [mistake.error.field for mistake in table.mistakes] == [field]


def test_the_order_is_that_of_the_survey_not_of_blocks() -> None:
    """A group stands where its first question is, but its other questions are asked later."""
    survey = asking(
        YesNo(name="a"),
        YesNo(name="b"),
        YesNo(name="c", asked_if=Condition("b", True)),
        together=(Together(("a", "c")),),
    )
    layout = layout_of(survey)
    assert layout.question_names == ("a", "c", "b")
    with_c = encode(layout, {"a": True, "b": True, "c": True})
    without = encode(layout, {"a": True, "b": False, "c": True})
    assert without == encode(layout, {"a": True, "b": False})
    assert with_c != encode(layout, {"a": True, "b": True})


@pytest.mark.parametrize(
    ("condition", "rule", "hint"),
    [
        ('{ question = "smoke", is = "yes" }', "name of an earlier question", "mean smokes"),
        ('{ question = "zzz", is = 1 }', "earlier question", "are smokes, brand, words, years"),
        ('{ question = "q", is = "yes" }', "must not be the question itself", "earlier question"),
        ('{ question = "later", is = "yes" }', "must be an earlier question", "move later above q"),
        ('{ question = "circle", is = "yes" }', "lead back to the question", "leave out one"),
        ('{ question = "words", is = "x" }', "number or scale question, not words", "of everybody"),
        ('{ question = "brand", is = ["Gaulloise"] }', "answer to brand", "mean 'Gauloises'"),
        ('{ question = "brand", is = 3 }', "must be an answer to brand", "choices are 'Camel'"),
        ('{ question = "smokes", is = "never" }', "answer to smokes", "answers are 'yes', 'no'"),
        ('{ question = "years", is = "0 to 5" }', "answer to years", "mean '0 to under 5'"),
        ('{ question = "years", is = 10 }', "answer to years", "higher edge"),
        ('{ question = "smokes", is = [] }', "at least one answer", "leave asked_if out"),
        ('{ question = "smokes" }', "must be given", "for example asked_if"),
        ('{ is = "yes" }', "must be given", "for example asked_if"),
        ('{ question = 1, is = "yes" }', "must be the name of a question", "for example"),
        ('{ question = "smokes", is = "yes", or = 1 }', "not a key of this table", "known keys"),
        ('"smokes"', "must be a table", "for example asked_if"),
    ],
)
def test_a_wrong_condition_is_named_with_its_line(condition: str, rule: str, hint: str) -> None:
    """Circles, later questions, renamed answers, open kinds: each with its remedy, and once."""
    text = f"""{HEAD}\
[[question]]
name = "q"
type = "yes_no"
asked_if = {condition}
[[question]]
name = "circle"
type = "yes_no"
asked_if = {{ question = "smokes", is = "yes" }}
[[question]]
name = "later"
type = "yes_no"
"""
    if "circle" in condition:
        text = text.replace('"smokes", is = "yes" }\n[[', '"q", is = "yes" }\n[[')
    with pytest.raises(SurveyErrors) as caught:
        parse_survey(text)
    (problem,) = caught.value.problems
    assert problem.line == LINE
    assert problem.path.startswith("question[4].asked_if")
    assert rule in problem.rule
    assert hint in problem.hint


def test_a_broken_gate_does_not_hide_what_depends_on_it() -> None:
    """The gate's own mistake is told once; answers to it cannot be judged."""
    text = HEAD.replace("edges = [0, 5, 10]", "edges = [5, 0]") + (
        '[[question]]\nname = "q"\ntype = "yes_no"\nasked_if = { question = "years", is = 3 }\n'
        '[[question]]\nname = "r"\ntype = "yes_no"\nweight = 0\n'
        'asked_if = { question = "nobody", is = 3 }\n'
    )
    with pytest.raises(SurveyErrors) as caught:
        parse_survey(text)
    assert [problem.path for problem in caught.value.problems] == [
        "question[3].edges[1]",
        "question[5].weight",
        "question[5].asked_if.question",
    ]


def test_conditions_of_values_keep_the_same_rules() -> None:
    """A survey made in Python cannot break them either."""
    for condition in (Condition("q", True), Condition("a", ()), Condition("a", "perhaps")):
        with pytest.raises(InvalidInput, match=r"question\[1\].asked_if"):
            asking(YesNo(name="a"), YesNo(name="q", asked_if=condition))


SMALL: tuple[Question, ...] = (
    YesNo(name="gate"),
    Choice(name="colour", choices=THREE, asked_if=Condition("gate", True)),
    PickAny(name="why", choices=THREE, at_most=2, asked_if=Condition("colour", ["red", "green"])),
    Scale(name="else", lowest=1, highest=2, asked_if=Condition("gate", False)),
)
SENT = {
    "devices": (mechanisms.DEVICES, Linkage.BIT, ()),
    "records": (mechanisms.DEVICES, Linkage.RECORD, ()),
    "mixers": (mechanisms.MIXERS, Linkage.BIT, ()),
    "gate and question in a group": (
        mechanisms.MIXERS,
        Linkage.BIT,
        (Together(("gate", "colour")),),
    ),
}


@pytest.mark.parametrize("way", SENT)
def test_not_asked_and_not_answered_are_the_same_in_all_that_is_sent(way: str) -> None:
    """All answers of a small survey, with many draws: every message in its order."""
    noise, linkage, groups = SENT[way]
    survey = Survey(
        id="small",
        policy=POLICY,
        questions=SMALL,
        together=groups,
        linkage=linkage,
        trust=Trust(noise=noise, mixers=2 if noise.has_dummies else 1),
    )
    blocks = layout_of(survey).blocks
    flips, rooms = (NOISE_GRID // 4,) * len(blocks), [block.most_ones + 1 for block in blocks]
    if noise.has_dummies:
        flips, rooms = (), []
    plan = known_plan(survey, flips, () if linkage is Linkage.RECORD else rooms)
    random = np.random.default_rng(1)
    draws = [_draw(random, plan.layout.positions) for _ in range(5)]
    unasked = 0
    for given in product(*(every_answer(question) for question in SMALL)):
        person = dict(zip((q.name for q in SMALL), given, strict=True))
        asked = asked_answers(survey.questions, person)
        silent = person | {name: None for name in person if name not in asked}
        unasked += silent != person
        for draw in draws:
            assert _sent(plan, person, draw) == _sent(plan, silent, draw)
    assert unasked > 200


def _sent(plan: Plan, person: dict[str, Any], draw: bytes) -> tuple[list[Payload], int]:
    """The messages in their order, and how much randomness they took; the id is drawn next."""
    random = KnownBytes(draw)
    return payloads(plan, encode(plan.layout, person), random), random.given


def _draw(random: np.random.Generator, positions: int) -> bytes:
    """Words that flip each bit or not, then any others for shuffles."""
    flips = np.where(random.random(positions) < 0.5, 0, NOISE_GRID - 1).astype(">u4")
    return flips.tobytes() + random.bytes(2**10)


def test_what_is_sent_has_one_law_for_all_who_were_not_asked() -> None:
    """Exactly, over every flip of every bit and every order of every lane."""
    questions = (YesNo(name="gate"), YesNo(name="q", asked_if=Condition("gate", True)))
    plan = known_plan(asking(*questions), (NOISE_GRID // 4, NOISE_GRID // 8), (2, 2))
    laws = {
        (gate, q): _law(plan, {"gate": gate, "q": q})
        for gate, q in product((None, False, True), repeat=2)
    }
    assert all(sum(law.values()) == 1 for law in laws.values())
    for gate in (None, False):
        assert laws[gate, True] == laws[gate, False] == laws[gate, None] == laws[None, None]
    assert laws[True, False] == laws[True, None] != laws[True, True]


def _law(plan: Plan, person: dict[str, Any]) -> dict[tuple[Payload, ...], Fraction]:
    """How likely each row of messages is: two words flip or do not, two order two messages."""
    noises = [Fraction(block.numerator, NOISE_GRID) for block in plan.blocks]
    law: dict[tuple[Payload, ...], Fraction] = {}
    for words in product((0, 1), repeat=4):
        flips, orders = words[:2], words[2:]
        drawn = [0 if flip else NOISE_GRID - 1 for flip in flips] + [*orders]
        sent, given = _sent(plan, person, np.array(drawn, ">u4").tobytes())
        assert given == 16, "all words are drawn, and no others"
        chance = math.prod(q if flip else 1 - q for q, flip in zip(noises, flips, strict=True)) / 4
        law[tuple(sent)] = law.get(tuple(sent), Fraction(0)) + chance
    return law
