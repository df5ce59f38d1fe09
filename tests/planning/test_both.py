"""Plans in which devices and mixers add noise: two promises, each by itself."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from krand.accounting.coupling import delta_of_distance
from krand.accounting.dummy_bounds import surplus_bound
from krand.analysis.verification.plans import plan_checks
from krand.errors import CannotMeet, InvalidInput
from krand.planning.checking import check_promise, verify_promises
from krand.planning.coalitions import Coalition, Remains, coalitions_of
from krand.planning.making import make_plan
from krand.planning.mechanisms.both import BothMechanisms
from krand.planning.noise_sources import SourceOption
from krand.promise import BOUND_DIGITS, Assumption, DummyLaw, Method, Policy
from krand.showing import rounded_up
from krand.survey import mechanisms
from krand.survey.canonical import canonical_json
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.plan_file import parse_plan
from krand.survey.questions import Choice, PickAny, YesNo
from krand.survey.survey import Survey, Trust
from krand.wording.coalitions import remains_text
from krand.wording.plans import division_sentence, promise_sentence, sources_table, survey_table
from plans import numerators_of, with_numerators, with_rooms

POLICY = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=20_000, colluding=200)
LONG_LIST = Choices(tuple(f"option {number}" for number in range(40)))
SURVEY = Survey(
    id="s",
    policy=POLICY,
    questions=(
        YesNo(name="smokes"),
        Choice(name="pet", choices=Choices(("cat", "dog", "none"))),
        PickAny(name="places", choices=LONG_LIST, at_most=2),
    ),
    trust=Trust(noise=mechanisms.BOTH, mixers=2),
)


def by(noise: mechanisms.Mechanism) -> Survey:
    mixers = 2 if noise.has_dummies else 1
    return replace(SURVEY, trust=Trust(noise=noise, mixers=mixers))


@pytest.fixture(scope="module")
def plan() -> Plan:
    """20,000 people, two mixers."""
    return make_plan(SURVEY)


@pytest.fixture(scope="module")
def devices() -> Plan:
    """The same survey without dummies."""
    return make_plan(by(mechanisms.DEVICES))


def test_flips_are_those_of_devices_alone(plan: Plan, devices: Plan) -> None:
    """Numerators, rooms and promise: dummies take nothing from it."""
    for both, alone in zip(plan.blocks, devices.blocks, strict=True):
        assert (both.numerator, both.room) == (alone.numerator, alone.room)
        assert both.shift == alone.shift
    assert plan.messages == devices.messages
    assert plan.flips == devices.promise


def test_the_promise_is_that_of_one_honest_mixer(plan: Plan) -> None:
    """It needs no crowd; what everybody else together leaves is the flips' ε₀."""
    assert plan.promise.method is Method.DUMMIES
    assert plan.promise.assumptions[0] is Assumption.ONE_HONEST_MIXER
    assert Assumption.HONEST_CROWD not in plan.promise.assumptions
    assert 0.99e-6 < plan.promise.delta <= 1e-6
    assert plan.promise.local_epsilon == plan.flips.local_epsilon < math.inf


@pytest.mark.check
def test_dummies_are_those_of_mixers_alone(plan: Plan) -> None:
    """All but a thousandth of δ is theirs in either case: σ differs in the fourth digit."""
    mixers = make_plan(by(mechanisms.MIXERS))
    for mine, alone in zip(plan.mixing.laws, mixers.mixing.laws, strict=True):
        assert mine.variance == pytest.approx(alone.variance, rel=1e-3)


def test_variances_add_up(plan: Plan, devices: Plan) -> None:
    """Npq/(p-q)² of flips, and 2σ²/(p-q)² of the dummies of two mixers."""
    for lane, both, flips in zip(plan.lanes, plan.blocks, devices.blocks, strict=True):
        added = 2 * plan.law_of(lane).variance / (1 - 2 * both.noise) ** 2
        sum_of_both = flips.precision.sigma**2 + added
        assert both.precision.sigma**2 == pytest.approx(sum_of_both, rel=1e-4)


def test_a_choice_is_padded(plan: Plan) -> None:
    """Its lane has room for flips; one person's tokens differ by at most t, or by the room."""
    yes, pet, places = plan.lanes
    assert yes.is_single
    assert pet.messages > 1
    assert places.messages > 4
    assert plan.mixing.paddings[0] == 0
    bounds = [
        surplus_bound(plan.law_of(lane), lane.positions, plan.mixing.paddings[lane.number] - own)
        for lane, own in ((pet, 2), (places, 4))
    ]
    assert plan.mixing.surplus == rounded_up(math.fsum(bounds), BOUND_DIGITS)
    assert plan.mixing.surplus <= 1e-9


def test_an_overflow_of_one_person_is_part_of_the_promise(plan: Plan) -> None:
    """With less room it is likelier; anybody's counts for the flips, one's for the mixers."""
    less = with_rooms(plan, (1, 3, 6))
    true, flips = verify_promises(less)
    mixers_lose = true.delta - plan.promise.delta
    devices_lose = flips.delta - plan.flips.delta
    assert 0 < mixers_lose < devices_lose
    paid = delta_of_distance(plan.overflow, 1.0)
    assert 0 < paid * POLICY.minimum_crowd <= 1e-9


def _weaker(law: DummyLaw) -> DummyLaw:
    """A quarter of what lies beyond the mean moves there."""
    moved = [weight * 3 // 4 for weight in law.half[1:]]
    return DummyLaw((law.half[0] + 2 * (sum(law.half[1:]) - sum(moved)), *moved))


def _changed(plan: Plan, what: str) -> Plan:
    mixing = plan.mixing
    if what == "numerators":
        return with_numerators(plan, [n * 9 // 10 for n in numerators_of(plan)])
    if what == "rooms":
        return with_rooms(plan, (1, 3, 7))
    if what == "laws":
        return replace(plan, mixing=replace(mixing, laws=tuple(map(_weaker, mixing.laws))))
    paddings = tuple(padding * 9 // 10 for padding in mixing.paddings)
    return replace(plan, mixing=replace(mixing, paddings=paddings))


@pytest.mark.check
@pytest.mark.parametrize("what", ["numerators", "rooms", "laws", "paddings"])
def test_a_plan_that_was_edited_is_refused(plan: Plan, what: str) -> None:
    """Less noise, room or padding than promised: check and verification find it."""
    changed = _changed(plan, what)
    with pytest.raises(InvalidInput, match="must not promise more"):
        check_promise(changed)
    found = plan_checks(json.loads(changed.bytes), "plan.json")
    failed = {entry.name for entry in found.checks if entry.state == "failed"}
    wrong = {"numerators": "flips", "rooms": "messages", "laws": "promise", "paddings": "promise"}
    assert wrong[what] in failed


def _honest_but_quieter(plan: Plan, what: str) -> Plan:
    """The same survey with less noise of one party, and what that really promises."""
    changed = _changed(plan, what)
    promised = verify_promises(changed)[0]
    return replace(changed, promise=promised, flips=verify_promises(changed)[1])


@pytest.mark.check
@pytest.mark.parametrize("what", ["numerators", "laws"])
def test_an_honest_plan_that_does_not_keep_its_policy_is_refused(
    plan: Plan, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whoever checks or verifies it, and by the planner, whatever its search returned."""
    changed = _honest_but_quieter(plan, what)
    with pytest.raises(InvalidInput, match="must promise what its survey asks for"):
        check_promise(changed)
    found = plan_checks(json.loads(changed.bytes), "plan.json")
    failed = {entry.name: entry.says for entry in found.checks if not entry.holds}
    assert "the survey asked for δ = 10⁻⁶" in failed["policy"]
    assert not {"promise", "flips"} & set(failed)
    monkeypatch.setattr(BothMechanisms, "search", lambda *_: changed)
    asked = replace(SURVEY, id=f"quieter-{what}")  # no plan that is kept in memory
    with pytest.raises(CannotMeet, match="the survey asked for δ = 10⁻⁶"):
        make_plan(asked)


def test_nothing_else_is_wrong_with_the_plan(plan: Plan) -> None:
    """The file brings everything back, and every number in it is recomputed."""
    assert parse_plan(plan.bytes) == plan
    assert verify_promises(plan)[0].rounded(plan.survey.policy) == plan.promise
    _, flips = verify_promises(plan)
    assert flips.rounded(plan.survey.policy) == plan.flips
    checks = plan_checks(json.loads(plan.bytes), "plan.json").checks
    assert [entry.name for entry in checks if entry.state == "failed"] == []
    assert "flips" in [entry.name for entry in checks]


def _claims(changes: dict[str, object]) -> Callable[[dict[str, dict[str, object]]], None]:
    return lambda values: values["flips"].update(changes)


@pytest.mark.parametrize(
    "change",
    [
        _claims({"crowd": 10}),
        _claims({"epsilon": 0.5}),
        _claims({"delta": 1e-3}),
        lambda values: values.pop("flips"),
    ],
)
def test_a_promise_of_flips_that_is_not_the_surveys_is_refused(
    plan: Plan, change: Callable[[dict[str, dict[str, object]]], object]
) -> None:
    """Every device sees it without mathematics."""
    values = json.loads(plan.bytes)
    change(values)
    with pytest.raises(InvalidInput):
        parse_plan(canonical_json(values))


def test_other_plans_have_no_flips_to_promise(plan: Plan, devices: Plan) -> None:
    """One promise is enough where one party adds noise."""
    assert devices.flips is None
    assert b'"flips"' not in devices.bytes
    values = {**json.loads(devices.bytes), "flips": json.loads(plan.bytes)["flips"]}
    with pytest.raises(InvalidInput, match="flips"):
        parse_plan(canonical_json(values))


@pytest.mark.check
def test_flips_keep_a_limit_of_what_is_left() -> None:
    """With a cap on ε₀ there are more flips than the crowd needs."""
    asked = replace(SURVEY, questions=SURVEY.questions[:2])
    capped = replace(asked, policy=replace(POLICY, max_local_epsilon=12.0))
    found, free = make_plan(capped), make_plan(asked)
    assert found.promise.local_epsilon <= 12.0 < free.promise.local_epsilon
    assert numerators_of(found) > numerators_of(free)
    rows = {row.coalition: row for row in coalitions_of(found)}
    last = rows[Coalition.EVERYBODY]
    assert (last.remains, last.epsilon) == (Remains.LOCAL, found.promise.local_epsilon)


@pytest.mark.check
def test_the_table_of_coalitions_has_both(plan: Plan) -> None:
    """The analyst alone sees both noises at once; one honest mixer suffices; then ε₀ is left."""
    rows = coalitions_of(plan)
    analyst = rows[0]
    assert analyst.together
    assert 0 < analyst.delta < plan.promise.delta / 100
    assert "by flips and dummies together" in remains_text(analyst, plan)
    kept = [row for row in rows[1:] if row.remains is Remains.PROMISE]
    assert {row.delta for row in kept} == {plan.promise.delta}
    assert Coalition.ALL_BUT_ONE_MIXER in {row.coalition for row in kept}
    left = {row.coalition: row.epsilon for row in rows if row.remains is Remains.LOCAL}
    assert left == dict.fromkeys(
        (Coalition.ALL_MIXERS, Coalition.EVERYBODY), plan.promise.local_epsilon
    )


@pytest.mark.check
def test_too_small_a_crowd_is_told_of_mixers() -> None:
    """Twelve people drown in the noise of devices; dummies need no crowd."""
    small = replace(SURVEY, policy=replace(POLICY, minimum_crowd=12, colluding=1))
    with pytest.raises(CannotMeet) as caught:
        make_plan(small)
    assert any('noise = "mixers"' in hint for hint in caught.value.nearest)
    capped = replace(small, policy=replace(small.policy, max_local_epsilon=12.0))
    with pytest.raises(CannotMeet) as caught:
        make_plan(capped)
    assert not any('noise = "mixers"' in hint for hint in caught.value.nearest)


def test_the_plan_says_both(plan: Plan) -> None:
    """What is promised with one honest mixer, what with a crowd, and what neither leaves."""
    said = promise_sentence(plan)
    assert "at least one of the 2 mixers is honest" in said
    assert "If at least 20,000 people take part, this noise alone promises the same factor" in said
    assert "If all 2 mixers and the analyst work together, there is no protection (ε₀ = " in said
    assert "nothing protects" not in said
    assert "dummies" in division_sentence(plan)
    assert "pq/(p-q)²" in division_sentence(plan)
    assert str(survey_table(plan).columns[-1].header) == "noise q, dummies"
    option = SourceOption(
        noise="both",
        mixers=2,
        chosen=True,
        best=1.0,
        worst=2.0,
        messages=plan.messages,
        bytes=1,
        dummies=1.0,
        assumptions=(),
    )
    cells = [next(iter(column.cells)) for column in sources_table((option,), plan).columns]
    assert cells[0] == "devices and 2 mixers (this plan)"
    assert cells[-1] == "one of the mixers; or 19,800 people and the collector"
