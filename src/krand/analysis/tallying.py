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
from krand.analysis.engines.source import Source, open_batch, open_responses
from krand.analysis.joint.records import bits_needed
from krand.analysis.tally import Tally, merged
from krand.batches.provenance import check_one_provenance
from krand.errors import InvalidInput
from krand.files import check_readable
from krand.planning.promises import check_promise
from krand.survey.plan import Plan
from krand.wire.keys import check_analyst_key
from krand.wire.messages import REPEATED, Rejection

if TYPE_CHECKING:
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


def tally_batches(plan: Plan, files: Files, key: X25519PrivateKey, *, joint: Joint = ()) -> Tally:
    """Open and count the batch of a round, with the chain of its mixers beside it.

    The chain of NAME.batch is NAME.chain.json. The mixers' keys are in the plan. Copies of a batch
    may be given too: if they are not all the same, nothing is counted.

    >>> from krand import tally_batches
    >>> from krand.testing import FakeChain, simulated_people, small_plan
    >>> chain = FakeChain(small_plan())
    >>> for answers in simulated_people(chain.plan.survey, 100, seed=1):
    ...     sent = chain.client().submit(answers)
    >>> batch = chain.release("batches")
    >>> tally_batches(chain.plan, [batch], chain.key).people
    100
    """
    return tally_sources(plan, [batch_in(plan, files)], key=key, joint=joint)


def responses_in(plan: Plan, files: Files) -> list[Source]:
    """The responses in files of a data holder, all of one round and no run twice."""
    return _distinct([open_responses(str(file), plan) for file in files])


def batch_in(plan: Plan, files: Files) -> Source:
    """The batch of a round, with the valid signatures of all mixers; copies of it are the same."""
    if not files:
        raise InvalidInput("responses", "must be at least one file", "none")
    for file in files:
        check_readable("batch", file)
    first, *others = (open_batch(Path(file), plan) for file in files)
    for other in others:
        if other.round != first.round:
            raise _of_other_round(first, other)
        if other.sha256 != first.sha256:
            rule = f"must be the same as {first.uri}: a round is one batch"
            hint = "two different ones show which messages are people's: ask the mixers"
            raise InvalidInput("batch", rule, other.uri, hint)
    return first


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
    parts = (_opened(source, work, engine, options) for source in sources)
    return replace(reduce(merged, parts), different_people=different_people and len(sources) > 1)


def _opened(source: Source, work: Work, engine: str, options: Options) -> Tally:
    """The tally of a source; one of which no message opens is no result."""
    found = tally_source(source, work, engine, options)
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
    if sources[0].batch is not None:
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
        if source.run in seen:
            rule = "must not be given twice: two files are of one run"
            hint = "one of them is a copy; leave one of them out"
            raise InvalidInput("responses", rule, f"{seen[source.run]} and {source.uri}", hint)
        seen[source.run] = source.uri
        check_one_provenance(sources[0].provenance, source.provenance)
        if source.round != sources[0].round:
            raise _of_other_round(sources[0], source)
    return sources


def _of_other_round(first: Source, other: Source) -> InvalidInput:
    rule = f"must all be of round {first.round}"
    return InvalidInput("responses", rule, other.uri, "tally each round apart")
