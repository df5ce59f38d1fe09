"""The demonstration with mixers: the collector and each mixer are processes of their own.

Each has a folder of its own, with its store. They are started as operators would start them:
`krand serve` and `krand release --close` by the collector, `krand mix watch` by each other mixer.
All folders are temporary. On Ctrl-C and SIGTERM the processes end with the demonstration.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from krand.analysis.tallying import batches_in
from krand.batches.chain import read_chain
from krand.demo.live import (
    Collected,
    copied_batch,
    in_memory,
    new_analyst_key,
    opened,
    send_all,
)
from krand.errors import Unavailable
from krand.files import write_atomically
from krand.mixing.keys import MixerKeys, generate_mixer_keys
from krand.mixing.mixer import sign_checked_plan
from krand.mixing.store import MixerStore, create_store
from krand.planning.checking import remember_here

if TYPE_CHECKING:
    from types import FrameType

    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    from krand.simulation.crowd import Crowd
    from krand.survey.plan import Plan
    from krand.survey.survey import Survey
    from krand.terminal.output import Output
    from krand.wire.plan_signatures import PlanSignature

PATIENCE = 10.0
"""Seconds that a process has to end before it is killed."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The private keys of the analyst and all mixers; the collector is the first."""

    analyst: X25519PrivateKey
    mixers: tuple[MixerKeys, ...]
    files: dict[str, Path]

    def named_in(self, plan: Plan) -> Plan:
        """The plan with all public keys."""
        described = (keys.described(_name(hop)) for hop, keys in enumerate(self.mixers, 1))
        named = plan.sealed_for(self.analyst.public_key()).mixed_by(tuple(described))
        remember_here(named)  # the promise was computed just now, and keys do not change it
        return named

    def collected(self, plan: Plan, crowd: Crowd, folder: Path, out: Output) -> Collected:
        """Devices seal and send, every mixer adds dummies, the analyst opens and counts."""
        with (
            _ending_in_order(),
            TemporaryDirectory(prefix="krand-demo-", dir=in_memory()) as place,
        ):
            work = Work(Path(place), plan)
            signatures = [work.signed(hop, keys) for hop, keys in enumerate(self.mixers, 1)]
            with work.collecting() as url:
                send_all(plan, crowd, url, work.folder, out, signatures)
                with out.progress("the collector closes the round"):
                    work.release()
            for hop in range(2, len(self.mixers) + 1):
                with out.progress(f"mixer {hop} mixes"):
                    work.mix(hop)
            (data,) = work.output(len(self.mixers)).glob("*.parquet")
            batch = copied_batch(data, "chain", data.with_suffix(".chain.json"), folder)
        tally = opened(plan, batches_in(plan, [batch["batch"]]), self.analyst, out)
        dummies = tuple(signed.record.dummies for signed in read_chain(batch["chain"]))
        return Collected(tally=tally, written=self.files | batch, dummies=dummies)


def new_chain(folder: Path, survey: Survey) -> Chain:
    """New keys for each demonstration; those of an earlier one are replaced."""
    analyst, files = new_analyst_key(folder)
    hops = range(1, survey.trust.mixers + 1)
    rounds = (survey.last_round if hop > 1 else 0 for hop in hops)
    mixers = tuple(generate_mixer_keys(number) for number in rounds)
    return Chain(analyst, mixers, files)


def _name(hop: int) -> str:
    return "collector" if hop == 1 else f"mixer {hop}"


@dataclass(frozen=True, slots=True)
class Work:
    """The folders of all parties, and what their operators do."""

    folder: Path
    plan: Plan

    def own(self, hop: int) -> Path:
        """The private folder of a mixer."""
        return self.folder / f"mixer-{hop}"

    def output(self, hop: int) -> Path:
        """Where a mixer leaves batches for the next one."""
        return self.own(hop) / "mixed"

    def signed(self, hop: int, keys: MixerKeys) -> PlanSignature:
        """Make the mixer's folder and store; the mixer checks the plan and signs it."""
        self.own(hop).mkdir()
        write_atomically("plan", self._plan_file(hop), self.plan.bytes)
        create_store(self._store(hop), _name(hop), keys)
        with MixerStore(self._store(hop)) as store:
            return sign_checked_plan(store, self.plan)

    @contextmanager
    def collecting(self) -> Iterator[str]:
        """Run the collector on a free port until the block ends; yields its address."""
        own = self.own(1)
        words = ["serve", *self._spool(), "--id-key", own / "id.key", "--port", "0", "--json"]
        with self._process(1, words) as process:
            said = _first_object(process)
            if not said:
                process.wait()
                raise self._failed(1, "serve")
            yield json.loads(said)["url"].partition("/v1/")[0]

    def release(self) -> None:
        """The collector, as the first mixer, closes the round and mixes its batch."""
        words = ["--mixer-store", self._store(1), "--close", "--yes", "-o", self.output(1)]
        self._run(1, ["release", *self._spool(), *words])

    def mix(self, hop: int) -> None:
        """A mixer mixes what the one before it has left."""
        words = ["mix", "watch", self.output(hop - 1), "--to", self.output(hop), "--once"]
        self._run(hop, [*words, "--plan", self._plan_file(hop), "--store", self._store(hop)])

    def _store(self, hop: int) -> Path:
        return self.own(hop) / "store"

    def _plan_file(self, hop: int) -> Path:
        return self.own(hop) / "plan.json"

    def _spool(self) -> list[Any]:
        return ["--plan", self._plan_file(1), "--spool", self.own(1) / "spool"]

    def _run(self, hop: int, words: Sequence[Any]) -> None:
        with self._process(hop, words) as process:
            process.communicate()
        if process.returncode:
            raise self._failed(hop, str(words[0]))

    @contextmanager
    def _process(self, hop: int, words: Sequence[Any]) -> Iterator[subprocess.Popen[str]]:
        """A command of krand, which ends with the block."""
        command = [sys.executable, "-P", "-m", "krand", *map(str, words)]
        with (
            self._log(hop, str(words[0])).open("w", encoding="utf-8") as log,
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            ) as process,
        ):
            try:
                yield process
            finally:
                _end(process)

    def _log(self, hop: int, command: str) -> Path:
        return self.own(hop) / f"{command}.log"

    def _failed(self, hop: int, command: str) -> Unavailable:
        said = self._log(hop, command).read_text(encoding="utf-8").strip()
        return Unavailable(f"{_name(hop)}: krand {command} failed: {said}")


def _first_object(process: subprocess.Popen[str]) -> str:
    """The JSON object that a running command prints; empty if it ends without one."""
    assert process.stdout is not None
    found = ""
    for line in process.stdout:
        found += line
        if line.rstrip() == "}":
            return found
    return ""


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE)
        return
    process.kill()


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """SIGTERM ends the demonstration like Ctrl-C: first the processes that it started."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)
