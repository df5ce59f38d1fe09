"""Survey files in a few words, and what people set without noise."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import krand
from forge import toml
from krand.testing import unsafe_exact_plan, unsafe_simulated_tally
from survey import by_the_book as book

HERE = Path(__file__).parent
Values = dict[str, Any]
PARTS = {
    "head": 'id = "s"\n[policy]\nepsilon = 1\ndelta = 1e-6\nminimum_crowd = 1000\n',
    "mixed": 'id = "s"\n[policy]\nepsilon = 1\ndelta = 1e-6\n[trust]\nnoise = "mixers"\n',
    "yes": '[[question]]\nname = "a"\ntype = "yes_no"\n',
    **{
        kind: f'[[question]]\nname = "q"\ntype = "{kind}"\n'
        for kind in ("choice", "pick_any", "number", "scale", "words", "yes_no")
    },
    "weekly": 'rounds = 4\n<mixed>[schedule]\nevery = "week"\nstarts = 2027-01-04\n',
    "gates": (
        '<head>[[question]]\nname = "smokes"\ntype = "yes_no"\n'
        '[[question]]\nname = "brand"\ntype = "choice"\nchoices = ["Camel", "Gauloises"]\n'
        '[[question]]\nname = "words"\ntype = "words"\npositions = 8\nhashes = 1\n'
        '[[question]]\nname = "years"\ntype = "number"\nedges = [0, 5, 10]\n'
    ),
    "work": (HERE / "work.toml").read_text(encoding="utf-8"),
}
"""What is left out of the golden text."""


def written_out(text: str) -> str:
    """The whole file."""
    while "<" in text and (part := re.search(r"<(\w+)>\n?|<(.)\*(\d+)>", text)):
        inside = PARTS[part[1]] if part[1] else part[2] * int(part[3])
        text = text[: part.start()] + inside + text[part.end() :]
    return text


POLICY = {"epsilon": 1.0, "delta": 1e-6, "minimum_crowd": 2}
DEVICES = {"noise": "devices"}


def survey_of(*questions: Values, **more: Any) -> Values:
    """The data of a survey file."""
    return {"id": "s", "policy": POLICY, "trust": DEVICES, "question": list(questions), **more}


def asked(kind: str, name: str = "q", **keys: Any) -> Values:
    return {"name": name, "type": kind, **keys}


def plan_of(survey: Values) -> krand.Plan:
    """With next to no noise."""
    return unsafe_exact_plan(krand.parse_survey(toml(survey)))


def table_of(survey: Values, people: Sequence[Mapping[str, Any]]) -> pa.Table:
    """A column for each question."""
    columns = {}
    for question in book.questions_of(survey):
        given = [person.get(question["name"]) for person in people]
        if question["type"] == "words":
            given = [[said] if isinstance(said, str) else said for said in given]
        columns[question["name"]] = pa.array(given)
    return pa.table(columns)


def counted(survey: Values, people: Sequence[Mapping[str, Any]]) -> list[int]:
    """How many of them set each position; somebody silent makes them a crowd."""
    table = table_of(survey, [*people, {}])
    found: list[int] = unsafe_simulated_tally(plan_of(survey), table, seed=1).counts.tolist()
    return found
