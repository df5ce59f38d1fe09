"""Batches that have passed real mixers, opened and counted lane by lane."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from krand.analysis.results import make_results
from krand.analysis.tally import Tally
from krand.analysis.tally_checks import tally_checks
from krand.analysis.tallying import tally_batches
from krand.batches.chain import chain_bytes, read_chain
from krand.errors import InvalidInput
from krand.mixing.mixer import MixedFiles, MixOptions, first_mix, mix_batch
from krand.mixing.store import MixerStore
from krand.wire.keys import generate_private_key
from mixing.chains import (
    Party,
    batch_id,
    counted,
    mixed_plan_for,
    random_answers,
    sealed_people,
    stores_of,
    told,
)

ALONE = MixOptions(workers=1)
PEOPLE = random_answers(20)


@pytest.fixture(scope="module")
def party() -> Party:
    """Two mixers; the promise is small, and so are the dummies."""
    return mixed_plan_for(mixers=2)


@pytest.fixture(scope="module")
def mixed(party: Party, tmp_path_factory: pytest.TempPathFactory) -> list[MixedFiles]:
    """Twelve people in one batch, eight in another; somebody's message is in the first twice."""
    folder = tmp_path_factory.mktemp("mixers")
    stores = stores_of(party, folder)
    found = []
    for people in (PEOPLE[:12], PEOPLE[12:]):
        messages = sealed_people(party.plan, people).copy()
        if len(people) == 12:
            messages[1, 0] = messages[0, 0]
        with MixerStore(stores[0]) as store:
            name, out = batch_id(), folder / "1"
            files = first_mix(store, party.plan, 1, name, messages, out, ALONE)
        with MixerStore(stores[1]) as store:
            out = folder / "2"
            found.append(mix_batch(store, party.plan, files.data, files.chain, out, ALONE))
    return found


@pytest.fixture(scope="module")
def tally(party: Party, mixed: list[MixedFiles]) -> Tally:
    return tally_batches(party.plan, [files.data for files in mixed], party.analyst)


def test_every_message_is_counted_in_its_lane(
    party: Party, mixed: list[MixedFiles], tally: Tally
) -> None:
    """As another program counts them; the repeated message is told."""
    found = sum((counted(party, files) for files in mixed), start=told(party.plan, []))
    assert tally.lane_nulls is not None
    for (lane, position), count in found.items():
        own = tally.lane_nulls[lane] if position < 0 else tally.counts[position]
        assert own == count
    assert tally.counts.sum() + tally.nulls == found.total()
    assert (tally.people, tally.crowd) == (20, 8)
    assert tally.rejected == {"repeated": 1}


def test_the_tally_passes_every_check_and_covers_the_truth(party: Party, tally: Tally) -> None:
    """Lanes, chains and promise; then estimates of twenty people."""
    assert [entry.says for entry in tally_checks(party.plan, tally) if not entry.holds] == []
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
    failed = {e.name for e in tally_checks(party.plan, replace(tally, **change)) if not e.holds}
    assert "chains" in failed


def test_a_batch_that_still_has_layers_is_refused(
    party: Party, mixed: list[MixedFiles], tmp_path: Path
) -> None:
    """All mixers must have mixed it."""
    _copied(mixed[0], tmp_path, links=1)
    with pytest.raises(InvalidInput, match="passed all 2 mixers"):
        tally_batches(party.plan, [tmp_path / "batch.parquet"], party.analyst)


def test_another_file_than_was_signed_is_refused(
    party: Party, mixed: list[MixedFiles], tmp_path: Path
) -> None:
    """One byte is enough."""
    _copied(mixed[0], tmp_path)
    content = np.fromfile(tmp_path / "batch.parquet", np.uint8)
    content[len(content) // 2] ^= 1
    content.tofile(tmp_path / "batch.parquet")
    with pytest.raises(InvalidInput, match="the last mixer signed"):
        tally_batches(party.plan, [tmp_path / "batch.parquet"], party.analyst)


def test_a_batch_counts_once(party: Party, mixed: list[MixedFiles]) -> None:
    """Twice the same file is an error."""
    with pytest.raises(InvalidInput, match="two files are of one batch"):
        tally_batches(party.plan, [mixed[0].data] * 2, party.analyst)


def test_another_key_is_refused(party: Party, mixed: list[MixedFiles]) -> None:
    """Before anything is opened."""
    with pytest.raises(InvalidInput, match="key"):
        tally_batches(party.plan, [mixed[0].data], generate_private_key())


def _copied(files: MixedFiles, folder: Path, links: int = 2) -> None:
    (folder / "batch.parquet").write_bytes(files.data.read_bytes())
    (folder / "batch.chain.json").write_bytes(chain_bytes(read_chain(files.chain)[:links]))
