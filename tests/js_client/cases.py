"""Random surveys and answers as JSON lines, for clients in other languages to agree with.

    cd tests && python -m js_client.cases 2000 SEED

Each line has the shape of a case in tests/client/vectors.json, and `refused`: answers to the same
plan that must be refused, each with the question that the error names. All of it is a simulation:
it follows from the seed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from random import Random
from typing import Any

from client.vector_cases import Case
from client.vector_plans import known_plan
from client.vectors import case_values
from krand.errors import InvalidInput
from krand.promise import NOISE_GRID, Linkage, Policy
from krand.survey import mechanisms
from krand.survey.about import About
from krand.survey.choices import Choices
from krand.survey.coherence import MOST_COLUMNS
from krand.survey.conditions import Condition, asked_answers
from krand.survey.kinds.words import WHITE_SPACE, normalized
from krand.survey.layout import Block, layout_of
from krand.survey.plan import Plan
from krand.survey.questions import (
    Choice,
    Leveled,
    Matrix,
    Number,
    PickAny,
    Question,
    Scale,
    Words,
    YesNo,
)
from krand.survey.survey import Survey, Together, Trust
from krand.wire.invitations import CODE_BYTES, code_text
from schedules import days
from survey.drawing import names_of, translated

LETTERS = "abcXYZ019 äßÅéèÉÖÜŒœçñŁłğİıΑΒΣσςάΏжЖЁёאבعغพ漢字かカﾊﾞ한글"
ODD = (
    "ﬁﬀ①½²ℌ℡㎏Ⅷⅷ™Ωﾞ゛ǄǅǆẞŉǰΐᾳᾼἙ\u0301\u0308\u0345\u0327\u1e9b\u0323"
    "\u00ad\u034f\u180e\u200b\u200c\u200d\u2060\ufeff\x1c\x1d\x1e\x1f\x00\x7f"
    "𝐀𝒳🟣👩‍💻Ⴀⴀ𐐀𐐨ᏣꭰꙊ"
)
"""Compatibility forms, title case, marks, characters that nobody sees, controls, other planes."""
SHOWN = "abcdefgXYZ0189äöüßéñçŁжЖΣσא漢字🟣\"\\/'&<>"
"""For choices, which have no controls and no spaces at their ends."""
MOST_RANDOMNESS = 2**17
CHOICE_COUNTS = (2, 3, 5, 9, 31, 32, 33, 40, 60)
NOISES = (mechanisms.DEVICES, mechanisms.MIXERS)
WRONG = ({}, [[]], {"a": 1}, [None])
"""Fit no question."""


def random_cases(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """So many cases, the same for the same seed."""
    chance = Random(seed)
    for number in range(count):
        plan = _plan(chance, number)
        if number % 3 == 0:
            plan = replace(plan, survey=translated(plan.survey, "fr", "ja"))
        case = _case(chance, plan, f"{seed}-{number}")
        refused = [_refused(chance, plan.survey, case.answers) for _ in range(chance.randint(0, 2))]
        yield case_values(case, _randomness(chance)) | {"refused": refused}


def _randomness(chance: Random) -> bytes:
    """Bytes, now and then with words at the ends of their range, which many rules treat apart."""
    content = bytearray(chance.randbytes(MOST_RANDOMNESS))
    for _ in range(chance.choice((0, 0, 5, 50))):
        place = 8 * chance.randrange(50)  # no two in a row: clients refuse what repeats itself
        content[place : place + 4] = chance.choice((bytes(4), b"\xff" * 4, b"\xff\xff\xff\xfe"))
    return bytes(content)


def _case(chance: Random, plan: Plan, name: str) -> Case:
    survey = plan.survey
    code = code_text(chance.randbytes(CODE_BYTES)) if survey.invitations else None
    return Case(
        name=name,
        plan=plan,
        answers=_answers(chance, survey),
        round_number=chance.randint(1, survey.rounds),
        invitation=code,
    )


def _plan(chance: Random, number: int) -> Plan:
    survey = _survey(chance, number)
    if survey.trust.noise.has_dummies:
        return known_plan(survey)
    blocks = layout_of(survey).blocks
    if survey.linkage is Linkage.RECORD:
        return known_plan(survey, (_numerator(chance),) * len(blocks))
    numerators = [_numerator(chance) for _ in blocks]
    return known_plan(survey, numerators, [_room(chance, block) for block in blocks])


def _numerator(chance: Random) -> int:
    """From one flip in four thousand million to almost a half."""
    sizes = (1, NOISE_GRID // 1000, NOISE_GRID // 20, NOISE_GRID // 4, NOISE_GRID // 2 - 1)
    return chance.choice((*sizes, chance.randint(1, NOISE_GRID // 2 - 1)))


def _room(chance: Random, block: Block) -> int:
    """Sometimes too small for all that is reported."""
    return min(block.most_ones + chance.randint(0, 4), block.positions + 2)


def _survey(chance: Random, number: int) -> Survey:
    linkage = Linkage.RECORD if chance.random() < 0.15 else Linkage.BIT
    noise = mechanisms.DEVICES if linkage is Linkage.RECORD else chance.choice(NOISES)
    asked: list[Question] = []
    for place in range(chance.randint(1, 6)):
        asked.append(_conditional(chance, _question(chance, f"q{place}"), asked))
    if asked[0].takes_statements and asked[0].positions <= MOST_COLUMNS:
        row = replace(asked[0], matrix=Matrix(name="m", text=_shown(chance)))
        asked[:1] = [row, replace(row, name="q0b", text=_shown(chance))]
    rounds = chance.choice((1, 1, 2, 4)) if noise.has_dummies else chance.choice((1, 3, 300))
    return Survey(
        id=f"drawn-{number}" + chance.choice(("", ".x", "_Y")),
        policy=Policy(epsilon=chance.choice((0.5, 1, 2.25)), delta=1e-6, minimum_crowd=1000),
        questions=tuple(asked),
        together=() if linkage is Linkage.RECORD else _groups(chance, asked),
        linkage=linkage,
        copies=chance.randint(1, 4) if linkage is Linkage.RECORD else 1,
        rounds=rounds,
        schedule=days(rounds),
        trust=Trust(noise=noise, mixers=chance.randint(1, 3) if noise.has_dummies else 1),
        about=_about(chance, rounds),
        invitations=chance.random() < 0.3,
    )


def _about(chance: Random, rounds: int) -> About:
    return About(
        title=chance.choice(("", _shown(chance))),
        organiser=chance.choice(("", _shown(chance))),
        introduction=chance.choice(("", "One.\n\tTwo – «three» \u2026")),
        thanks=chance.choice(("", _shown(chance))),
        language=chance.choice(("en", "de", "ar", "zh-Hant-TW")),
        closes=chance.choice((None, date(2030, 2, 28))) if rounds == 1 else None,
    )


def _shown(chance: Random) -> str:
    return "".join(chance.choices(SHOWN, k=chance.randint(1, 12)))


def _groups(chance: Random, asked: list[Question]) -> tuple[Together, ...]:
    """Some questions jointly; the last of a group may be in the next one too."""
    names = [q.name for q in asked if isinstance(q, Leveled) and q.levels <= 9]
    chance.shuffle(names)
    groups = []
    while len(names) >= 2 and chance.random() < 0.6:
        size = chance.randint(2, min(3, len(names)))
        groups.append(Together(tuple(names[:size])))
        names = names[size - chance.randint(0, 1) :]
    return tuple(groups)


def _question(chance: Random, name: str) -> Question:
    make = chance.choice((_yes_no, _choice, _pick_any, _number, _scale, _words))
    shared = {"name": name, "required": chance.random() < 0.5}
    return make(chance, {**shared, "help": chance.choice(("", "Help.\nMore."))})


def _conditional(chance: Random, question: Question, before: list[Question]) -> Question:
    """Often asked only of those who gave some answers to one of the questions before."""
    gates = [gate for gate in before if gate.closed]
    if not gates or chance.random() < 0.4:
        return question
    gate = chance.choice(gates)
    names = names_of(gate)
    answers = chance.sample(names, chance.randint(1, min(len(names), 4)))
    return replace(question, asked_if=Condition(gate.name, answers))


def _yes_no(chance: Random, shared: dict[str, Any]) -> Question:
    return YesNo(**shared, text=_shown(chance), counts=chance.choice(("yes", "both")))


def _list(chance: Random) -> Choices:
    count = chance.choice(CHOICE_COUNTS)
    texts: dict[str, None] = {}
    while len(texts) < count:
        texts[_shown(chance)] = None
    return Choices(texts)


def _choice(chance: Random, shared: dict[str, Any]) -> Question:
    return Choice(**shared, choices=_list(chance))


def _pick_any(chance: Random, shared: dict[str, Any]) -> Question:
    choices = _list(chance)
    most = chance.choice((None, 1, 2, min(7, len(choices))))
    return PickAny(**shared, choices=choices, at_most=most)


def _number(chance: Random, shared: dict[str, Any]) -> Question:
    whole = chance.random() < 0.5
    drawn = {_edge(chance, whole) for _ in range(chance.randint(3, 9))} | {0, 1}
    return Number(
        **shared,
        edges=tuple(sorted(drawn)),
        open_below=chance.random() < 0.5,
        open_above=chance.random() < 0.5,
        integer=whole,
        unit=chance.choice(("", "km")),
        asked_as=chance.choice(("figure", "ranges")),
    )


def _edge(chance: Random, whole: bool) -> float:
    if whole:
        return chance.choice((chance.randint(-50, 50), chance.randint(-(2**53), 2**53)))
    usual = (round(chance.uniform(-9, 9), 2), chance.uniform(-1e-9, 1e9), chance.randint(-9, 9))
    return chance.choice((*usual, 0.1, 1e-7, 1e15))


def _scale(chance: Random, shared: dict[str, Any]) -> Question:
    lowest = chance.choice((0, 1, -3, 2**53 - 20))
    count = chance.randint(2, 8)
    labels = chance.choice(((), ("a", "b"), tuple(f"{place}!" for place in range(count))))
    return Scale(**shared, lowest=lowest, highest=lowest + count - 1, labels=labels)


def _words(chance: Random, shared: dict[str, Any]) -> Question:
    size = chance.choice((2, 3, 7, 64, 100, 1000))
    hashes = chance.randint(1, min(4, size))
    return Words(**shared, size=size, hashes=hashes, at_most=chance.randint(1, 4))


def _answers(chance: Random, survey: Survey) -> dict[str, Any]:
    """What one person answers; no answer is null, or is left out."""
    silence = chance.choice((0.0, 0.3, 0.8))
    given: dict[str, Any] = {}
    for question in survey.questions:
        if chance.random() >= silence:
            given[question.name] = _answer(chance, question)
        elif chance.random() < 0.5:
            given[question.name] = None
    return given


def _answer(chance: Random, question: Question) -> Any:
    match question:
        case YesNo():
            return chance.random() < 0.5
        case Choice(choices=choices):
            return chance.choice(choices)
        case PickAny(choices=choices):
            picked = chance.sample(list(choices), chance.randint(0, question.most_ones))
            return picked + picked[:1] * chance.randint(0, 1)  # the same twice is once
        case Number():
            if question.is_ticked and chance.random() < 0.7:
                return question.level_name(chance.randrange(question.levels))
            return _fitting_number(chance, question)
        case Scale(lowest=lowest, highest=highest):
            return chance.randint(lowest, highest)
        case Words(at_most=at_most):
            words = [_word(chance) for _ in range(chance.randint(0, at_most))]
            return words[0] if words and chance.random() < 0.3 else words
    raise AssertionError(question)


def _fitting_number(chance: Random, question: Number) -> float:
    """An edge, something near one, or anything inside; beyond the ends where they are open."""
    edges = question.edges
    low = edges[0] - 10 if question.open_below else edges[0]
    high = edges[-1] + 10 if question.open_above else edges[-1]
    if question.integer:
        near = [edge + step for edge in edges for step in (-1, 0, 1)]
        fitting = [n for n in near if low <= n < high and abs(n) <= 2**53]
        return int(chance.choice((*fitting, edges[0])))
    drawn = [*edges, *(chance.uniform(low, high) for _ in range(3)), low]
    return chance.choice([number for number in drawn if low <= number < high])


def _word(chance: Random) -> str:
    """A word that counts: usual, odd, or with spaces around."""
    while True:
        letters = chance.choice((LETTERS, LETTERS, ODD, LETTERS + ODD))
        word = "".join(chance.choices(letters, k=chance.choice((1, 2, 5, 9, 1000))))
        ends = ["".join(chance.choices(WHITE_SPACE, k=chance.randint(0, 3))) for _ in range(2)]
        whole = (ends[0] + word + ends[1])[:1000]
        try:
            normalized("word", whole)
        except InvalidInput:
            continue
        return whole


def _refused(chance: Random, survey: Survey, answers: Any) -> dict[str, Any]:
    """The person's answers with a wrong one, and the question that has it."""
    if chance.random() < 0.05:
        return {"answers": {**answers, "nobody-asked": True}, "question": "answers"}
    asked = askable(survey, answers)
    question = chance.choice([q for q in survey.questions if q.name in asked])
    wrong = chance.choice((*_wrong(chance, question), *WRONG))
    return {"answers": {**answers, question.name: wrong}, "question": question.name}


def askable(survey: Survey, answers: Any) -> set[str]:
    """The questions that somebody with these answers is asked."""
    everything = {question.name: None for question in survey.questions} | dict(answers)
    return set(asked_answers(survey.questions, everything))


def _wrong(chance: Random, question: Question) -> list[Any]:
    """Answers that fit nearly, and do not."""
    match question:
        case YesNo():
            return ["perhaps", "", 2, [True]]
        case Choice(choices=choices):
            return [choices[0] + "!", choices[0] + " ", "", 0, True, [choices[0]]]
        case PickAny(choices=choices):
            several = list(choices[: question.most_ones + 1])
            too_many = [several] if len(several) > question.most_ones else []
            return [choices[0], [choices[0] + "!"], [0], True, *too_many]
        case Number():
            return _wrong_numbers(question)
        case Scale(lowest=lowest, highest=highest):
            below = [] if highest > 2**52 else [lowest - 1, highest + 1, lowest + 0.5]
            return [str(lowest), True, [lowest], *below, 1e300]
        case Words(at_most=at_most):
            many = [f"word {number}" for number in range(at_most + 1)]
            space = "".join(chance.choices(WHITE_SPACE, k=3))
            return ["", space, [space, "a"], many, "\ud800", "a\udc00b", "x" * 1001, 7, True, [7]]
    raise AssertionError(question)


def _wrong_numbers(question: Number) -> list[Any]:
    edges = question.edges
    below = [] if question.open_below else [edges[0] - 1, -1e300]
    above = [] if question.open_above else [edges[-1], 1e300]
    between = [0.5] if question.integer else []
    return ["one", "", f"{question.level_name(0)} ", True, False, [1], *below, *above, *between]


if __name__ == "__main__":
    for each in random_cases(int(sys.argv[1]), int(sys.argv[2])):
        print(json.dumps(each))
