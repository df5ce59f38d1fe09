"""From answers to positions, a second time: as docs/reference/formats.md has it, and no shorter."""

from __future__ import annotations

import hashlib
import math
import struct
import unicodedata
from itertools import pairwise
from typing import Any

Values = dict[str, Any]
CLOSED = ("yes_no", "choice", "pick_any", "number", "scale")
LEVELED = ("yes_no", "choice", "number", "scale")
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
WHITE_SPACE += "".join(map(chr, range(0x2000, 0x200B)))


def questions_of(survey: Values) -> list[Values]:
    """Each statement is a question of its own."""
    found = []
    for question in survey["question"]:
        rows = question.get("statements", [question])
        found += [question | {"name": row["name"]} for row in rows]
    return found


def positions(survey: Values, answers: Values) -> set[int]:
    """What a person sets, conditions observed."""
    asked, found, offset = answers_asked_for(survey, answers), set(), 0
    for names, size, group in blocks(survey):
        if group:
            digits = [_digit(each, asked.get(each["name"])) for each in names]
            cell = sum(d * s for d, s in zip(digits, _strides(names), strict=True))
            found |= {offset + cell - 1} if cell else set()
        else:
            (question,) = names
            given = asked.get(question["name"])
            inside = set() if given is None else places(survey["id"], question, given)
            found |= {offset + place for place in inside}
        offset += size
    return found


def blocks(survey: Values) -> list[tuple[list[Values], int, bool]]:
    """The questions of each block, its positions, and whether it is a group."""
    questions, groups = questions_of(survey), survey.get("together", [])
    known = {question["name"]: question for question in questions}
    found: list[tuple[list[Values], int, bool]] = []
    placed: list[int] = []
    for question in questions:
        own = [k for k, group in enumerate(groups) if question["name"] in group["questions"]]
        if not own:
            found.append(([question], count(question), False))
        for place in own:
            if place not in placed:
                placed.append(place)
                members = [known[name] for name in groups[place]["questions"]]
                cells = math.prod(levels(each) + 1 for each in members) - 1
                found.append((members, cells, True))
    return found


def count(question: Values) -> int:
    """The positions of a question alone."""
    if question["type"] == "yes_no":
        return 2 if question.get("counts") == "both" else 1
    return question["positions"] if question["type"] == "words" else levels(question)


def levels(question: Values) -> int:
    """How many answers it has."""
    match question["type"]:
        case "yes_no":
            return 2
        case "scale":
            return int(question["highest"] - question["lowest"] + 1)
        case "number":
            ends = {True: 2, False: 0}.get(question.get("open", False), 1)
            return len(question["edges"]) - 1 + ends
    return len(question["choices"])


def places(survey_id: str, question: Values, answer: Any) -> set[int]:
    """The positions that an answer sets, from 0 within the question."""
    match question["type"]:
        case "yes_no":
            place = 0 if answer in (True, "yes") else 1
            return {place} if place < count(question) else set()
        case "pick_any":
            return {question["choices"].index(item) for item in answer}
        case "words":
            given = [answer] if isinstance(answer, str) else answer
            return {p for word in given for p in word_places(survey_id, question, word)}
    return {level(question, answer)}


def level(question: Values, answer: Any) -> int:
    """Which of its answers it is."""
    match question["type"]:
        case "yes_no":
            return 0 if answer in (True, "yes") else 1
        case "scale":
            return int(answer - question["lowest"])
        case "number":
            below = question.get("open", False) in (True, "below")
            return sum(edge <= answer for edge in question["edges"]) - (not below)
    return int(question["choices"].index(answer))


def word_places(survey_id: str, question: Values, word: str) -> list[int]:
    """One in the table of each hash function."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).lower())
    texts = b""
    for text in (survey_id, question["name"], plain.strip(WHITE_SPACE)):
        texts += struct.pack(">I", len(text.encode())) + text.encode()
    found, size, hashes = [], question["positions"], question["hashes"]
    for index in range(hashes):
        start, end, counter = index * size // hashes, (index + 1) * size // hashes, 0
        own, number = end - start, 2**64
        while number >= 2**64 - 2**64 % own:
            content = b"krand words 2\0" + texts + struct.pack(">II", index, counter)
            (number,) = struct.unpack(">Q", hashlib.sha256(content).digest()[:8])
            counter += 1
        found.append(start + number % own)
    return found


def answer_names(question: Values) -> list[str]:
    """Its answers, as results and conditions name them."""
    match question["type"]:
        case "yes_no":
            return ["yes", "no"]
        case "scale":
            values = range(question["lowest"], question["highest"] + 1)
            labels = list(question.get("labels", []))
            if len(labels) == 2:
                labels = [labels[0], *[""] * (len(values) - 2), labels[1]]
            named = zip(values, labels or [""] * len(values), strict=True)
            return [f"{value} ({label})" if label else str(value) for value, label in named]
        case "number":
            return _ranges(question)
    return list(question["choices"])


def _ranges(question: Values) -> list[str]:
    edges, ends = question["edges"], question.get("open", False)
    found = [f"below {edges[0]}"] if ends in (True, "below") else []
    for low, high in pairwise(edges):
        if not question.get("integer"):
            found.append(f"{low} to under {high}")
        else:
            found.append(f"{low}" if low + 1 == high else f"{low} to {high - 1}")
    return found + ([f"{edges[-1]} or above"] if ends in (True, "above") else [])


def answers_asked_for(survey: Values, answers: Values) -> Values:
    """The answers to questions that were asked, in the order of the survey."""
    questions = questions_of(survey)
    known, kept = {question["name"]: question for question in questions}, dict(answers)
    for question in questions:
        condition = question.get("asked_if")
        if condition is None or question["name"] not in kept:
            continue
        gate, said = known[condition["question"]], kept.get(condition["question"])
        named = answer_names(gate)
        if gate["type"] == "pick_any":
            given = set(said or ())
        else:
            given = set() if said is None else {named[level(gate, said)]}
        if not given & set(condition["is"]):
            del kept[question["name"]]
    return kept


def _digit(question: Values, answer: Any) -> int:
    return 0 if answer is None else 1 + level(question, answer)


def _strides(questions: list[Values]) -> list[int]:
    sizes = [levels(question) + 1 for question in questions]
    return [math.prod(sizes[place + 1 :]) for place in range(len(sizes))]
