"""The standard world: nine surveys, their plans, people with known truth, counts and results.

    kinds      all six kinds of questions, noise of devices
    branches   conditions, a matrix, weights, a group
    copies     whole records, four copies of each
    records    whole records of many bits
    mixer      the noise of one mixer
    mixers     the noise of three mixers, a group, words
    weeks      six rounds with one promise
    tiny       twelve people, noise of devices: whole journeys
    trio       any number of people, noise of three mixers: whole journeys

Their files are in golden/, their plans without parties in golden/plans/: a search takes seconds,
and `python tests/world.py` makes them anew. Counts were drawn once (golden/*.json), so that texts
and numbers made from them are the same each time; `responses` have noise that is new in every
session. What is costly is made once for a session, whoever asks first.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import krand
from krand.simulation import simulated_people, simulated_table

FOLDER = Path(__file__).parent / "golden"
NAMES = ("kinds", "branches", "copies", "records", "mixer", "mixers", "weeks", "tiny", "trio")
COUNTED = NAMES[:7]
"""Those that have counts."""
TOWNS = tuple(f"town {number}" for number in range(10))
"""What people answer to questions of type words."""
OPTIONS: dict[str, dict[str, Any]] = {
    "kinds": {"candidates": {"town": TOWNS}},
    "mixers": {"candidates": {"town": TOWNS}},
    "copies": {"joint": (("smokes", "pet"), ("smokes", "pet", "satisfaction"))},
    "records": {"joint": (("smokes", "pet"), ("age", "features=sync"))},
}
"""How each is estimated, where not by default alone."""


def survey_file(name: str) -> Path:
    return FOLDER / f"{name}.toml"


def plan_file(name: str) -> Path:
    """The plan without parties, as `krand plan` wrote it."""
    return FOLDER / "plans" / f"{name}.json"


@cache
def survey(name: str) -> krand.Survey:
    return krand.read_survey(survey_file(name))


@cache
def plan(name: str) -> krand.Plan:
    return krand.read_plan(plan_file(name))


def crowd(name: str) -> int:
    """How many people the survey is planned for; twelve where mixers need no crowd."""
    return max(12, survey(name).policy.minimum_crowd)


def people(name: str, count: int | None = None, seed: int = 1) -> list[dict[str, object]]:
    """What each of them answers, as a device takes it; silence is left out."""
    return simulated_people(survey(name), count or crowd(name), seed)


def table(name: str, count: int | None = None, seed: int = 1) -> Any:
    """The same people as an Arrow table with a column for each question."""
    return simulated_table(survey(name), count or crowd(name), seed)


def truth(answers: list[dict[str, object]]) -> dict[str, Counter[Any]]:
    """How many people gave each answer to each question; of a list, each of its answers counts."""
    found: dict[str, Counter[Any]] = {}
    for person in answers:
        for question, said in person.items():
            given = said if isinstance(said, list | tuple) else [said]
            found.setdefault(question, Counter()).update(given)
    return found


def counts(name: str) -> list[Mapping[str, Any]]:
    """What was drawn once: the counts of every round."""
    values = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return list(values["tallies"])


def tally(name: str, number: int = 1) -> krand.Tally:
    """The tally of a round, with counts that were drawn once."""
    made, counted = plan(name), counts(name)[number - 1]
    arrays: dict[str, Any] = {
        key: np.array(counted[key], np.int64)
        for key in ("counts", "table", "histogram", "lane_nulls")
        if key in counted
    }
    joint = {tuple(e["bits"]): np.array(e["counts"], np.int64) for e in counted.get("joint", ())}
    return krand.Tally(
        plan_hash=made.hash,
        linkage=made.survey.linkage,
        positions=len(counted["counts"]),
        round=number,
        people=counted["people"],
        crowd=counted["people"],
        responses=counted["responses"],
        joint=joint,
        nulls=sum(counted.get("lane_nulls", ())),
        batches=("0" * 63 + str(number),),
        ids=("0" * 31 + str(number),),
        **arrays,
    )


@cache
def results(name: str, number: int = 1) -> krand.Results:
    """The results of a round, the same in every session."""
    options = krand.ResultsOptions(**OPTIONS.get(name, {}))
    return krand.make_results(plan(name), tally(name, number), options)


def files(name: str, into: Path) -> Path:
    """A folder with survey.toml, plan.json, and of the first round tally.json and results.json.

    Of several rounds there are results-2.json and so on, too.
    """

    def make(folder: Path) -> None:
        shutil.copy(survey_file(name), folder / "survey.toml")
        shutil.copy(plan_file(name), folder / "plan.json")
        if name not in COUNTED:
            return
        for number in range(1, len(counts(name)) + 1):
            end = "" if number == 1 else f"-{number}"
            tally(name, number).save(folder / f"tally{end}.json")
            results(name, number).save(folder / f"results{end}.json")

    shutil.copytree(once(f"files-{name}", make), into, dirs_exist_ok=True)
    return into


def responses(name: str) -> Path:
    """A data holder's file of noisy responses, of as many people as the survey is planned for.

    They are the people of `table(name)`; the noise is real. Do not change the file.
    """

    def make(folder: Path) -> None:
        krand.randomize_table(plan(name), table(name), folder / "responses.parquet")

    return once(f"responses-{name}", make) / "responses.parquet"


def once(name: str, make: Callable[[Path], None]) -> Path:
    """A folder of this session, filled by whichever process asks first; the others wait."""
    folder = _session() / name
    with (_session() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = folder.with_suffix(".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder


@cache
def _session() -> Path:
    """One folder for all processes of this run; conftest.py names it and removes it."""
    named = os.environ.get("KRAND_TEST_SESSION")
    folder = Path(named) if named else Path(tempfile.mkdtemp(prefix="krand-world-"))
    folder.mkdir(exist_ok=True)
    return folder


if __name__ == "__main__":
    for each in sys.argv[1:] or NAMES:
        plan_file(each).write_bytes(krand.make_plan(survey(each)).bytes)
