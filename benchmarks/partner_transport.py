"""The transport alone: a large batch of random bytes, delivered, beside curl; for partners.py."""

from __future__ import annotations

import os
import secrets
import shutil
import statistics
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from memory import family, most_megabytes
from partner_services import LOOPBACK, deliver, ended, receiver

from collector import free_port
from krand.batches.chain import LaneCounts, Link, SignedLink, chain_bytes, dummies_allowed
from krand.batches.sealed import file_sha256, write_sealed
from krand.partners.documents import Station
from krand.partners.identity import Identity, make_identity
from krand.partners.tls import ensure_certificate
from krand.site.part import Receiving
from krand.site.site_file import Receiver
from krand.survey.survey_folder import SurveyFolder
from krand.terminal.places import Place
from krand.wire.messages import length_at
from krand.wire.signed import sign
from mixing_speed import Chain, chain_of
from running import peak_megabytes, progress, spent

MIXERS, AT_ONCE = 3, 2**16
KRAND = "krand: deliveries to the analyst's receiver"
TLS, PLAIN = "`curl -T` to nginx, TLS", "`curl -T` to nginx, plain HTTP"
CHECKED = f"{TLS}; then fsync, and sha256sum at both ends"
NGINX = """\
{user}daemon off;
worker_processes 1;
error_log stderr crit;
pid {place}/nginx.pid;
events {{}}
http {{
  access_log off;
  client_max_body_size 0;
  client_body_temp_path {place}/arriving;
  server {{
    listen 127.0.0.1:{tls} ssl;
    listen 127.0.0.1:{plain};
    ssl_certificate {certificate};
    ssl_certificate_key {certificate};
    location / {{ root {place}/put; dav_methods PUT; create_full_put_path on; }}
  }}
}}
"""


@dataclass(frozen=True, slots=True)
class Sent:
    """One way to send the file: seconds of each run, and the most memory of both sides."""

    name: str
    seconds: list[float] = field(default_factory=list)
    sender: list[float] = field(default_factory=list)
    receiver: list[float] = field(default_factory=list)

    def add(self, seconds: float, sender: float, receiver: float) -> None:
        """One more run; memory in megabytes."""
        self.seconds.append(seconds)
        self.sender.append(sender)
        self.receiver.append(receiver)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def random_batch(folder: Path, messages: int) -> tuple[Chain, Path, Path]:
    """What the last of three mixers would pass on to the analyst: the plan, the file, its chain."""
    chain, chance = chain_of(MIXERS), np.random.default_rng()
    data, batch_id = folder / "random.parquet", secrets.token_hex(16)
    length = length_at(chain.plan, 0)
    sizes = (min(AT_ONCE, messages - start) for start in range(0, messages, AT_ONCE))
    rows = (np.frombuffer(chance.bytes(n * length), np.uint8).reshape(n, length) for n in sizes)
    with data.open("wb") as stream:
        write_sealed(stream, length, batch_id, ((0, chunk) for chunk in rows))
    signed = folder / "random.chain.json"
    signed.write_bytes(chain_bytes(links_of(chain, messages, batch_id, file_sha256(data))))
    return chain, data, signed


def links_of(
    chain: Chain, messages: int, batch_id: str, sha256: str, round_number: int = 1
) -> list[SignedLink]:
    """Of every mixer, each with the fewest dummies, up to the file with this hash."""
    dummies, links = dummies_allowed(chain.plan, chain.lane)[0], list[SignedLink]()
    people = messages - len(chain.keys) * dummies
    for hop, keys in enumerate(chain.keys, 1):
        came, last = people + (hop - 1) * dummies, hop == len(chain.keys)
        numbers = {"messages_in": came, "repeats": 0, "dummies": dummies}
        numbers["messages_out"] = came + dummies
        link = Link(
            plan=chain.plan.hash,
            round=round_number,
            hop=hop,
            mixer=keys.identity_hex,
            submissions=people,
            refused={},
            lanes=(LaneCounts(refused=0, **numbers),),
            input_sha256=links[-1].record.output_sha256 if links else "",
            output_sha256=sha256 if last else secrets.token_hex(32),
            batch_id=batch_id,
            previous=links[-1].sha256 if links else "",
            **numbers,
        )
        links.append(sign(link, keys.identity))
    return links


def delivered(folder: Path, batch: tuple[Chain, Path, Path]) -> tuple[float, float, float]:
    """From the last mixer's process to the analyst's: seconds, and memory of both."""
    chain, data, signed = batch
    survey, own = SurveyFolder(folder), folder / "receiver"
    for path in (survey.analyst, own):
        path.mkdir(parents=True)
    survey.plan.write_bytes(chain.plan.bytes)
    identity = make_identity(own / "identity.pem")
    place = Receiver(listen=Place(LOOPBACK, 0), folder=own)
    with receiver(Receiving(place, "analyst", (survey,))) as served:
        station = Station(hop=0, name="analyst", identity=identity.public, url=served.url)
        key = chain.keys[-1].identity.private_bytes_raw()
        task = (key, folder / "deliveries.sqlite", data, signed, station)
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            seconds, memory = pool.submit(deliver_alone, *task).result()
        (arrived,) = survey.incoming.glob("*.parquet")
        assert arrived.stat().st_size == data.stat().st_size
        return seconds, memory, most_megabytes(served.process.pid)


def deliver_alone(
    key: bytes, state: Path, data: Path, chain: Path, station: Station
) -> tuple[float, float]:
    """In a process of its own: seconds, and the most memory that it had."""
    identity = Identity(Ed25519PrivateKey.from_private_bytes(key))
    return spent(lambda: deliver(state, identity, data, chain, station)), peak_megabytes()


@contextmanager
def nginx(folder: Path) -> Iterator[tuple[str, str, int]]:
    """Takes files by PUT: its addresses with TLS and without, and the process that writes."""
    for name in ("put", "arriving"):
        (folder / name).mkdir()
    certificate = folder / "tls.pem"
    ensure_certificate(make_identity(folder / "identity.pem"), certificate)
    ports = {"tls": free_port(), "plain": free_port()}
    config = folder / "nginx.conf"
    user = "" if os.geteuid() else "user root;\n"  # by default its worker is somebody else
    config.write_text(NGINX.format(user=user, place=folder, certificate=certificate, **ports))
    command = ["nginx", "-e", "stderr", "-p", str(folder), "-c", str(config)]
    with ended(subprocess.Popen(command)) as process:
        while not (workers := family(process.pid)[1:]):
            time.sleep(0.05)
        url = f"{LOOPBACK}:{ports['tls']}", f"{LOOPBACK}:{ports['plain']}"
        yield f"https://{url[0]}", f"http://{url[1]}", workers[0]


def put(url: str, data: Path) -> tuple[float, float]:
    """By curl: seconds, and the most memory that it had."""
    command = ["curl", "-sSfk", "-T", str(data), f"{url}/{secrets.token_hex(8)}"]
    start, most = time.perf_counter(), 0.0
    with subprocess.Popen(command) as child:
        while child.poll() is None:
            with suppress(OSError, IndexError):
                most = max(most, most_megabytes(child.pid))
            time.sleep(0.02)
    if child.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    return time.perf_counter() - start, most


def checked(folder: Path, data: Path) -> float:
    """Seconds for what a delivery also does: the file is on the disk, and both sides hashed it."""
    (arrived,) = (folder / "put").iterdir()

    def check() -> None:
        with arrived.open("rb") as stream:
            os.fsync(stream.fileno())
        subprocess.run(
            ["sha256sum", str(data), str(arrived)], stdout=subprocess.DEVNULL, check=True
        )

    return spent(check)


def all_ways(folder: Path, messages: int, repeats: int) -> tuple[int, list[Sent]]:
    """Each way in turns: krand, and curl to nginx; with the size of the file."""
    progress(f"a batch of {messages:,} random messages")
    batch = random_batch(folder, messages)
    data = batch[1]
    ways = {name: Sent(name) for name in (KRAND, CHECKED, TLS, PLAIN)}
    for number in range(repeats):
        own = folder / f"run-{number}"
        (own / "nginx").mkdir(parents=True)
        ways[KRAND].add(*delivered(own / "analyst", batch))
        with nginx(own / "nginx") as (tls, plain, worker):
            seconds, memory = put(tls, data)
            ways[TLS].add(seconds, memory, most_megabytes(worker))
            more = checked(own / "nginx", data)
            ways[CHECKED].add(seconds + more, memory, most_megabytes(worker))
            ways[PLAIN].add(*put(plain, data), most_megabytes(worker))
        shutil.rmtree(own)
        progress(", ".join(f"{one.name}: {one.seconds[-1]:.1f} s" for one in ways.values()))
    return data.stat().st_size, list(ways.values())
