"""What is signed about a batch: its manifest, or one link of every mixer that it has passed.

Where no mixer adds anything, the collector signs a manifest: the number of people, with the plan,
the id of the batch and the hash of its file. A batch that mixers pass on has a chain.

A link vouches for what a mixer received and what it passed on: the hashes of both files, and for
every lane how many messages came, were repeats, were refused, were added as dummies, and left. Each
link also has the hash of the link before it. `verify_chain` follows them.

What a chain cannot show is that a mixer was honest: whoever lies about a number can sign it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from krand.batches.provenance import RandomId
from krand.errors import InvalidInput
from krand.files import read_whole
from krand.survey.canonical import canonical_json
from krand.survey.lanes import Lane
from krand.survey.plain_values import (
    Count,
    Malformed,
    Sha256,
    as_file,
    digits,
    typed,
    values_in,
)
from krand.survey.plan import Mixer, Plan
from krand.wire import purposes
from krand.wire.mixers import check_mixers
from krand.wire.signed import Signed, parse_signed, sign, signed_in

FORMAT = "krand-mix-1"
CHAIN_FORMAT = "krand-chain-1"
MANIFEST_FORMAT = "krand-manifest-1"
HINT = "the mixer that wrote the batch writes it beside the batch"
MANIFEST_HINT = "a collector of this version of krand writes it"
COUNTS = ("messages_in", "repeats", "refused", "dummies", "messages_out")


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneCounts:
    """What happened to the messages of one lane."""

    messages_in: Count
    repeats: Count
    refused: Count
    dummies: Count
    messages_out: Count

    @property
    def balance(self) -> int:
        """How many messages must have left."""
        return self.messages_in - self.repeats - self.refused + self.dummies


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What one mixer vouches for."""

    form: ClassVar[str] = FORMAT
    purpose: ClassVar[bytes] = purposes.LINK

    plan: Sha256
    round: Count
    hop: Count
    """The mixer's place in the chain; the collector is 1."""
    mixer: Sha256
    """Its identity: the Ed25519 public key in hexadecimal."""
    submissions: Count
    """Distinct submissions, each by one person, as the collector counted them."""
    messages_in: Count
    repeats: Count
    refused: Mapping[str, Count]
    """How many messages were refused, by reason."""
    dummies: Count
    messages_out: Count
    lanes: tuple[LaneCounts, ...]
    input_sha256: Annotated[str, digits(64, may_be_empty=True)]
    """Of the file that was mixed; empty for the collector, which received submissions."""
    output_sha256: Sha256
    batch_id: RandomId
    """Random, drawn by the collector when the batch began; the same along the chain."""
    previous: Annotated[str, digits(64, may_be_empty=True)]
    """The SHA-256 of the link before it, with its signature; empty for the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What the collector vouches for, where no mixer adds anything.

    Estimates and promise depend on the number of people, which the messages do not reveal.
    """

    form: ClassVar[str] = MANIFEST_FORMAT
    purpose: ClassVar[bytes] = purposes.MANIFEST

    plan: Sha256
    round: Count
    submissions: Count
    """Distinct submissions, each by one person."""
    messages: Count
    batch_sha256: Sha256
    """The hash of the batch file; it identifies the batch from here on."""
    batch_id: RandomId
    """Random, drawn when the batch began: it reveals a second release from a copied spool."""


SignedLink: TypeAlias = Signed[Link]


def manifest_bytes(manifest: Manifest, key: Ed25519PrivateKey) -> bytes:
    """The manifest file: canonical JSON with the signature inside."""
    return sign(manifest, key).content


def parse_manifest(content: bytes, key: Ed25519PublicKey, source: str = "manifest") -> Manifest:
    """The manifest in these bytes; an error says what is wrong with it."""
    signed = manifest_in(content, source)
    if not signed.is_by(key):
        rule = "must be signed by the collector and unchanged"
        raise InvalidInput("manifest", rule, source, "is this the right collector's key?")
    return signed.record


def manifest_in(content: bytes, source: str = "manifest") -> Signed[Manifest]:
    """The manifest in these bytes, whose signature is not verified yet."""
    return parse_signed(Manifest, content, "manifest", source, MANIFEST_HINT)


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
    for hop, (mixer, signed) in enumerate(zip(mixers, links, strict=False), 1):
        for problem in _problems(plan, mixer, hop, signed):
            raise problem
    _check_first(plan, links[0].record)
    for before, after in pairwise(links):
        _check_joint(before, after)


def dummies_allowed(plan: Plan, lane: Lane) -> tuple[int, int]:
    """The least and the greatest number of dummies that the plan's law gives a lane."""
    reach = plan.law_of(lane).reach
    most = 2 * reach * lane.positions
    if lane.is_single:
        return most, most
    if lane.has_noisy_nulls:
        return 0, most + 2 * reach
    padding = lane.padding
    return padding, max(padding, most)


def _problems(plan: Plan, mixer: Mixer, hop: int, signed: SignedLink) -> Iterator[InvalidInput]:
    """What is wrong with one link by itself."""
    link, where = signed.record, f"in link {hop} of the chain"
    expected = (
        ("plan", plan.hash, "is it a batch of another plan?"),
        ("hop", hop, "mixers work in the order of the plan, each once"),
        ("mixer", mixer.identity, f"the plan names {mixer.name}"),
    )
    for name, value, hint in expected:
        if (found := getattr(link, name)) != value:
            yield InvalidInput(f"chain.{name}", f"must be {value} {where}", found, hint)
    if not signed.is_by(mixer.identity):
        rule = f"must be signed by its mixer and unchanged {where}"
        yield InvalidInput("chain", rule, link.mixer)
    first, last = plan.survey.first_round, plan.survey.rounds
    if not first <= link.round <= last:
        rule = f"must be a round of the plan, {first:,} to {last:,}, {where}"
        yield InvalidInput("chain.round", rule, link.round)
    yield from _unbalanced(plan, link, where)


def _unbalanced(plan: Plan, link: Link, where: str) -> Iterator[InvalidInput]:
    if len(link.lanes) != len(plan.lanes):
        rule = f"must be the {len(plan.lanes)} lanes of the plan {where}"
        yield InvalidInput("chain.lanes", rule, len(link.lanes))
    for lane, counts in zip(plan.lanes, link.lanes, strict=True):
        if counts.messages_out != counts.balance:
            rule = f"must be in - repeats - refused + dummies in lane {lane.number} {where}"
            yield InvalidInput("chain.messages_out", rule, counts.messages_out)
        least, most = dummies_allowed(plan, lane)
        if not least <= counts.dummies <= most:
            rule = f"must be {least:,} to {most:,} in lane {lane.number} {where}"
            yield InvalidInput("chain.dummies", rule, counts.dummies)
    for name in COUNTS:
        total = sum(getattr(counts, name) for counts in link.lanes)
        told = sum(link.refused.values()) if name == "refused" else getattr(link, name)
        if told != total:
            rule = f"must be the sum over all lanes, {total:,}, {where}"
            yield InvalidInput(f"chain.{name}", rule, told)


def _check_first(plan: Plan, link: Link) -> None:
    """The collector received the same number of people in every lane, and no file."""
    for lane, counts in zip(plan.lanes, link.lanes, strict=True):
        if counts.messages_in != link.submissions * lane.messages:
            rule = f"must be {lane.messages} for each of {link.submissions:,} people in every lane"
            found = f"{counts.messages_in:,} in lane {lane.number}"
            hint = "messages of a lane were dropped or added before they were mixed"
            raise InvalidInput("chain.messages_in", rule, found, hint)
    for name in ("input_sha256", "previous"):
        if getattr(link, name):
            raise InvalidInput(f"chain.{name}", "must be empty in link 1", getattr(link, name))


def _check_joint(before: SignedLink, after: SignedLink) -> None:
    """A link takes up exactly what the one before it passed on."""
    first, then = before.record, after.record
    where = f"in link {then.hop} as in link {first.hop} of the chain"
    expected: tuple[tuple[str, object, object], ...] = (
        ("previous", before.sha256, then.previous),
        ("input_sha256", first.output_sha256, then.input_sha256),
        ("round", first.round, then.round),
        ("batch_id", first.batch_id, then.batch_id),
        ("submissions", first.submissions, then.submissions),
    )
    for name, value, found in expected:
        if found != value:
            raise InvalidInput(f"chain.{name}", f"must be {value} {where}", found)
    for number, (left, came) in enumerate(zip(first.lanes, then.lanes, strict=True)):
        if came.messages_in != left.messages_out:
            rule = f"must be the {left.messages_out:,} of lane {number} that left, {where}"
            raise InvalidInput("chain.messages_in", rule, came.messages_in)
