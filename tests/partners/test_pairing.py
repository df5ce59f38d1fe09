"""What a mixer gives to whom: requests wait, are accepted, refused, replaced, and end."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import krand
from partners.mixers import Mixer, Organiser, Request, described, stranger

LIMITS = {
    "largest_epsilon": 2.0,
    "largest_delta": 1e-5,
    "fewest_mixers": 2,
    "most_positions": 100,
    "most_rounds": 2,
    "most_messages": 10**6,
    "latest_closing": 60,
}


def everybody(at: Path, **limits: Any) -> Mixer:
    """A mixer that asks nobody, within limits."""
    return Mixer(at, accept="everybody", limits=LIMITS | limits)


def test_a_request_waits_for_its_operator(tmp_path: Path) -> None:
    """Who asks, what is promised; asked again and again, it gets the same keys once accepted."""
    university, council = Mixer(tmp_path / "university"), Organiser()
    request = council.keys_request()
    assert [university.asked(request)[0] for _ in range(3)] == [202] * 3
    (shown,) = university.pairings.decide("waiting")["waiting"]
    assert shown["link"] == f"{council.url}#{council.identity.public}"
    assert (shown["title"], shown["place"], shown["mixers"], shown["second"]) == (
        "How we treat each other",
        2,
        2,
        False,
    )
    assert shown["policy"]["epsilon"] == 1.0
    assert university.key_files() == {}
    university.pairings.decide("accept", number=1)
    answers = [university.asked(request) for _ in range(2)]
    assert answers[0] == answers[1]
    assert answers[0][0] == 200
    mixer = described(answers[0][1])
    assert (mixer.name, mixer.url, mixer.identity) == (
        "university",
        university.url,
        university.identity.public,
    )
    assert len(university.key_files()) == 1


def test_the_operator_is_told_of_a_request_and_of_those_that_waited_before(tmp_path: Path) -> None:
    university, council = Mixer(tmp_path / "university"), Organiser()
    university.asked(council.keys_request())
    university.work()
    (told,) = university.said("waiting")
    assert told["link"].endswith(council.identity.public)


def test_a_refused_request_says_why_and_stays_refused(tmp_path: Path) -> None:
    university, council = Mixer(tmp_path / "university"), Organiser()
    request = council.keys_request()
    university.asked(request)
    university.pairings.decide("refuse", number=1, reason="we do not know you")
    assert university.asked(request) == (403, {"field": "keys", "rule": "we do not know you"})
    with pytest.raises(krand.InvalidInput, match="must be that of a request that waits"):
        university.pairings.decide("accept", number=1)


def test_another_request_under_a_known_number_is_refused(tmp_path: Path) -> None:
    university, council = Mixer(tmp_path / "university"), Organiser()
    assert university.asked(council.keys_request("5a" * 32))[0] == 202
    assert university.asked(council.keys_request("5a" * 32, organiser="other"))[0] == 409
    assert Organiser().keys_request("5a" * 32).by != council.identity
    assert university.asked(Organiser().keys_request("5a" * 32))[0] == 202, "of somebody else"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"place": 1}, "place"),
        ({"place": 3}, "place"),
        ({"url": "http://127.0.0.1:8080"}, "url"),
        ({"url": "https://10.0.0.1"}, "url"),
        ({"organiser": "two\nlines"}, "request"),
        ({"pairing": "5a"}, "request"),
        ({"more": 1}, "request"),
        ({"survey": {}}, "survey"),
    ],
)
def test_a_request_that_breaks_a_rule(tmp_path: Path, changes: dict[str, Any], field: str) -> None:
    """The field and the rule are named, and no value is repeated."""
    university = everybody(tmp_path / "university")
    status, said = university.asked(Organiser().keys_request(**changes))
    assert (status, said.keys()) == (422, {"field", "rule"})
    assert field in said["field"]
    assert university.records() == []


@pytest.mark.parametrize(
    ("limits", "field"),
    [
        ({"largest_epsilon": 0.5}, "epsilon"),
        ({"fewest_mixers": 3}, "trust.mixers"),
        ({"most_positions": 2}, "positions"),
        ({"latest_closing": 29}, "closes"),
    ],
)
def test_limits_of_the_operator(tmp_path: Path, limits: dict[str, Any], field: str) -> None:
    university = everybody(tmp_path / "university", **limits)
    status, said = university.asked(Organiser().keys_request())
    assert (status, said["field"]) == (422, field)


def test_whom_a_policy_does_not_list_gets_nothing(tmp_path: Path) -> None:
    listed, other = Organiser(), Organiser()
    link = f"{listed.url}#{listed.identity.public}"
    university = Mixer(tmp_path / "university", accept="listed", organisations=[link])
    assert university.asked(other.keys_request())[0] == 403
    assert university.records() == []
    assert university.asked(listed.keys_request())[0] == 200


def test_strangers_can_fill_neither_the_disk_nor_the_list(tmp_path: Path) -> None:
    """Four open requests of one identity, fifty of all; a long survey does not wait."""
    university, council = Mixer(tmp_path / "university"), Organiser()
    found = [university.asked(council.keys_request())[0] for _ in range(6)]
    assert found == [202] * 4 + [503] * 2
    found = [university.asked(Organiser().keys_request())[0] for _ in range(50)]
    assert found == [202] * 46 + [503] * 4
    long = council.survey.changed(introduction="x" * 3000, thanks="y" * 3000).values()
    long["question"] = [
        {"name": f"q{number}", "type": "yes_no", "text": "z" * 300} for number in range(300)
    ]
    status, said = Mixer(tmp_path / "other").asked(council.keys_request(survey=long))
    assert (status, said["field"]) == (422, "survey")


def test_a_policy_gives_keys_two_hundred_times_a_day(tmp_path: Path) -> None:
    university = everybody(tmp_path / "university")
    found = {university.asked(Organiser().keys_request())[0] for _ in range(200)}
    assert found == {200}
    assert university.asked(Organiser().keys_request())[0] == 503
    university.today += timedelta(days=1)
    assert university.asked(Organiser().keys_request())[0] == 200


def test_whoever_asks_again_gives_up_unused_keys(tmp_path: Path) -> None:
    """And the first request, repeated, brings nothing back."""
    university, council = everybody(tmp_path / "university"), Organiser()
    first, second = council.keys_request(), council.keys_request()
    old = described(university.asked(first)[1])
    before = university.key_files()
    new = described(university.asked(second)[1])
    assert not before.items() & university.key_files().items()
    assert university.asked(first)[0] == 403
    assert described(university.asked(second)[1]) == new
    assert university.asked(council.plan_request(council.plan(old)))[0] == 422
    assert university.asked(council.plan_request(council.plan(new)))[0] == 202


def test_second_plan_waits(tmp_path: Path) -> None:
    """Whatever the policy: the operator decides whether a survey has a second plan."""
    university, council = everybody(tmp_path / "university"), Organiser()
    plan = council.plan(council.paired(university))
    university.asked(council.plan_request(plan))
    university.work()
    assert university.states() == ["SIGNED"]
    again = council.keys_request()
    assert university.asked(again)[0] == 202
    (shown,) = university.pairings.decide("waiting")["waiting"]
    assert shown["second"]
    other = Organiser(identity=council.identity, survey_id="another")
    assert university.asked(other.keys_request())[0] == 200, "another survey is no second plan"
    university.pairings.decide("accept", number=2)
    second = council.plan(described(university.asked(again)[1]))
    assert university.asked(council.plan_request(second))[0] == 202
    university.work()
    assert university.asked(council.plan_request(second))[0] == 200
    assert university.states()[:2] == ["SIGNED", "SIGNED"]


def test_requests_end_by_their_days(tmp_path: Path) -> None:
    """What nobody accepted is forgotten, keys that no plan used are erased."""
    university, council = Mixer(tmp_path / "university"), Organiser()
    university.asked(council.keys_request())
    university.asked(Organiser().keys_request())
    university.pairings.decide("accept", number=2)
    assert university.key_files()
    university.today += timedelta(days=15)
    university.believes_the_clock = False
    university.work()
    assert university.states() == ["WAITING", "READY"], "somebody set the clock"
    university.believes_the_clock = True
    university.work()
    assert university.states() == ["READY"]
    university.today += timedelta(days=20)  # the last day has passed
    university.work()
    assert university.states() == []
    assert university.key_files() == {}


def test_keys_that_were_being_made_are_destroyed_at_the_next_start(tmp_path: Path) -> None:
    """Nobody was told of them."""
    university, council = everybody(tmp_path / "university"), Organiser()
    council.paired(university)
    kept = university.key_files()
    (university.folder.keys / ("5a" * 16)).mkdir()
    (university.folder.keys / ("5a" * 16) / "1.key").write_bytes(bytes(32))
    university.begin()
    assert university.key_files() == kept


def test_who_answers_is_signed_with_the_nonce_of_whoever_asks(tmp_path: Path) -> None:
    university = Mixer(tmp_path / "university")
    status, said = university.asked(Request("GET", f"/v1/identity?nonce={'5a' * 32}"))
    assert status == 200
    assert (said["nonce"], said["identity"], said["name"]) == (
        "5a" * 32,
        university.identity.public,
        "university",
    )
    unsigned = Request("POST", "/v1/keys", b"{}")
    assert university.asked(unsigned)[0] == 401


def test_a_party_that_mixes_for_nobody_gives_no_keys(tmp_path: Path) -> None:
    university = Mixer(tmp_path / "university")
    university.policy = None
    university.begin()
    assert university.asked(Organiser().keys_request())[0] == 403


def test_no_plan_without_keys(tmp_path: Path) -> None:
    university, council = everybody(tmp_path / "university"), Organiser()
    plan = council.plan(stranger())
    assert university.asked(council.plan_request(plan))[0] == 403
    assert json.loads(plan.bytes)["mixers"]
