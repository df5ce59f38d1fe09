"""Conditional questions: asked only of people who gave certain answers to an earlier question.

A device decides, before anything is drawn. An answer to a question that was not asked is dropped
unread, so that it sends what no answer sends. Positions, sensitivity and noise know nothing of
conditions: the promise counts every question as asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from krand.errors import InvalidInput
from krand.mistakes import Broken, Path, nearest
from krand.survey.kinds.lists import FEW_CHOICES
from krand.survey.questions import Condition, Leveled, Question, any_of

Answer = TypeVar("Answer")


def asked_answers(
    questions: Sequence[Question], answers: Mapping[str, Answer]
) -> Mapping[str, Answer]:
    """The answers to questions that were asked, of questions in the order of the survey.

    Others are dropped unread, even wrong ones. A gate that was not asked has no answer, and a wrong
    answer to a gate is none of those that a condition names.
    """
    if all(question.asked_if is None for question in questions):
        return answers
    known = {question.name: question for question in questions}
    kept = dict(answers)
    for question in questions:
        condition = question.asked_if
        if condition is None or question.name not in kept:
            continue
        if not _holds(condition, known[condition.question], kept.get(condition.question)):
            del kept[question.name]
    return kept


def _holds(condition: Condition, gate: Question, answer: object) -> bool:
    if answer is None:
        return False
    try:
        given = gate.places_of(answer)
    except InvalidInput:
        return False
    return any(gate.position_name(place) in condition.answers for place in given)


def condition_rules(rows: Sequence[tuple[Path, Question]]) -> Iterator[Broken]:
    """All that is wrong with the conditions of a survey, of questions with their places."""
    asked = [question for _, question in rows]
    places: dict[str, int] = {}
    for place, question in enumerate(asked):
        places.setdefault(question.name, place)
    for place, (where, question) in enumerate(rows):
        if question.asked_if is not None and where[3:] in ((), (0,)):  # once for a whole table
            for broken in _gate_rules(asked, places, place, question.asked_if):
                yield broken.under((*where[:2], "asked_if"))


def _gate_rules(
    asked: Sequence[Question], places: Mapping[str, int], place: int, condition: Condition
) -> Iterator[Broken]:
    name, where = condition.question, ("question",)
    if name not in places:
        before = [each for each, at in places.items() if at < place]
        known = f"the earlier questions are {', '.join(before)}" if before else "there is none"
        hint = nearest(name, before, known)
        yield Broken(where, "must be the name of an earlier question", name, hint)
    elif places[name] == place:
        hint = "name an earlier question, or leave asked_if out to ask everybody"
        yield Broken(where, "must not be the question itself", name, hint)
    elif places[name] > place:
        yield Broken(where, *_later(asked, places, place, name))
    else:
        yield from _answer_rules(asked[places[name]], condition)


def _later(
    asked: Sequence[Question], places: Mapping[str, int], place: int, name: str
) -> tuple[str, str, str]:
    """Rule, value and hint about a gate that is asked later: a circle, or a wrong order."""
    own, chain = str(asked[place].name), {name: None}
    gate: str = name
    while gate != own and (condition := asked[places[gate]].asked_if) is not None:
        gate = condition.question
        if gate not in places or gate in chain:
            break
        chain[gate] = None
    if own in chain:
        circle = " → ".join([own, *chain])
        rule = "must not lead back to the question itself, or nobody would be asked"
        return rule, circle, "leave out one of these conditions"
    rule = "must be an earlier question, because it is answered first"
    return rule, name, f"move {name} above {own}"


def _answer_rules(gate: Question, condition: Condition) -> Iterator[Broken]:
    if not gate.closed:
        closed = any_of(lambda kind: kind.closed)
        rule = f"must be a {closed} question, not {gate.kind.value}"
        hint = "ask it as a question with a list of answers, or ask this one of everybody"
        yield Broken(("question",), rule, condition.question, hint)
        return
    for index, answer in enumerate(condition.answers):
        try:
            gate.place_named(answer)
        except InvalidInput as error:
            where = ("is", index) if len(condition.answers) > 1 else ("is",)
            hint = error.hint or _known_answers(gate, answer)
            yield Broken(where, f"must be an answer to {gate.name}", answer, hint)


def with_named_answers(questions: Sequence[Question]) -> tuple[Question, ...]:
    """The questions, each condition with the names of its answers, in the order of the gate."""
    known = {question.name: question for question in questions}

    def with_names(question: Question) -> Question:
        condition = question.asked_if
        if condition is None:
            return question
        gate = known[condition.question]
        places = sorted({gate.place_named(answer) for answer in condition.answers})
        answers = tuple(gate.position_name(place) for place in places)
        named = condition.changed(answers=answers)
        return question if named == condition else question.changed(asked_if=named)

    return tuple(map(with_names, questions))


def _known_answers(gate: Question, answer: object) -> str:
    count = gate.levels if isinstance(gate, Leveled) else gate.positions
    names = [gate.position_name(place) for place in range(min(count, FEW_CHOICES))]
    known = f"its answers are {', '.join(map(repr, names[:5]))}{', …' if count > 5 else ''}"
    return nearest(answer, names, known, "{!r}")
