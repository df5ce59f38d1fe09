"""Conditions of other tools as `asked_if`: one earlier question, and the answers that count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from krand.importing.expressions import (
    Compare,
    Node,
    Some,
    Unsupported,
    comparisons,
    conjuncts,
    holds,
    parse,
)
from krand.survey.conditions import Condition

Answer = str | int
SHOWN = 150
"""Characters of a condition that a remark repeats."""
MOST_PARTS, MOST_ANSWERS = 20, 1_000
"""Of a condition, and of a question that it is about; real ones have a few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """An earlier question that a condition may refer to."""

    name: str
    """Of the question in the survey file."""
    answers: tuple[tuple[Answer, tuple[str, ...]], ...]
    """Each answer in the survey file, and what the other tool compares with: its code, or the ends
    of its range."""
    several: bool = False
    """People may pick several."""
    option: str | None = None
    """The one option of such a question that the reference is about; it is compared with Y."""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What a condition became."""

    asked_if: Condition | None
    remarks: tuple[str, ...] = ()
    """What was lost on the way."""
    wider: bool = False
    """Part of it was lost, so that more people are asked."""
    never: bool = False
    """It can never hold."""


def asked_if(
    texts: Sequence[str], gates: Mapping[str, Gate], known: Mapping[str, Condition]
) -> Found:
    """All of these conditions, the outermost first, as one; `known` are those of the gates."""
    wanted: dict[str, Condition] = {}
    remarks: list[str] = []
    lost: list[str] = []
    for text, part in _parts(texts, lost):
        try:
            found, note = _meant(part, gates)
        except Unsupported as reason:
            lost.append(_lost(text, reason))
        else:
            if found is None:
                continue
            before = wanted.pop(found.question, None)
            both = found.answers if before is None else _common(before, found)
            if not both:
                return Found(None, never=True)
            wanted[found.question] = Condition(found.question, both)
            remarks += [note] if note else []
    implied = _implied(wanted, known)
    left = [each for each in wanted.values() if each.question not in implied]
    for each in left[:-1]:
        said = f"{each.question} is {' or '.join(map(str, each.answers))}"
        lost.append(_lost(said, "a condition has one question"))
    every = tuple(dict.fromkeys((*lost, *remarks)))
    return Found(left[-1] if left else None, every, wider=bool(lost))


def _parts(texts: Iterable[str], lost: list[str]) -> Iterator[tuple[str, Node]]:
    """Each part that must hold, with the text that it stands in; `lost` gets what is no text."""
    for text in texts:
        try:
            parts = conjuncts(parse(text))
            if len(parts) > MOST_PARTS:
                raise Unsupported("it has too many parts")
        except Unsupported as reason:
            lost.append(_lost(text, reason))
        else:
            yield from ((text, part) for part in parts)


def _lost(text: str, reason: object) -> str:
    short = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
    return f"this condition was left out, so more people are asked: {short} ({reason})"


def _common(first: Condition, second: Condition) -> tuple[Answer, ...]:
    return tuple(answer for answer in first.answers if answer in second.answers)


def _implied(wanted: Mapping[str, Condition], known: Mapping[str, Condition]) -> set[str]:
    """The gates that another one of these has already: it is asked only of people who meet them."""
    found = set()
    for question in wanted:
        while question in known:  # gates lie further and further ahead, so this ends
            gate = known[question]
            question = gate.question
            if question in wanted and set(gate.answers) <= set(wanted[question].answers):
                found.add(question)
    return found


def _meant(node: Node, gates: Mapping[str, Gate]) -> tuple[Condition | None, str]:
    """The answers for which a part holds, and what is different for people who gave none."""
    references = dict.fromkeys(each.reference for each in comparisons(node))
    if not references:
        if holds(node, ""):
            return None, ""
        raise Unsupported("it never holds")
    for reference in references:
        if reference not in gates:
            raise Unsupported(f"{reference} is not a question before it that krand can ask")
    found = [gates[reference] for reference in references]
    gate = found[0]
    if len({each.name for each in found}) > 1:
        raise Unsupported("it joins several questions")
    if len(gate.answers) > MOST_ANSWERS:
        raise Unsupported(f"{gate.name} has more than {MOST_ANSWERS:,} answers")
    if gate.several:
        picked = set(_picked(node, gates))
        return _of(gate, [answer for answer, _ in gate.answers if answer in picked]), ""
    answers = [answer for answer, samples in gate.answers if _holds_for(node, samples)]
    if len(answers) == len(gate.answers) and holds(node, ""):
        return None, ""
    note = ""
    if holds(node, "") and not gate.required:
        note = f"people who do not answer {gate.name} are not asked"
    return _of(gate, answers), note


def _of(gate: Gate, answers: Sequence[Answer]) -> Condition:
    if not answers:
        raise Unsupported(f"no answer to {gate.name} meets it")
    return Condition(gate.name, tuple(answers))


def _holds_for(node: Node, samples: tuple[str, ...]) -> bool:
    """For a range, whether it holds at both ends; one that is divided is not a gate."""
    if len({holds(node, sample) for sample in samples}) > 1:
        raise Unsupported("it divides a range of the number")
    exact = ("=", "!=", "selected")
    is_exact = any(each.operator in exact and each.value for each in comparisons(node))
    if is_exact and len(set(samples)) > 1:
        raise Unsupported("it asks for one number within a range")
    return holds(node, samples[0])


def _picked(node: Node, gates: Mapping[str, Gate]) -> list[Answer]:
    """The options of which at least one must be picked."""
    if isinstance(node, Some):
        return [option for part in node.parts for option in _picked(part, gates)]
    if isinstance(node, Compare) and node.operator in ("=", "selected"):
        gate = gates[node.reference]
        if gate.option is not None and node.value == "Y":
            return [gate.option]
        codes = {samples[0]: answer for answer, samples in gate.answers}
        if gate.option is None and node.value in codes:
            return [codes[node.value]]
    raise Unsupported("only 'picked' can be asked of a question with several answers")
