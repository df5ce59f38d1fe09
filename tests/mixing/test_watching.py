"""A mixer as a service: each batch once, bad ones named once, only its operator stops it."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from krand.batches.chain import read_chain, verify_chain
from krand.cli.main import krand
from krand.errors import InvalidInput
from krand.mixing import watching
from krand.mixing.mixer import MixedFiles, MixOptions
from krand.mixing.store import MixerStore
from krand.mixing.watching import Event, Happened, Watch, WatchOptions
from mixing.chains import mixed_plan_for, random_answers, sealed_people, stores_of
from mixing.test_chain_of_mixers import Chain, lanes_of

OPTIONS = WatchOptions(mixing=MixOptions(workers=1), every=0.01, retry=0.0)
LONGEST = 300.0


@dataclass
class Service:
    """Mixer 2 of a chain, with a folder before it and one behind it."""

    chain: Chain
    incoming: Path
    mixed: Path
    told: list[Event] = field(default_factory=list)

    def watch(self, options: WatchOptions = OPTIONS, hop: int = 2) -> Watch:
        store = self.chain.stores[hop - 1]
        return Watch(
            lambda: MixerStore(store),
            self.chain.plan,
            self.incoming,
            self.mixed,
            self.told.append,
            options,
        )

    def deliver(self, files: MixedFiles) -> MixedFiles:
        """Put a batch and its chain into the folder."""
        paths = [Path(shutil.copy(path, self.incoming)) for path in (files.data, files.chain)]
        return MixedFiles(data=paths[0], chain=paths[1], link=files.link)

    def batch(self, round_number: int = 1) -> MixedFiles:
        messages = sealed_people(self.chain.plan, random_answers(5), round_number)
        return self.deliver(self.chain.first(messages, round_number=round_number))

    @property
    def outcomes(self) -> list[tuple[str, Happened]]:
        return [(event.batch, event.happened) for event in self.told]

    def visible(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.mixed.iterdir()}


@pytest.fixture
def service(tmp_path: Path) -> Service:
    party = mixed_plan_for(mixers=3)
    chain = Chain(party, stores_of(party, tmp_path), tmp_path)
    for name in ("incoming", "mixed"):
        (tmp_path / name).mkdir()
    return Service(chain, tmp_path / "incoming", tmp_path / "mixed")


def test_every_batch_is_mixed_once(service: Service) -> None:
    """Also by a service that is started anew; its output may have been taken away by then."""
    batches = [service.batch(number) for number in (1, 2)]
    watch = service.watch()
    watch.look(settled=True)
    assert sorted(service.outcomes) == sorted((one.data.name, Happened.MIXED) for one in batches)
    for one in batches:
        links = read_chain(service.mixed / f"batch-{one.link.batch_id}-2.chain.json")
        verify_chain(service.chain.plan, links)
        assert [signed.record.hop for signed in links] == [1, 2]
    before = service.visible()
    assert len(before) == 4
    for path in service.mixed.iterdir():
        path.rename(service.mixed.parent / path.name)
    assert watch.look(settled=True) == ()
    assert service.watch().look(settled=True) == ()
    assert service.visible() == {}, "what has left is not written again"
    assert len(service.told) == 2


@pytest.mark.check
def test_an_output_that_was_recorded_and_not_written_is_written_later(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service was killed in between: the recorded output leaves, with no second draw."""
    service.batch()

    def killed(*_: object) -> MixedFiles:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("krand.mixing.mixer._published", killed)
        with pytest.raises(KeyboardInterrupt):
            service.watch().look(settled=True)
    with MixerStore(service.chain.stores[1]) as store:
        (recorded,) = store.of_round(1)
    (event,) = service.watch().look(settled=True)
    assert event.files is not None
    assert event.files.link.output_sha256 == recorded.output_sha256


@pytest.mark.check
def test_half_a_batch_waits_for_the_other_half(service: Service) -> None:
    """A file without its chain, and files that are still being copied."""
    files = service.batch()
    whole, chain = files.data.read_bytes(), files.chain.read_bytes()
    files.chain.unlink()
    watch = service.watch()
    for _ in range(2):
        assert watch.look() == ()
    files.data.write_bytes(whole[:1000])
    files.chain.write_bytes(chain)
    assert watch.look() == ()
    files.data.write_bytes(whole)
    assert watch.look() == (), "it has changed since the last look"
    (event,) = watch.look()
    assert event.happened is Happened.MIXED


def other_plan(service: Service) -> MixedFiles:
    party = mixed_plan_for(mixers=2)
    folder = service.chain.folder / "other"
    folder.mkdir()
    chain = Chain(party, stores_of(party, folder), folder)
    return service.deliver(chain.first(sealed_people(party.plan, random_answers(2))))


def forged_signature(service: Service) -> MixedFiles:
    files = service.batch()
    values = json.loads(files.chain.read_bytes())
    values["links"][0]["signature"] = "00" * 64
    files.chain.write_text(json.dumps(values))
    return files


def changed(path: str, content: Callable[[bytes], bytes]) -> Callable[[Service], MixedFiles]:
    """A batch of which one file is something else."""

    def change(service: Service) -> MixedFiles:
        files = service.batch()
        file: Path = getattr(files, path)
        file.write_bytes(content(file.read_bytes()))
        return files

    return change


def spoiled(lanes: Sequence[int]) -> Callable[[Service], MixedFiles]:
    """A batch of which no message of these lanes opens."""

    def spoil(service: Service) -> MixedFiles:
        files = service.batch()
        content = [(n, rows ^ 1 if n in lanes else rows) for n, rows in lanes_of(files)]
        for path in (files.data, files.chain):
            path.unlink()
        return service.deliver(service.chain.forged(files, content))

    return spoil


nothing_opens, too_many_refused = spoiled((0, 1, 2)), spoiled((2,))
BAD: dict[str, tuple[Callable[[Service], MixedFiles], str]] = {
    "another plan": (other_plan, "another plan"),
    "a forged chain": (forged_signature, "must be signed by its mixer"),
    "no chain": (changed("chain", lambda _: b"{}"), "chain"),
    "a truncated file": (changed("data", lambda content: content[:-1]), "vouches for"),
    "nothing opens": (nothing_opens, "must open at least one message"),
    "too many refused": (too_many_refused, "10 % of the messages"),
}


@pytest.mark.check
@pytest.mark.parametrize("name", BAD)
def test_a_bad_batch_is_named_once_and_stops_nothing(service: Service, name: str) -> None:
    """It stays where it is, nothing of it is written, and good batches are mixed."""
    make, why = BAD[name]
    bad = make(service)
    content = bad.data.read_bytes(), bad.chain.read_bytes()
    watch = service.watch()
    for _ in range(3):
        watch.look(settled=True)
    (event,) = service.told
    assert event.happened is Happened.REFUSED
    assert why in str(event.error)
    assert (bad.data.read_bytes(), bad.chain.read_bytes()) == content
    assert service.visible() == {}
    good = service.batch(2)
    watch.look(settled=True)
    assert service.outcomes[1:] == [(good.data.name, Happened.MIXED)]


@pytest.mark.check
def test_a_batch_whose_files_change_is_tried_again(service: Service) -> None:
    """A truncated copy is replaced by a whole one."""
    files = service.batch()
    whole = files.data.read_bytes()
    files.data.write_bytes(whole[:-1])
    watch = service.watch()
    watch.look(settled=True)
    files.data.write_bytes(whole)
    watch.look(settled=True)
    name = files.data.name
    assert service.outcomes == [(name, Happened.REFUSED), (name, Happened.MIXED)]


@pytest.mark.check
def test_too_many_refused_messages_are_the_operators_decision(service: Service) -> None:
    """With a larger limit the batch is mixed."""
    too_many_refused(service)
    options = WatchOptions(mixing=MixOptions(workers=1, most_refused=0.9))
    (event,) = service.watch(options).look(settled=True)
    assert event.happened is Happened.MIXED


@pytest.mark.check
def test_a_batch_for_another_mixer_is_left_alone(service: Service) -> None:
    """Several mixers may use one folder, and a mixer's own output may lie there."""
    files = service.batch()
    service.mixed = service.incoming
    watch = service.watch()
    for _ in range(3):
        watch.look(settled=True)
    third = service.watch(hop=3)
    for _ in range(3):
        third.look(settled=True)
    id = files.link.batch_id
    assert service.outcomes == [
        (files.data.name, Happened.MIXED),
        (f"batch-{id}-2.parquet", Happened.MIXED),
    ]


def full_disk(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.check
@pytest.mark.parametrize(
    "where",
    ["krand.files.os.fsync", "krand.mixing.mixer.write_sealed", "krand.mixing.mixer.shutil"],
)
def test_a_full_disk_is_named_and_tried_again(
    service: Service, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """While the output is written, synced or copied; one line in the log, then the batch leaves."""
    files = service.batch()
    watch = service.watch()
    with monkeypatch.context() as patch:
        patch.setattr(where + (".copyfileobj" if where.endswith("shutil") else ""), full_disk)
        for _ in range(3):
            watch.look(settled=True)
    (event,) = service.told
    assert event.happened is Happened.WAITING
    assert "no space left" in str(event.error)
    assert service.visible() == {}
    watch.look(settled=True)
    assert service.outcomes[1:] == [(files.data.name, Happened.MIXED)]


@pytest.mark.check
def test_a_store_in_use_is_tried_again(service: Service) -> None:
    """krand mix close may hold it for a moment; the log has one line."""
    service.batch()
    watch = service.watch()
    with MixerStore(service.chain.stores[1]):
        for _ in range(3):
            watch.look(settled=True)
    (event,) = service.told
    assert (event.happened, event.batch) == (Happened.WAITING, "")
    watch.look(settled=True)
    assert service.told[-1].happened is Happened.MIXED


def test_a_process_that_ends_is_not_the_batchs_fault(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a bug of krand is named without what a message holds."""
    service.batch()
    for failure, happened in (
        (watching.BrokenProcessPool("x"), Happened.WAITING),
        (ZeroDivisionError("secret"), Happened.REFUSED),
    ):

        def fails(*_: object, failure: Exception = failure) -> MixedFiles:
            raise failure

        monkeypatch.setattr(watching, "mix_batch", fails)
        service.told.clear()
        service.watch().look(settled=True)
        (event,) = service.told
        assert event.happened is happened
        assert "secret" not in str(event.error)


@pytest.mark.check
def test_a_folder_that_disappears_is_tried_again(service: Service) -> None:
    """A network drive, for example."""
    watch = service.watch()
    elsewhere = service.incoming.rename(service.incoming.with_name("elsewhere"))
    for _ in range(2):
        watch.look(settled=True)
    (event,) = service.told
    assert "cannot be read now" in str(event.error)
    elsewhere.rename(service.incoming)
    service.batch()
    watch.look(settled=True)
    assert service.told[-1].happened is Happened.MIXED


def test_pipes_and_folders_are_no_batches(service: Service) -> None:
    """Reading a pipe would wait for ever."""
    (service.incoming / "a.chain.json").mkdir()
    (service.incoming / "a.parquet").mkdir()
    os.mkfifo(service.incoming / "b.chain.json")
    os.mkfifo(service.incoming / "b.parquet")
    assert service.watch().look(settled=True) == ()


def test_mistakes_of_the_operator_end_it_at_once(service: Service) -> None:
    """The collector's store, and a folder that is not there."""
    with pytest.raises(InvalidInput, match="must not be the collector's"):
        service.watch(hop=1)
    service.incoming.rmdir()
    with pytest.raises(InvalidInput, match="folder"):
        service.watch()


@pytest.mark.check
def test_it_stops_in_the_middle_of_a_batch(service: Service) -> None:
    """Nothing of the batch is visible, and the next service mixes it."""
    service.batch()
    stopping: list[Watch] = []
    mixing = MixOptions(workers=1, progress=lambda _: stopping[0].stop())
    stopping.append(service.watch(WatchOptions(mixing=mixing, every=0.01)))
    stopping[0].run()
    assert not service.told
    assert service.visible() == {}
    (event,) = service.watch().look(settled=True)
    assert event.happened is Happened.MIXED


@pytest.mark.check
def test_it_looks_again_until_it_is_stopped(service: Service) -> None:
    """Batches that come later are found."""
    watch = service.watch()
    running = threading.Thread(target=watch.run)
    running.start()
    try:
        service.batch()
        until = time.monotonic() + LONGEST
        while not service.told and time.monotonic() < until:
            time.sleep(0.01)
    finally:
        watch.stop()
        running.join(LONGEST)
    assert [event.happened for event in service.told] == [Happened.MIXED]
    assert not running.is_alive()


def arguments(service: Service, *more: str) -> list[str]:
    plan = service.chain.folder / "plan.json"
    plan.write_bytes(service.chain.plan.bytes)
    folders = [str(service.incoming), "--to", str(service.mixed), "--plan", str(plan)]
    return ["mix", "watch", *folders, "--store", str(service.chain.stores[1]), *more]


def run(service: Service, *more: str) -> Result:
    return CliRunner().invoke(krand, arguments(service, "--once", "--workers", "1", *more))


@pytest.mark.check
def test_once_for_cron(service: Service) -> None:
    """The exit code says whether a batch could not be mixed; lines have no times and no content."""
    good = service.batch(2)
    found = run(service)
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith(f"{good.data.name}: {good.link.messages_out:,} messages, 0 rep")
    assert len(found.stdout.splitlines()) == 1
    assert run(service).output == ""
    bad = forged_signature(service)
    found = run(service)
    assert found.exit_code == 2
    assert found.stderr.startswith(f"warning: {bad.data.name}: refused: chain: must be signed")
    assert len(found.stderr.splitlines()) == 1
    found = run(service, "--json")
    assert found.exit_code == 2
    values = json.loads(found.stdout)
    assert (values["event"], values["input"]) == ("refused", bad.data.name)
    assert values["error"]["field"] == "chain"
    with MixerStore(service.chain.stores[1]):
        assert run(service).exit_code == 75


@pytest.mark.parametrize("every", ["0", "-1"])
def test_pauses_are_positive(service: Service, every: str) -> None:
    """Otherwise it would look all the time."""
    found = run(service, "--every", every)
    assert (found.exit_code, "every: must be" in found.output) == (2, True)


@pytest.mark.check
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_the_service_cleanly(service: Service, sent: signal.Signals) -> None:
    """Exit code 0 and not a line on stderr; a batch that was mixed is there."""
    command = [sys.executable, "-m", "krand", *arguments(service, "--every", "0.05", "--json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        service.batch()
        line = json.loads(child.stdout.readline())
        child.send_signal(sent)
        rest, errors = child.communicate(timeout=LONGEST)
    assert (child.returncode, rest, errors) == (0, b"", b"")
    assert line["event"] == "mixed"
    assert set(service.visible()) == {Path(line["batch"]).name, Path(line["chain"]).name}


@pytest.mark.check
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs limits of another process")
def test_a_running_service_outlives_a_full_disk(service: Service) -> None:
    """No file can grow for a while, not even the store's journal; then the batch is mixed."""
    command = [sys.executable, "-m", "krand", *arguments(service, "--every", "0.05", "--json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        service.batch(1)
        assert json.loads(child.stdout.readline())["event"] == "mixed"
        resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
        files = service.batch(2)
        told = json.loads(child.stdout.readline())
        assert (told["event"], told["error"]["kind"]) == ("waiting", "unavailable")
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        resource.prlimit(child.pid, resource.RLIMIT_FSIZE, unlimited)
        told = json.loads(child.stdout.readline())
        assert (told["event"], told["input"]) == ("mixed", files.data.name)
        child.terminate()
        assert child.wait(LONGEST) == 0
