"""A form whose noise three mixers add: its plan, and the way of all answers to a tally."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from browser.forms import every_kind_plan
from collecting import running
from command_line import done
from krand import tally_batches
from krand.batches.chain import read_chain, verify_chain
from krand.mixing.dummies import NULL
from krand.wire.plan_signatures import sign_plan, signature_bytes
from mixed_plans import Party, party_of
from mixing.chains import drawn_dummies, stores_of

MIXERS = 3
TOGETHER = ["bicycle", "way"]


def mixed_party(crowd: int) -> Party:
    """Each kind of question, two of them together, with a noise that protects people."""
    trust = {"noise": "mixers", "mixers": MIXERS}
    return party_of(every_kind_plan(4.0, crowd, trust=trust, together=TOGETHER))


@contextmanager
def counted_in_the_end(
    party: Party, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, Counter[int]]]:
    """The form's address, and where to note the positions that pages say they send."""
    stores = stores_of(party, folder)
    options = [*_signed(party, folder), "--form", "--mixer-store", str(stores[0])]
    said: Counter[int] = Counter()
    files = (folder / "plan.json", folder / "spool", folder / "log")
    with running(*files, options=options) as served:
        yield served.url, said
    with drawn_dummies(monkeypatch) as drawn:
        batch = _mixed(folder, stores)
    _check_counts(party, batch, said, drawn)


def _signed(party: Party, folder: Path) -> list[str]:
    """The plan and its signatures as files; the options that name the signatures."""
    party.plan.save(folder / "plan.json")
    options = []
    for hop, identity in enumerate(party.identities, 1):
        path = folder / f"m{hop}.sig.json"
        path.write_bytes(signature_bytes(sign_plan(party.plan, identity)))
        options += ["--signature", str(path)]
    return options


def _mixed(folder: Path, stores: tuple[Path, ...]) -> Path:
    """The batch after the last mixer: the first one releases, the others mix."""
    plan = f"--plan {folder}/plan.json"
    close = f"--spool {folder}/spool --mixer-store {stores[0]} --close --yes"
    done("release", plan, close, f"-o {folder}/out-1")
    (batch,) = (folder / "out-1").glob("*.parquet")
    for hop, store in enumerate(stores[1:], 2):
        done("mix run", batch, plan, f"--store {store} --workers 1 -o {folder}/out-{hop}")
        (batch,) = (folder / f"out-{hop}").glob("*.parquet")
    return batch


def _check_counts(
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
