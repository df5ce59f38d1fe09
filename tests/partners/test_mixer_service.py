"""What a mixer's service does: keys for one plan, signatures in a list, erasing by date."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from collecting import no_file_grows_beyond
from krand.errors import InvalidInput, Unavailable
from krand.mixing.keys import EraseReason
from krand.mixing.store import MixerStore
from krand.partners import signing
from krand.partners.clock import ClockJumped
from krand.partners.documents import PlanState, Station, keys_hash
from krand.partners.mixer_service import accept, refuse
from krand.partners.policy import AcceptPolicy, policy_in
from krand.partners.records import Records, RoundState, Stage
from krand.partners.requests import NotAdmitted, NotFound
from krand.partners.service_folder import ServiceFile, decided_in, identity_in, write_decided
from krand.survey.toml_file import TomlFile
from krand.testing import MIXED_SURVEY
from krand.wire.mixers import opening_key_of
from krand.wire.plan_signatures import check_signatures, sign_plan
from partners.mixer_services import (
    DAY,
    EVERYBODY,
    START,
    FakeClock,
    Organiser,
    Running,
    survey_text,
)
from partners.services import new_identity

STRANGER = new_identity()


@pytest.fixture
def running(tmp_path: Path) -> Running:
    return Running(tmp_path)


@pytest.fixture
def organiser() -> Organiser:
    return Organiser()


def test_the_same_request_gets_the_same_keys_and_a_new_one_new_keys(
    running: Running, organiser: Organiser
) -> None:
    """Pairing again erases what was not used, and lists it; also across a restart."""
    request = organiser.request()
    first = running.keys(organiser, request)
    running.restart()
    assert running.service.signing.ask_keys(organiser.identity.public, request) == first
    second = running.keys(organiser)
    assert set(first.keys).isdisjoint(second.keys)
    assert (first.identity, first.name) == (second.identity, second.name)
    with pytest.raises(NotAdmitted, match="a later request"):
        running.service.signing.ask_keys(organiser.identity.public, request)
    unused = running.service.unused()
    assert [(one.record.round, one.record.reason) for one in unused] == [
        (1, EraseReason.UNUSED),
        (2, EraseReason.UNUSED),
    ]
    assert all(one.is_by(running.identity.public) for one in unused)
    with pytest.raises(InvalidInput, match="must not be erased"):
        running.send(organiser, organiser.plan(first))
    assert len(list((running.service_folder.path / "surveys").iterdir())) == 1
    assert len(list((running.folder / "anchors").glob("*.anchor"))) == 2


def test_whatever_may_be_the_name_of_a_service_may_stand_in_a_plan(
    organiser: Organiser, tmp_path: Path
) -> None:
    """A name that keys cannot have would stop at the first request, and block all others."""
    store = tmp_path / "mixer"
    identity = identity_in(store)
    for name in ("x" * 101, " university", "uni\u200bversity", ""):
        write_decided(store, ServiceFile(name=name, anchors=""))
        with pytest.raises(InvalidInput, match="name: should be 1 to 100 printable characters"):
            decided_in(store)
    longest = "é" * 100
    write_decided(store, ServiceFile(name=longest, anchors=""))
    decided = decided_in(store)
    assert decided is not None
    running = Running(tmp_path, name=decided.name, identity=identity)
    assert running.keys(organiser).name == longest


def test_keys_serve_one_plan(running: Running, organiser: Organiser) -> None:
    """The first one that is sent, whether or not it was signed yet."""
    mixer = running.keys(organiser)
    plan = organiser.plan(mixer)
    other = replace(plan, analyst_key="5a" * 32)
    assert running.send(organiser, plan) is None
    for _ in range(2):
        with pytest.raises(InvalidInput, match="must be the only one with these keys"):
            running.send(organiser, other)
        running.work()
    own = sign_plan(plan, organiser.identity.key)
    check_signatures(plan, [own, running.send(organiser, plan)])  # type: ignore[list-item]


@pytest.mark.parametrize("step", ["make_store", "change", "erase_unused"])
def test_a_kill_while_keys_are_made_leaves_no_keys_that_were_not_given(
    running: Running, organiser: Organiser, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next start makes others: those of the first were seen by nobody."""
    running.keys(organiser)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    request = organiser.request()
    assert running.service.signing.ask_keys(organiser.identity.public, request) is None
    targets = {
        "make_store": running.service_folder.__class__,
        "change": Records,
        "erase_unused": signing.Signing,
    }
    with monkeypatch.context() as patch:
        patch.setattr(targets[step], step, killed)
        with pytest.raises(KeyboardInterrupt):
            running.work()
    running.restart()
    assert running.service.signing.ask_keys(organiser.identity.public, request) is None
    running.work()
    found = running.service.signing.ask_keys(organiser.identity.public, request)
    assert found is not None
    plan = organiser.plan(found)
    running.send(organiser, plan)
    running.work()
    assert running.send(organiser, plan) is not None
    assert len(list((running.service_folder.path / "surveys").iterdir())) == 1


@pytest.mark.parametrize("size", [1, 2**14])
def test_a_full_disk_delays_keys_and_signatures(
    running: Running, organiser: Organiser, size: int
) -> None:
    """Nothing that was given is taken back, and nothing half-made is given."""
    request, public = organiser.request(), organiser.identity.public
    assert running.service.signing.ask_keys(public, request) is None
    with no_file_grows_beyond(size):
        for _ in range(3):
            running.service.work()
    running.work()
    mixer = running.service.signing.ask_keys(public, request)
    assert mixer is not None
    plan = organiser.plan(mixer)
    assert running.send(organiser, plan) is None
    with no_file_grows_beyond(size):
        for _ in range(3):
            running.service.work()
    running.work()
    assert running.send(organiser, plan) is not None
    assert len(running.service.records.entries) == 1


def test_the_list_of_plans_is_signed_and_chained(running: Running, organiser: Organiser) -> None:
    """A change of state is a new entry, and nothing is shown before its entry is there."""
    plans = [running.paired(organiser, survey_text(name)) for name in ("pets", "team")]
    entries = running.service.records.entries
    assert [(e.record.number, e.record.survey, e.record.state) for e in entries] == [
        (1, "pets", PlanState.SIGNED),
        (2, "team", PlanState.SIGNED),
    ]
    assert [e.record.plan for e in entries] == [plan.hash for plan in plans]
    assert [e.record.previous for e in entries] == ["", entries[0].sha256]
    assert all(e.is_by(running.identity.public) for e in entries)
    assert {e.record.organiser for e in entries} == {organiser.identity.public}
    assert entries[0].record.epsilon == plans[0].promise.epsilon


def test_a_second_plan_of_a_survey_waits_for_the_operator(
    running: Running, organiser: Organiser
) -> None:
    """Whoever asks: an organiser could ask twice, and keep the nicer result."""
    running.paired(organiser)
    again = Organiser()
    second = again.plan(running.keys(again))
    assert running.send(again, second) is None
    running.work()
    assert running.send(again, second) is None
    assert len(running.service.records.entries) == 1
    (waiting,) = running.service.records.in_stage(Stage.SECOND)
    accept(running.service.records, waiting)
    running.work()
    assert running.send(again, second) is not None
    assert [entry.record.survey for entry in running.service.records.entries] == ["pets", "pets"]


def test_a_refused_second_plan_gets_no_signature(running: Running, organiser: Organiser) -> None:
    running.paired(organiser)
    second = organiser.plan(running.keys(organiser))
    running.send(organiser, second)
    (waiting,) = running.service.records.in_stage(Stage.SECOND)
    refuse(running.service.records, waiting, "one survey is enough")
    running.work()
    with pytest.raises(InvalidInput, match="one survey is enough"):
        running.send(organiser, second)
    assert {one.record.plan for one in running.service.unused()} == {second.hash}


def test_an_older_copy_of_the_records_is_refused(running: Running, organiser: Organiser) -> None:
    """It would have forgotten a plan of the survey."""
    running.service.close()
    shutil.copytree(running.service_folder.path, running.folder / "backup")
    running.service = running.started()
    running.paired(organiser)
    running.service.close()
    shutil.rmtree(running.service_folder.path)
    (running.folder / "backup").rename(running.service_folder.path)
    with pytest.raises(InvalidInput, match="must have every plan that its anchor knows"):
        running.started()
    (running.service_folder.path / "service.sqlite").unlink()
    with pytest.raises(InvalidInput, match="must have the records of its anchor"):
        running.started()


def test_a_policy_decides_who_is_asked_about(tmp_path: Path, organiser: Organiser) -> None:
    """By default the operator is; whoever is not listed is refused before anything is stored."""
    asks = Running(tmp_path / "asks", AcceptPolicy())
    request = organiser.request()
    for _ in range(2):
        assert asks.service.signing.ask_keys(organiser.identity.public, request) is None
        asks.work()
    earlier, request = request, organiser.request()
    assert asks.service.signing.ask_keys(organiser.identity.public, request) is None
    assert len(asks.service.records.in_stage(Stage.WAITING)) == 1
    with pytest.raises(NotAdmitted, match="a later request"):
        asks.service.signing.ask_keys(organiser.identity.public, earlier)
    asks.accept_all()
    asks.work()
    assert asks.service.signing.ask_keys(organiser.identity.public, request) is not None
    listed = policy_in(
        TomlFile("p", f'accept = "listed"\norganisations = ["{organiser.identity.public}"]')
    )
    lists = Running(tmp_path / "lists", listed)
    lists.keys(organiser)
    with pytest.raises(NotAdmitted, match="policy lists"):
        lists.service.signing.ask_keys(STRANGER.public, request)
    assert not lists.service.records.of_organiser(STRANGER.public)
    assert not lists.service.is_partner(STRANGER.public)
    (refusal,) = lists.service.records.refusals
    assert (refusal.asked, refusal.day) == ("keys", "2027-01-01")


def test_limits_hold_for_keys_and_for_plans(running: Running, organiser: Organiser) -> None:
    """The page says what was refused and why."""
    limits = replace(running.policy.limits, largest_epsilon=0.5)
    running.policy = replace(running.policy, limits=limits)
    mixer = running.keys(organiser)
    running.restart()
    with pytest.raises(InvalidInput, match="epsilon: must be at most"):
        running.service.signing.ask_keys(organiser.identity.public, organiser.request())
    with pytest.raises(InvalidInput, match="epsilon: must be at most"):
        running.send(organiser, organiser.plan(mixer))
    assert {refusal.asked for refusal in running.service.records.refusals} == {
        "keys for the survey pets",
        "a signature for the survey pets",
    }


def test_one_identity_has_few_open_requests(
    running: Running, organiser: Organiser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also strangers together, as long as the operator has to be asked."""
    texts = [survey_text(f"s{number}") for number in range(signing.MOST_OPEN + 1)]
    for text in texts[:-1]:
        running.service.signing.ask_keys(organiser.identity.public, organiser.request(text))
    with pytest.raises(NotAdmitted, match="at most 4 open requests"):
        running.service.signing.ask_keys(organiser.identity.public, organiser.request(texts[-1]))
    running.policy = AcceptPolicy()
    running.restart()
    with monkeypatch.context() as patch:
        patch.setattr(signing, "MOST_A_DAY", 5)
        running.service.signing.ask_keys(new_identity().public, organiser.request())
        for _ in range(2):
            with pytest.raises(Unavailable, match="ask tomorrow"):
                running.service.signing.ask_keys(new_identity().public, organiser.request())
        running.clock.pass_days(1)
        running.service.signing.ask_keys(new_identity().public, organiser.request())
    monkeypatch.setattr(signing, "MOST_WAITING", 5)
    for _ in range(3):
        running.service.signing.ask_keys(new_identity().public, organiser.request())
    with pytest.raises(Unavailable, match="too many requests"):
        running.service.signing.ask_keys(new_identity().public, organiser.request())


@pytest.mark.parametrize("accept", ["everybody", "ask", "listed"])
def test_strangers_use_up_no_requests_of_organisers_who_are_known(
    running: Running, organiser: Organiser, accept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those with a signed plan, and those on the list, have a day's requests of their own."""
    public = organiser.identity.public
    if accept == "listed":
        text = f'accept = "listed"\norganisations = ["{public}"]'
        running.policy = policy_in(TomlFile("policy.toml", text))
    else:
        running.paired(organiser)
        running.policy = AcceptPolicy() if accept == "ask" else running.policy
    running.restart()
    for name in ("MOST_A_DAY", "MOST_WAITING"):
        monkeypatch.setattr(signing, name, 3)
    for _ in range(4):
        with contextlib.suppress(Unavailable, NotAdmitted):
            running.service.signing.ask_keys(new_identity().public, organiser.request())
    with pytest.raises((Unavailable, NotAdmitted), match="operator to list"):
        running.service.signing.ask_keys(new_identity().public, organiser.request())
    for number in range(signing.MOST_OPEN):
        request = organiser.request(survey_text(f"s{number}"))
        assert running.service.signing.ask_keys(public, request) is None


def test_one_identity_gets_few_new_keys_a_day(
    running: Running, organiser: Organiser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each pairing anew erases the keys of the one before, and leaves a record."""
    monkeypatch.setattr(signing, "MOST_OF_ONE_A_DAY", 2)
    for _ in range(2):
        running.keys(organiser)
    with pytest.raises(Unavailable, match="ask tomorrow"):
        running.service.signing.ask_keys(organiser.identity.public, organiser.request())
    (gone,) = running.service.records.in_stage(Stage.UNUSED)
    assert not gone.survey
    running.clock.pass_days(1)
    running.keys(organiser)


def test_one_identity_has_one_plan_in_the_queue(running: Running, organiser: Organiser) -> None:
    """Computing a promise takes long."""
    texts = [survey_text(name) for name in ("pets", "team")]
    plans = [
        organiser.plan(running.keys(organiser, organiser.request(text)), text=text)
        for text in texts
    ]
    assert running.send(organiser, plans[0]) is None
    with pytest.raises(Unavailable, match="being checked"):
        running.send(organiser, plans[1])
    running.work()
    assert running.send(organiser, plans[1]) is None


def test_a_promise_is_always_computed(
    running: Running, organiser: Organiser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan that promises too much is refused, though somebody remembered it; its keys go."""
    from krand.planning.checking import remember_here

    plan = organiser.plan(running.keys(organiser))
    wrong = replace(plan, promise=replace(plan.promise, delta=plan.promise.delta / 10))
    remember_here(wrong)
    assert running.send(organiser, wrong) is None
    running.work()
    with pytest.raises(InvalidInput, match="must not promise more"):
        running.send(organiser, wrong)
    assert not running.service.records.entries
    assert len(running.service.unused()) == 2


Change = Callable[[Running, Organiser], object]


def other_survey(running: Running, organiser: Organiser) -> object:
    text = survey_text(closes="2027-02-01")
    return running.send(organiser, organiser.plan(running.keys(organiser), text=text))


def other_sender(running: Running, organiser: Organiser) -> object:
    plan = organiser.plan(running.keys(organiser))
    route = organiser.route(plan)
    return running.service.signing.ask_signature(STRANGER.public, plan.bytes.decode(), route)


def stolen_keys(running: Running, organiser: Organiser) -> object:
    thief = Organiser()
    return running.send(thief, thief.plan(running.keys(organiser)))


def invented_keys(running: Running, organiser: Organiser) -> object:
    mixer = running.keys(organiser)
    return running.send(organiser, organiser.plan(replace(mixer, keys=mixer.keys[::-1])))


def other_name(running: Running, organiser: Organiser) -> object:
    mixer = running.keys(organiser)
    return running.send(organiser, organiser.plan(replace(mixer, name="data protection office")))


def other_route(running: Running, organiser: Organiser) -> object:
    plan = organiser.plan(running.keys(organiser))
    record = organiser.route(plan).record
    stations = (*record.stations[:2], replace(record.stations[2], identity=STRANGER.public))
    route = organiser.identity.sign(replace(record, stations=stations))
    return running.service.signing.ask_signature(
        organiser.identity.public, plan.bytes.decode(), route
    )


def unsigned_route(running: Running, organiser: Organiser) -> object:
    plan = organiser.plan(running.keys(organiser))
    route = replace(organiser.route(plan), signature=bytes(64))
    return running.service.signing.ask_signature(
        organiser.identity.public, plan.bytes.decode(), route
    )


@pytest.mark.parametrize(
    ("send", "rule"),
    [
        (other_survey, "made from the survey"),
        (other_sender, "sent by the organiser"),
        (stolen_keys, "sent by the organiser"),
        (invented_keys, "with keys that it gave"),
        (other_name, "with keys that it gave"),
        (other_route, "must name the mixers of the plan"),
        (unsigned_route, "signed by the plan's organiser"),
    ],
)
def test_plans_that_are_not_what_was_agreed_are_refused(
    running: Running, organiser: Organiser, send: Change, rule: str
) -> None:
    """And the keys can still be used for the right one."""
    with pytest.raises(InvalidInput, match=rule):
        send(running, organiser)
    (pairing,) = running.service.records.in_stage(Stage.READY)
    assert not pairing.plan


@pytest.mark.parametrize(
    ("text", "hop", "rule"),
    [
        (MIXED_SURVEY, 2, "closes: must be given"),
        (survey_text(), 1, "hop: must be from 2 to 2"),
        (survey_text(), 3, "hop: must be from 2 to 2"),
        ("id = 5", 2, "survey has"),
        ("not toml", 2, "survey has"),
        (
            survey_text().replace(
                'choices = ["cat", "dog", "none"]', 'choices_file = "/etc/passwd"'
            ),
            2,
            "choices_file",
        ),
    ],
)
def test_surveys_that_cannot_be_served_are_refused(
    running: Running, organiser: Organiser, text: str, hop: int, rule: str
) -> None:
    """A survey of somebody else reads no file of this machine."""
    with pytest.raises(InvalidInput, match=rule):
        running.service.signing.ask_keys(organiser.identity.public, organiser.request(text, hop))
    assert not running.service.is_partner(organiser.identity.public)


def test_routes_change_addresses_alone(running: Running, organiser: Organiser) -> None:
    """Each with a higher number, by the organiser."""
    plan = running.paired(organiser)
    service, public = running.service, organiser.identity.public
    moved = organiser.route(plan, 2, {0: "https://analyst.example"})
    service.set_route(public, plan.hash, moved)
    service.set_route(public, plan.hash, moved)
    with pytest.raises(InvalidInput, match="must have a number above 2"):
        service.set_route(public, plan.hash, organiser.route(plan, 2))
    with pytest.raises(NotAdmitted):
        service.set_route(STRANGER.public, plan.hash, organiser.route(plan, 3))
    other = Organiser(organiser.identity)
    with pytest.raises(InvalidInput, match="must keep the analyst's identity"):
        service.set_route(public, plan.hash, other.route(plan, 3))
    with pytest.raises(NotFound):
        service.set_route(public, "5a" * 32, moved)
    assert isinstance(moved.record.station(0), Station)


def test_a_heartbeat_has_the_keys_that_are_left(running: Running, organiser: Organiser) -> None:
    """For parties of the plan, signed with the nonce of whoever asks."""
    plan = running.paired(organiser)
    keys, nonce = plan.mixing.mixers[1].keys, "3b" * 16
    for identity in (organiser.identity, organiser.analyst):
        beat = running.service.heartbeat(identity.public, plan.hash, nonce)
        assert beat.is_by(running.identity.public)
        assert (beat.record.nonce, beat.record.keys) == (nonce, keys_hash(keys))
    with pytest.raises(NotAdmitted):
        running.service.heartbeat(STRANGER.public, plan.hash, nonce)
    running.service.close_round(organiser.identity.public, plan.hash, 1)
    running.work()
    beat = running.service.heartbeat(organiser.identity.public, plan.hash, nonce)
    assert beat.record.keys == keys_hash(keys[1:])


def test_the_organiser_closes_rounds_and_sees_the_erasures(
    running: Running, organiser: Organiser
) -> None:
    """Nobody else does; when all keys are erased, the list of plans says so."""
    plan, service = running.paired(organiser), running.service
    public = organiser.identity.public
    with pytest.raises(NotAdmitted):
        service.close_round(STRANGER.public, plan.hash, 1)
    with pytest.raises(InvalidInput, match="round: must be from 1 to 2"):
        service.close_round(public, plan.hash, 3)
    assert service.close_round(public, plan.hash, 2) is None
    running.work()
    erasure = service.close_round(public, plan.hash, 2)
    assert erasure is not None
    assert erasure.is_by(running.identity.public)
    assert (erasure.record.reason, erasure.record.batches) == (EraseReason.CLOSED, 0)
    assert running.overview.surveys[0].rounds == (RoundState.OPEN, RoundState.CLOSED)
    service.close_round(public, plan.hash, 1)
    running.work()
    assert [one.record.round for one in service.erasures(plan.hash)] == [1, 2]
    assert [e.record.state for e in service.records.entries] == [PlanState.SIGNED, PlanState.ERASED]
    with pytest.raises(NotFound):
        service.erasures("5a" * 32)


def opening_keys(running: Running) -> list[int]:
    """The rounds whose keys are in the only store."""
    (pairing,) = running.service.records.in_stage(Stage.SIGNED, Stage.ERASED)
    with running.service_folder.open_store(pairing) as store:
        return sorted(store.keys.opening)


def test_keys_are_erased_at_the_plans_date_and_the_loss_is_said(
    running: Running, organiser: Organiser
) -> None:
    """Thirty days after the last day; nobody can put it off."""
    plan = running.paired(organiser)
    for _ in range(60):
        running.clock.pass_days(1)
        running.work()
    assert opening_keys(running) == [1, 2], "2 March is the last day"
    running.clock.pass_days(1)
    running.work()
    assert opening_keys(running) == []
    erasures = running.service.erasures(plan.hash)
    assert {(one.record.reason, one.record.batches) for one in erasures} == {(EraseReason.DATE, 0)}
    (refusal,) = running.service.records.refusals
    assert refusal.asked == "batches of round 1, 2 of the survey pets"
    assert "2027-03-02" in refusal.rule


def test_a_plan_a_quarter_has_new_keys(tmp_path: Path, organiser: Organiser) -> None:
    """Each store has the keys of its plan's rounds; those of the next plan come with it."""
    limits = replace(EVERYBODY.limits, most_rounds=6, latest_closing=200)
    running = Running(tmp_path, replace(EVERYBODY, limits=limits))
    seen: set[str] = set()
    for name, first in (("app", 1), ("app-2", 4)):
        text = MIXED_SURVEY.replace('id = "pets"', f'id = "{name}"\nrounds = 6')
        text += '[schedule]\nevery = "month"\nstarts = 2026-12-01\npromise = "quarter"\n'
        text += f'campaign = "app"\nfirst = {first}\n'
        plan = running.paired(organiser, text=text)
        stores = []
        for pairing in running.service.records.in_stage(Stage.SIGNED):
            with running.service_folder.open_store(pairing) as store:
                stores.append(sorted(store.keys.opening))
        assert stores[-1] == [*range(first, 7)]
        assert seen.isdisjoint(plan.mixing.mixers[1].keys)
        seen.update(plan.mixing.mixers[1].keys)
        for number in (first - 1, 7):
            with pytest.raises(InvalidInput, match=f"from {first} to 6"):
                opening_key_of(plan, 2, number)
        running.clock.pass_days(40)


def test_keys_without_a_plan_are_erased_after_the_last_day(
    running: Running, organiser: Organiser
) -> None:
    running.keys(organiser)
    for _ in range(31):
        assert not running.service.unused()
        running.clock.pass_days(1)
        running.work()
    assert len(running.service.unused()) == 2


@pytest.mark.parametrize("days", [90.0, -90.0])
@pytest.mark.parametrize("stopped", [False, True])
def test_a_clock_alone_never_erases(
    running: Running, organiser: Organiser, days: float, stopped: bool
) -> None:
    """A jump stops the service, also between stop and start, until its operator has looked."""
    running.paired(organiser)
    if stopped:
        running.service.close()
    running.clock.time += days * DAY
    if stopped:
        with pytest.raises(ClockJumped, match="--clock-is-right"):
            running.started()
    else:
        for _ in range(2):
            with pytest.raises(ClockJumped):
                running.service.work()
        running.service.close()
    running.clock.time -= days * DAY
    running.service = running.started()
    assert opening_keys(running) == [1, 2]
    running.service.close()
    running.clock.time += 90 * DAY
    running.service = running.started(clock_is_right=True)
    running.work()
    assert opening_keys(running) == []


def test_small_steps_of_the_clock_add_up() -> None:
    from krand.partners.clock import CheckedClock

    clock = FakeClock()
    checked = CheckedClock(clock, START - DAY)
    clock.time += 0.9 * DAY
    assert checked.now() == clock.time
    clock.time += 0.9 * DAY
    with pytest.raises(ClockJumped):
        checked.now()


def test_the_page_has_no_numbers_of_people(running: Running, organiser: Organiser) -> None:
    """What was promised, until when, and how far each round is."""
    plan = running.paired(organiser)
    shown = running.overview
    (survey,) = shown.surveys
    assert (survey.survey, survey.plan, survey.hop, survey.mixers) == ("pets", plan.hash, 2, 2)
    assert (survey.closes, survey.erased_by) == (date(2027, 1, 31), date(2027, 3, 2))
    assert survey.rounds == (RoundState.OPEN, RoundState.OPEN)
    assert shown.identity == running.identity.public
    assert len(shown.words.split()) == 10


def test_the_store_of_a_survey_has_the_services_identity(
    running: Running, organiser: Organiser
) -> None:
    """And an anchor of its own beside the one of the service."""
    running.paired(organiser)
    (pairing,) = running.service.records.in_stage(Stage.SIGNED)
    with running.service_folder.open_store(pairing) as store:
        assert isinstance(store, MixerStore)
        assert store.keys.identity_hex == running.identity.public
        assert store.signature is not None
    assert sorted(path.name for path in (running.folder / "anchors").iterdir()) == sorted(
        [f"{pairing.key}.anchor", "service.anchor"]
    )
