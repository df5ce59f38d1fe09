"""From a survey file to a verified report, for each kind of noise: commands, HTTP and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import krand
import steps
import world
from command_line import told


@pytest.mark.parametrize("name", steps.PEOPLE)
def test_from_answers_to_a_verified_report(name: str) -> None:
    """Everybody is counted, the promise is kept, and every check passes."""
    study = steps.example(name)
    results = krand.read_results(study.at / "results.json")
    assert results.people == steps.PEOPLE[name]
    assert results.kept, "the promise holds for those who came"
    assert "<h1" in (study.at / "report.html").read_text(encoding="utf-8")
    checked = told("verify plan.json results.json", at=study.at)
    assert checked["state"] != "failed", json.dumps(checked, indent=1)


def test_a_round_below_its_crowd_is_not_released(tmp_path: Path) -> None:
    study = steps.published(tmp_path, "tiny")
    with study.collecting() as url:
        study.answer(url, world.people("tiny", 11))
    with pytest.raises(AssertionError, match="at least the planned crowd of 12"):
        study.close()
    assert not list(tmp_path.glob("batches-1/*"))


def test_without_sockets(tmp_path: Path) -> None:
    """krand's own fake in the place of the collector."""
    study = steps.published(tmp_path, "tiny")
    collector = study.collector()
    study.answer(collector.url, world.people("tiny", 12), transport=collector)
    batch = collector.release(tmp_path / "batches")
    tally = krand.tally_batches(study.plan, [batch], study.key, collector.public_key)
    assert tally.people == 12
