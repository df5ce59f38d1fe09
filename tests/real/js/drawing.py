"""Random surveys as text, answers that fit them, and answers that do not; the same for a seed."""

from __future__ import annotations

from random import Random
from typing import Any

from forge import toml

SHOWN = "abcdefgXYZ0189äöüßéñçŁжЖΣσא漢字🟣\"\\/'&<>"
"""For choices, which have no controls and no spaces at their ends."""
LETTERS = "abcXYZ019 äßÅéèÉÖÜŒœçñŁłğİıΑΒΣσςάΏжЖЁёאבعغพ漢字かカﾊﾞ한글"
ODD = (
    "ﬁﬀ①½²ℌ℡㎏Ⅷⅷ™Ωﾞ゛ǄǅǆẞŉǰΐᾳᾼἙ\u0301\u0308\u0345\u0327\u1e9b\u0323"
    "\u00ad\u034f\u180e\u200b\u200c\u200d\u2060\ufeff\x1c\x1d\x1e\x1f\x00\x7f"
    "𝐀𝒳🟣👩‍💻Ⴀⴀ𐐀𐐨ᏣꭰꙊ"
)
"""Compatibility forms, title case, marks, characters that nobody sees, controls, other planes."""
SPACES = "\t\n \u00a0\u2003\u3000\u0085\u2028"
ANYWHERE: tuple[Any, ...] = ({}, [[]], {"a": 1}, [None])
"""Fit no question."""
Question = dict[str, Any]


def text_of(chance: Random, letters: str = SHOWN, most: int = 12) -> str:
    return "".join(chance.choices(letters, k=chance.randint(1, most)))


def choices_of(chance: Random) -> list[str]:
    count, found = chance.choice((2, 3, 5, 9, 31, 32, 33, 40)), dict[str, None]()
    while len(found) < count:
        found[text_of(chance)] = None
    return list(found)


def question_of(chance: Random, name: str) -> Question:
    """A question of any kind, as a table of a survey file."""
    kind = chance.choice(("yes_no", "choice", "pick_any", "number", "scale", "words"))
    asked: Question = {"name": name, "type": kind, "text": text_of(chance)}
    if kind == "yes_no":
        asked["counts"] = chance.choice(("yes", "both"))
    elif kind == "choice":
        asked["choices"] = choices_of(chance)
    elif kind == "pick_any":
        asked["choices"] = choices_of(chance)
        if chance.random() < 0.6:
            asked["at_most"] = chance.randint(1, min(7, len(asked["choices"])))
    elif kind == "number":
        whole = asked["integer"] = chance.random() < 0.5
        drawn = (chance.randint(-50, 50), chance.randint(-(2**53), 2**53)) if whole else ()
        drawn += () if whole else (round(chance.uniform(-9, 9), 2), 0.1, 1e-7, 1e15)
        asked["edges"] = sorted({0, 1, *drawn})
        asked["open"] = chance.choice((False, True, "above", "below"))
        asked["asked_as"] = chance.choice(("figure", "ranges"))
    elif kind == "scale":
        asked["lowest"] = chance.choice((0, 1, -3, 2**53 - 20))
        asked["highest"] = asked["lowest"] + chance.randint(1, 7)
    else:
        asked["positions"] = chance.choice((4, 7, 64, 100))
        asked |= {"hashes": chance.randint(1, 3), "at_most": chance.randint(1, 4)}
    return asked


def conditional(chance: Random, question: Question, before: list[Question]) -> Question:
    """Often asked only of those who gave some answers to a question before."""
    gates = [gate for gate in before if gate["type"] in ("yes_no", "choice", "pick_any")]
    if not gates or chance.random() < 0.5:
        return question
    gate = chance.choice(gates)
    if gate["type"] == "yes_no":
        said: list[Any] = [chance.random() < 0.5]
    else:
        said = chance.sample(gate["choices"], chance.randint(1, min(3, len(gate["choices"]))))
    return {**question, "asked_if": {"question": gate["name"], "is": said}}


def survey_of(chance: Random, name: str) -> tuple[str, list[Question]]:
    """The text of a survey file with devices' noise, and its questions."""
    asked: list[Question] = []
    for place in range(chance.randint(1, 6)):
        asked.append(conditional(chance, question_of(chance, f"q{place}"), asked))
    is_record = chance.random() < 0.15
    survey = {"id": name, "title": text_of(chance), "invitations": chance.random() < 0.3}
    if is_record:
        survey |= {"linkage": "record", "copies": chance.randint(1, 4)}
    survey["policy"] = {"epsilon": 1, "delta": 1e-6, "minimum_crowd": 1000}
    survey["trust"] = {"noise": "devices"}
    survey["question"] = asked
    small = [q["name"] for q in asked if q["type"] in ("yes_no", "scale")]
    if len(small) > 1 and not is_record and chance.random() < 0.5:
        survey["together"] = [{"questions": chance.sample(small, 2)}]
    return toml(survey), asked


def answer_of(chance: Random, question: Question) -> Any:
    """What somebody could answer."""
    kind = question["type"]
    if kind == "yes_no":
        return chance.random() < 0.5
    if kind == "choice":
        return chance.choice(question["choices"])
    if kind == "pick_any":
        most = question.get("at_most", len(question["choices"]))
        picked = chance.sample(question["choices"], chance.randint(0, most))
        return picked + picked[:1] * chance.randint(0, 1)  # the same twice is once
    if kind == "scale":
        return chance.randint(question["lowest"], question["highest"])
    if kind == "number":
        low, *between, high = question["edges"]
        opened = question["open"]
        found = [low, *between]
        found += [low - 1] * (opened in (True, "below")) + [high] * (opened in (True, "above"))
        if not question["integer"]:
            found += [chance.uniform(low, high) for _ in range(2)]
        elif high - low > 3:
            found += [low + 1, high - 1]
        return chance.choice(found)
    words = [word_of(chance) for _ in range(chance.randint(0, question["at_most"]))]
    return words[0] if words and chance.random() < 0.3 else words


def word_of(chance: Random) -> str:
    """A word that counts: usual, odd, or with spaces around."""
    letters = chance.choice((LETTERS, LETTERS, ODD, LETTERS + ODD))
    word = "".join(chance.choices(letters, k=chance.choice((1, 2, 5, 9, 990))))
    ends = ["".join(chance.choices(SPACES, k=chance.randint(0, 3))) for _ in range(2)]
    return f"{ends[0]}{word}{ends[1]}x"


def answers_of(chance: Random, asked: list[Question]) -> dict[str, Any]:
    """What one person answers; no answer is null, or is left out."""
    silence = chance.choice((0.0, 0.3, 0.8))
    given: dict[str, Any] = {}
    for question in asked:
        if chance.random() >= silence:
            given[question["name"]] = answer_of(chance, question)
        elif chance.random() < 0.5:
            given[question["name"]] = None
    return given


def wrong_answers(chance: Random, asked: list[Question], given: dict[str, Any]) -> dict[str, Any]:
    """The person's answers with one that fits nearly, and does not, or perhaps does."""
    if chance.random() < 0.05:
        return {**given, "nobody-asked": True}
    question = chance.choice(asked)
    first = question.get("choices", ["a"])[0]
    several = question.get("choices", [])[: question.get("at_most", 99) + 1]
    lowest = question.get("lowest", 0)
    edges = question.get("edges", [0])
    many = [f"word {place}" for place in range(question.get("at_most", 1) + 1)]
    wrong = {
        "yes_no": ["perhaps", "", 2, [True]],
        "choice": [first + "!", first + " ", "", 0, True, [first]],
        "pick_any": [first, [first + "!"], [0], True, several],
        "number": ["one", "", True, [1], edges[0] - 1, edges[-1], 0.5, -1e300, 1e300, "1"],
        "scale": [str(lowest), True, [lowest], lowest - 1, lowest + 0.5, 1e300],
        "words": ["", " \u2003", ["\u0085", "a"], many, "\ud800", "a\udc00b", "x" * 1001, 7, [7]],
    }[question["type"]]
    return {**given, question["name"]: chance.choice((*wrong, *ANYWHERE))}
