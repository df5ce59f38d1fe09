"""Mix a batch from Python, as `krand mix run` does."""

from __future__ import annotations

from pathlib import Path

from krand.mixing.mixer import MixedFiles, MixOptions, mix_batch
from krand.mixing.store import MixerStore
from krand.survey.plan import Plan

CHAIN_ENDING = ".chain.json"


def mix(
    plan: Plan,
    batch: str | Path,
    store: str | Path,
    output: str | Path,
    *,
    anchor: str | Path | None = None,
    options: MixOptions | None = None,
) -> MixedFiles:
    """Open this mixer's layer of a batch, drop repeats, add dummies, shuffle and sign.

    The chain of batch.parquet is batch.chain.json beside it; it is verified first. `store` is the
    mixer's folder, `output` the folder for the mixed batch and its chain. The same batch again
    gives the same files.

    >>> from krand import make_plan, mix, parse_survey
    >>> from krand.testing import MIXED_SURVEY, FakeChain
    >>> chain = FakeChain(make_plan(parse_survey(MIXED_SURVEY)))
    >>> receipt = chain.client().submit(chain.url, {"pet": "dog"})
    >>> batch = chain.collect("collected")          # krand release --close
    >>> files = mix(chain.plan, batch, chain.stores[1], "mixed")
    >>> files.link.hop, files.link.submissions, files.link.repeats
    (2, 1, 0)
    """
    batch, held = Path(batch), None if anchor is None else Path(anchor)
    with MixerStore(Path(store), held) as opened:
        chain = batch.with_suffix(CHAIN_ENDING)
        return mix_batch(opened, plan, batch, chain, Path(output), options)
