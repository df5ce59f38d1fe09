"""A mixer's service under attack: what attackers see, and what it costs an honest partner.

    python benchmarks/attacked_mixer.py               # writes attacked_mixer.md; about 6 minutes
    python benchmarks/attacked_mixer.py --seconds 10  # a shorter run, 10 seconds for each attack
    python benchmarks/attacked_mixer.py --quick       # a smoke run: to the terminal only

The service is `krand mix serve` on one core; attackers and the partner share the other, on which
the partner comes first. Needs krand[serve], Linux and wrk.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from attacked import allow_many_files
from mixer_attackers import KINDS
from partner_services import Served, deliver, mixer_service, paired, station_after
from partner_transport import links_of

from collector import resident
from krand.batches.chain import chain_bytes
from krand.batches.sealed import file_sha256
from krand.mixing.keys import MixerKeys
from krand.mixing.store import MixerStore
from krand.partners.identity import Identity, read_identity
from krand.partners.talking import Answer, Conversation
from krand.survey.plan_file import read_plan
from krand.survey.survey_folder import SurveyFolder
from mixing_speed import Chain
from running import conditions, progress, run_benchmark, spent, table, verdict
from wrk_load import has_wrk

RESULTS = Path(__file__).with_suffix(".md")
ATTACKERS = RESULTS.with_name("mixer_attackers.py")
NO_ATTACK = "no attack"
READ, NONCES = "wrk: GET /", "wrk: POST /v1/nonce"
CONNECTIONS = {
    NO_ATTACK: 0,
    **dict.fromkeys((READ, NONCES), 200),
    **dict.fromkeys(KINDS, 100),
    **dict.fromkeys(("connections without TLS", "half a handshake"), 6_000),
    **dict.fromkeys(("slow readers", "slow writers of bodies"), 1_000),
}
SECONDS, QUICK_SECONDS = 20.0, 5.0
MESSAGES, BYTES = 400_000, 32 * 2**20
"""Of an honest batch."""
ROUNDS = 50
"""Each has one batch."""
MOST_MORE_MEGABYTES, MOST_TIMES_AS_LONG = 300.0, 5.0
"""Goals: memory beyond that at the start, and an honest delivery beside one without an attack."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One attack, and what the honest partner saw meanwhile."""

    attack: str
    seen: Mapping[str, int]
    delivery: float
    """Seconds until the receipt of a batch."""
    page: float
    """Seconds until the page for people was there."""
    memory: tuple[float, float]
    """Megabytes before, and at the peak."""
    disk: float
    """Megabytes that the service stores in addition, besides the honest batch."""


class Recording(Conversation):
    """A partner whose first request with a body is recorded by somebody on the way."""

    recorded: dict[str, Any]

    def _asked(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        if headers:
            sent = {"headers": dict(headers), "body": body.hex()}
            self.recorded = {"method": method, "path": path, **sent}
        return super()._asked(method, path, body, headers)


@dataclass(frozen=True, slots=True)
class Partner:
    """The organiser, who passes batches of random bytes on to the mixer."""

    survey: SurveyFolder
    identity: Identity
    keys: MixerKeys

    def batch(self, number: int) -> tuple[Path, Path]:
        """That of a round, correctly signed."""
        data, batch_id = self.survey.path / f"honest-{number}.parquet", secrets.token_hex(16)
        data.write_bytes(os.urandom(BYTES))
        plan = Chain(read_plan(self.survey.plan), (self.keys,))
        links = links_of(plan, MESSAGES, batch_id, file_sha256(data), number)
        chain = data.with_suffix(".chain.json")
        chain.write_bytes(chain_bytes(links))
        return data, chain

    def deliver(self, data: Path, chain: Path) -> None:
        deliver(self.survey.deliveries, self.identity, data, chain, station_after(self.survey, 1))

    def recorded(self, chain: Path) -> dict[str, Any]:
        """A valid request as somebody saw it who ends TLS for the partner."""
        station = station_after(self.survey, 1)
        with Recording(self.identity, station.address) as conversation:
            path = f"/v1/plans/{read_plan(self.survey.plan).hash}/batches"
            conversation.post(path, chain.read_bytes())
            return conversation.recorded


@contextmanager
def attack(kind: str, options: dict[str, Any], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Attackers of one kind in a process of their own, on the second core and behind others."""
    command = [sys.executable, str(ATTACKERS), json.dumps({"kind": kind, **options})]
    if kind in (READ, NONCES):
        script = folder / "wrk.lua"
        script.write_text(f'wrk.method = "{"GET" if kind == READ else "POST"}"\n')
        path = "" if kind == READ else "v1/nonce"
        command = ["wrk", "-t1", f"-c{options['connections']}", "--timeout", "30s"]
        command += [f"-d{math.ceil(options['seconds'])}s", "-s", str(script)]
        command.append(f"https://127.0.0.1:{options['port']}/{path}")
    with (folder / "attackers.log").open("ab") as log:
        child = subprocess.Popen(["nice", "-n", "5", *command], stdout=subprocess.PIPE, stderr=log)
    os.sched_setaffinity(child.pid, {1})
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def seen_by(kind: str, child: subprocess.Popen[bytes]) -> dict[str, int]:
    """What attackers say in the end."""
    text = child.communicate()[0].decode()
    if kind not in (READ, NONCES):
        return dict(json.loads(text)["seen"])
    others = int((re.search(r"Non-2xx or 3xx responses: (\d+)", text) or ["", "0"])[1])
    errors = re.search(r"connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    found = {"200": int(re.search(r"(\d+) requests in", text)[1]) - others, "other": others}  # type: ignore[index]
    found["closed"] = sum(map(int, errors.groups())) if errors else 0
    return {name: count for name, count in found.items() if count}


@contextmanager
def memory_of(process: subprocess.Popen[bytes]) -> Iterator[list[float]]:
    """Megabytes, several times a second, while the block runs."""
    found, over = [resident(process)], threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
            found.append(resident(process))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


def stored(folder: Path) -> int:
    """Bytes of all files; some may go while they are counted."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def page_seconds(served: Served) -> float:
    """An honest reader's wait for the page."""
    context = ssl._create_unverified_context()

    def read() -> None:
        with urlopen(served.url, timeout=60, context=context) as answer:
            assert answer.read()

    return spent(read)


def phase(
    kind: str, number: int, served: Served, partner: Partner, options: dict[str, Any]
) -> Phase:
    data, chain = partner.batch(number)
    before, folder = stored(served.store), partner.survey.path
    with ExitStack() as stack:
        memory = stack.enter_context(memory_of(served.process))
        start, seen = time.monotonic(), dict[str, int]()
        attackers = None
        if kind != NO_ATTACK:
            own = options | {"connections": CONNECTIONS[kind]}
            attackers = stack.enter_context(attack(kind, own, folder))
            time.sleep(options["seconds"] / 4)
        delivery = spent(lambda: partner.deliver(data, chain))
        page = page_seconds(served)
        if attackers is not None:
            time.sleep(max(0.0, options["seconds"] - (time.monotonic() - start)))
            seen = seen_by(kind, attackers)
    more = (stored(served.store) - before - BYTES) / 1e6
    data.unlink()
    found = Phase(kind, seen, delivery, page, (memory[0], max(memory)), more)
    progress(f"{kind}: {delivery:.1f} s, {seen}, {max(memory):.0f} MB")
    return found


def measure(seconds: float, folder: Path) -> list[Phase]:
    with mixer_service(folder, "university") as served:
        survey = paired(folder, [served], rounds=ROUNDS)
        for thread in Path(f"/proc/{served.process.pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {0})
        os.sched_setaffinity(0, {1})
        with MixerStore(survey.mixer_store) as store:
            partner = Partner(survey, read_identity(survey.identity), store.keys)
        first = partner.batch(ROUNDS)
        options = {
            "port": int(served.url.rpartition(":")[2]),
            "recipient": served.identity,
            "plan": read_plan(survey.plan).hash,
            "partner": partner.identity.public,
            "survey": (folder / "survey.toml").read_text(encoding="utf-8"),
            "recorded": partner.recorded(first[1]),
            "seconds": seconds,
        }
        kinds = [kind for kind in CONNECTIONS if has_wrk() or not kind.startswith("wrk")]
        kinds = [NO_ATTACK, *kinds, NO_ATTACK]
        return [phase(kind, n, served, partner, options) for n, kind in enumerate(kinds, 1)]


def undisturbed(found: list[Phase]) -> float:
    return statistics.median(each.delivery for each in found if each.attack == NO_ATTACK)


def row_of(found: Phase, quiet: float) -> list[str]:
    connections = CONNECTIONS[found.attack]
    told = ", ".join(f"{status}: {count:,}" for status, count in sorted(found.seen.items()))
    return [
        f"{connections:,} × {found.attack}" if connections else NO_ATTACK,
        told or ("" if not connections else "nothing"),
        f"{found.delivery:.1f} s",
        f"{found.delivery / quiet:.1f}" if connections else "",
        f"{found.page:.2f} s",
        f"{found.memory[0]:.0f} MB",
        f"{found.memory[1]:.0f} MB",
        f"{found.disk:.2f} MB",
    ]


def goals(found: list[Phase]) -> str:
    quiet, start = undisturbed(found), found[0].memory[0]
    peak, slowest = max(each.memory[1] for each in found), max(each.delivery for each in found)
    answers = {status for each in found for status in each.seen}
    wrong = sorted(status for status in answers if status.startswith("5") and status != "503")
    return (
        f"- Every delivery arrived; the slowest took {slowest / quiet:.1f} times as long as one"
        f" without an attack; at most {MOST_TIMES_AS_LONG:g} times:"
        f" {verdict(slowest <= MOST_TIMES_AS_LONG * quiet)}.\n"
        f"- Memory: {start:.0f} MB at the start, {peak:.0f} MB at its peak; at most"
        f" {MOST_MORE_MEGABYTES:.0f} MB more: {verdict(peak - start <= MOST_MORE_MEGABYTES)}.\n"
        f"- No answer of 500 or above other than 503: {verdict(not wrong)}."
    )


LEGEND = (
    "*Slow readers* ask for the list of plans in a row and read no answer. *Slow writers* send a"
    " signed head, then a byte of the body a second. *Replays* send a recorded request of the"
    " partner again as it was, with a new nonce, at another path, and with another body. *Forged*"
    " requests name the partner's identity and are signed by another key. *Strangers* sign"
    " correctly, each with a new key. *Oversized* bodies are said to have 10¹² bytes, or never end;"
    " so do heads. *Closed*: the service closed the connection without an answer. Whoever is closed"
    " comes back."
)


def report(quick: bool, seconds: float) -> str:
    allow_many_files()
    seconds = QUICK_SECONDS if quick else seconds
    with tempfile.TemporaryDirectory(dir=RESULTS.parent) as folder:
        found = measure(seconds, Path(folder))
    about = conditions(
        "python benchmarks/attacked_mixer.py",
        quick,
        ("krand", "starlette", "uvicorn", "httptools"),
        "`krand mix serve` with TLS by its identity runs on one core; attackers and the honest"
        f" partner share another. The partner delivers {BYTES / 1e6:.0f} MB in each row, and the"
        f" page for people is read once; {seconds:.0f} seconds a row.",
    )
    columns = ["attack", "what attackers saw", "honest delivery", "÷ no attack", "page"]
    columns += ["memory before", "peak", "stored besides"]
    quiet = undisturbed(found)
    rows = table(columns, [row_of(each, quiet) for each in found])
    note = "<!-- Written by benchmarks/attacked_mixer.py; do not edit. -->"
    parts = ["# A mixer's service under attack", note, about, goals(found), rows, LEGEND]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    run_benchmark(__doc__, RESULTS, report, seconds=SECONDS)
