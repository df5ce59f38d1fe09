"""Counting on Spark, with real files: the same tally as on one machine, number by number."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import krand
import steps
import world
from command_line import done
from components import require

# Spark's Java lives for seconds: compiling its code for speed costs more than it gains.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


@pytest.mark.parametrize("name", ["copies", "tiny"])
def test_spark_counts_what_one_machine_counts(name: str, tmp_path: Path) -> None:
    """Records of a data holder, and a sealed batch of a collector."""
    require("pyspark")
    if name in steps.PEOPLE:
        study = steps.example(name, tmp_path / "study")
        given = f"{study.batch()} --key key.pem"
        at, plan = study.at, study.at / "plan.json"
    else:
        at, plan, given = tmp_path, world.plan_file(name), str(world.responses(name))
    for engine in ("local", "spark"):
        done(f"tally {given} --plan {plan} --engine {engine} --workers 2 -o {engine}.json", at=at)
    local, spark = (krand.read_tally(at / f"{engine}.json") for engine in ("local", "spark"))
    assert spark.same_as(local)
    assert spark.people == (steps.PEOPLE.get(name) or world.crowd(name))
