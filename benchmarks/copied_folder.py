"""What a copied folder of a running collector tells: an attack, many times, beside pure chance.

    python benchmarks/copied_folder.py              # writes benchmarks/copied_folder.md
    python benchmarks/copied_folder.py --quick      # a smoke run: to the terminal only

The attacker (tests/attacks/copied_folder.py) shares no code with the collector. On the first half
of the copies they choose the way to guess that works best; it is measured on the other half.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from krand.collector.sqlite.spool import Spool
from krand.collector.store import SpoolConfig
from krand.wire.submissions import SubmissionFormat, Submitted
from running import progress, run_benchmark, table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from attacks.copied_folder import (
    Copy,
    late_guesses,
    orders,
    tied_by_journal,
    tied_by_place,
)

LENGTH, MESSAGES = 54, 5
COPIES, FEW = 20, 4


@dataclass(frozen=True, slots=True)
class Scene:
    """How people come, and when the folder is copied."""

    name: str
    people: int
    group: int
    quiet: tuple[int, ...]
    """Numbers of people after whom there is a quiet moment."""


SCENES = (
    Scene("60 people, one by one, no pause", 60, 1, ()),
    Scene("300 people, one by one, no pause", 300, 1, ()),
    Scene("1,000 people, one by one, no pause", 1_000, 1, ()),
    Scene("1,000 people, 40 at a time, no pause", 1_000, 40, ()),
    Scene("300 people, one by one, then a quiet second", 300, 1, (300,)),
    Scene("1,000 people, the last 100 after a pause, then another", 1_000, 1, (900, 1_000)),
    Scene("5,000 people, 40 at a time, no pause", 5_000, 40, ()),
    Scene("5,000 people, 40 at a time, then a quiet second", 5_000, 40, (5_000,)),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one copy gave: a share for every way to guess."""

    by_journal: int
    tied: list[float]
    order: list[float]
    late: list[float]


def main() -> None:
    run_benchmark(__doc__, Path(__file__).with_suffix(".md"), _report)


def _report(quick: bool) -> str:
    rows = []
    for scene in SCENES:
        progress(scene.name)
        with ProcessPoolExecutor() as pool:
            seen = list(pool.map(_seen, [scene] * (FEW if quick else COPIES)))
        rows.append(
            [
                scene.name,
                f"{sum(one.by_journal for one in seen):,}",
                f"{_learned([one.tied for one in seen], 100)} ({100 / scene.people:.2f})",
                _learned([one.order for one in seen], 1),
                f"{_learned([one.late for one in seen], 100)} (10)",
            ]
        )
    columns = [
        "how they came",
        "people tied by the journal",
        "owner of a message guessed, % (chance)",
        "rank correlation with arrival (chance: 0)",
        "last tenth guessed, % (chance)",
    ]
    how = (
        f"{'A smoke run' if quick else 'A full run'} on {datetime.now(UTC):%Y-%m-%d}:"
        f" {FEW if quick else COPIES} copies of each, {MESSAGES} messages a person. The folder is"
        " copied while the collector runs; the attacker has the key of the digests as well. Each"
        " figure is of the way to guess that worked best on half of the copies, measured on the"
        " other half, with a 95 % confidence interval."
    )
    note = "<!-- Written by benchmarks/copied_folder.py; do not edit. -->"
    return "\n\n".join(["# What a copied folder tells", note, how, table(columns, rows)]) + "\n"


def _seen(scene: Scene) -> Seen:
    with tempfile.TemporaryDirectory(dir=_memory()) as name:
        place = Path(name)
        os.environ["XDG_STATE_HOME"] = str(place / "state")
        copy, digests, messages = _copied(scene, place)
        people, _ = tied_by_journal(copy, digests, messages)
        right, guessed = tied_by_place(copy, digests, messages)
        order, _ = orders(copy, [own[0] for own in messages])
        flat = [message for own in messages for message in own]
        late, _, _ = late_guesses(copy, flat, len(flat) // 10)
    return Seen(people, [one / max(1, guessed) for one in right], order, late)


def _copied(scene: Scene, place: Path) -> tuple[Copy, list[bytes], list[list[bytes]]]:
    ids = [os.urandom(16) for _ in range(scene.people)]
    messages = [[os.urandom(LENGTH) for _ in range(MESSAGES)] for _ in ids]
    format = SubmissionFormat(1, LENGTH, MESSAGES)
    config = SpoolConfig(plan_hash="ab" * 32, crowd=10**6, format=format)
    with Spool(place / "spool", config, place / "key") as spool:
        for first in range(0, scene.people, scene.group):
            numbers = range(first, min(first + scene.group, scene.people))
            spool.add([Submitted(ids[n], b"".join(messages[n])) for n in numbers])
            if any(number - 1 in numbers for number in scene.quiet):
                spool.tidy()
        shutil.copytree(place / "spool", place / "copy")
    key = bytes.fromhex((place / "key").read_text(encoding="ascii"))
    digests = [hashlib.blake2b(one, digest_size=16, key=key).digest() for one in ids]
    return Copy.of(place / "copy"), digests, messages


def _learned(ways: Sequence[Sequence[float]], scale: float) -> str:
    """The best way on the first half, measured on the second, as mean ± 1.96 standard errors."""
    half = len(ways) // 2
    means = [abs(statistics.mean(column)) for column in zip(*ways[:half], strict=True)]
    best = means.index(max(means))
    values = [row[best] * scale for row in ways[half:]]
    error = 1.96 * statistics.stdev(values) / len(values) ** 0.5
    return f"{statistics.mean(values):.2f} ± {error:.2f}"


def _memory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


if __name__ == "__main__":
    main()
