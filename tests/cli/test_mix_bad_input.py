"""`krand mix run` with bad input: each fault is named, nothing is lost, nothing is written."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from command_line import run
from krand.mixing.mixer import MixedFiles
from mixing.chains import Party, mixed_plan_for, random_answers, sealed_people, stores_of
from mixing.test_chain_of_mixers import Chain, lanes_of


class Given(Chain):
    """Mixer 2 of three, and a batch of the collector."""

    def arguments(self, files: MixedFiles, hop: int = 2) -> list[str]:
        self.plan.save(self.folder / "plan.json")
        call = f"mix run {files.data} --plan {self.folder}/plan.json --store {self.stores[hop - 1]}"
        return f"{call} -o {self.folder}/out --workers 1".split()

    def run(self, files: MixedFiles, *more: str, hop: int = 2) -> Result:
        return run(*self.arguments(files, hop), *more)

    def written(self) -> list[Path]:
        return sorted((self.folder / "out").glob("*"))


Fault = Callable[[Given, MixedFiles], MixedFiles]


def given_for(party: Party, folder: Path) -> tuple[Given, MixedFiles]:
    folder.mkdir()
    given = Given(party, stores_of(party, folder), folder)
    return given, given.first(sealed_people(party.plan, random_answers(20)))


@pytest.fixture
def given(tmp_path: Path) -> tuple[Given, MixedFiles]:
    return given_for(mixed_plan_for(mixers=3), tmp_path / "given")


def changed_chain(**changes: object) -> Fault:
    """Its first link says something else."""

    def make(given: Given, files: MixedFiles) -> MixedFiles:
        values = json.loads(files.chain.read_bytes())
        values["links"][0] |= changes
        files.chain.write_text(json.dumps(values))
        return files

    return make


def of_another_plan(given: Given, files: MixedFiles) -> MixedFiles:
    return given_for(mixed_plan_for(mixers=2), given.folder / "other")[1]


def broken_chain(given: Given, files: MixedFiles) -> MixedFiles:
    files.chain.write_bytes(files.chain.read_bytes()[:-10])
    return files


def truncated(given: Given, files: MixedFiles) -> MixedFiles:
    files.data.write_bytes(files.data.read_bytes()[:-1])
    return files


def spoiled(lanes: int) -> Fault:
    """The messages of some lanes no longer open."""

    def make(given: Given, files: MixedFiles) -> MixedFiles:
        found = lanes_of(files)
        return given.forged(files, [(n, rows ^ 1 if n >= 3 - lanes else rows) for n, rows in found])

    return make


UNSIGNED = "chain: must be signed by its mixer"
FAULTS: dict[str, tuple[Fault, str]] = {
    "another plan": (of_another_plan, "chain.plan: must be"),
    "a forged chain": (changed_chain(signature="11" * 64), UNSIGNED),
    "other numbers": (changed_chain(submissions=21), UNSIGNED),
    "a broken chain": (broken_chain, "chain: must be"),
    "a truncated batch": (truncated, "batch: must be the file that link 1 of"),
    "nothing opens": (spoiled(3), "opening key: must open at least one message"),
    "many refused": (spoiled(1), "refused: must be at most 10 % of the messages, found '"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_and_nothing_is_written(
    given: tuple[Given, MixedFiles], name: str
) -> None:
    """Exit code 2, one message, no file; a good batch is mixed afterwards."""
    place, files = given
    make, told = FAULTS[name]
    content = files.data.read_bytes(), files.chain.read_bytes()
    found = place.run(make(place, files))
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith(f"error: {told}")
    assert not place.written()
    files.data.write_bytes(content[0])
    files.chain.write_bytes(content[1])
    assert place.run(files).exit_code == 0
    assert len(place.written()) == 2


def test_mixers_keep_their_order(given: tuple[Given, MixedFiles]) -> None:
    """Mixer 3 cannot take what mixer 2 has not mixed, and mixer 2 not its own output."""
    place, files = given
    found = place.run(files, hop=3)
    assert found.exit_code == 2
    assert found.stderr.startswith("error: chain: must have 2 links: this is mixer 3 of the plan")
    assert not place.written()
    mixed = place.next(2, files)
    found = place.run(mixed)
    assert (found.exit_code, "this is mixer 2 of the plan" in found.stderr) == (2, True)


def test_a_larger_part_may_be_refused_if_the_operator_says_so(
    given: tuple[Given, MixedFiles],
) -> None:
    """The share is named first; then --most-refused allows it."""
    place, files = given
    bad = spoiled(1)(place, files)
    share = float(place.run(bad).stderr.partition("found '")[2].partition(" %")[0])
    assert 10 < share < 100
    found = place.run(bad, "--most-refused", str(share / 100 + 0.01), "--json")
    assert found.exit_code == 0
    values = json.loads(found.stdout)
    assert values["refused"] == pytest.approx(share / 100 * values["messages_in"], rel=0.01)


def test_repeats_are_dropped_and_counted(given: tuple[Given, MixedFiles]) -> None:
    """They are no error: copies tell nothing if only the first one leaves."""
    place, files = given
    lanes = lanes_of(files)
    rows = lanes[0][1]
    lanes[0] = (0, np.concatenate([rows[1:], rows[-1:]]))
    found = place.run(place.forged(files, lanes), "--json")
    assert found.exit_code == 0
    assert json.loads(found.stdout)["repeats"] == 1


@pytest.mark.check
@pytest.mark.parametrize("size", [0, 2**10, 2**15, 2**16])
def test_a_full_disk_is_named_and_nothing_is_lost(
    given: tuple[Given, MixedFiles], size: int
) -> None:
    """No file can grow beyond a size; later the same command writes the batch."""
    place, files = given

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    command = [sys.executable, "-B", "-m", "krand", *place.arguments(files)]
    environment = {**os.environ, "KRAND_DEBUG": "0"}
    found = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=limited, env=environment
    )
    assert found.returncode in (2, 75), found.stderr
    assert found.stderr.startswith(("error: store: must be a writable place", "error: the store"))
    assert not place.written()
    found = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert found.returncode == 0, found.stderr
    assert len(place.written()) == 2
