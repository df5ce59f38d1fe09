"""Random survey files and answers, as plain data."""

from __future__ import annotations

from random import Random
from typing import Any

from survey.by_the_book import CLOSED, LEVELED, answer_names

Values = dict[str, Any]
ITEMS = ("a", "été", "Größe", "東京", "two words", 'quote " it', "x = [1]", "می‌خواهم", "👩‍🔬", "#9")
WORDS = ("Zürich", "zu\u0308rich", "BASEL", "ﬁn", " bern\n", "ΟΔΟΣ", "x\u00a0y", "１２")


def survey(chance: Random, most: int = 6) -> Values:
    """A survey file with questions of all kinds, conditions, a matrix and groups."""
    asked: list[Values] = []
    for number in range(chance.randint(1, most)):
        one = question(chance, f"q{number}")
        gates = [gate for gate in asked if gate["type"] in CLOSED and "statements" not in gate]
        if gates and chance.random() < 0.3:
            gate = chance.choice(gates)
            some = chance.sample(answer_names(gate), 1)
            one["asked_if"] = {"question": gate["name"], "is": some}
        asked.append(one)
    names = [one["name"] for one in asked if one["type"] in LEVELED and "statements" not in one]
    chance.shuffle(names)
    groups = []
    while len(names) >= 2 and chance.random() < 0.6:
        size = min(len(names), chance.randint(2, 3))
        weight = {"weight": 3.0} if chance.random() < 0.5 else {}
        groups.append({"questions": names[:size], **weight})
        names = names[size - chance.randint(0, 1) :]  # the last one may be in the next group, too
    return {
        "id": f"drawn-{chance.randrange(99)}",
        "title": "A title",
        "policy": {"epsilon": 1.0, "delta": 1e-6, "minimum_crowd": 2},
        "trust": {"noise": "devices"},
        "question": asked,
        **({"together": groups} if groups else {}),
    }


def question(chance: Random, name: str) -> Values:
    """A question of any kind."""
    kind = chance.choice(("yes_no", "choice", "number", "pick_any", "scale", "words"))
    made: Values = {"name": name, "type": kind, "weight": chance.choice((0.5, 1.0, 2.0))}
    if chance.random() < 0.5:
        made |= {"text": f"Text of {name}?", "required": chance.random() < 0.5}
    if kind in ("choice", "pick_any"):
        made["choices"] = chance.sample(ITEMS, chance.randint(2, 6))
    if kind == "pick_any" and chance.random() < 0.5:
        made["at_most"] = chance.randint(1, len(made["choices"]))
    if kind == "yes_no":
        made["counts"] = chance.choice(("yes", "both"))
    if kind == "number":
        made["edges"] = sorted(chance.sample(range(-50, 50), chance.randint(2, 6)))
        made["integer"] = chance.random() < 0.5
        made["open"] = chance.choice((True, False, "below", "above"))
        made["asked_as"] = chance.choice(("figure", "ranges"))
    if kind == "scale":
        lowest = chance.randint(-5, 5)
        made |= {"lowest": lowest, "highest": lowest + chance.randint(1, 5)}
        count = chance.choice((0, 2, made["highest"] - lowest + 1))
        made |= {"labels": list(ITEMS[:count])} if count else {}
    if kind == "words":
        made |= {"positions": chance.randint(4, 60), "hashes": chance.randint(1, 3)}
        made["at_most"] = chance.randint(1, 3)
    if kind in ("yes_no", "choice", "scale") and chance.random() < 0.15:
        made["statements"] = [{"name": f"{name}{row}", "text": row} for row in "ab"]
    return made


def person(chance: Random, asked: list[Values]) -> Values:
    """What one person might answer; silence is left out or None."""
    given = {one["name"]: answer(chance, one) for one in asked}
    return {name: said for name, said in given.items() if said is not None or chance.random() < 0.5}


def answer(chance: Random, asked: Values) -> object:
    """An answer to one question, in one of the ways it can be written."""
    if chance.random() < 0.2:
        return None
    match asked["type"]:
        case "yes_no":
            return chance.random() < 0.5
        case "choice":
            return chance.choice(asked["choices"])
        case "pick_any":
            most = asked.get("at_most", len(asked["choices"]))
            return chance.sample(asked["choices"], chance.randint(0, most))
        case "scale":
            return chance.randint(asked["lowest"], asked["highest"])
        case "words":
            return chance.sample(WORDS, chance.randint(1, asked["at_most"]))
    edges, ends = asked["edges"], asked["open"]
    low = edges[0] - 9 * (ends in (True, "below"))
    high = edges[-1] + 9 * (ends in (True, "above"))
    return chance.randint(low, high - 1)
