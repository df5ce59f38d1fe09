"""Results for tests of pages and checks: every kind of question, both linkages, planned for real.

Counts are drawn as the randomizer would draw them, from a fixed seed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from analysis.mixed_surveys import mixed_plan_of, mixed_tallies
from analysis.simulated_surveys import noisy_counts, record_tallies, tally_of, true_counts
from krand.analysis.results import Results, ResultsOptions, make_results
from krand.analysis.results_file import results_in
from krand.analysis.tally import Tally
from krand.batches.chain import Manifest, manifest_bytes
from krand.batches.provenance import Provenance
from krand.planning.making import make_plan
from krand.promise import Linkage, Policy
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import (
    Choice,
    Matrix,
    Number,
    PickAny,
    Question,
    Scale,
    Words,
    YesNo,
)
from krand.survey.reading import read_survey
from krand.survey.survey import Survey, Together, Trust
from krand.wire.keys import generate_signing_key
from krand.wire.messages import Rejection
from plans import true_plan
from sealed_tallies import in_lanes

ROOT = Path(__file__).parents[2]
PEOPLE = 20_000
SIGNER = generate_signing_key()
SCRIPT = '<script>alert("1")</script>'
COLOURS = Choices(["red", "<b>green</b> & co", SCRIPT])


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A plan, what was counted, and the results of it."""

    plan: Plan
    tally: Tally
    text: str

    @property
    def values(self) -> dict[str, Any]:
        """As read from a file: a copy to be changed at will."""
        return json.loads(self.text)

    @property
    def results(self) -> Results:
        """As read from a file."""
        return results_in(self.values)

    def write(self, folder: Path) -> None:
        """plan.json, tally.json and results.json."""
        (folder / "plan.json").write_bytes(self.plan.bytes)
        self.tally.save(folder / "tally.json")
        (folder / "results.json").write_text(self.text, encoding="utf-8")


def _example(plan: Plan, tally: Tally, options: ResultsOptions) -> Example:
    tally = _signed(in_lanes(plan, tally))
    values = make_results(plan, tally, options).values()
    return Example(plan, tally, json.dumps(values, ensure_ascii=False))


def _signed(tally: Tally) -> Tally:
    """As it came from devices, through a collector that signed for its one batch."""
    kept = int(tally.counts.sum()) if tally.linkage is Linkage.BIT else tally.responses
    messages = kept + tally.nulls + sum(tally.rejected.values())
    (sha256,), name = tally.batches, "5e" * 16
    manifest = Manifest(
        plan=tally.plan_hash,
        round=tally.round,
        submissions=tally.people,
        messages=messages,
        batch_sha256=sha256,
        batch_id=name,
    )
    signed = manifest_bytes(manifest, SIGNER).decode()
    return replace(tally, provenance=Provenance.DEVICES, ids=(name,), manifests=(signed,))


@cache
def _bit_plan() -> Plan:
    asked = (
        Choice(name="colour", choices=COLOURS, text=f"Which colour? {SCRIPT}"),
        YesNo(name="smokes"),
        Number(name="age", edges=(0, 20, 40, 60), text="How old are you?", unit="years"),
        Number(name="debts", edges=(0, 100, 1000), open_above=True, unit="€"),
        PickAny(name="pets", choices=Choices(["cat", "dog", "none"])),
        Words(name="tag", size=512, hashes=2),
        YesNo(name="drives"),
    )
    policy = Policy(epsilon=1.0, minimum_crowd=PEOPLE, delta=1e-6)
    survey = Survey(
        id="habits-2026-03",
        policy=policy,
        questions=asked,
        together=(Together(("colour", "smokes")),),
    )
    # As krand plan finds it, but for some spare noise: the search would take seconds.
    return true_plan(survey, (50_000_000,) * 3 + (61_000_000, 70_000_000, 36_000_000))


def _bit_tally(**more: Any) -> Tally:
    plan = _bit_plan()
    first = {"colour": "red", "smokes": True, "age": 30, "debts": 50, "pets": ("cat", "dog")}
    second = {"colour": SCRIPT, "smokes": False, "age": 50, "debts": 5000, "drives": True}
    crowd = {
        tuple({**first, "tag": "jazz"}.items()): PEOPLE // 2,
        tuple(second.items()): PEOPLE // 4,
        (): PEOPLE // 4,
    }
    (counts,) = noisy_counts(plan, true_counts(plan, crowd), PEOPLE, 1, np.random.default_rng(1))
    return replace(tally_of(plan, PEOPLE, counts), batches=("ab" * 32,), **more)


@cache
def bit_example() -> Example:
    """Every kind of question, each position alone; two questions together; words found."""
    options = ResultsOptions(candidates={"tag": ["jazz", "rock", "<i>folk</i>"]})
    return _example(_bit_plan(), _bit_tally(), options)


@cache
def refused_example() -> Example:
    """So many messages refused that the promise is not kept; the crowd taken as a sample."""
    options = ResultsOptions(confidence=0.9, sample_of=1_000_000)
    return _example(_bit_plan(), _bit_tally(rejected={"wrong_length": 2_000}), options)


@cache
def record_example() -> Example:
    """Whole records in three copies, with a table of two questions and one of three."""
    asked = (
        YesNo(name="smokes"),
        Choice(name="colour", choices=COLOURS),
        YesNo(name="drives"),
    )
    policy = Policy(epsilon=2.0, minimum_crowd=50_000, eta=1e-3)
    plan = make_plan(
        Survey(
            id="records",
            policy=policy,
            questions=asked,
            together=(),
            linkage=Linkage.RECORD,
            copies=3,
        )
    )
    patterns = np.zeros(32, dtype=np.int64)
    patterns[[0, 0b11000, 0b00100, 0b10011]] = 20_000, 10_000, 15_000, 5_000
    (tally,) = record_tallies(plan, patterns, 1, seed=2)
    vectors = np.array([bin(value).count("1") for value in range(32)])
    histogram = np.bincount(vectors, weights=tally.table, minlength=6).astype(np.int64)
    counted = replace(tally, histogram=histogram, batches=("cd" * 32,))
    joint = (("smokes", "colour"), ("smokes", "colour", "drives"))
    return _example(plan, counted, ResultsOptions(joint=joint))


@cache
def mixed_example() -> Example:
    """Noise of three mixers; twelve people, though more were planned for."""
    asked = (
        YesNo(name="smokes"),
        Choice(name="colour", choices=COLOURS),
        PickAny(name="pets", choices=Choices(["cat", "dog", "none"])),
    )
    plan = mixed_plan_of(asked, mixers=3, epsilon=4.0)
    crowd = {(("smokes", True), ("colour", "red"), ("pets", ("cat",))): 9, (): 3}
    (tally,) = mixed_tallies(plan, true_counts(plan, crowd), 12, 1, seed=4)
    values = make_results(plan, tally).values()
    return Example(plan, tally, json.dumps(values, ensure_ascii=False))


def _of_mixers(asked: tuple[Question, ...], crowd: dict[Any, int], epsilon: float) -> Example:
    """As it came from devices, with the noise of three mixers, which needs no crowd."""
    people = sum(crowd.values())
    plan = mixed_plan_of(asked, mixers=3, epsilon=epsilon)
    (tally,) = mixed_tallies(plan, true_counts(plan, crowd), people, 1, seed=5)
    results = replace(make_results(plan, tally), provenance=Provenance.DEVICES)
    return Example(plan, tally, json.dumps(results.values(), ensure_ascii=False))


@cache
def small_example() -> Example:
    """Sixty people, a scale and a question that nearly everybody answers alike."""
    content = Scale(
        name="content",
        text="How content are you with your work?",
        lowest=1,
        highest=5,
        labels=("not at all", "very"),
    )
    asked = (content, YesNo(name="fair", text="Were you treated fairly this year?"))
    crowd = {
        (("content", 5), ("fair", True)): 30,
        (("content", 4), ("fair", True)): 20,
        (("content", 3), ("fair", False)): 8,
        (("content", 1), ("fair", False)): 2,
    }
    return _of_mixers(asked, crowd, epsilon=6.0)


@cache
def statements_example() -> Example:
    """Two statements that count "no" as well, and ranges that people ticked."""
    matrix = Matrix(name="work", text="Do you agree?")
    asked = (
        YesNo(name="pay", text="My pay is fair.", counts="both", matrix=matrix),
        YesNo(name="boss", text="My manager listens.", counts="both", matrix=matrix),
        Number(name="age", edges=(18, 30, 67), integer=True, asked_as="ranges"),
    )
    crowd = {
        (("pay", True), ("boss", False), ("age", "18 to 29")): 300,
        (("pay", False), ("age", "30 to 66")): 500,
        (): 200,
    }
    return _of_mixers(asked, crowd, epsilon=6.0)


@cache
def single_example() -> Example:
    """Nothing but one yes or no."""
    asked = (YesNo(name="fair", text="Were you treated fairly this year?"),)
    return _of_mixers(asked, {(("fair", True),): 48, (): 12}, epsilon=2.0)


@cache
def long_example() -> Example:
    """One choice out of 1,000, of which few people give most."""
    towns = Choices([f"Town number {place}" for place in range(1000)])
    asked = (Choice(name="town", text="Where do you live?", choices=towns),)
    crowd = {(("town", town),): 1 + 4000 // (1 + place) for place, town in enumerate(towns)}
    return _of_mixers(asked, crowd, epsilon=2.0)


@cache
def browser_example() -> Example:
    """The survey of examples/browser.toml, answered by as many people as it needs."""
    plan = make_plan(read_survey(ROOT / "examples" / "browser.toml"))
    people = plan.survey.policy.minimum_crowd
    google = {"search_engine": "Google", "ad_blocker": False, "operating_system": "Windows"}
    duck = {"search_engine": "DuckDuckGo", "ad_blocker": True, "operating_system": "Linux"}
    more = {"open_tabs": 7, "start_up_ms": 900, "features": ("sync", "dark theme")}
    crowd = {
        tuple({**google, **more, "default_browser": True}.items()): people // 2,
        tuple({**duck, **more, "open_tabs": 60, "used_vpn": True}.items()): people // 4,
        (("crashed", True), ("operating_system", "iOS")): people // 8,
        (): people - people // 2 - people // 4 - people // 8,
    }
    (counts,) = noisy_counts(plan, true_counts(plan, crowd), people, 1, np.random.default_rng(3))
    tally = replace(tally_of(plan, people, counts), batches=("ef" * 32,))
    return _example(plan, tally, ResultsOptions())


@cache
def staff_example() -> Example:
    """Nine questions of all kinds, one with a condition, two related, as in a staff survey."""
    plan = make_plan(read_survey(ROOT / "docs" / "pictures" / "staff.en.toml"))
    happy = {"bullied": False, "harassed": False, "satisfaction": 4, "department": "Research"}
    happy |= {"overtime": 0, "wishes": ("Pay", "Canteen"), "listens": 5, "fair": 3}
    sad = {"bullied": True, "harassed": True, "harasser": "a superior", "satisfaction": 1}
    sad |= {"department": "Production", "overtime": 12, "wishes": ("Pay",), "listens": 2, "fair": 1}
    crowd = {
        tuple(happy.items()): 800,
        tuple({**happy, "department": "Sales", "satisfaction": 3, "fair": 4}.items()): 500,
        tuple(sad.items()): 300,
        tuple({**sad, "harassed": False, "satisfaction": 2}.items()): 300,
        (): 100,
    }
    (tally,) = mixed_tallies(plan, true_counts(plan, crowd), 2000, 1, seed=6)
    results = replace(make_results(plan, tally), provenance=Provenance.DEVICES)
    return Example(plan, tally, json.dumps(results.values(), ensure_ascii=False))


WHOLE = {"bits": bit_example, "records": record_example, "not-kept": refused_example}
"""Every kind of question, and a promise not kept."""
LAID_OUT = {
    "browser": browser_example,
    "small": small_example,
    "long": long_example,
    "staff": staff_example,
}
"""Surveys that need little room and much; only their layout is looked at."""


ODD = Survey.from_values(
    {
        "id": "odd",
        "title": "A very long title" * 11,
        "organiser": "🙂 جهة الأمثلة",
        "contact": f"{'x' * 60}@example.org",
        "introduction": "مرحبا (hello) 👩‍👩‍👧‍👦",
        "policy": {"epsilon": 40, "delta": 0.01, "minimum_crowd": 4},
        "question": [
            {"name": "no_text", "type": "yes_no"},
            {"name": "many", "type": "choice", "choices": [f"option {n}" for n in range(1000)]},
            {"name": "long", "type": "choice", "text": "Q" * 300, "choices": ["W" * 120, "a 👍🏽"]},
            {
                "name": "ends",
                "type": "scale",
                "text": "كم؟ (1–11)",
                "lowest": 1,
                "highest": 11,
                "labels": ["not at all satisfied with anything", "راضٍ جدًا 🙂"],
            },
            {
                "name": "named",
                "type": "scale",
                "required": True,
                "lowest": 1,
                "highest": 5,
                "labels": ["strongly disagree", "disagree", "neither", "agree", "strongly agree"],
            },
        ],
    }
)
"""Long words, no words, a thousand options, emoji, two directions of writing."""


def odd_results(people: int, refused: int = 0) -> Results:
    """Of a few people or nobody, with mixers' noise: intervals are wider than any scale."""
    policy = Policy(epsilon=1.0, minimum_crowd=4, delta=0.01)
    plan = make_plan(replace(ODD, policy=policy, trust=Trust(noise=mechanisms.MIXERS)))
    answers = {"no_text": True, "many": "option 7", "long": "a 👍🏽", "ends": 11, "named": 2}
    true = true_counts(plan, {tuple(answers.items()): people})
    (tally,) = mixed_tallies(plan, true * (refused == 0), people, 1, 1)
    return make_results(plan, replace(tally, rejected={Rejection.WRONG_LENGTH: refused}))
