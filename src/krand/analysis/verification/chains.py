"""Whether a batch is the one that its mixers signed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from krand.analysis.checks import Check, check, failed
from krand.batches.batch import batch_beside, sha256_of_file
from krand.batches.chain import parse_chain, verify_chain
from krand.errors import InvalidInput
from krand.survey.plan import Plan
from krand.wire.messages import ANALYST, length_at


def chain_file_checks(content: bytes, path: Path, plan: Plan) -> Iterator[Check]:
    """Everything that can be checked about the chain of a batch, without opening a message.

    A batch on its way to the next mixer has links of those before alone.
    """
    links = parse_chain(content, str(path))
    mixers = plan.survey.trust.mixers
    says = f"signed by {len(links):,} of {mixers:,} mixers, each about the batch of the one before"
    try:
        verify_chain(plan, links)
    except InvalidInput as error:
        yield failed("chain", f"{error.field} {error.rule}; found {error.value}")
        return
    yield check("chain", [], says)
    last, batch = links[-1].record, batch_beside(path)
    try:
        found, size = sha256_of_file(batch), batch.stat().st_size
    except InvalidInput as error:
        yield failed("batch_hash", f"{batch.name}, which was signed: {error.rule}; {error.hint}")
        return
    other = [] if found == last.output else [f"{last.output} was signed, {batch.name} has {found}"]
    yield check("batch_hash", other, f"{batch.name} is the batch that was signed, {found}")
    messages = last.total("out")
    wanted = messages * length_at(plan, len(links) + 1 if len(links) < mixers else ANALYST)
    wrong = [] if size == wanted else [f"it has {size:,} bytes, and {wanted:,} were signed"]
    yield check("batch_size", wrong, f"it has the size of {messages:,} messages of the plan")
