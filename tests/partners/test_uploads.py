"""Batches that arrive: in any pieces, whole or not at all, once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from collecting import no_file_grows_beyond
from krand.batches.chain import chain_bytes
from krand.batches.sealed import largest_file, write_sealed
from krand.errors import InvalidInput, Unavailable
from krand.partners import uploads as module
from krand.partners.documents import BatchReceipt, NotReceived
from krand.partners.uploads import MOST_CHUNK, OtherBatch, Uploads, WrongOffset
from krand.wire.signed import sign, signed_in
from partners.passing import Batch, Receiver, batch, largest, party, receiver

NONCE = "77" * 16


@pytest.fixture
def place(tmp_path: Path) -> Receiver:
    return receiver(tmp_path / "incoming")


def send(uploads: Uploads, sent: Batch, size: int = 30_000, until: int = 2**60) -> None:
    """In pieces of this size, from wherever the receiver is."""
    name, progress = uploads.begin(sent.chain)
    while not progress.complete and progress.offset < min(len(sent.data), until):
        chunk = sent.data[progress.offset : progress.offset + size]
        progress = uploads.append(name, progress.offset, chunk)


@pytest.mark.parametrize("hop", [2, 3, 0])
@pytest.mark.parametrize("size", [1, 77_777, MOST_CHUNK])
def test_a_batch_arrives_in_pieces_and_has_a_receipt(tmp_path: Path, hop: int, size: int) -> None:
    """At the next mixer, at the last one and at the analyst's; the same bytes."""
    place, sent = (
        receiver(tmp_path / "incoming", hop),
        batch(100 * size % 99_991, hop=(hop or 4) - 1),
    )
    uploads = place.uploads
    name, progress = uploads.begin(sent.chain)
    assert (progress.offset, progress.complete, progress.receipt) == (0, False, None)
    send(uploads, sent, size)
    done = uploads.progress(name)
    assert done.complete
    assert done.offset == len(sent.data)
    assert place.found == {f"{sent.name}.parquet": sent.data, f"{sent.name}.chain.json": sent.chain}
    receipt = signed_in(BatchReceipt, done.receipt)
    assert receipt.is_by(place.identity.public)
    assert receipt.record == BatchReceipt(
        plan=party().plan.hash,
        round=1,
        batch_id=sent.link.batch_id,
        sha256=sent.link.output_sha256,
        hop=hop,
        receiver=place.identity.public,
    )


def test_nothing_can_be_seen_before_the_whole_file_has_the_signed_hash(place: Receiver) -> None:
    """Not even its name; and what is there is for its owner alone."""
    sent = batch()
    send(place.uploads, sent, until=90_000)
    assert place.found == {}
    modes = {path.stat().st_mode & 0o077 for path in (place.folder, place.folder / "uploads")}
    assert modes == {0}
    assert (place.folder / "uploads" / f"{sent.link.batch_id}.part").stat().st_mode & 0o077 == 0


def test_the_same_batch_again_is_complete_at_once_with_the_same_receipt(place: Receiver) -> None:
    """Also after a restart, and after its files were mixed and removed."""
    sent = batch()
    send(place.uploads, sent)
    _, first = place.uploads.begin(sent.chain)
    for path in place.folder.glob("batch-*"):
        path.unlink()
    name, again = place.uploads.begin(sent.chain)
    assert (again.complete, again.receipt) == (True, first.receipt)
    assert place.uploads.append(name, 0, b"more").receipt == first.receipt
    assert place.found == {}


def test_a_batch_goes_on_after_a_restart(place: Receiver) -> None:
    """The hash is computed again from what is on the disk."""
    sent, starts = batch(), set()
    for until in (1, 30_001, 60_001, 10**9):
        uploads = place.uploads
        starts.add(uploads.begin(sent.chain)[1].offset)
        send(uploads, sent, until=until)
    assert starts == {0, 30_000, 60_000, 90_000}
    assert place.found[f"{sent.name}.parquet"] == sent.data


@pytest.mark.parametrize("offset", [0, 29_999, 30_001, 10**12, -1])
def test_a_chunk_is_taken_only_where_the_file_ends(place: Receiver, offset: int) -> None:
    """A chunk twice, one too early, and one after a gap."""
    uploads, sent = place.uploads, batch()
    send(uploads, sent, until=1)
    with pytest.raises(WrongOffset, match="must be 30,000"):
        uploads.append(sent.link.batch_id, offset, sent.data[:30_000])
    send(uploads, sent)
    assert place.found[f"{sent.name}.parquet"] == sent.data


def test_a_file_with_another_hash_is_thrown_away_and_can_be_sent_again(place: Receiver) -> None:
    """When the sender says that it is at its end."""
    uploads, sent = place.uploads, batch()
    name, _ = uploads.begin(sent.chain)
    wrong = sent.data[:-1] + bytes((sent.data[-1] ^ 1,))
    progress = uploads.append(name, 0, wrong)
    assert not progress.complete
    with pytest.raises(InvalidInput, match="must have the SHA-256 that its chain says"):
        uploads.append(name, len(wrong), b"")
    assert uploads.progress(name).offset == 0
    assert not list((place.folder / "uploads").glob("*.part"))
    send(uploads, sent)
    assert place.found[f"{sent.name}.parquet"] == sent.data


def test_a_file_ends_at_the_size_that_its_link_allows(place: Receiver) -> None:
    """Nobody can fill the disk with a signature for few messages."""
    most = largest()
    uploads, sent = place.uploads, batch(most + 1)
    name, _ = uploads.begin(sent.chain)
    assert uploads.append(name, 0, sent.data[:most]).offset == most
    with pytest.raises(InvalidInput, match=f"must have at most {most:,} bytes"):
        uploads.append(name, most, sent.data[most:])
    assert uploads.progress(name).offset == 0
    with pytest.raises(InvalidInput, match="chunk: must have at most 8,388,608"):
        uploads.append(name, 0, bytes(MOST_CHUNK + 1))


@pytest.mark.parametrize("length", [72, 4_000, 2**21])
@pytest.mark.parametrize("lanes", [1, 7, 300])
def test_every_batch_file_is_smaller_than_the_limit(
    tmp_path: Path, length: int, lanes: int
) -> None:
    """Few and many messages, short and long, in few and many lanes."""
    for count in (0, 1, max(1, min(70_000, 2**23 // length))):
        rows = np.zeros((count, length), np.uint8)
        parts = [(lane, rows[lane::lanes]) for lane in range(lanes)]
        with (tmp_path / "batch.parquet").open("wb") as stream:
            write_sealed(stream, length, "5a" * 16, parts)
        assert (tmp_path / "batch.parquet").stat().st_size <= largest_file(length, count)


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("change", ["file", "link"])
def test_another_batch_under_the_same_id_is_refused_and_kept_as_evidence(
    place: Receiver, complete: bool, change: str
) -> None:
    """Another file, or the same file with other numbers; the first one is not disturbed."""
    sent = batch(seed=1, batch_id="5a" * 16)
    other = batch(seed=2, batch_id="5a" * 16)
    if change == "link":
        link = sent.link
        lanes = (replace(link.lanes[0], repeats=1, messages_out=link.lanes[0].messages_out - 1),)
        link = replace(
            link,
            lanes=(*lanes, *link.lanes[1:]),
            repeats=link.repeats + 1,
            messages_out=link.messages_out - 1,
        )
        other = replace(sent, links=(sign(link, party().identities[0]),))
    send(place.uploads, sent, until=10**9 if complete else 1)
    with pytest.raises(OtherBatch, match="with which it was announced first"):
        place.uploads.begin(other.chain)
    assert (place.folder / "uploads" / f"{'5a' * 16}.other.json").read_bytes() == other.chain
    send(place.uploads, sent)
    assert place.found[f"{sent.name}.parquet"] == sent.data


def test_a_chain_that_is_not_for_this_party_is_refused(place: Receiver, tmp_path: Path) -> None:
    """Too long, too short, changed, or of another plan: nothing is stored."""
    sent = batch(hop=2)
    for links, problem in (
        (sent.links, "must have 1 links"),
        ((replace(sent.links[0], signature=bytes(64)),), "must be signed by its mixer"),
        ((), "must have 1 to 3 links"),
    ):
        with pytest.raises(InvalidInput, match=problem):
            place.uploads.begin(chain_bytes(links))
    with pytest.raises(InvalidInput, match="must have 3 links"):
        receiver(tmp_path / "analyst", 0).uploads.begin(sent.chain)
    assert not place.folder.exists()


def test_only_the_mixer_before_may_send() -> None:
    """The service asks who that is."""
    mixers = party().plan.mixing.mixers
    for hop, before in ((2, 0), (3, 1), (0, 2)):
        assert receiver(Path("x"), hop).uploads.sender == mixers[before].identity


@pytest.mark.parametrize("name", ["5a" * 16, "../../etc/passwd", "", "x"])
def test_a_batch_without_a_chain_is_not_taken(place: Receiver, name: str) -> None:
    """Whatever it is called."""
    for call in (lambda: place.uploads.append(name, 0, b"x"), lambda: place.uploads.progress(name)):
        with pytest.raises(InvalidInput, match="whose chain is known"):
            call()
    assert not place.folder.exists()


@pytest.mark.parametrize("complete", [True, False])
def test_a_second_batch_of_a_round_is_refused(place: Receiver, complete: bool) -> None:
    """Whether the first one is there or still on its way; another round has its own."""
    uploads = place.uploads
    send(uploads, batch(seed=1), until=10**9 if complete else 1)
    with pytest.raises(InvalidInput, match="must be the only batch of its round"):
        uploads.begin(batch(seed=2).chain)
    uploads.begin(batch(seed=3, round_number=2).chain)
    with pytest.raises(InvalidInput, match="must be the only batch of its round"):
        place.uploads.begin(batch(seed=4, round_number=2).chain)


def test_few_batches_may_be_incomplete_at_a_time(place: Receiver) -> None:
    """The next one waits until another one is complete."""
    uploads = Uploads(place.folder, party().plan, 2, place.identity, most_open=1)
    first, second = batch(seed=1), batch(seed=2, round_number=2)
    send(uploads, first, until=1)
    with pytest.raises(Unavailable, match="1 other batches are not complete"):
        uploads.begin(second.chain)
    send(uploads, first)
    send(uploads, second)
    assert len(place.found) == 4


def test_a_full_disk_loses_nothing(place: Receiver) -> None:
    """A file that may not grow: the sender is told to come back, and goes on where it was."""
    uploads, sent = place.uploads, batch()
    send(uploads, sent, until=60_000)
    with no_file_grows_beyond(70_000):
        with pytest.raises(Unavailable, match="cannot be used now: file too large") as caught:
            send(uploads, sent)
        assert str(place.folder) not in str(caught.value)  # the sender reads it
        assert uploads.progress(sent.link.batch_id).offset == 60_000
    send(uploads, sent)
    assert place.found[f"{sent.name}.parquet"] == sent.data


class Cut(BaseException):
    """The process ends here."""


@pytest.mark.parametrize(("name", "calls"), [("write_atomically", 3), ("sync_folder", 2)])
def test_whatever_is_interrupted_is_finished_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, calls: int
) -> None:
    """Before each file that is written, and after each name that is given."""
    sent, genuine, left = batch(), getattr(module, name), 0

    def cut(*arguments: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Cut
        genuine(*arguments)

    monkeypatch.setattr(module, name, cut)
    for call in range(1, calls + 1):
        place, left = receiver(tmp_path / str(call)), call
        with pytest.raises(Cut):
            send(place.uploads, sent)
        assert f"{sent.name}.chain.json" not in place.found  # so nobody takes it
        if f"{sent.name}.parquet" in place.found:
            assert place.uploads.begin(sent.chain)[1].complete
        send(place.uploads, sent)
        assert place.found == {
            f"{sent.name}.parquet": sent.data,
            f"{sent.name}.chain.json": sent.chain,
        }


def test_whether_a_batch_is_there_is_signed(place: Receiver) -> None:
    """For the mixer that asks before it mixes; a part of a batch is none."""
    uploads, sent = place.uploads, batch()
    name = sent.link.batch_id
    send(uploads, sent, until=1)
    no = uploads.answer(name, NONCE)
    assert no.is_by(place.identity.public)
    assert no.record == NotReceived(
        plan=party().plan.hash, batch_id=name, receiver=place.identity.public, nonce=NONCE
    )
    assert uploads.answer("00" * 16, NONCE).record.batch_id == "00" * 16
    send(uploads, sent)
    yes = uploads.answer(name, NONCE)
    assert yes.values == uploads.progress(name).receipt
    for strange in (("x", NONCE), (name, "x"), ("../" + name, NONCE)):
        with pytest.raises(InvalidInput, match="must be 32 hexadecimal digits"):
            uploads.answer(*strange)
