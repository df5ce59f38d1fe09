"""Drivers that count where the data is: one machine, Dask or Spark; all run the same function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import cast

from krand.analyze.engines.partition import Work
from krand.analyze.engines.source import Source
from krand.analyze.tally import Tally
from krand.errors import InvalidInput
from krand.privacy.guarantee import Linkage

__all__ = ["ENGINES", "Engine", "Options", "Progress", "engine_named", "tally_source"]

ENGINES = ("local", "spark", "dask")

Progress = Callable[[int], None]
"""Told how many more reports are done."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to count: what is of no use to an engine it leaves alone."""

    workers: int = 1
    """Processes on this machine."""
    place: str | None = None
    """The address of a cluster."""
    checkpoint: Path | None = None
    """Where to write down how far a long count is."""
    progress: Progress = lambda _: None


Engine = Callable[[Source, Work, Options], Tally]


def engine_named(name: str) -> Engine:
    """The engine of that name, loaded only now."""
    if name not in ENGINES:
        raise InvalidInput("engine", f"must be one of {', '.join(ENGINES)}", name)
    return cast(Engine, import_module(f"krand.analyze.engines.{name}").count)


def tally_source(
    source: Source, work: Work, engine: str = "local", options: Options | None = None
) -> Tally:
    """The whole tally of a source, with its people and its name."""
    found = engine_named(engine)(source, work, options or Options())
    # Bits are counted for people who send nothing too; records only where they arrived.
    reports = found.reports if work.linkage is Linkage.RECORD else source.people
    people = source.people
    return replace(found, people=people, crowd=people, reports=reports, batches=(source.sha256,))
