"""A count that dies at any of its writes goes on, and ends with the same bytes.

At every call:
KRAND_LONG=1 KRAND_FAULTS=1000 pytest tests/analysis/engines/test_resuming_kills.py -s
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.engines.responses import BIT, KEY, LONG, SIGNER, sealed, unsealed
from collector.halting import Held, calls_noted, require_held_calls, spread_over
from collector.lives import Nursery, nursery
from components import require
from krand.survey.plan import Plan
from krand.wire.keys import write_key_pair

pytestmark = pytest.mark.check

require("uvicorn")
require("starlette")

FAULTS = int(os.environ.get("KRAND_FAULTS", "5"))
KILLED, NAMED = -9, (2, 75)
PLANS = {"responses, bit": BIT, "sealed batch, record": LONG}
CHANGED = {
    "responses, bit": {"krand.analysis.engines.local.COUNTED_AT_A_TIME": 500},
    "sealed batch, record": {"krand.analysis.engines.local.OPENED_AT_A_TIME": 20},
}
OFTEN = {"krand.analysis.engines.local.SECONDS_BETWEEN_CHECKPOINTS": -1.0}


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("resuming") / "errors"


@pytest.fixture(scope="module")
def home(errors: Path) -> Iterator[Nursery]:
    require_held_calls()
    with nursery(errors, "krand.analysis.tallying", "krand.analysis.engines.local") as made:
        yield made


class Tallies:
    """One tally, counted again and again."""

    def __init__(self, folder: Path, home: Nursery, kind: str) -> None:
        self.home, self.kind, self.work = home, kind, folder / "work"
        self.work.mkdir()
        self.tally, self._note = self.work / "tally.json", folder / "note"
        self._options = _inputs(folder, PLANS[kind])

    def run(self, **faults: Any) -> int:
        """`krand tally`, with faults below the folder of its output; how it ended."""
        arguments = ["tally", *self._options, "--workers", "1", "-o", str(self.tally)]
        self._note.unlink(missing_ok=True)
        held = {"under": str(self.work), "note": str(self._note), **faults}
        changed = {**OFTEN, **CHANGED[self.kind]}
        self.home.start("command", arguments=arguments, held=held, changed=changed)
        return self.home.wait()

    def calls(self) -> list[Held]:
        """Those of the last run."""
        return calls_noted(self._note)

    def counted(self) -> int:
        """Rows in the checkpoint that was left; it is whole."""
        for path in self.work.glob(".tally.json.*.checkpoint"):
            return int(json.loads(path.read_bytes())["rows"])
        return 0

    def finish(self) -> bytes:
        """Go on to the end; the tally, and nothing beside it."""
        assert self.run() == 0
        assert [path.name for path in self.work.iterdir()] == ["tally.json"]
        content = self.tally.read_bytes()
        self.tally.unlink()
        return content


def _inputs(folder: Path, plan: Plan) -> list[str]:
    """Responses, or a sealed batch with its manifest and keys; the options that name them."""
    (folder / "plan.json").write_bytes(plan.bytes)
    if plan is BIT:
        unsealed(plan, folder / "r.parquet")
        return [str(folder / "r.parquet"), "--plan", str(folder / "plan.json")]
    sealed(plan, folder / "batch.parquet")
    write_key_pair(KEY, folder / "key.pem", folder / "key.pub.pem")
    write_key_pair(SIGNER, folder / "c.pem", folder / "c.pub.pem")
    named = {"--plan": "plan.json", "--key": "key.pem", "--collector-key": "c.pub.pem"}
    options = [part for name, file in named.items() for part in (name, str(folder / file))]
    return [str(folder / "batch.parquet"), *options]


@pytest.mark.loop
@pytest.mark.parametrize("kind", PLANS)
def test_a_tally_killed_at_any_write_goes_on(tmp_path: Path, home: Nursery, kind: str) -> None:
    """Killed once or twice, in the middle of a checkpoint or between two: the same bytes."""
    tallies = Tallies(tmp_path, home, kind)
    expected = tallies.finish()
    calls, draw = tallies.calls(), random.Random(FAULTS)
    saves = sum(name == "fsync" and "deleted" in path for name, path in calls)
    assert saves > 4, calls
    seen: Counter[str] = Counter()
    for place in spread_over(1, len(calls), FAULTS):
        assert tallies.run(stop_at=place) == KILLED
        seen[f"{calls[place - 1][0]}"] += 1
        before = tallies.counted()
        if draw.random() < 0.5:  # once more, wherever it is then
            tallies.run(stop_at=draw.randint(1, len(calls)))
            assert tallies.counted() >= before or tallies.tally.exists()
        assert tallies.finish() == expected
    print(f"\n{seen.total()} kills of a tally, {kind}, {saves} checkpoints: before {dict(seen)}")


@pytest.mark.loop
def test_a_tally_whose_disk_turns_read_only_says_so(
    tmp_path: Path, home: Nursery, errors: Path
) -> None:
    """From any of its calls on: a sentence and no half file; afterwards the same bytes."""
    tallies = Tallies(tmp_path, home, "sealed batch, record")
    expected = tallies.finish()
    for place in spread_over(1, len(tallies.calls()), FAULTS // 2):
        errors.write_bytes(b"")
        code, told = tallies.run(refuse_from=place), errors.read_text(encoding="utf-8")
        assert code in NAMED or (code == 0 and tallies.tally.read_bytes() == expected), told
        assert code == 0 or told.startswith("error: ")
        assert tallies.finish() == expected


@pytest.mark.loop
def test_an_estimate_whose_disk_turns_read_only_says_so(
    tmp_path: Path, home: Nursery, errors: Path
) -> None:
    """The same of `krand estimate`: the old file stays whole, or the new one is there."""
    tallies = Tallies(tmp_path, home, "sealed batch, record")
    assert tallies.run() == 0
    results = tmp_path / "results"
    results.mkdir()
    plan, output = str(tmp_path / "plan.json"), results / "e.json"
    line = ["estimate", str(tallies.tally), "--plan", plan, "-o", str(output)]
    note = tmp_path / "n"
    home.start("command", arguments=line, held={"under": str(results), "note": str(note)})
    assert home.wait() == 0
    for place in range(1, 1 + len(calls_noted(note))):
        before = output.read_bytes()
        errors.write_bytes(b"")
        held = {"under": str(results), "refuse_from": place}
        home.start("command", arguments=line, held=held)
        code, told = home.wait(), errors.read_text(encoding="utf-8")
        assert code == 0 or (code in NAMED and told.startswith("error: ")), told
        assert code == 0 or output.read_bytes() == before
        assert json.loads(output.read_bytes())
