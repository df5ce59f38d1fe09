"""A plan keeps the survey's promise, is named by its content, and reads back as it was written."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from krand.accounting import suggestions
from krand.accounting.calibration import plan_noise
from krand.accounting.division import Share, assess_shares
from krand.errors import CannotMeet, InvalidInput
from krand.planning.checking import verify_promise
from krand.planning.making import make_plan
from krand.planning.mechanisms.devices import planned_from
from krand.planning.record import record_reports
from krand.promise import NOISE_GRID, Linkage, Policy
from krand.survey import mechanisms
from krand.survey.canonical import canonical_json
from krand.survey.choices import Choices
from krand.survey.conditions import Condition
from krand.survey.document import document_of
from krand.survey.layout import layout_of
from krand.survey.plan import Plan
from krand.survey.plan_check import keeps_policy
from krand.survey.plan_file import parse_plan, read_plan
from krand.survey.questions import Choice, Number, PickAny, Scale, Words, YesNo
from krand.survey.reading import parse_survey
from krand.survey.survey import Survey, Together, Trust
from krand.testing import MIXED_SURVEY, SMALL_SURVEY
from plans import numerators_of, with_numerators
from schedules import days
from survey.drawing import translated

POLICY = Policy(epsilon=1.0, delta=1e-5, minimum_crowd=20_000)
QUESTIONS = (
    YesNo(name="smokes"),
    Choice(name="engine", choices=Choices(["a", "b", "c"]), weight=4.0),
    PickAny(name="sports", choices=Choices(["run", "swim", "row"]), at_most=2),
)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(Survey(id="habits", policy=POLICY, questions=QUESTIONS))


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would help is searched for to the end, however busy the machine is."""
    monkeypatch.setattr(suggestions, "PATIENCE", 600.0)


@pytest.mark.check
def test_the_promise_holds_for_exactly_the_noise_that_is_used(plan: Plan) -> None:
    """Computed again from the plan's own numbers, and not above the policy; less is too little."""
    shares = [Share(block.sensitivity, block.weight) for block in plan.layout.blocks]
    lost = POLICY.minimum_crowd * plan.overflow
    again = assess_shares(POLICY, shares, numerators_of(plan), distance=lost)
    assert again.rounded(POLICY) == plan.promise
    assert verify_promise(plan).rounded(POLICY) == plan.promise
    assert plan.promise.delta <= 1e-5
    quieter = tuple(numerator * 9 // 10 for numerator in numerators_of(plan))
    assert verify_promise(planned_from(plan.survey, quieter, plan.promise)).delta > 1e-5


@pytest.mark.check
@pytest.mark.parametrize("rounds", [1, 5])
@pytest.mark.parametrize("limit", [{"delta": 1e-9}, {"eta": 1e-3}])
def test_overflows_of_everybody_in_every_round_are_counted(
    rounds: int, limit: dict[str, float]
) -> None:
    """P is that of one person and round; the promise holds what all of them cost together."""
    policy = Policy(epsilon=1.0, minimum_crowd=20_000, **limit)
    asked = Choice(name="c", choices=Choices([f"c{n}" for n in range(60)]))
    made = make_plan(
        Survey(id="s", policy=policy, questions=(asked,), rounds=rounds, schedule=days(rounds))
    )
    everybody = policy.minimum_crowd * rounds
    assert 0 < made.overflow <= max(limit.values()) / (1000 * everybody * (1 + math.e))
    bare = assess_shares(policy, [Share(2)], numerators_of(made), rounds)
    lost = everybody * made.overflow * (1 + math.e)
    found = verify_promise(made)
    assert found.delta == pytest.approx(bare.delta + lost, rel=1e-9)
    assert found.delta > bare.delta
    assert found.eta > bare.eta
    assert keeps_policy(made, made.promise)


@pytest.mark.check
@pytest.mark.parametrize("times", [2, 10_000])
def test_a_larger_crowd_keeps_the_promise(plan: Plan, times: int) -> None:
    """Its overflows add up, but nobody needs more than a part of it to hide in."""
    larger = verify_promise(plan, replace(POLICY, minimum_crowd=times * POLICY.minimum_crowd))
    assert larger.crowd == times * POLICY.minimum_crowd
    assert larger.delta < plan.promise.delta


def test_every_block_has_its_noise_and_precision(plan: Plan) -> None:
    """Weight buys precision, which is that of the noise, a/2^32; devices compare it as integers."""
    by_name = {block.name: block.precision for block in plan.blocks}
    assert by_name["engine"].sigma < by_name["smokes"].sigma < by_name["sports"].sigma
    for block in plan.blocks:
        q = block.noise
        sigma = (POLICY.minimum_crowd * q * (1 - q)) ** 0.5 / (1 - 2 * q)
        assert block.precision.sigma == pytest.approx(sigma, rel=1e-5)
        assert 0 < block.numerator < NOISE_GRID // 2


def test_a_submission_has_room_for_all_answers_and_some_flips(plan: Plan) -> None:
    """One yes, one choice, two sports, and never more than all positions."""
    assert plan.layout.most_ones == 4
    assert 4 < plan.messages <= plan.layout.positions == 7


def test_a_plan_is_its_file(plan: Plan, tmp_path: Path) -> None:
    """It reads back as the same value; its hash is what `sha256sum` prints: no line end."""
    file = tmp_path / "plan.json"
    file.write_bytes(plan.bytes)
    assert read_plan(file) == plan
    assert read_plan(file).hash == plan.hash == hashlib.sha256(plan.bytes).hexdigest()
    assert not plan.bytes.endswith(b"\n")
    assert json.loads(plan.bytes)["format"] == "krand-plan-1"


def test_whatever_is_changed_makes_another_plan(plan: Plan) -> None:
    """Name, wording, crowd, weight: each gives another hash."""
    surveys = [
        replace(plan.survey, id="other"),
        replace(plan.survey, policy=replace(POLICY, minimum_crowd=20_001)),
        replace(plan.survey, questions=(replace(QUESTIONS[0], text="Do you?"), *QUESTIONS[1:])),
        replace(plan.survey, questions=(replace(QUESTIONS[0], weight=2.0), *QUESTIONS[1:])),
    ]
    hashes = {plan.hash, *(replace(plan, survey=survey).hash for survey in surveys)}
    assert len(hashes) == 5


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + b"\n",
        lambda text: text.replace(b'"messages":', b'"messages": '),
        lambda text: text.replace(b'"noise_numerator":', b'"noise_numerator":-'),
        lambda text: text.replace(b'"sigma":', b'"sigma":-'),
        lambda text: text.replace(b'"blocks":[{', b'"blocks":[{},{'),
        lambda text: text.replace(b'"offset":1', b'"offset":2'),
        lambda text: text.replace(b"krand-plan-1", b"krand-plan-2"),
        lambda text: text[:-1],
        lambda text: b"[]",
        lambda text: b"\xff",
        lambda text: b"null",
        lambda text: text.replace(b'"delta":', b'"gamma":', 1),
    ],
)
def test_a_plan_that_was_touched_is_refused(plan: Plan, change: object) -> None:
    """Down to the last byte: a plan is what its hash says."""
    changed = change(plan.bytes)  # type: ignore[operator]
    assert changed != plan.bytes
    with pytest.raises(InvalidInput):
        parse_plan(changed)


def test_what_the_analyst_runs_changes_nothing_but_the_survey() -> None:
    """It is under the hash."""
    plain = parse_survey(MIXED_SURVEY)
    runs = replace(plain, trust=replace(plain.trust, analyst_runs=(1,)))
    assert document_of(plain)["trust"]["analyst_runs"] == []
    assert document_of(runs)["trust"] == document_of(plain)["trust"] | {"analyst_runs": [1]}
    old, new = make_plan(plain), make_plan(runs)
    assert replace(new, survey=plain) == old
    assert parse_plan(new.bytes) == new
    assert old.hash != new.hash


@pytest.mark.check
@pytest.mark.parametrize("noise", [mechanisms.DEVICES, mechanisms.MIXERS])
def test_conditions_change_no_noise_and_no_promise(noise: mechanisms.Mechanism) -> None:
    """Every question counts as asked, also in branches that exclude each other."""
    pet = Choice(name="pet", choices=Choices(["cat", "dog"]))
    asked = (YesNo(name="owns"), pet, Scale(name="wish", lowest=1, highest=3))
    branches = (
        asked[0],
        replace(pet, asked_if=Condition("owns", True)),
        replace(asked[2], asked_if=Condition("owns", False)),
    )
    policy = Policy(epsilon=2.0, delta=1e-4, minimum_crowd=1000)
    plain = Survey(id="s", policy=policy, questions=asked, trust=Trust(noise=noise))
    survey = replace(plain, questions=branches)
    old, new = make_plan(plain), make_plan(survey)
    differing = {name for name, value in new.values().items() if value != old.values()[name]}
    assert differing == {"survey"}, "blocks, messages, mixing, promise: all the same"
    assert parse_plan(new.bytes) == new
    edited = new.bytes.replace(b'"is":["yes"]', b'"is":[true]')
    with pytest.raises(InvalidInput, match="must be unchanged"):
        parse_plan(edited)


def test_languages_change_nothing_but_the_survey(plan: Plan) -> None:
    """They are in the plan; answers in any of them are the same."""
    found = make_plan(translated(plan.survey, "fr"))
    differing = {name for name, value in found.values().items() if value != plan.values()[name]}
    assert differing == {"survey"}
    assert parse_plan(found.bytes) == found
    french = found.in_language("fr")
    assert (french.hash, french.survey.about.language) == (found.hash, "fr")
    assert french.layout == layout_of(french.survey)


@pytest.mark.check
def test_how_many_are_invited_changes_nothing_but_the_survey(plan: Plan) -> None:
    """It is in the plan, and no noise depends on it."""
    survey = replace(plan.survey, invited=plan.survey.policy.minimum_crowd + 5)
    found = make_plan(survey)
    assert parse_plan(found.bytes).survey.invited == survey.invited
    again = make_plan(plan.survey)
    differing = {name for name, value in found.values().items() if value != again.values()[name]}
    assert differing == {"survey"}


def test_a_plan_of_another_krand_is_refused_by_its_format(plan: Plan, tmp_path: Path) -> None:
    """Not as one that was changed: nobody touched it, it lacks what plans have today."""
    values = json.loads(plan.bytes) | {"format": "krand-plan-2"}
    for name in ("overflow", "shifts"):
        del values[name]
    (tmp_path / "plan.json").write_bytes(canonical_json(values))
    said = (
        r"must have the format krand-plan-1, found 'krand-plan-2'; it was made by another version"
        r" of krand; make it again from its survey file: krand plan survey.toml"
    )
    with pytest.raises(InvalidInput, match=said):
        read_plan(tmp_path / "plan.json")


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    """With the field, not with a traceback."""
    with pytest.raises(InvalidInput, match="plan"):
        read_plan(tmp_path / "none.json")


@pytest.mark.check
def test_whole_records_have_one_noise_and_copies_as_messages() -> None:
    """Record linkage: the planner's noise for the record's structure."""
    questions = tuple(replace(question, weight=1.0) for question in QUESTIONS)
    survey = Survey(
        id="habits", policy=POLICY, questions=questions, linkage=Linkage.RECORD, copies=4
    )
    plan = make_plan(survey)
    expected = plan_noise(POLICY, record_reports(survey, layout_of(survey)))
    assert set(numerators_of(plan)) == {expected.noise_numerator}
    assert plan.messages == 4
    assert plan.promise == expected.promise.rounded(POLICY)
    assert plan.promise.delta <= 1e-5
    assert parse_plan(plan.bytes) == plan
    assert verify_promise(plan).rounded(POLICY) == plan.promise


def test_whole_records_with_two_noises_or_other_messages_are_refused() -> None:
    """A device would flip with the first noise alone, and send another number of messages."""
    questions = (YesNo(name="smokes"), YesNo(name="drinks"))
    plan = make_plan(
        Survey(id="habits", policy=POLICY, questions=questions, linkage=Linkage.RECORD)
    )
    first = plan.blocks[0].numerator
    with pytest.raises(InvalidInput, match="same for all bits"):
        parse_plan(with_numerators(plan, (first, first + 1)).bytes)
    with pytest.raises(InvalidInput, match="those of all lanes"):
        parse_plan(replace(plan, messages=2).bytes)


@pytest.mark.check
def test_what_is_asked_together_is_one_choice() -> None:
    """Two yes/no questions together: eight cells, two changed bits."""
    questions = (YesNo(name="a"), YesNo(name="b"), YesNo(name="c"))
    plan = make_plan(
        Survey(id="three", policy=POLICY, questions=questions, together=(Together(("a", "b")),))
    )
    joint, alone = plan.layout.blocks
    assert (joint.positions, joint.sensitivity, alone.positions) == (8, 2, 1)
    assert plan.blocks[0].numerator > plan.blocks[1].numerator


@pytest.mark.check
def test_a_survey_that_would_be_all_noise_is_refused() -> None:
    """Eight people cannot hide forty answers; what would help is said."""
    tiny = Policy(epsilon=0.1, delta=1e-9, minimum_crowd=50)
    with pytest.raises(CannotMeet, match="would be only noise") as refused:
        make_plan(Survey(id="habits", policy=tiny, questions=QUESTIONS))
    crowd, epsilon = refused.value.nearest
    assert crowd == "crowd 630 at epsilon 0.1"
    assert epsilon == "epsilon 1.53 at crowd 50"
    make_plan(Survey(id="habits", policy=replace(tiny, epsilon=1.53), questions=QUESTIONS))


@pytest.mark.check
@pytest.mark.parametrize("crowd", [20, 30, 40, 50])
def test_a_crowd_that_is_offered_will_do(crowd: int) -> None:
    """Written into the same file, where one in a hundred of the larger crowd colludes."""
    text = SMALL_SURVEY.replace("epsilon = 2\ndelta = 1e-3", "epsilon = 0.1\ndelta = 1e-9")
    with pytest.raises(CannotMeet) as refused:
        make_plan(parse_survey(text.replace("minimum_crowd = 100", f"minimum_crowd = {crowd}")))
    offered = refused.value.nearest[0].split()[1].replace(",", "")
    plan = make_plan(
        parse_survey(text.replace("minimum_crowd = 100", f"minimum_crowd = {offered}"))
    )
    assert plan.promise.colluding == -(-int(offered) // 100)


@pytest.mark.parametrize(("crowd", "epsilon"), [(50, 2), (100, 3)])
def test_noise_that_nearly_suffices_without_a_crowd_is_planned(crowd: int, epsilon: int) -> None:
    """There the bound of the first search rises with the noise; that once looked like a bug."""
    policy = Policy(epsilon=epsilon, delta=1e-6, minimum_crowd=crowd)
    plan = make_plan(Survey(id="few", policy=policy, questions=(YesNo(name="a"),)))
    assert verify_promise(plan).delta <= 1e-6
    assert plan.blocks[0].numerator / 2**32 == pytest.approx(1 / (1 + math.exp(epsilon)), rel=0.01)


@pytest.mark.check
@pytest.mark.parametrize("crowd", [2, 3])
def test_a_huge_epsilon_in_a_tiny_crowd_is_planned(crowd: int) -> None:
    """Far below the limit the bound rises with the noise; that once looked like a bug."""
    policy = Policy(epsilon=40, delta=0.01, minimum_crowd=crowd, colluding=min(1, crowd - 2))
    cities = Choices([f"city {number}" for number in range(30)])
    asked = (
        YesNo(name="bicycle"),
        Choice(name="way", choices=Choices(["on foot", "by bicycle", "by car"])),
        Choice(name="city", choices=cities),
        PickAny(name="shops", choices=Choices(["baker", "books", "tools", "shoes"]), at_most=2),
        Number(name="rent", edges=(0, 50, 100, 200)),
        Scale(name="mood", lowest=1, highest=5),
        Words(name="wish", size=64, hashes=1),
    )
    plan = make_plan(Survey(id="town", policy=policy, questions=asked))
    assert verify_promise(plan).delta <= 0.01
