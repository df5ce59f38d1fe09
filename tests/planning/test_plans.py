"""From survey to plan: whose noise, how much of it, what it promises and what it costs."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import krand
import world
from command_line import refused, told
from oracle import factor_of, weighted_law, worst_of_dummies

YES, PET, SPORTS = (
    krand.YesNo(name="smokes"),
    krand.Choice(name="pet", choices=krand.Choices(["cat", "dog", "none"])),
    krand.PickAny(name="sports", choices=krand.Choices(["run", "swim", "row"]), at_most=2),
)
LONG = krand.PickAny(
    name="places", choices=krand.Choices([f"place {number}" for number in range(40)]), at_most=2
)
ASKED = krand.Policy(epsilon=1.0, delta=1e-5, minimum_crowd=20_000)
MIXED = krand.Policy(epsilon=1.0, delta=1e-6, minimum_crowd=12)
HEAD = """
id = "week"
policy = { epsilon = 1.0, delta = 1e-4, minimum_crowd = 1000 }
"""


def planned(
    *questions: Any, policy: krand.Policy = ASKED, mixers: int = 0, **more: Any
) -> krand.Plan:
    """Noise of devices, or of so many mixers."""
    trust = krand.Trust(noise="mixers", mixers=mixers) if mixers else krand.Trust(noise="devices")
    asked = krand.Survey(id="s", policy=policy, questions=questions, trust=trust, **more)
    return krand.make_plan(asked)


def noise_of(plan: krand.Plan) -> list[int]:
    return [block.numerator for block in plan.blocks]


def overflow(plan: krand.Plan) -> float:
    """How likely one person has more tokens than messages in some lane, summed up over lanes."""
    found = 0.0
    for block in plan.blocks:
        zeros, q = block.positions - block.block.most_ones, block.noise
        most = block.room - block.block.most_ones
        chances = (
            math.comb(zeros, flips) * q**flips * (1 - q) ** (zeros - flips)
            for flips in range(most + 1, zeros + 1)
        )
        found += math.fsum(chances)
    return found


@pytest.fixture(scope="module")
def mixed() -> krand.Plan:
    """Twelve people, three mixers."""
    return planned(YES, PET, LONG, policy=MIXED, mixers=3)


# --- noise of devices ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("questions", "more", "positions", "changes"),
    [
        ((YES,), {}, 1, 1),
        ((PET,), {}, 3, 2),
        ((SPORTS,), {}, 3, 3),
        ((LONG,), {}, 40, 4),
        ((krand.Words(name="town", size=32, hashes=2),), {}, 32, 4),
        (
            (YES, krand.YesNo(name="b")),
            {"together": (krand.Together(questions=("smokes", "b")),)},
            8,
            2,
        ),
    ],
    ids=["yes/no", "choice", "list", "long list", "words", "together"],
)
def test_noise_pays_for_what_one_person_can_change(
    questions: tuple[Any, ...], more: dict[str, Any], positions: int, changes: int
) -> None:
    """As many positions as an answer has, as many changes as `krand noise` is asked about."""
    plan = planned(*questions, **more)
    (block,) = plan.blocks
    assert (block.positions, block.block.sensitivity) == (positions, changes)
    expected = krand.plan_noise(ASKED, krand.ResponseFormat(changes))
    # An overflow of the submission costs up to a thousandth of δ, and some of the noise.
    assert expected.noise_numerator <= block.numerator <= 1.001 * expected.noise_numerator
    sigma = math.sqrt(20_000 * block.noise * (1 - block.noise)) / (1 - 2 * block.noise)
    assert block.shift.too_low == pytest.approx(1 / (1 - 2 * block.noise), rel=1e-5)
    assert block.shift.too_high == pytest.approx(plan.messages * block.shift.too_low, rel=1e-5)
    assert block.precision.sigma == pytest.approx(sigma, rel=1e-5)
    bare = krand.assess(krand.ResponseFormat(changes), block.noise, 20_000, 1.0)
    lost = (1 + math.e) * 20_000 * overflow(plan)
    assert bare.delta + lost <= krand.promise_of(plan).delta * (1 + 1e-9)
    assert lost <= 1e-5 / 999


def test_weight_buys_precision_and_rounds_share_a_promise() -> None:
    """Noise of a question that weighs more is smaller; that of three rounds larger for all."""
    once = planned(YES, PET.changed(weight=4.0), SPORTS)
    smokes, pet, sports = (block.precision.sigma for block in once.blocks)
    assert pet < smokes < sports
    days = krand.Schedule(every="day", starts=date(2027, 1, 4))
    thrice = planned(YES, PET.changed(weight=4.0), SPORTS, rounds=3, schedule=days)
    pairs = list(zip(noise_of(once), noise_of(thrice), strict=True))
    assert all(a < b for a, b in pairs), f"noise of one round and of three: {pairs}"
    assert krand.promise_of(thrice).delta <= 1e-5
    assert overflow(thrice) <= 1e-5 / (1000 * 3 * 20_000 * (1 + math.e)), "of everybody, each time"
    assert once.layout.most_ones == 4 < once.messages <= once.layout.positions


def test_whole_records_have_one_noise_and_copies_as_messages() -> None:
    plan = planned(YES, PET, linkage="record", copies=4)
    asked = krand.ResponseFormat(4, linkage="record", copies=4)
    assert len(set(noise_of(plan))) == 1
    least, most = (
        krand.plan_noise(ASKED, replace(asked, bits=bits)).noise_numerator for bits in (2, 4)
    )
    assert least < noise_of(plan)[0] < most, "a choice hides less than free bits"
    assert plan.messages == 4
    assert krand.promise_of(plan).delta <= 1e-5
    one, two = (
        noise_of(planned(SPORTS.changed(at_most=most), linkage="record"))[0] for most in (1, 2)
    )
    assert one < two, "two sports are more to hide"


@pytest.mark.parametrize(("people", "epsilon"), [(50, 2.0), (100, 3.0), (2, 12.0)])
def test_crowds_of_a_few_are_planned(people: int, epsilon: float) -> None:
    """Where noise nearly suffices without a crowd, bounds may rise with it on the way."""
    policy = krand.Policy(epsilon=epsilon, delta=1e-6, minimum_crowd=people)
    plan = planned(YES, policy=policy)
    assert krand.promise_of(plan).delta <= 1e-6
    assert plan.blocks[0].noise == pytest.approx(1 / (1 + math.exp(epsilon)), rel=0.01)


def test_a_survey_that_would_be_all_noise_is_refused(tmp_path: Path) -> None:
    """With a crowd and an ε that would do; written into the same file they do."""
    text = world.survey_file("tiny").read_text(encoding="utf-8")
    hopeless = text.replace("epsilon = 8.0\ndelta = 0.01", "epsilon = 0.5\ndelta = 1e-6")
    (tmp_path / "survey.toml").write_text(hopeless, encoding="utf-8")
    error = refused("plan survey.toml", at=tmp_path, code=3)
    assert "would be only noise" in error["message"]
    crowd, _ = error["nearest"]
    people = int(crowd.split()[1].replace(",", ""))
    for name, edited in (
        ("crowd", hopeless.replace("= 12", f"= {people}")),
        ("smaller", hopeless.replace("= 12", f"= {people // 2}")),
    ):
        (tmp_path / f"{name}.toml").write_text(edited, encoding="utf-8")
    assert told("plan crowd.toml", at=tmp_path)["promise"]["crowd"] == people
    refused("plan smaller.toml", at=tmp_path, code=3)


# --- noise of mixers ----------------------------------------------------------------------------


def test_the_promise_needs_one_mixer_and_no_crowd(mixed: krand.Plan) -> None:
    """Every mixer's dummies suffice alone; σ of a count is √3 times that of one."""
    assert set(map(str, krand.promise_of(mixed).assumptions)) >= {"one-honest-mixer", "seals-hold"}
    assert math.isinf(krand.promise_of(mixed).local_epsilon)
    assert krand.promise_of(mixed).delta <= 1e-6
    assert [block.numerator for block in mixed.blocks] == [0, 0, 0], "devices add none"
    for block in mixed.blocks:
        lane = next(lane for lane in mixed.lanes if lane.block == block.name)
        sigma = math.sqrt(3 * mixed.law_of(lane).variance)
        assert block.precision.sigma == pytest.approx(sigma, rel=1e-5)
    larger = krand.make_plan(mixed.survey.changed(policy=MIXED.changed(minimum_crowd=10**6)))
    assert larger.laws == mixed.laws
    assert krand.promise_of(larger).delta == krand.promise_of(mixed).delta


@pytest.mark.parametrize("mixers", [1, 2])
def test_dummies_of_one_mixer_hide_an_answer(mixers: int) -> None:
    """By all outcomes, in fractions, of the very weights that are drawn from; less would not do."""
    plan = planned(YES, policy=MIXED, mixers=mixers)
    law = weighted_law(plan.law_of(plan.lanes[0]).weights)
    exact = worst_of_dummies([law], factor_of(1.0)).delta
    assert Fraction(krand.promise_of(plan).delta) >= exact * Fraction(1 - 1e-3)
    assert exact <= Fraction(1e-6)
    closer = [*law[: len(law) // 2], *law[len(law) // 2 + 2 :]]
    assert worst_of_dummies([weighted_law(closer)], factor_of(1.0)).delta > Fraction(1e-6)


def test_one_message_for_each_answer(mixed: krand.Plan) -> None:
    """A dishonest person moves a yes/no or a choice by one; a long list is filled up with nulls."""
    assert mixed.messages == 1 + 1 + 2
    shifts = [(block.shift.too_high, block.shift.too_low) for block in mixed.blocks]
    assert shifts == [(1, 1), (1, 1), (2, 1)]
    assert [lane.padding > 0 for lane in mixed.lanes] == [False, False, True]
    padded, own, sums = mixed.lanes[2], 2, np.ones(1)
    for _ in range(padded.positions):
        sums = np.convolve(sums, np.array(mixed.law_of(padded).weights) / 2**63)
    assert 0 < sums[padded.padding - own + 1 :].sum() <= 1e-9, "there are more dummies than that"
    yes, choice, _ = (mixed.law_of(lane).reach for lane in mixed.lanes)
    assert mixed.expected_dummies == 2 * yes + 4 * choice + padded.padding
    (sparse,) = planned(LONG, policy=MIXED, mixers=3).laws
    mean = 40 * sparse.mean + 2
    assert padded.padding > mean, "more than there are on average, and one's own"


@pytest.mark.parametrize(
    ("questions", "epsilon", "sigma"),
    [
        ((PET.changed(choices=krand.Choices([f"region {n}" for n in range(915)])),), 1.0, 2.80),
        (tuple(krand.YesNo(name=f"q{number}") for number in range(40)), 2.0, 14.06),
    ],
    ids=["915 options", "forty yes/no"],
)
def test_many_options_and_many_questions_are_precise(
    questions: tuple[Any, ...], epsilon: float, sigma: float
) -> None:
    plan = planned(*questions, policy=MIXED.changed(epsilon=epsilon), mixers=1)
    assert plan.messages == len(questions)
    assert {block.precision.sigma for block in plan.blocks} == {plan.blocks[0].precision.sigma}
    assert plan.blocks[0].precision.sigma <= sigma


def test_what_mixers_cannot_promise_is_refused() -> None:
    """2^L cells cannot be covered by dummies; the refusal says what to do instead."""
    with pytest.raises(krand.InvalidInput, match="dummies cannot cover") as caught:
        planned(YES, PET, policy=MIXED, mixers=3, linkage="record")
    assert "together" in caught.value.hint


# --- what changes nothing -----------------------------------------------------------------------

QUESTIONS = """
question = [
  { name = "owns", type = "yes_no" },
  { name = "pet", type = "choice", choices = ["cat", "dog"] },
  { name = "wish", type = "scale", lowest = 1, highest = 3 },
]
"""
ASIDE = {
    "conditions": QUESTIONS.replace(
        '"dog"]', '"dog"], asked_if = { question = "owns", is = [true] }'
    ),
    "people and texts": "expected = 4000\ninvited = 5000\n"
    + QUESTIONS.replace('"yes_no"', '"yes_no", required = true, text = "Is there a pet?"'),
}


@cache
def plan_of(noise: str, questions: str = QUESTIONS, more: str = "") -> krand.Plan:
    trust = f'trust = {{ noise = "{noise}"{more} }}'
    return krand.make_plan(krand.parse_survey(f"{HEAD}{trust}\n{questions}"))


@pytest.mark.parametrize("noise", ["devices", "mixers"])
def test_what_changes_neither_noise_nor_promise(noise: str) -> None:
    """Conditions, who is expected, texts, who runs a mixer: only the survey in the plan differs.

    But it is another plan.
    """
    others = [plan_of(noise, questions) for questions in ASIDE.values()]
    others += [plan_of(noise, more=", analyst_runs = [1]")] * (noise == "mixers")
    before = json.loads(plan_of(noise).bytes)
    for other in others:
        after = json.loads(other.bytes)
        assert {key for key in before if before[key] != after[key]} == {"survey"}
    assert len({plan.hash for plan in (plan_of(noise), *others)}) == 1 + len(others)


# --- what remains -------------------------------------------------------------------------------


def rows(file: Path) -> dict[tuple[str, int], Mapping[str, Any]]:
    """What `--explain` says of those who work together, by how many people do."""
    value = told("plan", file, "--explain")
    return {(row["coalition"], row["people"]): row for row in value["coalitions"]}


def test_devices_lose_with_everybody_who_colludes() -> None:
    """The promise of a crowd of N - c; without the collector, or the crowd, only ε₀."""
    found, plan = rows(world.survey_file("tiny")), world.plan("tiny")
    deltas = [
        found["analyst", 0]["delta"],
        found["people", 1]["delta"],
        found["people", 6]["delta"],
    ]
    assert deltas == sorted(set(deltas)), deltas
    assert deltas[1] == pytest.approx(krand.promise_of(plan).delta, rel=0.05)
    for key in (("all-but-one-mixer", 11), ("all-mixers", 0), ("everybody", 11)):
        assert (found[key]["remains"], found[key]["delta"]) == ("local", None)
        assert found[key]["epsilon"] == krand.promise_of(plan).local_epsilon
    assert found["page-host", 0]["remains"] == "nothing"


def test_one_honest_mixer_keeps_the_promise() -> None:
    """Whoever else colludes; without any honest mixer nothing is left."""
    found, plan = rows(world.survey_file("trio")), krand.make_plan(world.survey("trio"))
    kept = {key for key, row in found.items() if row["remains"] == "promise"}
    assert kept >= {("analyst", 0), ("all-but-one-mixer", 1)}
    assert {found[key]["delta"] for key in kept} == {krand.promise_of(plan).delta}
    assert found["all-but-one-mixer", 1]["mixers"] == 2
    for key in (("all-mixers", 0), ("everybody", 1), ("page-host", 0)):
        assert (found[key]["remains"], found[key]["epsilon"]) == ("nothing", None)


def test_mixers_of_the_analyst_are_one_party_with_it(tmp_path: Path) -> None:
    """They protect from nobody: with two of four, the analyst alone has the numbers of two."""
    file, text = tmp_path / "s.toml", world.survey_file("trio").read_text(encoding="utf-8")
    four = "mixers = 4\nanalyst_runs = [1, 3]"
    file.write_text(text.replace("mixers = 3", four), encoding="utf-8")
    found = {name: (row["mixers"], row["remains"]) for (name, _), row in rows(file).items()}
    assert found["analyst"] == (2, "promise")
    assert found["other-mixers"] == found["all-but-one-mixer"] == (3, "promise")
    assert found["all-mixers"] == (4, "nothing")
    file.write_text(text.replace("mixers = 3", "mixers = 3\nanalyst_runs = [1, 2, 3]"), "utf-8")
    one_hand = {name: row["remains"] for (name, _), row in rows(file).items()}
    assert (one_hand["readers"], one_hand["analyst"]) == ("promise", "nothing")
    assert not {"other-mixers", "all-but-one-mixer", "all-mixers"} & one_hand.keys()


def test_people_behind_refused_messages_hide_nobody() -> None:
    """Results count each of them as one more who colludes."""
    plan, tally = world.plan("copies"), world.tally("copies")
    many = tally.people // 8
    changed = replace(
        tally,
        people=tally.people + many,
        crowd=tally.people + many,
        rejected=Counter({"wrong_length": 4 * many}),
        lane_nulls=np.zeros(1, np.int64),
    )
    whole, found = (
        next(row.delta for row in krand.make_results(plan, each).coalitions)
        for each in (tally, changed)
    )
    # With 9/8 of the people, of whom 4/8 may hide nobody, 5/8 are left.
    assert found > 10 * whole, f"δ is {found!r} with refused messages, {whole!r} without"


def test_alternatives_are_what_their_plans_would_give() -> None:
    """One mixer, three, a curator: the numbers of `--explain` are those of the plans themselves."""
    found = told("plan", world.survey_file("trio"), "--explain")
    by = {(row["noise"], row["mixers"]): row for row in found["alternatives"]}
    assert [key for key, row in by.items() if row["chosen"]] == [("mixers", 3)]
    one, three = by["mixers", 1], by["mixers", 3]
    widths = [block["half_width_95"] for block in found["blocks"]]
    assert [three["best"], three["worst"]] == pytest.approx([min(widths), max(widths)])
    assert three["best"] == pytest.approx(math.sqrt(3) * one["best"], rel=1e-5)
    assert three["messages"] == one["messages"] == found["messages"]
    assert three["dummies"] == pytest.approx(krand.make_plan(world.survey("trio")).expected_dummies)
    curator = by["curator", 0]
    trusted, mixed = (row["best"] ** 2 + row["worst"] ** 2 for row in (curator, one))
    assert trusted < mixed, "of both questions together"


def test_a_promise_for_fewer_rounds_needs_less_noise(tmp_path: Path) -> None:
    """Of 52 weeks under one promise, 1, 4 and 12 are tried too; all rounds spend the sum."""
    (tmp_path / "weeks.toml").write_text(
        f"""{HEAD}rounds = 52
trust = {{ noise = "mixers" }}
schedule = {{ every = "week", starts = 2027-01-04 }}
question = [{{ name = "smokes", type = "yes_no" }}]
"""
    )
    rows = told("plan weeks.toml --explain", at=tmp_path)["alternatives"]
    of_one = [row for row in rows if (row["noise"], row["mixers"]) == ("mixers", 1)]
    by = {row["rounds"]: row for row in of_one}
    assert [by[n]["promises"] for n in (1, 4, 12, 52)] == [52, 13, 5, 1]
    assert [by[n]["epsilon"] for n in (1, 4, 12, 52)] == [52.0, 13.0, 5.0, 1.0]
    widths = [by[n]["worst"] for n in (1, 4, 12, 52)]
    assert widths == sorted(set(widths))
    assert [row["rounds"] for row in rows if row["chosen"]] == [52]


# --- commands -----------------------------------------------------------------------------------


def test_noise_and_privacy_say_the_same() -> None:
    """What `krand noise` finds, `krand privacy` confirms; Python has the same numbers."""
    about = "--crowd 10_000 --bits 4 --epsilon 1"
    found = told(f"noise {about} --delta 1e-4")
    plan = krand.plan_noise(
        krand.Policy(epsilon=1.0, delta=1e-4, minimum_crowd=10_000), krand.ResponseFormat(4)
    )
    assert found["noise"] == plan.noise
    again = told(f"privacy {about} --noise {plan.noise!r}")
    assert again["delta"] == pytest.approx(found["delta"], rel=1e-9)
    assert again["sigma"] == found["sigma"] == plan.precision.sigma
    assert found["delta"] <= 1e-4
    assert found["curator_sigma"] < found["sigma"]
    assert told(f"privacy {about} --noise {plan.noise * 0.99!r}")["delta"] > 1e-4
    asked = "noise --crowd 100 --bits 40 --epsilon 0.1 --delta 1e-6 --linkage record"
    error = refused(asked, code=3)
    assert error["nearest"], error
    assert refused("privacy --crowd 10 --bits 4 --epsilon 1 --noise 0.5")["field"] == "noise"


def test_copies_side_by_side_trade_volume_for_precision() -> None:
    found = told(
        "noise --crowd 10_000 --bits 5 --epsilon 1 --delta 1e-4 --linkage record --copies 1,4"
    )
    noises = [row["noise"] for row in found["rows"]]
    sigmas = [row["sigma"] for row in found["rows"]]
    assert noises == sorted(noises)
    assert sigmas == sorted(sigmas, reverse=True)
