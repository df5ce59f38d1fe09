"""What a device draws, done word by word as the format says it, from the plan's own JSON."""

from __future__ import annotations

import json
from typing import Any

from krand.survey.plan_file import parse_plan

GRID = 2**32
VERSION = "01"


def check_by_hand(case: dict[str, Any]) -> None:
    """Flips, then lanes, then the id: a case of test vectors has what these bytes give."""
    plan, words = json.loads(case["plan"]), Words(case["randomness"])
    truth = set(case["true_positions"])
    if plan["survey"]["linkage"] == "record":
        assert case["reported_positions"] is None
        found = vectors_by_hand(plan, truth, words)
    else:
        ones = truth ^ flips_by_hand(plan, words)
        assert case["reported_positions"] == sorted(ones)
        found = []
        for lane in parse_plan(case["plan"].encode()).lanes:
            inside = range(lane.offset, lane.offset + lane.positions)
            found += lane_by_hand(sorted(ones & set(inside)), lane.messages, words)
    assert [message["plaintext"] for message in case["messages"]] == [VERSION + m for m in found]
    assert words.left.hex() == ("" if case["invitation"] else case["id"])


class Words:
    """The case's random bytes, as the procedure reads them."""

    def __init__(self, content: str) -> None:
        self.left = bytes.fromhex(content)

    def word(self) -> int:
        taken, self.left = self.left[:4], self.left[4:]
        assert len(taken) == 4
        return int.from_bytes(taken)

    def below(self, bound: int) -> int:
        while (word := self.word()) >= GRID - GRID % bound:
            pass
        return word % bound


def flipped(words: Words, positions: range, numerator: int) -> set[int]:
    return {position for position in positions if words.word() < numerator}


def vectors_by_hand(plan: dict[str, Any], truth: set[int], words: Words) -> list[str]:
    """Copies of a record: the first position is the highest bit of the first byte."""
    size = plan["positions"]
    made = []
    for _ in range(plan["survey"]["copies"]):
        ones = truth ^ flipped(words, range(size), plan["blocks"][0]["noise_numerator"])
        bits = "".join("1" if position in ones else "0" for position in range(size))
        bits += "0" * (-size % 8)
        made.append("02" + bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8)).hex())
    return made


def lane_by_hand(ones: list[int], messages: int, words: Words) -> list[str]:
    """Tokens, then nulls; shuffled from the last place on; the first so many."""
    entries = [f"01{position:08x}" for position in ones]
    entries += ["0000000000"] * (messages - len(entries))
    for place in range(len(entries) - 1, 0, -1):
        other = words.below(place + 1)
        entries[place], entries[other] = entries[other], entries[place]
    return entries[:messages]


def flips_by_hand(plan: dict[str, Any], words: Words) -> set[int]:
    """Block after block; one without noise draws nothing."""
    found = set()
    for block in plan["blocks"]:
        inside = range(block["offset"], block["offset"] + block["positions"])
        if block["noise_numerator"]:
            found |= flipped(words, inside, block["noise_numerator"])
    return found
