"""Conditions of a questionnaire as `asked_if`: one earlier question, and the answers that count."""

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
    parts_of,
)
from krand.survey.questions import Condition

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
    """Each answer in the survey file, and what conditions compare with: its code, or the ends
    of its range."""
    several: bool = False
    """People may pick several."""
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
    optional: dict[str, bool] = {}  # gates: whether people without an answer meet the condition
    required: set[str] = set()
    lost: list[str] = []
    for text, part in _parts(texts, lost):
        try:
            gate, answers = _meant(part, gates)
        except Unsupported as reason:
            lost.append(_lost(text, reason))
            continue
        if gate is None:
            continue
        before = wanted.pop(gate.name, None)
        both = tuple(each for each in answers if before is None or each in before.answers)
        if not both:
            return Found(None, never=True)
        wanted[gate.name] = Condition(question=gate.name, answers=both)
        without = not gate.several and holds(part, "")
        optional[gate.name] = optional.get(gate.name, True) and without
        required |= {gate.name} if gate.required else set()
    implied = _implied(wanted, known)
    left = [each for each in wanted.values() if each.question not in implied]
    for each in left[:-1]:
        said = f"{each.question} is {' or '.join(map(str, each.answers))}"
        lost.append(_lost(said, "a condition has one question"))
    kept = left[-1] if left else None
    remarks = list(dict.fromkeys(lost))
    if kept is not None and optional[kept.question]:
        name = kept.question
        if name not in required or not _all_asked(name, wanted, known):
            remarks.append(f"people without an answer to {name} are not asked")
    return Found(kept, tuple(remarks), wider=bool(lost))


def _all_asked(name: str, wanted: Mapping[str, Condition], known: Mapping[str, Condition]) -> bool:
    """Whether everybody who meets the other conditions is asked this question."""
    if name not in known:
        return True
    gate = known[name]
    other = wanted.get(gate.question)
    return other is not None and set(other.answers) <= set(gate.answers)


def _parts(texts: Iterable[str], lost: list[str]) -> Iterator[tuple[str, Node]]:
    """Each part that must hold, with its text; `lost` gets those that krand cannot read."""
    for text in texts:
        try:
            pieces = parts_of(text)
            if len(pieces) > MOST_PARTS:
                raise Unsupported("it has too many parts")
        except Unsupported as reason:
            lost.append(_lost(text, reason))
            continue
        for piece in pieces:
            try:
                parts = conjuncts(parse(piece))
                if len(parts) > MOST_PARTS:
                    raise Unsupported("it has too many parts")
            except Unsupported as reason:
                lost.append(_lost(piece, reason))
            else:
                yield from ((piece, part) for part in parts)


def _lost(text: str, reason: object) -> str:
    short = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
    said = "this condition was left out, so more people are asked, and nobody must answer"
    return f"{said}: {short} ({reason})"


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


def _meant(node: Node, gates: Mapping[str, Gate]) -> tuple[Gate | None, list[Answer]]:
    """The question that a part is about, and the answers for which it holds; none if always."""
    references = dict.fromkeys(each.reference for each in comparisons(node))
    if not references:
        if holds(node, ""):
            return None, []
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
        answers = [answer for answer, _ in gate.answers if answer in picked]
    else:
        answers = [answer for answer, samples in gate.answers if _holds_for(node, samples)]
        if len(answers) == len(gate.answers) and holds(node, ""):
            return None, []
    if not answers:
        raise Unsupported(f"no answer to {gate.name} meets it")
    return gate, answers


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
        codes = {samples[0]: answer for answer, samples in gates[node.reference].answers}
        if node.value in codes:
            return [codes[node.value]]
    raise Unsupported("only 'picked' can be asked of a question with several answers")
