"""A person's device: answers in, sealed messages out, once for each round."""

from __future__ import annotations

from collections.abc import Mapping

from krand.client.ledger import Ledger, Submission
from krand.client.randomizer import message_format, payloads
from krand.client.sending import send
from krand.client.transport import Transport
from krand.randomness.generator import SecureRandom, secure_random
from krand.survey.encoding import encode
from krand.survey.plan import Plan
from krand.survey.plan_check import check_pinned
from krand.wire.keys import analyst_key_of
from krand.wire.sealing import Sealer

__all__ = ["Client"]

SUBMISSION_ID_LENGTH = 16


class Client:
    """Takes part in the survey of one plan; messages are sealed for the key in the plan.

    `expected_hash` is the plan's hash, which an app ships with and was published: another plan is
    refused. That hash stands for the promise, which a device need not compute.
    `transport` is how submissions travel: by HTTP, unless a test gives another way.

    >>> from krand import Client, Ledger, generate_private_key
    >>> from krand.testing import FakeCollector, small_plan
    >>> plan = small_plan().sealed_for(generate_private_key().public_key())
    >>> collector = FakeCollector(plan)
    >>> ledger = Ledger("answered.ledger")
    >>> client = Client(plan, ledger, expected_hash=plan.hash, transport=collector)
    >>> client.submit(collector.url, {"smokes": False, "pet": "cat"})
    >>> collector.people
    1
    """

    def __init__(
        self,
        plan: Plan,
        ledger: Ledger,
        *,
        expected_hash: str,
        transport: Transport | None = None,
    ) -> None:
        check_pinned(plan, expected_hash)
        self.plan, self.ledger, self.transport = plan, ledger, transport
        self._sealer = Sealer(analyst_key_of(plan), message_format(plan), bytes.fromhex(plan.hash))

    def prepare(self, answers: Mapping[str, object], round_number: int = 1) -> Submission:
        """The submission of this round; asked again, the identical bytes, whatever the answers.

        A second randomization would reveal more than the plan promises, so that the first one
        stands even if somebody changes their mind.
        """
        true_ones = encode(self.plan.layout, answers)
        return self.ledger.submission(
            self.plan, round_number, lambda: self._made(true_ones, secure_random())
        )

    def submit(self, url: str, answers: Mapping[str, object], round_number: int = 1) -> None:
        """Prepare, deliver, acknowledge; if it fails half-way, the next call sends the same bytes.

        A round that has been delivered before is AlreadySubmitted: nothing is sent.
        """
        submission = self.prepare(answers, round_number)
        send(url, self.plan.hash, round_number, submission, transport=self.transport)
        self.acknowledge(round_number)

    def acknowledge(self, round_number: int = 1) -> None:
        """The collector has the submission: it need not be kept any longer."""
        self.ledger.acknowledge(self.plan, round_number)

    def _made(self, true_ones: tuple[int, ...], random: SecureRandom) -> Submission:
        random.refresh()  # a device may have slept, or been copied, since it drew last
        sealed = tuple(map(self._sealer.seal, payloads(self.plan, true_ones, random)))
        return Submission(random.bytes(SUBMISSION_ID_LENGTH), sealed)
