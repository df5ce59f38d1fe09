"""kill -9 at random points of two mixers' services: one plan, and every batch once.

A child process does the work of both services and kills itself at the n-th call of a function. More
kills: KRAND_LONG=1 KRAND_FAULTS=300 pytest tests/partners/test_service_kills.py
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from krand.batches.chain import read_chain, verify_chain
from krand.mixing.keys import descriptor_bytes
from krand.mixing.mixer import MixedFiles
from krand.partners.records import Stage
from krand.wire.plan_signatures import check_signatures, sign_plan
from mixing.test_kills import FAULTS, KILLED, lived
from partners.mixer_services import Connected, Organiser, Running

pytestmark = pytest.mark.check

T = TypeVar("T")
MOST_WORK = 50
STEPS = (
    "Place.make_store",
    "Records.append",
    "Records.add_erasure",
    "MixerStore.bind",
    "MixerStore.record",
    "_published",
    "Passing._tidy",
    "_remove",
)
"""Functions at whose beginnings and ends as many kills fall as in all the rest."""


def kills_of(
    life: Callable[[Path], None],
    prepared: Path,
    work: Path,
    look: Callable[[Path], None] = lambda _: None,
) -> list[Path]:
    """Folders in which a life was cut short twice, and then lived to its end.

    `look` looks at each of them after every life.
    """
    shutil.copytree(prepared, work / "whole")
    assert lived(life, work / "whole", 0, work / "log", STEPS) == 0
    steps = json.loads((work / "log").read_text())
    chance, kills, folders = random.Random(), 0, []
    order = itertools.cycle(chance.sample(steps, len(steps)))
    while kills < FAULTS // 2:
        folder = work / f"life {len(folders)}"
        shutil.copytree(prepared, folder)
        near, anywhere = next(order) + chance.randint(0, 30), chance.randint(1, steps[-1])
        for kill_at in (near, anywhere, 0):
            ended = lived(life, folder, kill_at)
            assert ended in (KILLED, 0)
            look(folder)
            kills += ended == KILLED
        assert ended == 0
        folders.append(folder)
    return folders


def worked(work: Callable[[], object], found: Callable[[], T | None]) -> T:
    """What is found after some work; a service that never gets there has failed."""
    for _ in range(MOST_WORK):
        if result := found():
            return result
        work()
    raise AssertionError("nothing came of all that work")


def keep_seen(folder: Path, name: str, content: bytes) -> None:
    """What somebody else has seen: written before anything else happens."""
    seen = folder / "seen"
    seen.mkdir(exist_ok=True)
    (seen / f"{name}-{len(list(seen.glob(f'{name}-*')))}").write_bytes(content)


def seen_in(folder: Path, name: str) -> set[bytes]:
    return {path.read_bytes() for path in (folder / "seen").glob(f"{name}-*")}


@pytest.mark.loop
def test_a_killed_service_gives_one_descriptor_and_signs_one_plan(tmp_path: Path) -> None:
    """Every life asks the same; whatever was given once is given again."""
    organiser, running = Organiser(), Running(tmp_path / "prepared")
    running.service.close()
    request, public = organiser.request(), organiser.identity.public

    def life(folder: Path) -> None:
        running.folder = folder
        running.service = service = running.started()
        mixer = worked(service.work, lambda: service.signing.ask_keys(public, request))
        keep_seen(folder, "descriptor", descriptor_bytes(mixer))
        plan = organiser.plan(mixer)
        signature = worked(service.work, lambda: running.send(organiser, plan))
        check_signatures(plan, [sign_plan(plan, organiser.identity.key), signature])  # type: ignore[list-item]
        keep_seen(folder, "plan", plan.hash.encode())

    for folder in kills_of(life, tmp_path / "prepared", tmp_path):
        running.folder = folder
        service = running.started()
        assert len(seen_in(folder, "descriptor")) == len(seen_in(folder, "plan")) == 1
        assert [entry.record.plan.encode() for entry in service.records.entries] == [
            *seen_in(folder, "plan")
        ]
        (pairing,) = service.records.in_stage(*Stage)
        assert [path.name for path in (folder / "service" / "surveys").iterdir()] == [pairing.key]
        with running.service_folder.open_store(pairing) as store:
            assert store.plan == pairing.plan
        service.close()


@pytest.mark.loop
def test_every_batch_arrives_once_whoever_is_killed(tmp_path: Path) -> None:
    """Every byte that another party could have seen is the same in all lives."""
    (tmp_path / "prepared").mkdir()
    connected = Connected(tmp_path / "prepared")
    files = connected.collected()
    for running in connected.mixers.values():
        running.service.close()

    def life(folder: Path) -> None:
        started(connected, folder)
        connected.push(files)
        for hop in (2, 3):
            receipts = partial(
                connected.mixers[hop].service.deliveries.receipts, connected.plan.hash
            )
            worked(partial(connected.work, hop), receipts)
            connected.work(hop)

    for folder in kills_of(life, tmp_path / "prepared", tmp_path, keep_visible):
        started(connected, folder)
        check_once(connected, folder, files)
        for running in connected.mixers.values():
            running.service.close()


def started(connected: Connected, folder: Path) -> None:
    connected.folder = folder
    for hop, running in connected.mixers.items():
        running.folder = folder / str(hop)
        running.service = running.started()


def keep_visible(folder: Path) -> None:
    places = ["*/service/surveys/*/outgoing", "*/service/surveys/*/incoming", "analyst"]
    for path in (path for place in places for path in folder.glob(f"{place}/batch-*")):
        keep_seen(folder, path.name, path.read_bytes())


def check_once(connected: Connected, folder: Path, files: MixedFiles) -> None:
    names = {path.name.rpartition("-")[0] for path in (folder / "seen").iterdir()}
    assert {name: len(seen_in(folder, name)) for name in names} == dict.fromkeys(names, 1)
    last = f"batch-{files.link.batch_id}-3"
    assert set(connected.arrived()) == {f"{last}.parquet", f"{last}.chain.json"}
    links = read_chain(folder / "analyst" / f"{last}.chain.json")
    verify_chain(connected.plan, links)
    for hop in (2, 3):
        assert not any(connected.folders(hop).values())
        (erasure,) = connected.mixers[hop].service.erasures(connected.plan.hash)
        assert erasure.record.batches == 1
