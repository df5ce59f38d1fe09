"""What remains when others work together: every number is computed from the plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from krand.planning.checking import verify_promise
from krand.planning.coalitions import Coalition, Remainder, Remains, coalitions_of
from krand.planning.making import make_plan
from krand.promise import Policy
from krand.survey import mechanisms
from krand.survey.plan import Mixer, Plan
from krand.survey.questions import YesNo
from krand.survey.survey import Survey, Trust
from krand.testing import small_plan
from krand.wording.parties import coalition_text, remains_text
from krand.wording.plans import mixers_sentence

POLICY = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=12)
MIXED = Survey(
    id="s",
    policy=POLICY,
    questions=(YesNo(name="a"),),
    trust=Trust(noise=mechanisms.MIXERS, mixers=3),
)


def row_of(rows: tuple[Remainder, ...], coalition: Coalition, people: int) -> Remainder:
    (found,) = (row for row in rows if (row.coalition, row.people) == (coalition, people))
    return found


def test_devices_lose_with_everybody_who_colludes() -> None:
    """The promise of a crowd of N - c; without the collector, or the crowd, only ε₀."""
    plan = small_plan()
    policy, rows = plan.survey.policy, coalitions_of(plan)
    deltas = []
    for coalition, people in (
        (Coalition.ANALYST, 0),
        (Coalition.PEOPLE, 1),
        (Coalition.PEOPLE, 50),
    ):
        row = row_of(rows, coalition, people)
        found = verify_promise(plan, replace(policy, colluding=people))
        assert (row.remains, row.epsilon) == (Remains.PROMISE, 2)
        assert (row.delta, row.eta) == pytest.approx((found.delta, found.eta), rel=1e-3)
        deltas.append(found.delta)
    assert deltas == sorted(set(deltas))
    for coalition, people in ((Coalition.ALL_BUT_ONE_MIXER, 99), (Coalition.ALL_MIXERS, 0)):
        row = row_of(rows, coalition, people)
        assert (row.remains, row.epsilon) == (Remains.LOCAL, plan.promise.local_epsilon)
        assert row.delta is None


def test_one_honest_mixer_keeps_the_promise() -> None:
    """Whoever else colludes; without any honest mixer nothing is left."""
    plan = make_plan(MIXED)
    rows = coalitions_of(plan)
    kept = [row for row in rows if row.remains is Remains.PROMISE]
    assert {row.delta for row in kept} == {plan.promise.delta}
    most = row_of(rows, Coalition.ALL_BUT_ONE_MIXER, 11)
    assert (most.remains, most.mixers) == (Remains.PROMISE, 2)
    for lost in (row_of(rows, Coalition.ALL_MIXERS, 0), row_of(rows, Coalition.EVERYBODY, 11)):
        assert (lost.remains, lost.epsilon, lost.mixers) == (Remains.NOTHING, None, 3)


@pytest.mark.check
@pytest.mark.parametrize(
    "trust",
    [
        Trust(noise=mechanisms.DEVICES),
        Trust(noise=mechanisms.MIXERS, mixers=1),
        Trust(noise=mechanisms.MIXERS, mixers=3),
    ],
    ids=lambda trust: f"{trust.noise}-{trust.mixers}",
)
def test_whoever_serves_the_form_is_trusted_by_those_who_use_it(trust: Trust) -> None:
    """A page runs its host's code, so that no noise is sure: the last row, whoever adds noise."""
    policy = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=300)
    plan = make_plan(replace(MIXED, policy=policy, trust=trust))
    *others, last = coalitions_of(plan)
    assert last == Remainder(
        coalition=Coalition.PAGE_HOST, people=0, mixers=0, remains=Remains.NOTHING
    )
    assert Coalition.PAGE_HOST not in {row.coalition for row in others}
    assert coalition_text(last, plan) == "whoever serves the web form, for people who use it"
    assert remains_text(last, plan) == "no protection"


@pytest.mark.parametrize("mixers", [1, 3])
def test_every_row_has_words(mixers: int) -> None:
    """Who it is, and what is left, for one mixer and for several."""
    plan = make_plan(replace(MIXED, trust=Trust(noise=mechanisms.MIXERS, mixers=mixers)))
    rows = coalitions_of(plan)
    said = [coalition_text(row, plan) for row in rows]
    assert len(set(said)) == len(rows)
    assert ("the analyst and the collector" in said) == (mixers == 1)
    assert ("the analyst, all other people and 2 of 3 mixers" in said) == (mixers == 3)
    assert remains_text(rows[0], plan).startswith("ε = 1, δ = ")
    assert remains_text(rows[-1], plan) == "no protection"


def test_with_eta_the_words_name_eta() -> None:
    """The promise is told as it was made."""
    plan = make_plan(replace(MIXED, policy=Policy(epsilon=1.0, eta=1e-3, minimum_crowd=12)))
    assert "η = " in remains_text(coalitions_of(plan)[0], plan)


@pytest.mark.check
def test_results_count_those_who_came() -> None:
    """A larger crowd hides better; a refused message counts as one more person who colludes."""
    plan = small_plan()
    policy = plan.survey.policy
    rows = coalitions_of(plan, crowd=200, refused=3)
    for coalition, people in (
        (Coalition.ANALYST, 0),
        (Coalition.PEOPLE, 1),
        (Coalition.PEOPLE, 100),
    ):
        found = verify_promise(plan, replace(policy, minimum_crowd=200, colluding=people + 3))
        row = row_of(rows, coalition, people)
        assert (row.delta, row.eta) == pytest.approx((found.delta, found.eta), rel=1e-9)
    assert row_of(rows, Coalition.EVERYBODY, 199).remains is Remains.LOCAL
    assert "1 of 200 people" in coalition_text(rows[1], plan, crowd=200)


def test_nobody_honest_is_left_of_devices_noise() -> None:
    """Half of the crowd and as many refused messages: only the own device is left."""
    rows = coalitions_of(small_plan(), crowd=100, refused=50)
    assert row_of(rows, Coalition.ANALYST, 0).remains is Remains.PROMISE
    assert row_of(rows, Coalition.PEOPLE, 50).remains is Remains.LOCAL


@pytest.mark.parametrize("crowd", [1, 2, 5])
def test_mixers_promise_holds_for_any_crowd(crowd: int) -> None:
    """Also for one person, and for fewer than were hoped for."""
    plan = make_plan(MIXED)
    rows = coalitions_of(plan, crowd=crowd, refused=7)
    most = row_of(rows, Coalition.ALL_BUT_ONE_MIXER, crowd - 1)
    assert (most.remains, most.delta) == (Remains.PROMISE, plan.promise.delta)
    assert [row.people for row in rows if row.coalition is Coalition.PEOPLE] == [2] * (crowd == 5)


def trusting(noise: str, mixers: int = 1, runs: tuple[int, ...] = (), crowd: int = 300) -> Plan:
    """A plan of which the analyst runs some mixers."""
    policy = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=crowd)
    trust = Trust(noise=noise, mixers=mixers, analyst_runs=runs)
    return make_plan(replace(MIXED, policy=policy, trust=trust))


@pytest.mark.parametrize(
    ("noise", "mixers", "left"),
    [
        ("devices", 1, Remains.LOCAL),
        ("mixers", 1, Remains.NOTHING),
        ("mixers", 3, Remains.NOTHING),
    ],
)
def test_in_one_hand_the_promise_is_about_readers(noise: str, mixers: int, left: Remains) -> None:
    """The analyst who runs every mixer has what all mixers together would have."""
    apart = coalitions_of(trusting(noise, mixers))
    rows = coalitions_of(trusting(noise, mixers, tuple(range(1, mixers + 1))))
    own = row_of(rows, Coalition.ANALYST, 0)
    assert (own.remains, own.mixers) == (left, mixers)
    assert own.epsilon == row_of(apart, Coalition.ALL_MIXERS, 0).epsilon
    alone, readers = row_of(apart, Coalition.ANALYST, 0), row_of(rows, Coalition.READERS, 0)
    assert replace(readers, coalition=Coalition.ANALYST) == alone
    parted = {Coalition.OTHER_MIXERS, Coalition.ALL_BUT_ONE_MIXER, Coalition.ALL_MIXERS}
    assert not parted & {row.coalition for row in rows}


def test_a_party_in_several_roles_is_counted_once() -> None:
    """The analyst's own mixers protect from nobody; mixers of one name are one party."""
    plan = trusting("mixers", 4, (1, 3))
    rows = coalitions_of(plan)
    said = [coalition_text(row, plan, crowd=300) for row in rows]
    assert said[0] == "the analyst, who also runs the collector and mixer 3"
    assert "the analyst and 1 of the 2 other parties that mix" in said
    assert "the analyst and all 2 other parties that mix" in said
    named = replace(
        plan,
        mixing=replace(
            plan.mixing,
            mixers=tuple(
                Mixer(name=name, identity=f"{place:064x}")
                for place, name in enumerate(("us", "university", "us", "university"))
            ),
        ),
    )
    rows = coalitions_of(named)
    assert Coalition.OTHER_MIXERS not in {row.coalition for row in rows}
    most = row_of(rows, Coalition.ALL_BUT_ONE_MIXER, 299)
    assert (most.remains, most.mixers) == (Remains.PROMISE, 2)
    assert coalition_text(most, named).endswith("but not the one other party that mixes")
    assert "university (2 of the mixers, one party)" in mixers_sentence(named)
