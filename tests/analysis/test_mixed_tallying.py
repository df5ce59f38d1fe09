"""Batches that have passed real mixers, opened and counted lane by lane."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from krand.analysis.engines import Options
from krand.analysis.results import make_results
from krand.analysis.tally import Tally
from krand.analysis.tally_checks import tally_checks
from krand.analysis.tallying import batches_in, tally_batches, tally_sources
from krand.batches.chain import chain_bytes, read_chain
from krand.batches.sealed import fixed_rows, write_sealed
from krand.errors import InvalidInput
from krand.mixing.mixer import MixedFiles, MixOptions, first_mix, mix_batch
from krand.mixing.store import MixerStore
from krand.wire.keys import generate_private_key, generate_signing_key
from krand.wire.layers import LaneOpener
from krand.wire.signed import sign
from mixing.chains import (
    Party,
    batch_id,
    counted,
    mixed_plan_for,
    random_answers,
    sealed_people,
    stores_of,
)

ALONE = MixOptions(workers=1)
CHAIN = "batch.chain.json"
PEOPLE = random_answers(20)


@pytest.fixture(scope="module")
def party() -> Party:
    """Two mixers; the promise is small, and so are the dummies."""
    return mixed_plan_for(mixers=2)


@pytest.fixture(scope="module")
def mixed(party: Party, tmp_path_factory: pytest.TempPathFactory) -> list[MixedFiles]:
    """Twenty people in round 1, eight in round 2; somebody's message is in the first twice."""
    folder = tmp_path_factory.mktemp("mixers")
    stores = stores_of(party, folder)
    found = []
    for number, people in ((1, PEOPLE), (2, PEOPLE[12:])):
        messages = sealed_people(party.plan, people, number).copy()
        if number == 1:
            messages[1, 0] = messages[0, 0]
        with MixerStore(stores[0]) as store:
            name, out = batch_id(), folder / "1"
            files = first_mix(store, party.plan, number, name, messages, out, ALONE)
        with MixerStore(stores[1]) as store:
            out = folder / "2"
            found.append(mix_batch(store, party.plan, files.data, files.chain, out, ALONE))
    return found


@pytest.fixture(scope="module")
def tally(party: Party, mixed: list[MixedFiles]) -> Tally:
    return tally_batches(party.plan, [mixed[0].data], party.analyst)


def test_every_message_is_counted_in_its_lane(
    party: Party, mixed: list[MixedFiles], tally: Tally
) -> None:
    """As another program counts them; the repeated message is told."""
    found = counted(party, mixed[0])
    for (lane, position), count in found.items():
        own = tally.lane_nulls[lane] if position < 0 else tally.counts[position]
        assert own == count
    assert tally.counts.sum() + tally.nulls == found.total()
    assert (tally.people, tally.crowd) == (20, 20)
    assert tally.rejected == {"repeated": 1}


def test_the_tally_passes_every_check_and_covers_the_truth(party: Party, tally: Tally) -> None:
    """Lanes, chains and promise; then estimates of twenty people."""
    assert [
        entry.says for entry in tally_checks(party.plan, tally) if entry.state == "failed"
    ] == []
    results = make_results(party.plan, tally)
    assert results.kept
    smokes = sum(answers[0] is not None for answers in PEOPLE)
    (row,) = results.questions[0].rows
    assert abs(row.count - smokes) <= 8 * row.standard_error + 1


@pytest.mark.parametrize(
    "change",
    [
        {"people": 21},
        {"rejected": {}},
        {"ids": ("ab" * 16, "cd" * 16)},
        {"batches": ("ab" * 32, "cd" * 32)},
        {"round": 2},
        {"manifests": ("{}",)},
    ],
)
def test_what_mixers_did_not_sign_is_found(
    party: Party, tally: Tally, change: dict[str, Any]
) -> None:
    """By the chains that travel with the tally."""
    failed = {
        e.name for e in tally_checks(party.plan, replace(tally, **change)) if e.state == "failed"
    }
    assert "chains" in failed


def test_a_batch_counts_once(party: Party, mixed: list[MixedFiles]) -> None:
    """Twice the same file is an error."""
    with pytest.raises(InvalidInput, match="two files are of one batch"):
        tally_batches(party.plan, [mixed[0].data] * 2, party.analyst)


def test_another_key_is_refused(party: Party, mixed: list[MixedFiles]) -> None:
    """Before anything is opened."""
    with pytest.raises(InvalidInput, match="key"):
        tally_batches(party.plan, [mixed[0].data], generate_private_key())


def test_no_key_of_a_collector_is_needed(party: Party, mixed: list[MixedFiles]) -> None:
    """One that contradicts the plan is refused; the plan's own is not."""
    files, first = [mixed[0].data], party.identities[0].public_key()
    assert tally_batches(party.plan, files, party.analyst, first).people == 20
    with pytest.raises(InvalidInput, match="identity of the plan's first mixer"):
        tally_batches(party.plan, files, party.analyst, generate_signing_key().public_key())


Change = Callable[[Party, list[MixedFiles], Path], object]
"""What is done to a copy of the first batch, which lies in this folder."""


def one_byte(party: Party, mixed: list[MixedFiles], at: Path) -> None:
    content = np.fromfile(at / "batch.parquet", np.uint8)
    content[len(content) // 2] ^= 1
    content.tofile(at / "batch.parquet")


def forged(**change: Any) -> Change:
    def forge(party: Party, mixed: list[MixedFiles], at: Path) -> None:
        *first, last = read_chain(at / CHAIN)
        links = [*first, replace(last, record=replace(last.record, **change))]
        (at / CHAIN).write_bytes(chain_bytes(links))

    return forge


def truncated(party: Party, mixed: list[MixedFiles], at: Path) -> None:
    _signed_anew(party, at, (at / "batch.parquet").read_bytes()[:-100])


def unreadable(party: Party, mixed: list[MixedFiles], at: Path) -> None:
    lanes = [(lane, rows ^ 255) for lane, rows in _rows(mixed[0].data)]
    _signed_anew(party, at, _written(mixed[0].link.batch_id, lanes))


SIGNED = "signed by its mixer and unchanged"
CHANGES: dict[str, tuple[Change, str]] = {
    "a layer is left": (lambda _, mixed, at: _copied(mixed[0], at, links=1), "passed all 2 mixers"),
    "one byte is another": (one_byte, "the last mixer signed"),
    "no chain": (lambda _, mixed, at: (at / CHAIN).unlink(), r"batch\.chain\.json"),
    "the chain of another batch": (
        lambda _, mixed, at: (at / CHAIN).write_bytes(mixed[1].chain.read_bytes()),
        "the last mixer signed",
    ),
    "more submissions": (forged(submissions=13), SIGNED),
    "another id": (forged(batch_id="ab" * 16), SIGNED),
    "another round": (forged(round=2), SIGNED),
    "truncated, and signed so": (truncated, "must be a complete file"),
    "not a message opens": (unreadable, r"none of [\d,]+ messages"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_batch_that_was_changed_is_refused(
    name: str, party: Party, mixed: list[MixedFiles], tmp_path: Path
) -> None:
    """By what mixers signed, and by its content where they lie together."""
    change, message = CHANGES[name]
    _copied(mixed[0], tmp_path)
    change(party, mixed, tmp_path)
    with pytest.raises(InvalidInput, match=message):
        tally_batches(party.plan, [tmp_path / "batch.parquet"], party.analyst)


def test_a_second_batch_of_a_round_is_refused(
    party: Party, mixed: list[MixedFiles], tmp_path: Path
) -> None:
    """Also where all mixers have signed it."""
    name = "ab" * 16
    _copied(mixed[0], tmp_path)
    _signed_anew(party, tmp_path, _written(name, _rows(mixed[0].data)), batch_id=name)
    files = [mixed[0].data, tmp_path / "batch.parquet"]
    with pytest.raises(InvalidInput, match="must be one: a round is one batch"):
        tally_batches(party.plan, files, party.analyst)


@pytest.mark.check
def test_a_message_that_mixers_let_through_twice_counts_once(
    party: Party, mixed: list[MixedFiles], tally: Tally, tmp_path: Path
) -> None:
    """The last mixer should have dropped it: the later copy is refused, with every engine."""
    _copied(mixed[0], tmp_path)
    lanes = _rows(mixed[0].data)
    dropped = lanes[0][1][-1].tobytes()
    lanes[0][1][-1] = lanes[0][1][0]
    _signed_anew(party, tmp_path, _written(mixed[0].link.batch_id, lanes))
    for workers in (1, 2):
        sources = batches_in(party.plan, [tmp_path / "batch.parquet"])
        options = Options(workers)
        found = tally_sources(party.plan, sources, key=party.analyst, options=options)
        assert found.rejected == {"repeated": 2}  # one by a mixer, one here
        opener = LaneOpener(party.analyst, party.plan, 1)
        lost = opener.open_all(party.plan.lanes[0], [dropped])
        expected = tally.counts - np.bincount(lost.positions, minlength=len(tally.counts))
        assert np.array_equal(found.counts, expected)
        assert found.nulls == tally.nulls - lost.nulls


def test_batches_of_another_round_are_not_added(party: Party, mixed: list[MixedFiles]) -> None:
    """Each round has its own tally."""
    with pytest.raises(InvalidInput, match="must all be of round 1"):
        tally_batches(party.plan, [files.data for files in mixed], party.analyst)


def _copied(files: MixedFiles, folder: Path, links: int = 2) -> None:
    (folder / "batch.parquet").write_bytes(files.data.read_bytes())
    (folder / CHAIN).write_bytes(chain_bytes(read_chain(files.chain)[:links]))


def _signed_anew(party: Party, folder: Path, content: bytes, **change: Any) -> None:
    """The batch with other bytes, and a chain that both mixers sign: they lie together."""
    (folder / "batch.parquet").write_bytes(content)
    first, last = (signed.record for signed in read_chain(folder / CHAIN))
    signed = sign(replace(first, **change), party.identities[0])
    own = {"output_sha256": hashlib.sha256(content).hexdigest(), "previous": signed.sha256}
    links = [signed, sign(replace(last, **change, **own), party.identities[1])]
    (folder / CHAIN).write_bytes(chain_bytes(links))


def _rows(path: Path) -> list[tuple[int, np.ndarray]]:
    """The messages of every lane."""
    table = pq.read_table(path).combine_chunks()
    rows = fixed_rows(table.column("message").combine_chunks()).copy()
    lanes = table.column("lane").to_numpy()
    return [(lane, rows[lanes == lane]) for lane in np.unique(lanes).tolist()]


def _written(batch: str, lanes: list[tuple[int, np.ndarray]]) -> bytes:
    stream = io.BytesIO()
    write_sealed(stream, lanes[0][1].shape[1], batch, lanes)
    return stream.getvalue()
