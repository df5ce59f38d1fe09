"""What passing batches on costs: services beside commands, and the transport beside curl.

    python benchmarks/partners.py               # writes benchmarks/partners.md; about 20 minutes
    python benchmarks/partners.py --quick       # a smoke run: to the terminal only
    KRAND_MIXED_MESSAGES=100000 python benchmarks/partners.py    # not a million sealed messages

Every party is a process of its own, on loopback, with TLS by its identity. Needs krand[serve],
Linux, curl and nginx.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memory import family_megabytes, most_megabytes, peak_of_command
from partner_services import (
    LOOPBACK,
    Served,
    deliver,
    mixer_service,
    paired,
    receiver,
    station_after,
)
from partner_transport import Sent, all_ways

from collector import free_port
from krand.batches.chain import read_chain, verify_chain
from krand.mixing.mixer import MixedFiles, first_mix
from krand.mixing.store import MixerStore
from krand.partners.identity import read_identity
from krand.site.part import Receiving
from krand.site.site_file import read_site
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan
from krand.survey.survey_folder import SurveyFolder
from mixing_speed import OPTIONS, Chain, people
from running import conditions, progress, run_benchmark, spent, table

RESULTS = Path(__file__).with_suffix(".md")
MILLION = 10**6
SEALED = int(os.environ.get("KRAND_MIXED_MESSAGES", MILLION))
"""Fewer where a million would take too long; the results say how many."""
RANDOM, REPEATS = 10**7, 3
QUICK_SEALED, QUICK_RANDOM = 5_000, 200_000
NAMES = ("university", "union")


@dataclass(frozen=True, slots=True)
class Party:
    """What one party took."""

    name: str
    seconds: float
    alone: float
    """Megabytes of its own process at its peak."""
    together: float
    """With the processes that it started, shared pages divided."""


@contextmanager
def watched(processes: list[int]) -> Iterator[dict[int, float]]:
    """The most megabytes of each process and its children, while the block runs."""
    most, over = dict.fromkeys(processes, 0.0), threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            for process in processes:
                most[process] = max(most[process], family_megabytes(process))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield most
    finally:
        over.set()
        thread.join()


def copied_stores(services: list[Served], folder: Path) -> list[Path]:
    """The stores of both mixers before they mix, for the commands."""
    copies = []
    for served in services:
        (store,) = served.store.glob("surveys/*/store")
        copies.append(Path(shutil.copytree(store, folder / f"{served.store.name}-copy")))
    return copies


def by_services(survey: SurveyFolder, services: list[Served], files: MixedFiles) -> list[Party]:
    """From the collector's file to the analyst's receiver; each party is told by its output."""
    part = Receiving(read_site(survey.site_file).receiver, "analyst", (survey,))
    identity = read_identity(survey.identity)
    with receiver(part) as analyst:
        running = [*services, analyst]
        with watched([served.process.pid for served in running]) as most:
            start = time.perf_counter()
            task = survey.deliveries, identity, files.data, files.chain, station_after(survey, 1)
            sent = spent(lambda: deliver(*task))
            while not list(survey.incoming.glob("*.chain.json")):
                time.sleep(0.05)
            seconds = time.perf_counter() - start
        progress(f"services: {seconds:.1f} s, of which {sent:.1f} s until the first receipt")
        return [
            Party("all three services", seconds, 0.0, 0.0),
            *(
                Party(name, 0.0, most_megabytes(pid), most[pid])
                for name, pid in zip(
                    ("mixer 2", "mixer 3", "the analyst's receiver"), most, strict=True
                )
            ),
        ]


def by_files(
    survey: SurveyFolder, stores: list[Path], files: MixedFiles, folder: Path
) -> list[Party]:
    """`krand mix run` twice; whoever comes next takes the file from a folder."""
    taken, parties = files.data, []
    for hop, store in enumerate(stores, 2):
        out = folder / f"by-files-{hop}"
        words = ["mix", "run", taken, "--plan", survey.plan, "--store", store, "-o", out, "--quiet"]
        start = time.perf_counter()
        peak = peak_of_command([sys.executable, "-m", "krand", *map(str, words)])
        parties.append(Party(f"mixer {hop}: krand mix run", time.perf_counter() - start, 0.0, peak))
        (taken,) = out.glob("*.parquet")
        progress(f"{parties[-1].name}: {parties[-1].seconds:.1f} s")
    check_whole(read_plan(survey.plan), out, files)
    return parties


def check_whole(plan: Plan, folder: Path, files: MixedFiles) -> None:
    """The chain is that of this batch, and nothing was refused."""
    (chain,) = folder.glob("*.chain.json")
    links = read_chain(chain)
    verify_chain(plan, links)
    last = links[-1].record
    assert (last.hop, last.submissions) == (3, files.link.submissions)
    assert not any(link.record.refused for link in links)


def services_section(messages: int, folder: Path) -> str:
    with mixer_service(folder, NAMES[0]) as first, mixer_service(folder, NAMES[1]) as second:
        services = [first, second]
        survey = paired(folder, services, f"https://{LOOPBACK}:{free_port()}")
        plan = read_plan(survey.plan)
        progress(f"sealing {messages:,} messages")
        sealed = people(Chain(plan, ()), messages)
        with MixerStore(survey.mixer_store) as store:
            out = folder / "collected"
            files = first_mix(store, plan, 1, secrets.token_hex(16), sealed, out)
        stores = copied_stores(services, folder)
        connected = by_services(survey, services, files)
        check_whole(plan, survey.incoming, files)
    carried = by_files(survey, stores, files, folder)
    return services_text(messages, files.data.stat().st_size, connected, carried)


def services_text(messages: int, size: int, connected: list[Party], carried: list[Party]) -> str:
    whole, parties = connected[0].seconds, connected[1:]
    by_hand = sum(party.seconds for party in carried)
    rows = [
        ["services: collector → mixer 2 → mixer 3 → analyst", f"{whole:.1f} s", "", ""],
        *(
            ["", "", f"{party.name}: {party.alone:,.0f} MB", f"{party.together:,.0f} MB"]
            for party in parties
        ),
        *(
            [party.name, f"{party.seconds:.1f} s", "", f"{party.together:,.0f} MB"]
            for party in carried
        ),
        ["both commands", f"{by_hand:.1f} s", "", ""],
        ["**services ÷ commands**", f"**{whole / by_hand:.2f}**", "", ""],
    ]
    fewer = "" if messages >= MILLION else " A million messages were not tried in this run."
    about = (
        f"## {messages:,} sealed messages through three services\n\nThe collector's batch"
        f" ({size / 1e6:,.0f} MB) is delivered to `krand mix serve`, mixed, delivered to a second"
        " one, mixed, and delivered to the analyst's receiver, each with receipts and over TLS."
        " Beside it the same batch with copies of the same stores by `krand mix run`, one mixer"
        " after the other, without carrying a file anywhere. Memory is the most of each service's"
        " own process (VmHWM), and of all its processes together, shared pages divided." + fewer
    )
    columns = ["way", "time", "peak of the process", "peak of all its processes"]
    return f"{about}\n\n{table(columns, rows)}"


def transport_section(messages: int, repeats: int, folder: Path) -> str:
    size, ways = all_ways(folder, messages, repeats)
    rows = [_transport_row(one, size, ways[0]) for one in ways]
    about = (
        f"## {messages:,} random messages through the transport alone\n\nA batch of"
        f" {size / 1e6:,.0f} MB, whose chain is signed with the keys of a plan, from a process with"
        " the last mixer's identity to the analyst's receiver; nobody looks inside. curl and nginx"
        " neither hash the file nor wait for the disk, so a row has both added. Medians of"
        f" {repeats}; ratios are krand's time divided by theirs. Memory is VmHWM."
    )
    columns = ["way", "time", "MB per second", "krand ÷ this", "sender", "receiver"]
    return f"{about}\n\n{table(columns, rows)}"


def _transport_row(one: Sent, size: int, ours: Sent) -> list[str]:
    ratio = "" if one is ours else f"{ours.median / one.median:.1f}"
    memory = [f"{max(found):,.0f} MB" for found in (one.sender, one.receiver)]
    return [one.name, f"{one.median:.1f} s", f"{size / one.median / 1e6:,.0f}", ratio, *memory]


def report(quick: bool) -> str:
    about = conditions(
        "python benchmarks/partners.py",
        quick,
        ("krand", "cryptography", "uvicorn", "starlette", "httptools"),
        f"One choice of {len(OPTIONS)} options, ε = 1, δ = 10⁻⁶, three mixers, of which the"
        " collector is the first: one message a person.",
    )
    note = "<!-- Written by benchmarks/partners.py; do not edit. -->"
    sections = ["# What passing batches on costs", note, about]
    sealed, random = (QUICK_SEALED, QUICK_RANDOM) if quick else (SEALED, RANDOM)
    with tempfile.TemporaryDirectory(dir=RESULTS.parent) as name:
        sections.append(services_section(sealed, Path(name)))
    with tempfile.TemporaryDirectory(dir=RESULTS.parent) as name:
        sections.append(transport_section(random, 1 if quick else REPEATS, Path(name)))
    return "\n\n".join(sections) + "\n"


if __name__ == "__main__":
    run_benchmark(__doc__, RESULTS, report)
