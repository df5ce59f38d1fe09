"""Mixers in a row: every payload arrives once, with the dummies of all; the rules of mixing."""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from krand.batches.chain import (
    chain_bytes,
    dummies_allowed,
    read_chain,
    verify_chain,
)
from krand.batches.sealed import file_sha256, write_sealed
from krand.errors import InvalidInput, Unavailable
from krand.mixing import mixer, run
from krand.mixing.dummies import LaneDummies, draw_lane
from krand.mixing.keys import EraseReason
from krand.mixing.mixer import MixedFiles, MixOptions, first_mix, mix_batch
from krand.mixing.store import MixerStore
from krand.randomness.generator import SecureRandom
from krand.survey.lanes import Lane
from krand.survey.plan import Plan
from krand.wire.layers import LayerSealer, length_at
from krand.wire.messages import RejectedMessage, Token
from krand.wire.signed import sign
from mixing.chains import (
    Party,
    batch_id,
    counted,
    drawn_dummies,
    mixed_plan_for,
    random_answers,
    rows_in,
    sealed_people,
    stores_of,
    true_counts,
)
from seals import open_layer

ALONE = MixOptions(workers=1)
PEOPLE = random_answers(20)


@dataclass
class Chain:
    """Three mixers with their stores, and folders for what leaves them."""

    party: Party
    stores: tuple[Path, ...]
    folder: Path

    @property
    def plan(self) -> Plan:
        return self.party.plan

    def first(
        self, messages: np.ndarray, name: str = "", round_number: int = 1, out: str = "1"
    ) -> MixedFiles:
        with MixerStore(self.stores[0]) as store:
            name = name or batch_id()
            return first_mix(
                store, self.plan, round_number, name, messages, self.folder / out, ALONE
            )

    def next(
        self, hop: int, files: MixedFiles, options: MixOptions = ALONE, out: str = ""
    ) -> MixedFiles:
        target = self.folder / (out or str(hop))
        with MixerStore(self.stores[hop - 1]) as store:
            return mix_batch(store, self.plan, files.data, files.chain, target, options)

    def forged(self, files: MixedFiles, lanes: list[tuple[int, np.ndarray]]) -> MixedFiles:
        """A lying first mixer passes these messages on; numbers in its link agree with them."""
        data, chain = self.folder / "forged.parquet", self.folder / "forged.chain.json"
        with data.open("wb") as stream:
            write_sealed(stream, length_at(self.plan, 2), files.link.batch_id, lanes)
        sizes = Counter[int]()
        for number, rows in lanes:
            sizes[number] += len(rows)
        counts = tuple(
            replace(
                before,
                dummies=(most := dummies_allowed(self.plan, lane)[1]),
                messages_out=sizes[lane.number],
                refused=before.messages_in + most - sizes[lane.number],
                repeats=0,
            )
            for lane, before in zip(self.plan.lanes, files.link.lanes, strict=True)
        )
        link = replace(
            files.link,
            lanes=counts,
            repeats=0,
            dummies=sum(one.dummies for one in counts),
            messages_out=sum(one.messages_out for one in counts),
            refused={"x": sum(one.refused for one in counts)},
            output_sha256=file_sha256(data),
        )
        chain.write_bytes(chain_bytes([sign(link, self.party.identities[0])]))
        return MixedFiles(data=data, chain=chain, link=link)


@pytest.fixture
def chain(tmp_path: Path) -> Chain:
    party = mixed_plan_for(mixers=3)
    return Chain(party, stores_of(party, tmp_path), tmp_path)


@pytest.fixture(scope="module")
def begun_once(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    party, folder = mixed_plan_for(mixers=3), tmp_path_factory.mktemp("begun")
    chain = Chain(party, stores_of(party, folder), folder)
    chain.first(sealed_people(chain.plan, PEOPLE))
    return chain


@pytest.fixture
def begun(begun_once: Chain, tmp_path: Path) -> tuple[Chain, MixedFiles]:
    """A chain whose first mixer has mixed a batch: a copy for each test."""
    folder = tmp_path / "begun"
    shutil.copytree(begun_once.folder, folder)
    stores = tuple(folder / path.name for path in begun_once.stores)
    (data,), (signed,) = (folder / "1").glob("*.parquet"), (folder / "1").glob("*.chain.json")
    files = MixedFiles(data=data, chain=signed, link=read_chain(signed)[-1].record)
    return Chain(begun_once.party, stores, folder), files


def lanes_of(files: MixedFiles) -> list[tuple[int, np.ndarray]]:
    return [
        (number, np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1))
        for number, rows in rows_in(files).items()
    ]


@pytest.mark.check
def test_every_payload_arrives_once_with_all_dummies(
    chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """300 people, three mixers: counts are those of the people and of all dummies, exactly."""
    people = random_answers(300)
    messages = sealed_people(chain.plan, people)
    with drawn_dummies(monkeypatch) as dummies:
        files = [chain.first(messages)]
        for hop in (2, 3):
            files.append(chain.next(hop, files[-1]))
    assert counted(chain.party, files[-1]) == true_counts(chain.plan, people) + dummies
    links = read_chain(files[-1].chain)
    verify_chain(chain.plan, links)
    assert [signed.record.hop for signed in links] == [1, 2, 3]
    assert all(signed.record.repeats == 0 and not signed.record.refused for signed in links)
    assert {signed.record.submissions for signed in links} == {300}
    assert links[-1].record.output_sha256 == hashlib.sha256(files[-1].data.read_bytes()).hexdigest()


def test_one_mixer_alone_is_a_chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The collector adds its dummies, and the analyst opens what leaves it."""
    party = mixed_plan_for(mixers=1)
    chain = Chain(party, stores_of(party, tmp_path), tmp_path)
    people = random_answers(12)
    with drawn_dummies(monkeypatch) as dummies:
        files = chain.first(sealed_people(chain.plan, people))
    assert counted(party, files) == true_counts(chain.plan, people) + dummies


@pytest.mark.check
def test_nobody_at_all_can_be_mixed(chain: Chain) -> None:
    """A batch that was closed before anybody came has only dummies."""
    files = chain.first(sealed_people(chain.plan, []))
    last = chain.next(3, chain.next(2, files))
    assert last.link.submissions == 0
    assert counted(chain.party, last).total() == last.link.messages_out > 0


def test_lanes_stay_apart_and_each_is_shuffled(
    chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lanes rise in the file; inside a lane the order is another one."""
    people = random_answers(60)
    messages = sealed_people(chain.plan, people)
    files = chain.first(messages)
    numbers = pq.read_table(files.data).column("lane").to_pylist()
    assert numbers == sorted(numbers)
    first_lane = [message.tobytes() for message in messages[:, 0]]
    found = [row for row in rows_in(files)[0] if row in set(first_lane)]
    assert sorted(found) == sorted(first_lane)
    assert found != first_lane
    place = [rows_in(files)[0].index(row) for row in first_lane]
    assert max(place) > len(first_lane), "people and dummies are mixed with each other"


@pytest.mark.check
def test_many_processes_and_files_give_the_same_counts(
    chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening in two processes, and shuffling a lane through files, loses nothing."""
    monkeypatch.setattr(run, "IN_MEMORY_BYTES", 1000)
    monkeypatch.setattr("krand.mixing.crew.WORTH_A_PROCESS", 1)
    monkeypatch.setattr("krand.mixing.crew.AT_A_TIME", 64)
    people = random_answers(50)
    with drawn_dummies(monkeypatch) as dummies:
        files = chain.first(sealed_people(chain.plan, people))
        last = chain.next(3, chain.next(2, files, MixOptions(workers=2)))
    assert counted(chain.party, last) == true_counts(chain.plan, people) + dummies


def test_rule_1_a_message_filed_under_another_lane_is_refused(
    begun: tuple[Chain, MixedFiles],
) -> None:
    """An earlier mixer moves one person's choice to the yes/no lane, where it would be alone."""
    chain, files = begun
    lanes = lanes_of(files)
    moved = lanes[1][1][:1]
    lanes[0] = (0, np.concatenate([lanes[0][1][1:], moved]))
    found = chain.next(2, chain.forged(files, lanes))
    assert found.link.lanes[0].refused == 1
    assert sum(counts.refused for counts in found.link.lanes) == 1


def test_rule_1_a_message_of_another_round_is_refused(begun: tuple[Chain, MixedFiles]) -> None:
    """A message of round 2 in a batch of round 1."""
    chain, files = begun
    other = sealed_people(chain.plan, PEOPLE[:1], round_number=2)
    lanes = lanes_of(files)
    lanes[0] = (0, np.concatenate([lanes[0][1][1:], other[0, :1]]))
    found = chain.next(2, chain.forged(files, lanes))
    assert found.link.lanes[0].refused == 1


def test_rule_1_every_field_binds_a_layer(chain: Chain) -> None:
    """Hop, plan, round and lane: with the right key, each other value is refused."""
    plan, key = chain.plan, chain.party.key_of(2)
    lane = plan.lanes[1]
    sealed = LayerSealer(plan, 1).seal(lane, Token(lane.offset))
    other = replace(plan, overflow=0.5)
    assert len(open_layer(key, plan, 1, 2, 1, sealed)) == len(sealed) - 48
    for wrong in ((other, 1, 2, 1), (plan, 2, 2, 1), (plan, 1, 2, 2)):
        with pytest.raises(RejectedMessage):
            open_layer(key, *wrong, sealed)


def test_rule_2_repeats_in_one_batch_are_dropped(chain: Chain) -> None:
    """By the collector, and by a later mixer when an earlier one makes copies."""
    messages = sealed_people(chain.plan, PEOPLE).copy()
    messages[1] = messages[0]
    files = chain.first(messages)
    assert [counts.repeats for counts in files.link.lanes] == [1, 1, 2]
    lanes = lanes_of(files)
    lanes[0] = (0, np.concatenate([lanes[0][1][1:], lanes[0][1][-1:]]))
    found = chain.next(2, chain.forged(files, lanes))
    assert [counts.repeats for counts in found.link.lanes] == [1, 0, 0]
    changed_tail = lanes_of(files)[0][1][:2].copy()
    changed_tail[1, :32] = changed_tail[0, :32]
    found_again = run.repeated(run.digests_of(changed_tail)).tolist()
    assert found_again == [False, True], "a copy of enc is a repeat, whatever follows it"


def test_rule_2_a_second_batch_of_a_round_is_refused(chain: Chain, tmp_path: Path) -> None:
    """By the collector, and by a later mixer if the collector has mixed twice."""
    copy = shutil.copytree(chain.stores[0], tmp_path / "copy")
    first = chain.first(sealed_people(chain.plan, PEOPLE))
    with pytest.raises(InvalidInput, match="must be the only batch of its round"):
        chain.first(sealed_people(chain.plan, PEOPLE))
    lying = Chain(chain.party, (copy, *chain.stores[1:]), tmp_path)
    second = lying.first(sealed_people(chain.plan, PEOPLE), out="twice")
    chain.next(2, first)
    with pytest.raises(InvalidInput, match="must be the only batch of its round"):
        chain.next(2, second)
    other = chain.first(sealed_people(chain.plan, PEOPLE, 2), round_number=2)
    assert chain.next(2, other).link.round == 2


def test_rule_3_the_same_input_gives_the_same_bytes(chain: Chain) -> None:
    """Again, into the same folder or another one; also for the collector."""
    messages = sealed_people(chain.plan, PEOPLE)
    name = batch_id()
    one = chain.first(messages, name)
    again = chain.first(messages[::-1].copy(), name, out="elsewhere")
    assert again.data.read_bytes() == one.data.read_bytes()
    assert again.chain.read_bytes() == one.chain.read_bytes()
    two = chain.next(2, one)
    for out in ("2", "elsewhere 2"):
        found = chain.next(2, one, out=out)
        assert found.data.read_bytes() == two.data.read_bytes()
        assert found.chain.read_bytes() == two.chain.read_bytes()


def test_rule_3_other_submissions_under_the_same_id_are_refused(chain: Chain) -> None:
    """An id names one set of messages."""
    name = batch_id()
    chain.first(sealed_people(chain.plan, PEOPLE), name)
    with pytest.raises(InvalidInput, match="mixed under this id before"):
        chain.first(sealed_people(chain.plan, PEOPLE), name)


def test_rule_3_a_batch_that_the_mixer_before_drew_twice_is_refused(
    begun: tuple[Chain, MixedFiles],
) -> None:
    """The same id in another file: an earlier mixer was run on two copies of its store."""
    chain, files = begun
    chain.next(2, files)
    lanes = lanes_of(files)
    lanes[0] = (0, lanes[0][1][::-1])
    with pytest.raises(InvalidInput, match="from another file"):
        chain.next(2, chain.forged(files, lanes))


def test_rule_3_a_lost_output_is_not_drawn_again(begun: tuple[Chain, MixedFiles]) -> None:
    """If nothing is left of it, the input is refused by name."""
    chain, files = begun
    two = chain.next(2, files)
    digest = two.link.input_sha256
    (chain.stores[1] / "outbox" / f"{digest}.parquet").unlink()
    assert chain.next(2, files) == two, "the published file is the one that was recorded"
    two.data.unlink()
    with pytest.raises(InvalidInput, match="must not have been mixed before") as caught:
        chain.next(2, files)
    assert two.link.output_sha256 in caught.value.hint


def test_rule_3_a_second_run_at_the_same_time_is_refused(begun: tuple[Chain, MixedFiles]) -> None:
    """One lock for the store."""
    chain, files = begun
    with MixerStore(chain.stores[1]), pytest.raises(Unavailable, match="in use"):
        chain.next(2, files)


def test_rule_5_a_closed_round_is_not_mixed(begun: tuple[Chain, MixedFiles]) -> None:
    """Its key is gone; a batch that left can be written again only if it is still there."""
    chain, files = begun
    late = chain.first(sealed_people(chain.plan, PEOPLE, 2), round_number=2)
    two = chain.next(2, files)
    with MixerStore(chain.stores[1]) as store:
        store.close_round(1)
        assert list(store.keys.opening) == [2]
        store.close_round(2)
        assert not store.keys.opening
        assert not list((chain.stores[1] / "outbox").iterdir())
    with pytest.raises(InvalidInput, match="not closed"):
        chain.next(2, late)
    assert chain.next(2, files) == two
    two.data.unlink()
    with pytest.raises(InvalidInput, match="must not have been mixed before"):
        chain.next(2, files)


def test_rule_5_a_batch_leaves_without_the_key(tmp_path: Path) -> None:
    """Mixed again it is the same, from what was recorded; no other batch of the round is mixed."""
    party = mixed_plan_for(mixers=2)
    chain = Chain(party, stores_of(party, tmp_path), tmp_path)
    files = chain.first(sealed_people(chain.plan, PEOPLE))
    two = chain.next(2, files)
    with MixerStore(chain.stores[1]) as store:
        assert (list(store.keys.opening), store.erased(1)) == ([2], EraseReason.MIXED)
        store.keys.hop_in(chain.plan)
    again = chain.next(2, files, out="again")
    assert again.data.read_bytes() == two.data.read_bytes()
    assert again.chain.read_bytes() == two.chain.read_bytes()
    (lane, rows), *others = lanes_of(files)
    with pytest.raises(InvalidInput, match="must not have been mixed before from another file"):
        chain.next(2, chain.forged(files, [(lane, rows[1:]), *others]))
    with pytest.raises(InvalidInput, match="must be the only batch of its round"):
        chain.first(sealed_people(chain.plan, PEOPLE))
    with MixerStore(chain.stores[1]) as store:
        store.close_round(1)
    assert not list((chain.stores[1] / "outbox").iterdir())


def test_rule_7_only_bytes_decide_what_is_refused(chain: Chain) -> None:
    """A message whose inside is not a message leaves like any other; a broken seal does not."""
    plan, lane = chain.plan, chain.plan.lanes[0]
    files = chain.first(sealed_people(plan, PEOPLE))
    lanes = lanes_of(files)
    sealer = LayerSealer(plan, 1)
    odd = bytearray(sealer.seal(lane, Token(lane.offset)))
    inner = wrapped_for_two(chain, bytes(len(odd) - 48))
    odd[-1] ^= 1
    rows = np.frombuffer(bytes(odd) + inner, np.uint8).reshape(2, -1)
    lanes[0] = (0, np.concatenate([lanes[0][1][2:], rows]))
    found = chain.next(2, chain.forged(files, lanes))
    assert found.link.lanes[0].refused == 1
    assert bytes(len(odd) - 48) in rows_in(found)[0]


def wrapped_for_two(chain: Chain, inside: bytes) -> bytes:
    """Anything at all, sealed for mixer 2 in lane 0."""
    from krand.wire.layers import SUITE, layer_info

    info = layer_info(2, bytes.fromhex(chain.plan.hash), 1, 0)
    return SUITE.encrypt(inside, chain.party.key_of(2).public_key(), info)


def test_rule_8_dummies_are_sealed_like_messages_of_people(chain: Chain) -> None:
    """Of every mixer: the same length, opened by every later mixer and read by the analyst."""
    people = random_answers(5)
    files = chain.first(sealed_people(chain.plan, people))
    for hop in (2, 3):
        lengths = {len(row) for rows in rows_in(files).values() for row in rows}
        assert lengths == {length_at(chain.plan, hop)}
        files = chain.next(hop, files)
        assert not files.link.refused
        assert files.link.messages_in > 5 * chain.plan.messages
    assert counted(chain.party, files).total() == files.link.messages_out


@pytest.mark.check
def test_a_batch_of_another_plan_is_refused(
    begun: tuple[Chain, MixedFiles], tmp_path: Path
) -> None:
    """The chain names its plan, and a store serves one plan."""
    chain, files = begun
    survey = replace(chain.plan.survey, id="other")
    other = replace(chain.plan, survey=survey)
    chain.next(2, files)
    with MixerStore(chain.stores[1]) as store, pytest.raises(InvalidInput, match="serves"):
        mix_batch(store, other, files.data, files.chain, tmp_path / "out", ALONE)
    with MixerStore(chain.stores[2]) as store, pytest.raises(InvalidInput, match="another plan"):
        mix_batch(store, other, files.data, files.chain, tmp_path / "out", ALONE)


@pytest.mark.check
def test_mixers_out_of_order_are_refused(begun: tuple[Chain, MixedFiles]) -> None:
    """Mixer 3 before mixer 2, mixer 2 twice, mixer 2 in place of the collector."""
    chain, files = begun
    with pytest.raises(InvalidInput, match="this is mixer 3"):
        chain.next(3, files)
    with pytest.raises(InvalidInput, match="this is mixer 2"):
        chain.next(2, chain.next(2, files))
    with MixerStore(chain.stores[1]) as store, pytest.raises(InvalidInput, match="first mixer"):
        first_mix(store, chain.plan, 1, batch_id(), np.zeros((1, 4, 150), np.uint8), chain.folder)


@pytest.mark.parametrize("size", [0, 10, -1])
def test_truncated_and_changed_files_are_refused(
    begun: tuple[Chain, MixedFiles], size: int
) -> None:
    """By their hash, before they are read."""
    chain, files = begun
    content = files.data.read_bytes()
    files.data.write_bytes(content[:size])
    with pytest.raises(InvalidInput, match="vouches for"):
        chain.next(2, files)


def broken(chain: Chain, files: MixedFiles, write: Callable[[Path], None]) -> MixedFiles:
    """A first mixer that signs a file which is no batch."""
    data, path = chain.folder / "broken.parquet", chain.folder / "broken.chain.json"
    write(data)
    link = replace(files.link, output_sha256=file_sha256(data))
    path.write_bytes(chain_bytes([sign(link, chain.party.identities[0])]))
    return MixedFiles(data=data, chain=path, link=link)


def changed_table(files: MixedFiles, change: Callable[[pa.Table], pa.Table]) -> Callable:
    table = pq.read_table(files.data)
    return lambda path: pq.write_table(change(table), path)


BROKEN: dict[str, Callable[[MixedFiles], Callable[[Path], None]]] = {
    "no parquet": lambda files: lambda path: path.write_bytes(b"PAR1 but not really PAR1"),  # type: ignore[dict-item]
    "one row less": lambda files: changed_table(files, lambda table: table.slice(1)),
    "reversed": lambda files: changed_table(
        files, lambda table: table.take(list(range(len(table)))[::-1])
    ),
    "no lanes": lambda files: changed_table(files, lambda table: table.drop_columns(["lane"])),
    "other metadata": lambda files: changed_table(
        files, lambda table: table.replace_schema_metadata({})
    ),
}


@pytest.mark.check
@pytest.mark.parametrize("name", BROKEN)
def test_signed_files_that_are_no_batches_are_named(
    begun: tuple[Chain, MixedFiles], name: str
) -> None:
    """A mixer before this one may sign anything: no traceback, nothing written."""
    chain, files = begun
    wrong = broken(chain, files, BROKEN[name](files))
    with pytest.raises(InvalidInput, match="batch"):
        chain.next(2, wrong)
    assert not (chain.folder / "2").exists()
    chain.next(2, files)


@pytest.mark.check
def test_a_wrong_key_opens_nothing_and_writes_nothing(begun: tuple[Chain, MixedFiles]) -> None:
    """Devices sealed for another plan: the run says so."""
    chain, files = begun
    noise = [
        (number, np.random.default_rng(1).integers(0, 256, rows.shape, np.uint8))
        for number, rows in lanes_of(files)
    ]
    with pytest.raises(InvalidInput, match="must open at least one message"):
        chain.next(2, chain.forged(files, noise))
    assert not (chain.folder / "2").exists()
    chain.next(2, files)


@pytest.mark.check
def test_too_many_refused_messages_are_the_operators_decision(
    begun: tuple[Chain, MixedFiles],
) -> None:
    """The share is named; a larger limit allows it."""
    chain, files = begun
    lanes = lanes_of(files)
    spoiled = lanes[2][1].copy()
    spoiled[:, -1] ^= 1
    lanes[2] = (2, spoiled)
    forged = chain.forged(files, lanes)
    with pytest.raises(InvalidInput, match="10 % of the messages") as caught:
        chain.next(2, forged)
    assert str(caught.value.value).endswith(" %")
    found = chain.next(2, forged, MixOptions(workers=1, most_refused=1.0))
    assert found.link.lanes[2].refused == len(spoiled)


def test_a_file_that_changes_while_it_is_read_is_refused(
    begun: tuple[Chain, MixedFiles], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise messages could be opened whose digests were never kept."""
    chain, files = begun
    honest, reads = mixer.SealedBatch.chunks, Counter[int]()

    def changing(self: mixer.SealedBatch, lane: int) -> Iterator[np.ndarray]:
        reads[lane] += 1
        for rows in honest(self, lane):
            yield rows if reads[lane] == 1 else rows[::-1]

    monkeypatch.setattr(mixer.SealedBatch, "chunks", changing)
    with pytest.raises(InvalidInput, match="must not change while it is read"):
        chain.next(2, files)


@pytest.mark.check
def test_other_files_in_the_output_folder_are_not_replaced(begun: tuple[Chain, MixedFiles]) -> None:
    """A batch file may be the only copy."""
    chain, files = begun
    (chain.folder / "2").mkdir()
    for ending in ("parquet", "chain.json"):
        path = chain.folder / "2" / f"batch-{files.link.batch_id}-2.{ending}"
        path.write_bytes(b"another")
        with pytest.raises(InvalidInput, match="another batch of this name"):
            chain.next(2, files)
        path.unlink()
    chain.next(2, files)


@pytest.mark.parametrize("shape", [(2, 3, 150), (2, 4, 102), (2, 4)])
def test_submissions_have_the_shape_of_the_plan(chain: Chain, shape: tuple[int, ...]) -> None:
    """Number and length of messages are those of the plan."""
    with pytest.raises(InvalidInput, match="people × 4 × 150"):
        chain.first(np.zeros(shape, np.uint8))


def test_rule_9_a_mixer_forgets_its_numbers(
    begun: tuple[Chain, MixedFiles], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a run all numbers of dummies are overwritten, and the store has none of them."""
    chain, files = begun
    drawn: list[LaneDummies] = []

    def kept(plan: Plan, lane: Lane, random: SecureRandom) -> LaneDummies:
        drawn.append(draw_lane(plan, lane, random))
        return drawn[-1]

    monkeypatch.setattr(run, "draw_lane", kept)
    found = chain.next(2, files)
    assert found.link.dummies > sum(one.nulls for one in drawn) > 0
    assert not any(one.tokens.any() for one in drawn)
