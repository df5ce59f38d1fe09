"""Which plans a mixer signs: one for each description of itself, whose promise it computed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import krand
from effort import EFFORT
from halting import Faults, calls_noted, nursery, spread_over
from partners.mixers import Mixer, Organiser, Request, described, keys, stranger

Change = Callable[[krand.Plan], krand.Plan]


def listed(at: Path, organiser: Organiser) -> Mixer:
    """A mixer that accepts this organiser without asking."""
    return Mixer(at, accept="listed", organisations=[organiser.identity.public])


def test_a_plan_is_signed_once_its_promise_is_computed(tmp_path: Path) -> None:
    """The signature is valid, the keys are the plan's from then on, and stay when asked again."""
    council = Organiser()
    university = listed(tmp_path / "university", council)
    plan = council.plan(council.paired(university))
    request = council.plan_request(plan)
    (before,) = university.key_files()
    second = council.plan_request(council.plan(plan.mixers[1]))
    assert [university.asked(each)[0] for each in (request, second, request)] == [202, 409, 202]
    university.work()
    assert university.asked(second)[0] == 409
    status, signed = university.asked(request)
    assert (status, signed["plan"], signed["mixer"]) == (200, plan.hash, university.identity.public)
    assert university.computed == 1
    (after,) = university.key_files()
    assert (before, after) != (after, before)
    assert after == f"{plan.hash}/1.key"
    assert university.plans == {plan.hash: plan}
    university.begin()
    university.work()
    assert university.asked(request) == (200, signed)
    assert university.computed == 1


def other_survey(plan: krand.Plan) -> krand.Plan:
    return replace(plan, survey=plan.survey.changed(title="Something else"))


def swapped(plan: krand.Plan) -> krand.Plan:
    first, second, third = plan.mixers
    return replace(plan, mixers=(first, third, second))


def other_collector(plan: krand.Plan) -> krand.Plan:
    found = replace(stranger(), keys=())
    analyst = krand.Analyst(key=plan.analyst.key, identity=found.identity) if plan.analyst else None
    return replace(plan, mixers=(found, *plan.mixers[1:]), analyst=analyst)


def elsewhere(plan: krand.Plan) -> krand.Plan:
    moved = replace(plan.mixers[0], url="https://elsewhere.example")
    return replace(plan, mixers=(moved, *plan.mixers[1:]))


def other_key(plan: krand.Plan) -> krand.Plan:
    first, own, third = plan.mixers
    key = keys.public_hex(keys.generate_private_key())
    return replace(plan, mixers=(first, replace(own, keys=(key,)), third))


def other_name(plan: krand.Plan) -> krand.Plan:
    first, own, third = plan.mixers
    return replace(plan, mixers=(first, replace(own, name="somebody"), third))


def without_it(plan: krand.Plan) -> krand.Plan:
    return replace(plan, mixers=(plan.mixers[0], stranger(7), plan.mixers[2]))


def twice(plan: krand.Plan) -> krand.Plan:
    return replace(plan, mixers=(*plan.mixers[:2], plan.mixers[1]))


def key_of_the_analyst(plan: krand.Plan) -> krand.Plan:
    assert plan.analyst is not None
    return replace(plan, analyst=replace(plan.analyst, key=plan.mixers[2].keys[0]))


def low_order(plan: krand.Plan) -> krand.Plan:
    first, own, third = plan.mixers
    return replace(plan, mixers=(first, own, replace(third, keys=("00" * 32,))))


def two_lines(plan: krand.Plan) -> krand.Plan:
    return replace(plan, mixers=(*plan.mixers[:2], replace(plan.mixers[2], name="a\nb")))


def too_few(plan: krand.Plan) -> krand.Plan:
    return replace(plan, mixers=plan.mixers[:2])


@pytest.mark.parametrize(
    "change",
    [
        *(other_survey, swapped, other_collector, elsewhere, other_key, other_name, without_it),
        *(twice, key_of_the_analyst, two_lines, too_few),
    ],
)
def test_another_plan_than_the_agreed_one_is_refused(tmp_path: Path, change: Change) -> None:
    """Nothing is computed for it, and the agreed one is signed afterwards."""
    council = Organiser(mixers=3)
    university = listed(tmp_path / "university", council)
    plan = council.plan(council.paired(university))
    records = university.records()
    status, said = university.asked(council.plan_request(change(plan)))
    assert (status, said.keys()) in [(number, {"field", "rule"}) for number in (403, 422)]
    assert university.records() == records
    assert university.asked(council.plan_request(plan))[0] == 202
    university.work()
    assert university.asked(council.plan_request(plan))[0] == 200


def test_nobody_else_sends_the_plan(tmp_path: Path) -> None:
    """Neither a stranger, nor another organiser that has keys here."""
    council, other = Organiser(), Organiser(survey_id="other")
    university = Mixer(
        tmp_path / "university",
        accept="listed",
        organisations=[council.identity.public, other.identity.public],
    )
    plan = council.plan(council.paired(university))
    other.paired(university)
    for by in (other.identity, Organiser().identity):
        assert university.asked(Request("POST", "/v1/plans", plan.bytes, by))[0] == 403
    assert (
        university.asked(Request("POST", "/v1/plans", plan.bytes + b" ", council.identity))[0]
        == 422
    )


def test_weaker_weights_refused(tmp_path: Path) -> None:
    """Weights that add a little less noise than is promised: the keys go, nothing is signed."""
    council = Organiser()
    university = listed(tmp_path / "university", council)
    plan = council.plan(council.paired(university))
    (law, *rest) = plan.laws
    moved = law.half[1] // 16
    half = (law.half[0] + 2 * moved, law.half[1] - moved, *law.half[2:])
    weaker = replace(plan, laws=(replace(law, half=half), *rest))
    request = council.plan_request(weaker)
    assert university.asked(request)[0] == 202
    university.work()
    status, said = university.asked(request)
    assert (status, said["field"]) == (422, "plan")
    assert "must have noise that keeps its survey's policy" in said["rule"]
    assert university.states() == ["REFUSED"]
    assert (university.key_files(), university.plans) == ({}, {})
    assert university.said("refused")


def test_one_plan_is_computed_at_a_time(tmp_path: Path) -> None:
    """A second one of the same organiser waits for the first."""
    council = Organiser()
    other = Organiser(identity=council.identity, survey_id="other")
    university = listed(tmp_path / "university", council)
    plans = [each.plan(each.paired(university)) for each in (council, other)]
    found = [university.asked(council.plan_request(plan))[0] for plan in plans]
    assert found == [202, 503]
    university.work()
    assert university.asked(council.plan_request(plans[1]))[0] == 202


def test_every_request_twice_and_late(tmp_path: Path) -> None:
    """Whoever has recorded all requests can change nothing by sending them in any order."""
    council = Organiser()
    university = listed(tmp_path / "university", council)
    replaced, request = council.keys_request(), council.keys_request()
    university.asked(replaced)
    plan = council.plan(described(university.asked(request)[1]))
    university.asked(council.plan_request(plan))
    university.work()
    refused = Organiser().keys_request()
    asked = [replaced, request, council.plan_request(plan), refused]
    answers = [university.asked(each) for each in asked]
    kept = (university.records(), university.key_files())
    for order in permutations(range(len(asked))):
        for index in order:
            assert university.asked(asked[index]) == answers[index]
        assert (university.records(), university.key_files()) == kept
    university.begin()
    university.work()
    assert (university.records(), university.key_files()) == kept


def test_two_plans_one_descriptor(tmp_path: Path) -> None:
    """Keys of one description sign one plan, whenever the mixer is killed, and even if its database
    is an older copy."""
    council = Organiser()
    at = tmp_path / "university"
    university = listed(at, council)
    own = council.paired(university)
    pem = tmp_path / "organiser.pem"
    keys.write_private("identity", pem, keys.private_key_pem(council.identity.key))
    plans = [str(_saved(council.plan(own), tmp_path / f"{name}.json")) for name in "ab"]
    university.close()
    first, note, signed = tmp_path / "first", tmp_path / "note", tmp_path / "signed"
    shutil.copytree(at, first)

    def begin_again(database: Path | None = None) -> None:
        if database is None:
            shutil.rmtree(at)
            shutil.copytree(first, at)
        else:
            shutil.copy(database, at)

    def lives(held: Faults | None, *sent: str) -> None:
        for faults, order in ((held, sent), (None, sent[::-1])):
            given: dict[str, Any] = {"at": str(at), "organiser": str(pem), "signed": str(signed)}
            home.call("partners.mixers:life", faults, plans=list(order), **given)
            home.wait()

    with nursery(tmp_path / "errors", "partners.mixers") as home:
        lives(Faults(under=str(at), note=str(note)), *plans)
        calls = len(calls_noted(note))
        assert set(signed.read_text().split()) == {krand.read_plan(plans[0]).hash}
        for number in spread_over(1, calls, 12 * EFFORT):
            for older in (None, first / "state.sqlite"):
                begin_again()
                signed.unlink(missing_ok=True)
                lives(Faults(under=str(at), note=str(note), stop_at=number), *plans)
                if older is not None:
                    begin_again(older)
                    lives(None, *plans[::-1])
                found = set(signed.read_text().split()) if signed.exists() else set()
                assert len(found) <= 1, (number, older)


def _saved(plan: krand.Plan, path: Path) -> Path:
    plan.save(path)
    return path
