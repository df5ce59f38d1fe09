"""Drivers that count where the data is: one machine or Spark; both run the same function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import cast

from krand.analysis.engines.partition import Work, tally_part
from krand.analysis.engines.repeats import Repeats
from krand.analysis.engines.source import Source
from krand.analysis.shapes import tally_shape
from krand.analysis.tally import Tally, merged
from krand.errors import InvalidInput
from krand.wire.messages import REPEATED

__all__ = ["ENGINES", "Engine", "Options", "Progress", "engine_named", "tally_source"]

ENGINES = ("local", "spark")

Progress = Callable[[int], None]
"""Called with the number of responses counted since the last call."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to count; an engine ignores what it has no use for."""

    workers: int = 1
    """Processes on this machine."""
    place: str | None = None
    """The address of a cluster."""
    progress: Progress = lambda _: None


Engine = Callable[[Source, Work, Options], Tally]


def engine_named(name: str) -> Engine:
    """The engine of that name, loaded only now."""
    if name not in ENGINES:
        raise InvalidInput("engine", f"must be one of {', '.join(ENGINES)}", name)
    return cast(Engine, import_module(f"krand.analysis.engines.{name}").count)


def tally_source(
    source: Source,
    work: Work,
    engine: str = "local",
    options: Options | None = None,
    repeats: Repeats | None = None,
) -> Tally:
    """The whole tally of a source, with its people and its name.

    What is there several times is left to this function, so that engines need not know an order.
    """
    repeats = repeats or Repeats()
    alone = replace(work, repeated=repeats.digests)
    found = engine_named(engine)(source, alone, options or Options())
    if repeats.firsts is not None:
        found = merged(found, tally_part(work, [repeats.firsts]))
    refused = Counter(found.rejected) + Counter(source.lost)
    refused[REPEATED] += repeats.surplus
    people = source.people
    return replace(
        found,
        people=people,
        crowd=people,
        responses=tally_shape(work.linkage).responses(found, people),
        rejected=dict(+refused),
        batches=(source.sha256,),
        ids=(source.id,),
        provenance=source.provenance,
        manifests=(source.manifest,) if source.manifest else (),
    )
