"""A form whose noise three mixers add: the plan, its signatures, and the way to a tally."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from browser.forms import EVERY_KIND
from krand import make_plan, parse_survey, tally_batches
from krand.batches.chain import read_chain, verify_chain
from krand.cli.main import krand
from krand.mixing.dummies import NULL
from krand.wire.plan_signatures import sign_plan, signature_bytes
from mixed_plans import Party, party_of

__all__ = ["check_counts", "mixed", "mixed_party", "signed"]

MIXERS = 3
MIXED = f"""
[trust]
noise = "mixers"
mixers = {MIXERS}

[[together]]
questions = ["bicycle", "way"]
"""


def mixed_party(crowd: int, seal: str = "x25519") -> Party:
    """Each kind of question, two of them together, with a noise that protects people."""
    text = EVERY_KIND.format(epsilon=4.0, crowd=crowd, language="en") + MIXED
    text = f'seal = "{seal}"\n{text}'
    return party_of(make_plan(parse_survey(text)))


def signed(party: Party, folder: Path) -> list[str]:
    """The plan and its signatures as files; the options that name the signatures."""
    party.plan.save(folder / "plan.json")
    options = []
    for hop, identity in enumerate(party.identities, 1):
        path = folder / f"m{hop}.sig.json"
        path.write_bytes(signature_bytes(sign_plan(party.plan, identity)))
        options += ["--signature", str(path)]
    return options


def mixed(folder: Path, stores: tuple[Path, ...]) -> Path:
    """The batch after the last mixer: the first one releases, the others mix."""
    first = folder / "out-1"
    release = ["--spool", folder / "spool", "--mixer-store", stores[0], "--close", "--yes"]
    release += ["-o", first]
    _run("release", "--plan", folder / "plan.json", *release)
    (batch,) = first.glob("*.parquet")
    for hop, store in enumerate(stores[1:], 2):
        out = folder / f"out-{hop}"
        own = ["--plan", folder / "plan.json", "--store", store, "--workers", 1, "-o", out]
        _run("mix", "run", batch, *own)
        (batch,) = out.glob("*.parquet")
    return batch


def _run(*arguments: Any) -> None:
    result = CliRunner().invoke(krand, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output


def check_counts(
    party: Party, batch: Path, said: Counter[int], drawn: Counter[tuple[int, int]]
) -> None:
    """Every count after the last mixer is that of people's positions and of the dummies."""
    added: Counter[int] = Counter()
    for (_, position), count in drawn.items():
        added[position] += count
    tally = tally_batches(party.plan, [batch], party.analyst)
    assert (tally.people, tally.rejected) == (party.plan.promise.crowd, {})
    places = range(party.plan.layout.positions)
    assert list(tally.counts) == [said[place] + added[place] for place in places]
    assert said.total() > 0
    assert added.total() - added[NULL] > 0
    links = read_chain(batch.with_suffix(".chain.json"))
    assert len(links) == MIXERS
    verify_chain(party.plan, links)
