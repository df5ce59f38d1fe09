"""Batches on their way through mixers' services: each arrives once, whoever is down or killed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from collecting import no_file_grows_beyond
from krand.batches.chain import parse_chain, verify_chain
from krand.errors import InvalidInput
from krand.mixing.keys import EraseReason
from krand.mixing.mixer import MixedFiles
from krand.partners.documents import keys_hash
from krand.partners.records import RoundState, Stage
from partners.mixer_services import URLS, Connected

NOTHING: dict[str, list[str]] = {"incoming": [], "outgoing": [], "outbox": []}


@pytest.fixture
def connected(tmp_path: Path) -> Connected:
    return Connected(tmp_path)


def check_arrived(connected: Connected, *batches: MixedFiles) -> None:
    """Every batch once at the analyst's, with the links of all mixers."""
    found = connected.arrived()
    names = {f"batch-{files.link.batch_id}-3" for files in batches}
    assert found.keys() == {f"{name}{end}" for name in names for end in (".parquet", ".chain.json")}
    for name in names:
        links = parse_chain(found[f"{name}.chain.json"])
        verify_chain(connected.plan, links)
        assert [signed.record.hop for signed in links] == [1, 2, 3]


def test_a_batch_passes_through_all_services(connected: Connected) -> None:
    """Nothing of it stays behind, and every mixer signs that its key is erased."""
    files = connected.collected()
    first = connected.push(files)
    for hop in (2, 3):
        connected.work(hop)
    check_arrived(connected, files)
    for hop in (2, 3):
        connected.work(hop)
        assert connected.folders(hop) == NOTHING
        running = connected.mixers[hop]
        (erasure,) = running.service.erasures(connected.plan.hash)
        assert (erasure.record.round, erasure.record.batches) == (1, 1)
        assert erasure.record.reason is EraseReason.MIXED
        assert running.overview.surveys[0].rounds == (RoundState.CLOSED, RoundState.OPEN)
    before = connected.arrived()
    assert connected.push(files).receipt == first.receipt, "the same batch has the same receipt"
    for hop in (2, 3):
        connected.work(hop)
    assert connected.arrived() == before


def test_a_batch_is_delivered_late_without_its_key(connected: Connected) -> None:
    """The next party is down for days: the output waits, and the key is gone."""
    files = connected.collected()
    connected.push(files)
    connected.work(2)
    connected.down.add(URLS[0])
    connected.work(3)
    waiting = connected.folders(3)["outgoing"]
    assert waiting == [], "it is not mixed before the next party was asked"
    connected.down.clear()
    running = connected.mixers[3]
    running.work()
    running.work()
    connected.down.add(URLS[0])
    kept = {
        path: path.read_bytes()
        for path in running.service_folder.own(connected.pairing(3).key).glob("outgoing/*")
    }
    assert len(kept) == 2
    for _ in range(5):
        running.clock.pass_days(1)
        connected.work(3)
        running.restart()
    assert {path: path.read_bytes() for path in kept} == kept
    with running.service_folder.open_store(connected.pairing(3)) as store:
        assert list(store.keys.opening) == [2]
    assert any("is tried again" in line for line in running.said)
    connected.down.clear()
    connected.work(3)
    check_arrived(connected, files)
    assert set(connected.arrived().values()) == set(kept.values())
    assert connected.folders(3) == NOTHING


def test_nothing_is_opened_before_the_whole_batch_is_there(connected: Connected) -> None:
    """Half of it is on the disk, and nobody looks at it."""
    files = connected.collected()
    content = files.data.read_bytes()
    uploads = connected.mixers[2].service.uploads(connected.plan.hash)
    name, _ = uploads.begin(files.chain.read_bytes())
    uploads.append(name, 0, content[: len(content) // 2])
    connected.work(2)
    assert connected.folders(2) == NOTHING
    connected.mixers[2].restart()
    uploads = connected.mixers[2].service.uploads(connected.plan.hash)
    assert uploads.append(name, len(content) // 2, content[len(content) // 2 :]).complete
    connected.work(2)
    connected.work(3)
    check_arrived(connected, files)


@pytest.mark.parametrize("trouble", ["down", "confused"])
def test_a_batch_waits_until_the_next_party_answers(connected: Connected, trouble: str) -> None:
    """No noise is drawn before."""
    connected.push(connected.collected())
    silent: set[str] = getattr(connected, trouble)
    silent.add(URLS[3])
    connected.work(2)
    with connected.mixers[2].service_folder.open_store(connected.pairing(2)) as store:
        assert not store.of_round(1)
    assert len(connected.folders(2)["incoming"]) == 2
    assert not connected.mixers[2].service.records.refusals
    silent.clear()
    connected.work(2)
    assert connected.folders(2) == NOTHING


@pytest.mark.parametrize("whole", [True, False])
def test_a_store_that_is_restored_with_its_anchor_mixes_nothing(
    connected: Connected, whole: bool
) -> None:
    """The next party has the batch or a part: other noise for it would show too much."""
    running = connected.mixers[2]
    connected.push(connected.collected())
    running.service.close()
    shutil.copytree(running.folder, connected.folder / "backup")
    running.service = running.started()
    if whole:
        connected.work(2)
    else:
        for _ in range(2):
            running.work()
        (chain,) = running.service_folder.outgoing(connected.pairing(2).key).glob("*.chain.json")
        connected.mixers[3].service.uploads(connected.plan.hash).begin(chain.read_bytes())
    assert len(connected.folders(3)["incoming"]) == (2 if whole else 0)
    running.service.close()
    shutil.rmtree(running.folder)
    (connected.folder / "backup").rename(running.folder)
    running.service = running.started()
    connected.work(2)
    assert connected.folders(2)["outgoing"] == connected.folders(2)["outbox"] == []
    (refusal,) = running.service.records.refusals
    assert "must not have left this mixer before" in refusal.rule
    by_hand = connected.organiser.route(connected.plan, 2)  # of which nobody can be asked
    running.service.set_route(connected.organiser.identity.public, connected.plan.hash, by_hand)
    running.restart()
    connected.work(2)
    with running.service_folder.open_store(connected.pairing(2)) as store:
        assert not store.of_round(1), "refused for ever"
    beat = running.service.heartbeat(
        connected.organiser.identity.public, connected.plan.hash, "3b" * 16
    )
    assert beat.record.keys == keys_hash(()), "the organiser sees it"


@pytest.mark.parametrize(("size", "people"), [(1, 3), (2**16, 400)], ids=["store", "output"])
def test_a_full_disk_delays_a_batch(connected: Connected, size: int, people: int) -> None:
    """Wherever it is noticed: the service goes on, says so, and mixes once there is room."""
    files = connected.collected(people)
    connected.push(files)
    running = connected.mixers[2]
    with no_file_grows_beyond(size):
        for _ in range(5):
            running.service.work()
        assert "mixed" not in (said := " ".join(running.said))
        assert "cannot be used now" in said or "must be a writable place" in said
    connected.work(2)
    connected.work(3)
    check_arrived(connected, files)
    assert not running.service.records.refusals


def test_no_problem_with_a_batch_puts_off_erasing(connected: Connected) -> None:
    """Something is in the way where batches leave; the plan's date comes all the same."""
    running = connected.mixers[2]
    outgoing = running.service_folder.outgoing(connected.pairing(2).key)
    for name in ("junk.chain.json", "junk.parquet"):
        (outgoing / name).write_text("{}")
    for _ in range(61):
        running.clock.pass_days(1)
        running.service.work()
    assert connected.pairing(2).stage is Stage.ERASED
    assert len([line for line in running.said if "batches of the survey pets" in line]) == 1
    assert len(running.service.erasures(connected.plan.hash)) == 2


def test_a_round_is_closed_after_the_batch_that_waits(connected: Connected) -> None:
    """The organiser's end of a round loses nothing that has arrived."""
    files = connected.collected()
    connected.push(files)
    connected.down.add(URLS[3])
    service, public = connected.mixers[2].service, connected.organiser.identity.public
    assert service.close_round(public, connected.plan.hash, 1) is None
    connected.work(2)
    assert service.close_round(public, connected.plan.hash, 1) is None
    connected.down.clear()
    connected.work(2)
    erasure = service.close_round(public, connected.plan.hash, 1)
    assert erasure is not None
    assert (erasure.record.reason, erasure.record.batches) == (EraseReason.MIXED, 1)
    connected.work(3)
    check_arrived(connected, files)


def test_batches_that_could_not_be_mixed_are_refused_before_they_are_stored(
    connected: Connected,
) -> None:
    """Those of a closed round, and those above the policy's limit."""
    running, public = connected.mixers[2], connected.organiser.identity.public
    running.service.close_round(public, connected.plan.hash, 1)
    connected.work(2)
    with pytest.raises(InvalidInput, match="whose key is not erased"):
        connected.push(connected.collected())
    limits = replace(running.policy.limits, most_messages=10)
    running.policy = replace(running.policy, limits=limits)
    running.restart()
    with pytest.raises(InvalidInput, match="messages: must be at most 10"):
        connected.push(connected.collected(round_number=2))
    incoming = running.service_folder.incoming(connected.pairing(2).key)
    assert not list(incoming.rglob("*.json"))


def test_a_batch_that_cannot_be_mixed_stops_no_other(connected: Connected) -> None:
    """It is told once, and removed with the keys."""
    good, bad = connected.collected(), connected.collected(round_number=2)
    running = connected.mixers[2]
    incoming = running.service_folder.incoming(connected.pairing(2).key)
    for path in (bad.data, bad.chain):
        shutil.copy(path, incoming)
    data = incoming / bad.data.name
    data.write_bytes(data.read_bytes()[:-1])
    (incoming / "junk.chain.json").write_text("{}")
    (incoming / "junk.parquet").write_text("")
    connected.push(good)
    connected.work(2)
    connected.work(3)
    check_arrived(connected, good)
    rules = {refusal.rule for refusal in running.service.records.refusals}
    assert any("vouches for" in rule for rule in rules)
    for number in (1, 2):
        running.service.close_round(
            connected.organiser.identity.public, connected.plan.hash, number
        )
    connected.work(2)
    assert connected.pairing(2).stage is Stage.ERASED
    connected.work(2)
    assert connected.folders(2) == NOTHING


def test_half_a_batch_is_removed_with_the_keys(connected: Connected) -> None:
    """It could not be mixed any more, and nobody takes the rest of it."""
    running, files = connected.mixers[2], connected.collected()
    uploads = running.service.uploads(connected.plan.hash)
    name, _ = uploads.begin(files.chain.read_bytes())
    uploads.append(name, 0, files.data.read_bytes()[:1000])
    for number in (1, 2):
        running.service.close_round(
            connected.organiser.identity.public, connected.plan.hash, number
        )
    connected.work(2)
    assert connected.pairing(2).stage is Stage.ERASED
    assert not list(running.service_folder.incoming(connected.pairing(2).key).rglob("*.*"))
    with pytest.raises(InvalidInput, match="must be one whose chain is known"):
        uploads.append(name, 1000, files.data.read_bytes()[1000:])
    with pytest.raises(InvalidInput, match="must be a round whose key is not erased"):
        connected.push(files)


def test_a_party_without_an_address_works_with_files(connected: Connected) -> None:
    """The operator takes them from `outgoing`, and puts others into `incoming`."""
    running, files = connected.mixers[2], connected.collected()
    by_hand = connected.organiser.route(connected.plan, 2)
    running.service.set_route(connected.organiser.identity.public, connected.plan.hash, by_hand)
    for path in (files.data, files.chain):
        shutil.copy(path, running.service_folder.incoming(connected.pairing(2).key))
    connected.work(2)
    connected.work(2)
    names = [f"batch-{files.link.batch_id}-2{end}" for end in (".chain.json", ".parquet")]
    assert connected.folders(2) == {"incoming": [], "outgoing": names, "outbox": []}
    connected.work(2)
    again = connected.organiser.route(connected.plan, 3, URLS)
    running.service.set_route(connected.organiser.identity.public, connected.plan.hash, again)
    connected.work(2)
    connected.work(3)
    check_arrived(connected, files)
