"""Random surveys and answers, and all answers of a small survey."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

from hypothesis import strategies as st

from krand.promise import Policy
from krand.survey.about import About
from krand.survey.choices import Choices
from krand.survey.conditions import Condition
from krand.survey.layout import Layout, layout_of
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
from krand.survey.survey import Survey, Together
from krand.survey.translations import Translation, texts_of

POLICY = Policy(epsilon=1.0, minimum_crowd=100_000, delta=1e-6)


def asking(*questions: Question, **more: Any) -> Survey:
    """A survey with these questions."""
    return Survey(**{"id": "s", "policy": POLICY, "questions": questions, **more})


def layout_for(*questions: Question, **more: Any) -> Layout:
    """Where the answers to these questions go."""
    return layout_of(asking(*questions, **more))


ITEM = st.text(
    st.characters(
        codec="utf-8",
        categories=["L", "N", "P", "S"],
        exclude_characters="\u115f\u1160\u3164\uffa0",  # letters without a shape
    ),
    min_size=1,
    max_size=9,
)


@st.composite
def questions(draw: st.DrawFn, name: str) -> Question:
    """A question of any kind."""
    kind = draw(st.sampled_from([YesNo, Choice, Number, PickAny, Scale, Words]))
    shared = {
        "name": name,
        "weight": draw(st.sampled_from([1.0, 2, 0.5])),
        "help": draw(st.sampled_from(["", "Help.\nMore help."])),
        "required": draw(st.booleans()),
    }
    if kind is YesNo:
        return YesNo(**shared, counts=draw(st.sampled_from(["yes", "both"])))
    if kind is Number:
        edges = draw(st.lists(st.integers(-50, 50), min_size=2, max_size=6, unique=True))
        below, above, whole = draw(st.tuples(st.booleans(), st.booleans(), st.booleans()))
        ends = {"open_below": below, "open_above": above}
        unit = draw(st.sampled_from(["", "km"]))
        own = {"unit": unit, "asked_as": draw(st.sampled_from(["figure", "ranges"]))}
        return Number(**shared, edges=tuple(sorted(edges)), **ends, integer=whole, **own)
    if kind is Scale:
        lowest, more = draw(st.integers(-10, 10)), draw(st.integers(1, 6))
        count = draw(st.sampled_from([0, 2, more + 1]))
        labels = draw(st.lists(ITEM, min_size=count, max_size=count, unique=True))
        return Scale(**shared, lowest=lowest, highest=lowest + more, labels=tuple(labels))
    if kind is Words:
        size, hashes = draw(st.integers(2, 60)), draw(st.integers(1, 3))
        at_most = draw(st.integers(1, 3))
        return Words(**shared, size=size, hashes=min(hashes, size), at_most=at_most)
    choices = Choices(draw(st.lists(ITEM, min_size=2, max_size=6, unique=True)))
    if kind is Choice:
        return Choice(**shared, choices=choices)
    at_most = draw(st.none() | st.integers(1, len(choices)))
    return PickAny(**shared, choices=choices, at_most=at_most)


def abouts() -> st.SearchStrategy[About]:
    """What people read about a survey, some of it left out."""
    return st.builds(
        About,
        title=st.just("") | ITEM,
        introduction=st.sampled_from(["", "One.\nTwo."]),
        language=st.sampled_from(["en", "de", "pt-BR"]),
        closes=st.none() | st.dates(),
    )


@st.composite
def surveys(draw: st.DrawFn, most: int = 6) -> Survey:
    """A survey with some questions, some of them analysed jointly."""
    count = draw(st.integers(1, most))
    asked = [draw(questions(f"q{index}")) for index in range(count)]
    if asked[0].takes_statements and draw(st.booleans()):
        row = replace(asked[0], matrix=Matrix(name="m", text="?"))
        asked[:1] = [row, replace(row, name="q0b", text="b")]
    names = [question.name for question in asked if isinstance(question, Leveled)]
    names = draw(st.permutations(names))
    groups: list[Together] = []
    while len(names) >= 2 and draw(st.booleans()):
        size = draw(st.integers(2, min(3, len(names))))
        groups.append(Together(tuple(names[:size]), draw(st.none() | st.just(3.0))))
        again = draw(st.integers(0, 1))  # the last question may be in the next group too
        names = names[size - again :]
    return Survey(
        id="drawn",
        policy=POLICY,
        questions=tuple(asked),
        together=tuple(groups),
        about=draw(abouts()),
        invitations=draw(st.booleans()),
    )


def names_of(gate: Question) -> list[str]:
    """The answers to a closed question, by their names."""
    count = gate.levels if isinstance(gate, Leveled) else gate.positions
    return [gate.position_name(place) for place in range(count)]


@st.composite
def conditional_surveys(draw: st.DrawFn, most: int = 6) -> Survey:
    """The same, where some questions are asked only of those who gave certain answers."""
    survey, asked = draw(surveys(most)), list[Question]()
    for question in survey.questions:
        gates = [gate for gate in asked if gate.closed]
        if gates and question.matrix is None and draw(st.booleans()):
            gate = draw(st.sampled_from(gates))
            named = draw(st.lists(st.sampled_from(names_of(gate)), min_size=1, max_size=3))
            question = replace(question, asked_if=Condition(gate.name, named))
        asked.append(question)
    return replace(survey, questions=tuple(asked))


def translated(survey: Survey, *languages: str) -> Survey:
    """With every text in other languages; each choice is called as another one was."""
    own = texts_of(survey.about, survey.questions)
    found = []
    for number, language in enumerate(languages, 1):
        texts: dict[str, Any] = {}
        for place, text in own.items():
            inside = texts
            for step in place[:-1]:
                inside = inside.setdefault(step, {})
            beside = [each for each in own if len(place) == 4 and each[:3] == place[:3]] or [place]
            other = own[beside[(beside.index(place) + number) % len(beside)]]
            inside[place[-1]] = other if len(place) == 4 else f"{language}: {text}"
        found.append(Translation(language, texts))
    return replace(survey, translations=tuple(found))


def reworded(survey: Survey, language: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The same answers in another language of the survey."""
    words, found = {q.name: q for q in survey.in_language(language).questions}, dict(given)
    for question in survey.questions:
        answer, other = found.get(question.name), words[question.name]
        if (
            isinstance(question, Choice)
            and isinstance(other, Choice)
            and answer in question.choices
        ):
            found[question.name] = other.choices[question.level_of(answer)]
        if isinstance(question, PickAny) and isinstance(other, PickAny) and answer is not None:
            found[question.name] = [other.choices[question.place_named(item)] for item in answer]
    return found


@st.composite
def answers(draw: st.DrawFn, survey: Survey) -> dict[str, object]:
    """What one person might answer; silence is left out or None."""
    given = {question.name: draw(answer(question)) for question in survey.questions}
    return {
        name: value for name, value in given.items() if value is not None or draw(st.booleans())
    }


def answer(question: Question) -> st.SearchStrategy[object]:
    """An answer to one question, in all the ways it can be written."""
    match question:
        case YesNo():
            return st.sampled_from([None, True, False, "yes", "no"])
        case Choice(choices=choices):
            return st.none() | st.sampled_from(list(choices))
        case Number(edges=edges):
            low = -1000 if question.open_below else edges[0]
            high = 1000 if question.open_above else edges[-1]
            whole: st.SearchStrategy[object] = st.none() | st.integers(low, high - 1)
            if question.is_ticked:
                whole |= st.sampled_from(list(map(question.level_name, range(question.levels))))
            return whole if question.integer else whole | st.floats(low, high, exclude_max=True)
        case Scale():
            return st.none() | st.integers(question.lowest, question.highest)
        case PickAny(choices=choices):
            picks = st.lists(
                st.sampled_from(list(choices)), max_size=question.most_ones, unique=True
            )
            return st.none() | picks | picks.map(set)
        case Words(at_most=at_most):
            word = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)
            return (
                st.none() | word.filter(_counts) | st.lists(word.filter(_counts), max_size=at_most)
            )
    raise AssertionError(question)


def _counts(word: str) -> bool:
    from krand.errors import InvalidInput
    from krand.survey.kinds.words import normalized

    try:
        return bool(normalized("word", word))
    except InvalidInput:
        return False


def every_answer(question: Question) -> Iterator[object]:
    """All that can be told apart in the answer to one question; for words a good many."""
    yield None
    match question:
        case YesNo():
            yield from (True, False)
        case Choice(choices=choices):
            yield from choices
        case Number(edges=edges):
            yield from edges[:-1]
            yield from [edges[0] - 1] * question.open_below + [edges[-1]] * question.open_above
        case Scale():
            yield from range(question.lowest, question.highest + 1)
        case PickAny(choices=choices):
            for count in range(question.most_ones + 1):
                yield from (list(picked) for picked in combinations(choices, count))
        case Words(at_most=at_most):
            words = [f"word {number}" for number in range(7)]
            for count in range(at_most + 1):
                yield from (list(given) for given in combinations(words, count))
