"""One suite over all engines: the same responses give the same tally, number by number."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from analysis.engines.responses import PEOPLE, PLANS, Case, mixed, sealed, unsealed
from components import require
from krand.analysis.engines import ENGINES, Options, tally_source
from krand.analysis.engines.repeats import find_repeats
from krand.analysis.tally import MAX_TABLE_BITS, Tally
from krand.promise import Linkage

Count = Callable[[Case], Tally]
# Spark's Java lives for seconds: compiling its code for speed costs more than it gains.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def _counted(case: Case, engine: str, options: Options) -> Tally:
    """As `tally_sources` does it: copies are found before anything is counted."""
    repeats = find_repeats(case.source) if case.source.sealed else None
    return tally_source(case.source, case.work, engine, options, repeats)


@pytest.fixture(scope="module", params=ENGINES)
def count(request: pytest.FixtureRequest) -> Iterator[Count]:
    """The engine with two workers; Spark is started once."""
    if request.param == "spark":
        require("pyspark")
        from krand.analysis.engines.spark import _session

        session, _ = _session("local[2]")
        session.sparkContext.setLogLevel("ERROR")
        yield lambda case: _counted(case, "spark", Options(2))
        session.stop()
        return
    yield lambda case: _counted(case, "local", Options(2))


@pytest.mark.slow
@pytest.mark.parametrize("form", [unsealed, sealed])
@pytest.mark.parametrize("name", PLANS)
def test_counts_are_those_of_the_content(
    count: Count, form: Callable[..., Case], name: str, tmp_path: Path
) -> None:
    """Every number of the tally is what numpy finds in the content that was put in."""
    case = form(PLANS[name], tmp_path / "responses.parquet")
    found = count(case)
    positions = case.plan.layout.positions
    assert found.people == PEOPLE
    assert found.batches == (case.source.sha256,)
    assert dict(found.rejected) == case.rejected
    assert found.nulls == sum(case.nulls or [])
    assert case.nulls == (None if found.lane_nulls is None else found.lane_nulls.tolist())
    if case.plan.survey.linkage is Linkage.BIT:
        assert np.array_equal(found.counts, np.bincount(case.content, minlength=positions))
        assert found.responses == PEOPLE
        return
    bits = np.unpackbits(case.content, axis=1)[:, :positions].astype(np.int64)
    assert found.responses == len(bits)
    assert np.array_equal(found.counts, bits.sum(axis=0))
    expected = np.bincount(bits.sum(axis=1), minlength=positions + 1)
    assert np.array_equal(found.histogram, expected)
    assert (found.table is None) == (positions > MAX_TABLE_BITS)
    tables = dict(found.joint)
    if found.table is not None:
        tables[tuple(range(positions))] = found.table
    for chosen, table in tables.items():
        weights = 1 << np.arange(len(chosen))[::-1]
        codes = bits[:, chosen] @ weights
        assert np.array_equal(table, np.bincount(codes, minlength=1 << len(chosen)))
    assert tables


@pytest.mark.check
def test_batches_of_mixers_are_counted_lane_by_lane(count: Count, tmp_path: Path) -> None:
    """Tokens and nulls of people and dummies, as another program counts them."""
    case = mixed(tmp_path / "batch.parquet")
    found = count(case)
    assert found.lane_nulls.tolist() == case.nulls
    assert np.array_equal(found.counts, np.bincount(case.content, minlength=found.positions))
    assert (found.people, found.rejected, found.ids) == (10, {}, (case.source.id,))
    assert found.manifests == (case.source.manifest,)


@pytest.mark.check
def test_an_engine_of_its_own_cluster(tmp_path: Path) -> None:
    """Without an address Spark starts its own workers, and stops them again."""
    case = sealed(PLANS["bit"], tmp_path / "responses.parquet")
    expected = tally_source(case.source, case.work)
    require("pyspark")
    assert tally_source(case.source, case.work, "spark", Options(2)).same_as(expected)
