"""From files of responses to one tally: every file is checked before anything is counted.

Counts are in no signature, because nobody but a holder of the analyst's key can open messages. A
second holder counts again, and compares the hash of the tally. Where responses are not sealed,
whoever has them can count again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from krand.analysis.engines import Options, tally_source
from krand.analysis.engines.partition import Work
from krand.analysis.engines.repeats import Repeats, find_repeats
from krand.analysis.engines.source import Source, open_batch, open_mixed, open_responses
from krand.analysis.joint.records import bits_needed
from krand.analysis.tally import Tally, merged
from krand.batches.chain import parse_manifest, read_chain
from krand.batches.provenance import check_one_provenance
from krand.errors import InvalidInput
from krand.files import check_readable, read_whole
from krand.planning.promises import check_promise
from krand.survey.plan import Plan
from krand.wire.keys import check_analyst_key
from krand.wire.messages import REPEATED, Rejection

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey


Files = Sequence[str | Path]
Joint = Sequence[Sequence[str]]
"""Questions to count jointly, in record linkage."""


def tally_responses(
    plan: Plan, files: Files, *, joint: Joint = (), different_people: bool = False
) -> Tally:
    """Count the responses that `randomize_table` or `krand randomize` wrote.

    Files of several runs may be about the same people, and are refused unless you say otherwise:
    with `different_people` the tally says that it was you.

    >>> from krand import randomize_table, tally_responses
    >>> from krand.testing import simulated_table, small_plan
    >>> plan = small_plan()
    >>> _ = randomize_table(plan, simulated_table(plan.survey, 100, seed=1), "responses.parquet")
    >>> tally_responses(plan, ["responses.parquet"]).people
    100
    """
    sources = responses_in(plan, files)
    return tally_sources(plan, sources, joint=joint, different_people=different_people)


def tally_batches(
    plan: Plan,
    files: Files,
    key: X25519PrivateKey,
    collector_key: Ed25519PublicKey | None = None,
    *,
    manifests: Sequence[str | Path] = (),
    joint: Joint = (),
) -> Tally:
    """Open and count sealed batches, with what was signed about them beside.

    A collector signs a manifest, and `collector_key` is its key. Mixers sign a chain; their keys
    are in the plan, so that none need be given. `manifests` are the manifests or chains, one for
    each file; by default they are beside it.

    >>> from krand import Client, generate_private_key, tally_batches
    >>> from krand.testing import FakeCollector, UnsafeMemoryLedger, simulated_people, small_plan
    >>> key = generate_private_key()
    >>> plan = small_plan().sealed_for(key.public_key())
    >>> collector = FakeCollector(plan)
    >>> for answers in simulated_people(plan.survey, 100, seed=1):
    ...     ledger = UnsafeMemoryLedger()
    ...     client = Client.open(collector.url, plan.hash, ledger, transport=collector)
    ...     sent = client.submit(answers)
    >>> batch = collector.release("batches")
    >>> tally_batches(plan, [batch], key, collector.public_key).people
    100
    """
    sources = batches_in(plan, files, collector_key, tuple(map(Path, manifests)))
    return tally_sources(plan, sources, key=key, joint=joint)


def responses_in(plan: Plan, files: Files) -> list[Source]:
    """The responses in files of a data holder, all of one round and no run twice."""
    return _distinct([open_responses(str(file), plan) for file in files])


def batches_in(
    plan: Plan,
    files: Files,
    collector: Ed25519PublicKey | None = None,
    signed: Sequence[Path] = (),
) -> list[Source]:
    """The sealed batch of a round, with a valid signature; several are refused.

    What was signed lies beside batch.parquet, unless it is given: the collector's manifest in
    batch.manifest.json, or the chain of all mixers in batch.chain.json.
    """
    _check_collector(plan, collector)
    if signed and len(signed) != len(files):
        rule = "must be given once for each batch, or not at all"
        raise InvalidInput("manifest", rule, len(signed))
    for file in files:
        check_readable("batch", file)
    beside = signed or tuple(signed_beside(plan, file) for file in files)
    found = _distinct(
        [
            _batch_in(plan, str(file), path, collector)
            for file, path in zip(files, beside, strict=True)
        ]
    )
    if len(found) > 1:
        rule = "must be one: a round is one batch"
        hint = "count the one that the collector or the last mixer passed on"
        raise InvalidInput("batches", rule, len(found), hint)
    return found


def signed_beside(plan: Plan, file: str | Path) -> Path:
    """The file next to a batch with what was signed about it."""
    return Path(file).with_suffix(plan.signed_suffix)


def _check_collector(plan: Plan, collector: Ed25519PublicKey | None) -> None:
    """Manifests need the collector's key; chains are verified with the keys in the plan."""
    needed = not plan.survey.trust.chain
    if needed and collector is None:
        rule = "must be given with a sealed batch"
        hint = "add collector_key=KEY: its signature vouches for the crowd"
        raise InvalidInput("collector_key", rule, None, hint)
    if needed or collector is None:
        return
    given = collector.public_bytes_raw().hex()
    if [given] != [mixer.identity for mixer in plan.mixers[:1]]:
        rule = "must be the identity of the plan's first mixer, or left out"
        hint = "the plan names its mixers, so no key is needed"
        raise InvalidInput("collector_key", rule, given, hint)


def _batch_in(plan: Plan, uri: str, signed: Path, collector: Ed25519PublicKey | None) -> Source:
    if collector is None or plan.survey.trust.chain:
        return open_mixed(uri, plan, read_chain(signed))
    content = read_whole("manifest", signed)
    source = open_batch(uri, plan, parse_manifest(content, collector, str(signed)))
    return replace(source, manifest=content.decode())


def tally_sources(
    plan: Plan,
    sources: Sequence[Source],
    *,
    key: X25519PrivateKey | None = None,
    joint: Joint = (),
    engine: str = "local",
    options: Options | None = None,
    different_people: bool = False,
) -> Tally:
    """Count everything in these sources."""
    check_promise(plan)
    if key is not None:
        check_analyst_key(plan, key)
    options = options or Options()
    check_different(sources, different_people)
    chosen = {found for names in joint for found in bits_needed(plan, names)}
    work = Work(
        plan=plan,
        round=sources[0].round,
        joint=tuple(sorted(chosen)),
        key=None if key is None else key.private_bytes_raw(),
    )
    parts = (
        _opened(source, work, engine, options, Repeats() if key is None else find_repeats(source))
        for source in sources
    )
    return replace(reduce(merged, parts), different_people=different_people and len(sources) > 1)


def _opened(source: Source, work: Work, engine: str, options: Options, repeats: Repeats) -> Tally:
    """The tally of a source; one of which no message opens is no result."""
    found = tally_source(source, work, engine, options, repeats)
    here = Counter(found.rejected) - Counter(source.lost)
    unopened = here[Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN.value]
    if unopened and unopened + here[REPEATED] == source.rows:
        rule = "must open the messages: this is not the key these messages were sealed for"
        hint = f"none of {source.rows:,} messages of {source.uri} opens, with the plan's own key"
        raise InvalidInput("private key", rule, None, hint)
    return found


def check_different(sources: Sequence[Source], declared: bool) -> None:
    """An error if sources may be about the same people and nobody says that they are not.

    A batch needs nobody's word: it is the only one of its round, and a device answers once.
    """
    if sources[0].sealed:
        if declared:
            rule = "must not be declared for a sealed batch: it is the only one of its round"
            raise InvalidInput("different_people", rule, True, "leave it out")
        return
    if declared or len(sources) == 1:
        return
    first, second = sources[:2]
    raise InvalidInput(
        "responses",
        "must not be two runs that may be about the same people",
        f"{first.uri} and {second.uri}",
        "answers that are randomized twice reveal more than the plan allows. If you know that"
        " nobody is in both, say so with different_people=True: the results"
        " will say that it was you",
    )


def _distinct(sources: list[Source]) -> list[Source]:
    if not sources:
        raise InvalidInput("responses", "must be at least one file", "none")
    seen: dict[str, str] = {}
    for source in sources:
        for name in (source.sha256, source.id):
            if name in seen:
                raise _given_twice(seen[name], source)
            seen[name] = source.uri
        check_one_provenance(sources[0].provenance, source.provenance)
        if source.round != sources[0].round:
            rule = f"must all be of round {sources[0].round}"
            raise InvalidInput("responses", rule, source.uri, "tally each round apart")
    return sources


def _given_twice(first: str, source: Source) -> InvalidInput:
    both = f"{first} and {source.uri}"
    if source.mixed:
        rule = "must not be given twice: two files are of one batch"
        hint = "one is a copy, or of a mixer that passed a batch on twice; leave one of them out"
    elif source.sealed:
        rule = "must not be given twice: two batches have one id"
        hint = "one of them comes from an older copy of the spool; leave one of them out"
    else:
        rule = "must not be given twice: two files are of one run"
        hint = "one of them is a copy; leave one of them out"
    return InvalidInput("responses", rule, both, hint)
