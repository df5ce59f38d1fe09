"""A mixer's store: keys that can be erased, one plan, an anchor that makes old copies useless."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from krand.errors import InvalidInput
from krand.mixing import store as store_module
from krand.mixing.keys import (
    EraseReason,
    MixerKeys,
    descriptor_bytes,
    generate_mixer_keys,
    parse_descriptor,
    read_descriptor,
)
from krand.mixing.mixer import MixOptions, check_plan, first_mix, sign_checked_plan
from krand.mixing.store import Mixed, MixerStore, create_store
from krand.planning.checking import remember_here
from krand.survey.plan import Mixer
from krand.wire.plan_signatures import check_signatures
from mixing.chains import batch_id, mixed_plan_for, random_answers, sealed_people, stores_of

ALONE = MixOptions(workers=1)


def mixed_of(name: str, round_number: int = 1, published: bool = False) -> Mixed:
    return Mixed(
        input=name,
        content="c",
        round=round_number,
        batch_id=name,
        output_sha256="0" * 64,
        chain=b"chain",
        published=published,
    )


def test_descriptors_come_back() -> None:
    """Name, identity and keys; nothing private."""
    keys = generate_mixer_keys(3)
    mixer = keys.described("university")
    content = descriptor_bytes(mixer)
    assert parse_descriptor(content) == mixer
    assert json.loads(content)["format"] == "krand-mixer-1"
    assert len(mixer.keys) == len(set(mixer.keys)) == 3
    for key in keys.opening.values():
        assert key.private_bytes_raw().hex().encode() not in content
    assert generate_mixer_keys(0).described("collector").keys == ()


@pytest.mark.parametrize("rounds", [-1, 10_001, 1.5, True])
def test_rounds_have_limits(rounds: int) -> None:
    """No survey has more."""
    with pytest.raises(InvalidInput, match="rounds"):
        generate_mixer_keys(rounds)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "krand-mixer-2"},
        {"name": ""},
        {"name": "a\nb"},
        {"name": 5},
        {"name": "x" * 101},
        {"identity": "ab"},
        {"identity": None},
        {"keys": "ab"},
        {"keys": ["ab"]},
        {"keys": ["00" * 32]},
        {"keys": [5]},
        {"more": 1},
    ],
    ids=str,
)
def test_wrong_descriptors_are_named(change: dict[str, object], tmp_path: Path) -> None:
    """Also a key that anybody could open."""
    values = json.loads(descriptor_bytes(generate_mixer_keys(1).described("m")))
    path = tmp_path / "mixer.json"
    path.write_text(json.dumps({**values, **change}))
    with pytest.raises(InvalidInput, match="mixer"):
        read_descriptor(path)


def test_a_store_gives_its_keys_back(tmp_path: Path) -> None:
    """The same ones, and only to its owner."""
    keys = generate_mixer_keys(2)
    described = create_store(tmp_path / "store", "university", keys)
    with MixerStore(tmp_path / "store") as store:
        assert store.name == "university"
        assert store.keys.described("university") == described
        assert store.keys.to_bytes() == keys.to_bytes()
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == 0o700
    for path in (tmp_path / "store").glob("*.sqlite*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_store_is_not_replaced(tmp_path: Path) -> None:
    """The keys in it exist nowhere else."""
    create_store(tmp_path / "store", "m", generate_mixer_keys(1))
    with pytest.raises(InvalidInput, match="must not exist yet"):
        create_store(tmp_path / "store", "m", generate_mixer_keys(1))


def test_other_folders_are_named(tmp_path: Path) -> None:
    """An empty one, and one with another file in its place."""
    with pytest.raises(InvalidInput, match="must be a mixer's store"):
        MixerStore(tmp_path)
    (tmp_path / "mixer.sqlite").write_bytes(b"not a database, but long enough to look like one" * 9)
    with pytest.raises(InvalidInput, match="must be a mixer's store"):
        MixerStore(tmp_path)


def test_a_mixer_finds_its_place_in_a_plan(tmp_path: Path) -> None:
    """By its identity, and only with the keys that the plan lists."""
    party = mixed_plan_for(mixers=3)
    for hop, path in enumerate(stores_of(party, tmp_path), 1):
        with MixerStore(path) as store:
            assert check_plan(store, party.plan) == hop
    create_store(tmp_path / "other", "m", generate_mixer_keys(2))
    with MixerStore(tmp_path / "other") as store, pytest.raises(InvalidInput, match="identity"):
        check_plan(store, party.plan)
    swapped = MixerKeys(party.identities[1], dict(enumerate(party.keys[3], 1)))
    create_store(tmp_path / "swapped", "m", swapped)
    with MixerStore(tmp_path / "swapped") as store, pytest.raises(InvalidInput, match="round 1"):
        check_plan(store, party.plan)


def test_rule_6_mixers_check_a_plan_before_they_sign_it(tmp_path: Path) -> None:
    """A plan that promises more than its laws give is not signed; the true one is, by all."""
    party = mixed_plan_for(mixers=2)
    promise = replace(party.plan.promise, delta=party.plan.promise.delta / 10)
    wrong, signatures = replace(party.plan, promise=promise), []
    remember_here(wrong)  # which mixers do not ask
    for path in stores_of(party, tmp_path):
        with MixerStore(path) as store:
            with pytest.raises(InvalidInput, match="must not promise more"):
                sign_checked_plan(store, wrong)
            signatures.append(sign_checked_plan(store, party.plan))
    check_signatures(party.plan, signatures)


def test_rule_6_a_mixer_signs_one_plan(tmp_path: Path) -> None:
    """Two plans for two people are not signed with the same keys."""
    party = mixed_plan_for(mixers=2)
    other = replace(party.plan, survey=replace(party.plan.survey, id="other"))
    with MixerStore(stores_of(party, tmp_path)[1]) as store:
        first = sign_checked_plan(store, party.plan)
        assert sign_checked_plan(store, party.plan) == first
        with pytest.raises(InvalidInput, match="must be the plan that this mixer serves"):
            sign_checked_plan(store, other)


def test_rule_6_plan_description_and_signature_are_recorded_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before the anchor is replaced, the store has all three; an older copy is dead."""
    party = mixed_plan_for(mixers=2)
    folder, anchor = stores_of(party, tmp_path, anchored=True)[1], tmp_path / "anchor-2"
    shutil.copytree(folder, tmp_path / "backup")
    with (
        no_anchor_written(monkeypatch),
        MixerStore(folder, anchor) as store,
        pytest.raises(Interrupted),
    ):
        store.bind(party.plan)
    with MixerStore(folder, anchor) as store:
        assert store.plan == party.plan.hash
        assert store.signature == party.signatures[1] == store.bind(party.plan)
    with pytest.raises(InvalidInput, match="written together"):
        MixerStore(tmp_path / "backup", anchor)


def test_a_store_of_an_earlier_version_signs_and_mixes_on(tmp_path: Path) -> None:
    """It has neither its description nor a signature, but the plan that it serves."""
    party = mixed_plan_for(mixers=2)
    folder = stores_of(party, tmp_path)[1]
    with closing(sqlite3.connect(folder / "mixer.sqlite")) as connection, connection:
        connection.execute("DELETE FROM facts WHERE name = 'descriptor'")
        connection.execute("INSERT INTO facts VALUES ('plan', ?)", (party.plan.hash.encode(),))
    with MixerStore(folder) as store:
        assert store.signature is None
        assert store.bind(party.plan) == store.signature == party.signatures[1]


def test_rule_6_a_plan_under_another_name_is_not_signed(tmp_path: Path) -> None:
    """Its keys are right, but people would read that somebody else had signed."""
    party = mixed_plan_for(mixers=2)
    folder, (first, second) = stores_of(party, tmp_path)[1], party.plan.mixing.mixers
    renamed = party.plan.mixed_by((first, replace(second, name="data protection office")))
    with MixerStore(folder) as store, pytest.raises(InvalidInput, match="as its own description"):
        store.bind(renamed)


def contains(folder: Path, secret: bytes) -> bool:
    """Whether any quarter of it is in any file, as it is or in hexadecimal."""
    size = len(secret) // 4
    parts = [secret[start : start + size] for start in range(0, len(secret), size)]
    needles = [needle for part in parts for needle in (part, part.hex().encode())]
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return any(needle in content for needle in needles for content in files)


@pytest.mark.parametrize("anchored", [False, True])
def test_rule_5_the_key_of_a_closed_round_is_nowhere(tmp_path: Path, anchored: bool) -> None:
    """Not in the store, not in its journal; the other rounds' keys stay."""
    keys, anchor = generate_mixer_keys(3), tmp_path / "anchor" if anchored else None
    folder = tmp_path / "store"
    create_store(folder, "m", keys, anchor)
    with MixerStore(folder, anchor) as store:
        assert contains(folder, keys.opening[2].private_bytes_raw()) is not anchored
        store.record(mixed_of("one"))
        store.mark_published(mixed_of("one"))
        assert sorted(store.keys.opening) == [2, 3]
        store.close_round(2)
        assert sorted(store.keys.opening) == [3]
        assert store.is_closed(2)
        assert not contains(folder, keys.opening[2].private_bytes_raw())
    with MixerStore(folder, anchor) as store:
        assert sorted(store.keys.opening) == [3]
        assert store.is_closed(2)
        assert not store.is_closed(1)
        assert store.mixed("one") is not None
    assert not contains(folder, keys.opening[2].private_bytes_raw())


@pytest.mark.parametrize("anchored", [False, True])
def test_rule_5_the_batch_of_a_round_erases_its_key(
    tmp_path: Path, anchored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the transaction that records it: killed right after it, nothing has the key any more."""
    keys, anchor = generate_mixer_keys(2), tmp_path / "anchor" if anchored else None
    folder, secret = tmp_path / "store", keys.opening[1].private_bytes_raw()
    create_store(folder, "m", keys, anchor)
    with MixerStore(folder, anchor) as store:
        with journal_kept(monkeypatch), pytest.raises(Interrupted):
            store.record(mixed_of("one"))
        assert sorted(store.keys.opening) == [2]
        folder = shutil.copytree(folder, tmp_path / "killed")  # with the journal as it is
    with MixerStore(folder, anchor) as store:
        assert (sorted(store.keys.opening), store.erased(1)) == ([2], EraseReason.MIXED)
        assert not contains(folder, secret)
        assert len(store.of_round(1)) == 1
        store.mark_published(mixed_of("one"))
        store.close_round(1)
        assert store.erased(1) is EraseReason.MIXED, "the first reason is the true one"
        assert store.erased(2) is None


def test_rule_5_a_round_is_not_closed_before_its_batches_are_out(tmp_path: Path) -> None:
    """What was recorded must have been written, or it would be lost."""
    create_store(tmp_path / "store", "m", generate_mixer_keys(1))
    with MixerStore(tmp_path / "store") as store:
        store.record(mixed_of("one"))
        with pytest.raises(InvalidInput, match="must have been written"):
            store.close_round(1)
        store.mark_published(mixed_of("one"))
        store.close_round(1)
        for wrong in (0, -1, 10_001):
            with pytest.raises(InvalidInput, match="round"):
                store.close_round(wrong)


def test_rule_4_a_restored_store_is_dead(tmp_path: Path) -> None:
    """A backup that was taken before a run cannot draw noise for the same batch again."""
    party = mixed_plan_for(mixers=2)
    folder = stores_of(party, tmp_path, anchored=True)[0]
    anchor, backup = tmp_path / "anchor-1", tmp_path / "backup"
    messages, name = sealed_people(party.plan, random_answers(3)), batch_id()
    with MixerStore(folder, anchor) as store:
        sign_checked_plan(store, party.plan)
    shutil.copytree(folder, backup)
    with MixerStore(folder, anchor) as store:
        files = first_mix(store, party.plan, 1, name, messages, tmp_path / "out", ALONE)
    with pytest.raises(InvalidInput, match="anchor that was written together") as caught:
        MixerStore(backup, anchor)
    assert "older copy" in caught.value.hint
    with MixerStore(folder, anchor) as store:
        again = first_mix(store, party.plan, 1, name, messages, tmp_path / "again", ALONE)
    assert again.data.read_bytes() == files.data.read_bytes()


def test_rule_4_every_run_replaces_the_anchor(tmp_path: Path) -> None:
    """And an old anchor does not open the store of today."""
    anchor, old = tmp_path / "anchor", tmp_path / "old"
    create_store(tmp_path / "store", "m", generate_mixer_keys(3), anchor)
    values = set()
    for number in range(3):
        values.add(anchor.read_bytes())
        with MixerStore(tmp_path / "store", anchor) as store:
            store.record(mixed_of(str(number), number + 1))
        if not number:
            shutil.copy(anchor, old)
    assert len(values) == 3
    with pytest.raises(InvalidInput, match="written together"):
        MixerStore(tmp_path / "store", old)


class Interrupted(BaseException):
    """Stands for a kill."""


@contextmanager
def no_anchor_written(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def fail(*_: object) -> None:
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(store_module, "_write_anchor", fail)
        yield


@contextmanager
def journal_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A kill after the transaction and the anchor."""

    def fail(_: MixerStore) -> None:
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(MixerStore, "_empty_journal", fail)
        yield


def test_rule_4_an_interruption_between_store_and_anchor_is_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run goes on: what was recorded is there, and the older store is dead."""
    anchor, backup = tmp_path / "anchor", tmp_path / "backup"
    create_store(tmp_path / "store", "m", generate_mixer_keys(2), anchor)
    shutil.copytree(tmp_path / "store", backup)
    before = anchor.read_bytes()
    with (
        no_anchor_written(monkeypatch),
        MixerStore(tmp_path / "store", anchor) as store,
        pytest.raises(Interrupted),
    ):
        store.record(mixed_of("one"))
    assert anchor.read_bytes() == before
    with MixerStore(tmp_path / "store", anchor) as store:
        assert store.mixed("one") is not None
        assert list(store.keys.opening) == [2]
    assert anchor.read_bytes() != before
    with pytest.raises(InvalidInput, match="written together"):
        MixerStore(backup, anchor)
    with MixerStore(tmp_path / "store", anchor) as store:
        store.record(mixed_of("two", 2))


def test_anchors_are_asked_for_and_private(tmp_path: Path) -> None:
    """A store with an anchor needs it; one without does not take one; nothing is replaced."""
    anchor = tmp_path / "anchor"
    create_store(tmp_path / "with", "m", generate_mixer_keys(1), anchor)
    create_store(tmp_path / "without", "m", generate_mixer_keys(1))
    assert stat.S_IMODE(anchor.stat().st_mode) == 0o600
    with pytest.raises(InvalidInput, match="must be given"):
        MixerStore(tmp_path / "with")
    with pytest.raises(InvalidInput, match="must not be given"):
        MixerStore(tmp_path / "without", anchor)
    with pytest.raises(InvalidInput, match="must not exist yet"):
        create_store(tmp_path / "third", "m", generate_mixer_keys(1), anchor)
    for content in (b"", b"krand-anchor-1 zz", b"krand-anchor-1 ab", os.urandom(40)):
        (tmp_path / "wrong").write_bytes(content)
        with pytest.raises(InvalidInput, match="must be a mixer's anchor"):
            MixerStore(tmp_path / "with", tmp_path / "wrong")


def test_leftovers_of_an_interrupted_run_are_removed(tmp_path: Path) -> None:
    """Outputs that were never recorded were never seen; those that were recorded stay."""
    create_store(tmp_path / "store", "m", generate_mixer_keys(1))
    with MixerStore(tmp_path / "store") as store:
        store.record(mixed_of("one"))
        for name in ("one", "two"):
            store.staged(name).write_bytes(b"x")
        store.sweep()
        assert store.staged("one").exists()
        assert not store.staged("two").exists()


def test_names_of_mixers_are_text() -> None:
    """They are shown to people."""
    with pytest.raises(InvalidInput, match="name"):
        descriptor_bytes(Mixer(name=" ", identity="ab" * 32))
