"""What is signed about a batch: one link of every mixer that it has passed, the collector first.

A link vouches for what a mixer received and what it passed on: the hashes of both files, and for
every lane how many messages came, were repeats, were refused, were added as dummies, and left. Each
link also has the hash of the link before it. `verify_chain` follows them. Where devices add the
noise, the chain has one link, without dummies.

What a chain cannot show is that a mixer was honest: whoever lies about a number can sign it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias

from krand.errors import InvalidInput
from krand.files import read_whole
from krand.survey.canonical import canonical_json
from krand.survey.lanes import Lane
from krand.survey.plain_values import (
    Count,
    Malformed,
    Positive,
    Sha256,
    as_file,
    digits,
    typed,
    values_in,
)
from krand.survey.plan import Mixer, Plan
from krand.wire import purposes
from krand.wire.mixers import check_mixers
from krand.wire.signed import Signed, signed_in

FORMAT = "krand-link-1"
CHAIN_FORMAT = "krand-chain-1"
HINT = "the mixer that wrote the batch writes it beside the batch"
NoneOrSha256 = Annotated[str, digits(64, may_be_empty=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneCounts:
    """What happened to the messages of one lane."""

    came: Count
    repeats: Count
    refused: Count
    dummies: Count
    out: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What one mixer vouches for."""

    form: ClassVar[str] = FORMAT
    purpose: ClassVar[bytes] = purposes.LINK

    plan: Sha256
    round: Positive
    place: Positive
    """The mixer's place in the chain; the collector's is 1."""
    people: Count
    """Distinct submissions, each by one person, as the collector counted them."""
    lanes: tuple[LaneCounts, ...]
    input: NoneOrSha256
    """Of the batch that was mixed; empty for the collector, which received submissions."""
    output: Sha256
    """Of the batch that left."""
    previous: NoneOrSha256
    """The SHA-256 of the link before it, with its signature; empty for the first."""

    @property
    def counts(self) -> tuple[int, ...]:
        """How many messages of each lane left."""
        return tuple(lane.out for lane in self.lanes)

    def total(self, name: str) -> int:
        """What happened so often in all lanes."""
        return sum(getattr(lane, name) for lane in self.lanes)


SignedLink: TypeAlias = Signed[Link]


def chain_bytes(links: Sequence[SignedLink]) -> bytes:
    """The file that goes with a batch: all links so far, as canonical JSON."""
    return canonical_json({"format": CHAIN_FORMAT, "links": [link.values for link in links]})


def read_chain(path: str | Path) -> tuple[SignedLink, ...]:
    """The links in a file; nothing is verified yet."""
    return parse_chain(read_whole("chain", path), str(path))


def parse_chain(content: bytes, source: str = "chain") -> tuple[SignedLink, ...]:
    """The links in these bytes; nothing is verified yet."""
    values = values_in(content, "chain", CHAIN_FORMAT, source, HINT)
    with as_file("chain", CHAIN_FORMAT, source, HINT):
        links = typed(Mapping[str, tuple[Any, ...]], values)
        if links.keys() != {"links"}:
            raise Malformed("should have links, and nothing else")
        return tuple(signed_in(Link, link) for link in links["links"])


def verify_chain(plan: Plan, links: Sequence[SignedLink]) -> None:
    """Refuse a chain that is not one of this plan, in order, unbroken, with numbers that add up."""
    mixers = check_mixers(plan)
    if not 1 <= len(links) <= len(mixers):
        rule = f"must have 1 to {len(mixers)} links, one for each mixer of the plan"
        raise InvalidInput("chain", rule, len(links))
    for place, (mixer, signed) in enumerate(zip(mixers, links, strict=False), 1):
        for problem in _problems(plan, mixer, place, signed):
            raise problem
    _check_first(plan, links[0].record)
    for before, after in pairwise(links):
        _check_joint(before, after)


def complete_chain(plan: Plan, links: Sequence[SignedLink]) -> Link:
    """The last link of a chain that all mixers of the plan have signed."""
    verify_chain(plan, links)
    if len(links) != len(plan.mixers):
        rule = f"must have passed all {len(plan.mixers)} mixers"
        raise InvalidInput("chain", rule, len(links), "give the batch to the next mixer")
    return links[-1].record


def dummies_allowed(plan: Plan, lane: Lane) -> tuple[int, int]:
    """The least and the greatest number of dummies that the plan's law gives a lane."""
    if not plan.laws:
        return 0, 0
    reach = plan.law_of(lane).reach
    most = 2 * reach * lane.positions
    if lane.is_single:
        return most, most
    if lane.has_noisy_nulls:
        return 0, most + 2 * reach
    padding = lane.padding
    return padding, max(padding, most)


def _problems(plan: Plan, mixer: Mixer, place: int, signed: SignedLink) -> Iterator[InvalidInput]:
    """What is wrong with one link by itself."""
    link, where = signed.record, f"in link {place} of the chain"
    expected = (
        ("plan", plan.hash, "is it a batch of another plan?"),
        ("place", place, "mixers work in the order of the plan, each once"),
    )
    for name, value, hint in expected:
        if (found := getattr(link, name)) != value:
            yield InvalidInput(f"chain.{name}", f"must be {value} {where}", found, hint)
    if not signed.is_by(mixer.identity):
        rule = f"must be signed by its mixer and unchanged {where}"
        yield InvalidInput("chain", rule, mixer.identity, f"the plan names {mixer.name}")
    first, last = plan.survey.first_round, plan.survey.rounds
    if not first <= link.round <= last:
        rule = f"must be a round of the plan, {first:,} to {last:,}, {where}"
        yield InvalidInput("chain.round", rule, link.round)
    if len(link.lanes) != len(plan.lanes):
        rule = f"must be the {len(plan.lanes)} lanes of the plan {where}"
        yield InvalidInput("chain.lanes", rule, len(link.lanes))
    for lane, counts in zip(plan.lanes, link.lanes, strict=True):
        if counts.out != counts.came - counts.repeats - counts.refused + counts.dummies:
            rule = f"must be came - repeats - refused + dummies in lane {lane.number} {where}"
            yield InvalidInput("chain.out", rule, counts.out)
        least, most = dummies_allowed(plan, lane)
        if not least <= counts.dummies <= most:
            rule = f"must be {least:,} to {most:,} in lane {lane.number} {where}"
            yield InvalidInput("chain.dummies", rule, counts.dummies)


def _check_first(plan: Plan, link: Link) -> None:
    """The collector received the same number of people in every lane, and no file."""
    for lane, counts in zip(plan.lanes, link.lanes, strict=True):
        if counts.came != link.people * lane.messages:
            rule = f"must be {lane.messages} for each of {link.people:,} people in every lane"
            found = f"{counts.came:,} in lane {lane.number}"
            hint = "messages of a lane were dropped or added before they were mixed"
            raise InvalidInput("chain.came", rule, found, hint)
    for name in ("input", "previous"):
        if getattr(link, name):
            raise InvalidInput(f"chain.{name}", "must be empty in link 1", getattr(link, name))


def _check_joint(before: SignedLink, after: SignedLink) -> None:
    """A link takes up exactly what the one before it passed on."""
    first, then = before.record, after.record
    where = f"in link {then.place} as in link {first.place} of the chain"
    expected: tuple[tuple[str, object, object], ...] = (
        ("previous", before.sha256, then.previous),
        ("input", first.output, then.input),
        ("round", first.round, then.round),
        ("people", first.people, then.people),
    )
    for name, value, found in expected:
        if found != value:
            raise InvalidInput(f"chain.{name}", f"must be {value} {where}", found)
    for number, (left, came) in enumerate(zip(first.lanes, then.lanes, strict=True)):
        if came.came != left.out:
            rule = f"must be the {left.out:,} of lane {number} that left, {where}"
            raise InvalidInput("chain.came", rule, came.came)
