"""Links to become a mixer: each works once, for whoever opens it first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from krand.errors import InvalidInput
from krand.partners.http import Endpoints
from krand.partners.identity import Address, JoinLink, fingerprint
from krand.partners.joining import (
    Awaited,
    Invitations,
    Invited,
    Joining,
    ask_key,
    await_survey,
    hand_over,
    join,
    join_endpoints,
)
from krand.partners.service_folder import (
    ServiceFile,
    check_anchors,
    decided_in,
    identity_in,
    service_in,
    write_decided,
)
from krand.partners.serving import identity_context
from krand.partners.talking import Conversation, Refused
from krand.survey.plan_file import read_plan
from krand.survey.survey_folder import SurveyFolder
from krand.wire.keys import read_private_key
from partners.mixer_services import Organiser
from partners.services import new_identity, partner_service

NAMES = ("university", "union")
URL = "https://mix.example.org:8443"
FIRST, SECOND = new_identity(), new_identity()


@pytest.fixture
def invitations(tmp_path: Path) -> Invitations:
    return Invitations(tmp_path / "invited.json", NAMES)


def said(invitations: Invitations, place: int = 0, url: str = URL) -> Joining:
    return Joining(code=invitations.invited[place].code, url=url)


def test_a_link_is_for_whoever_opens_it_first(invitations: Invitations) -> None:
    """The second one is told by whose fingerprint it was used; the first may come again."""
    invitations.join(FIRST.public, said(invitations))
    with pytest.raises(InvalidInput) as found:
        invitations.join(SECOND.public, said(invitations))
    assert fingerprint(FIRST.public).words in found.value.rule
    again = invitations.join(FIRST.public, said(invitations, url="https://other.example"))
    assert (again.identity, again.url) == (FIRST.public, "https://other.example")
    with pytest.raises(InvalidInput, match="has not joined with another link"):
        invitations.join(FIRST.public, said(invitations, 1))
    assert not invitations.are_complete
    invitations.join(SECOND.public, said(invitations, 1))
    assert invitations.are_complete


def test_who_has_joined_is_kept(invitations: Invitations, tmp_path: Path) -> None:
    """The same command goes on; links of others stay as they were sent."""
    organiser = Address("https://organiser.example", new_identity().public)
    links = invitations.links(organiser)
    invitations.join(FIRST.public, said(invitations))
    again = Invitations(tmp_path / "invited.json", NAMES)
    assert again.links(organiser) == {"union": links["union"]}
    assert again.invited[0] == Invited(
        name="university", code=invitations.invited[0].code, identity=FIRST.public, url=URL
    )
    assert (tmp_path / "invited.json").stat().st_mode & 0o077 == 0
    with pytest.raises(InvalidInput, match="must be the same as before: university, union"):
        Invitations(tmp_path / "invited.json", ("university", "council"))


def test_a_link_over_the_network(invitations: Invitations, tmp_path: Path) -> None:
    """Over TLS by the organiser's identity; whoever guesses a code learns nothing."""
    organiser, joined = new_identity(), list[Invited]()
    endpoints = join_endpoints(invitations, {"organiser": "The council"}, joined.append)
    with partner_service(
        organiser, endpoints, identity_context(organiser, tmp_path / "tls")
    ) as port:
        address = Address(f"https://127.0.0.1:{port}", organiser.public)
        link = invitations.links(address)["university"]
        told = join(link, FIRST, URL)
        assert (told.organiser, told.name) == ("The council", "university")
        with pytest.raises(Refused, match=fingerprint(FIRST.public).words):
            join(link, SECOND, URL)
        with pytest.raises(Refused, match="must be a link of this survey"):
            join(JoinLink(address, "0" * 32), SECOND, URL)
        with pytest.raises(Refused, match="must begin with https"):
            join(link, FIRST, "http://mix.example.org")
    assert [one.name for one in joined] == ["university"]


def test_an_analyst_takes_one_plan_of_whoever_has_the_link(tmp_path: Path) -> None:
    """Made with its own key, named in the route, from the organiser; the same again is the same."""
    folder, organiser, stranger = SurveyFolder(tmp_path / "team"), Organiser(), Organiser()
    await_survey(folder)
    awaited = Awaited((folder,), organiser.analyst)
    ((_, link),) = awaited.links(Address(URL, organiser.analyst.public)).items()
    service, came = Organiser(), list[str]()
    with partner_service(
        organiser.analyst, Endpoints(signed=awaited.endpoints(came.append))
    ) as port:
        place = Address(f"http://127.0.0.1:{port}", organiser.analyst.public)

        def talk(party: Organiser) -> Conversation:
            return Conversation(party.identity, place)

        key = ask_key(talk(organiser), link)
        assert key == read_private_key(folder.analyst_key).public_key().public_bytes_raw()
        made = organiser.plan(service.mixer)
        plan = replace(made, analyst_key=key.hex())
        again = replace(plan, survey=replace(plan.survey, id="another"))
        wrong = [
            (organiser, JoinLink(place, "0" * 32), plan, "ask the analyst for the link"),
            (organiser, link, made, "must be made with the key of this analyst"),
            (stranger, link, plan, "must be signed by the plan's organiser"),
        ]
        for party, used, sent, rule in wrong:
            with pytest.raises(Refused, match=rule):
                hand_over(talk(party), used, sent, party.route(sent))
        with pytest.raises(Refused, match="must be the organiser of the plan"):
            hand_over(talk(stranger), link, plan, organiser.route(plan))
        assert not folder.plan.exists()
        for _ in range(2):
            hand_over(talk(organiser), link, plan, organiser.route(plan))
        with pytest.raises(Refused, match="must be the one that came first"):
            hand_over(talk(organiser), link, again, organiser.route(again))
    assert read_plan(folder.plan) == plan
    assert came == [str(folder.path)] * 2
    assert not awaited.links(place)


def test_two_partners_have_two_names(tmp_path: Path) -> None:
    """Nobody could tell their links apart."""
    with pytest.raises(InvalidInput, match="must all be different"):
        Invitations(tmp_path / "invited.json", ("union", "union"))


def test_an_anchor_lies_on_another_disk(tmp_path: Path) -> None:
    """A copy of one disk would bring both back."""
    with pytest.raises(InvalidInput, match="must lie on another disk than the store"):
        check_anchors(tmp_path / "anchors", tmp_path)
    memory = Path("/dev/shm")
    if memory.is_dir() and memory.stat().st_dev != tmp_path.stat().st_dev:
        check_anchors(memory, tmp_path)


def test_whoever_joins_signs_for_its_organiser_alone(tmp_path: Path) -> None:
    """And within limits; the operator can change the file."""
    identity_in(tmp_path)
    write_decided(tmp_path, ServiceFile(name="union", anchors="", organiser=FIRST.public))
    decided = decided_in(tmp_path)
    assert decided is not None
    policy = service_in(tmp_path, decided).policy
    assert policy.organisations == {FIRST.public}
    assert (policy.limits.largest_epsilon, policy.limits.largest_delta) == (2.0, 1e-4)
    assert [policy.decision(one.public).value for one in (FIRST, SECOND)] == ["accepted", "refused"]
