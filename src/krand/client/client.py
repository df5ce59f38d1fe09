"""A person's device: answers in, sealed messages out, once for each round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from krand.client.ledger import AlreadySubmitted, Ledger, Submission
from krand.client.randomizer import message_format, payloads
from krand.client.randomness import SecureRandom, secure_random
from krand.client.sending import send
from krand.client.transport import Transport
from krand.survey.encoding import encode
from krand.survey.plan import Plan
from krand.wire.sealing import Sealer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

__all__ = ["Client"]

SUBMISSION_ID_LENGTH = 16


class Client:
    """Takes part in the survey of one plan, for the holder of one key.

    `transport` is how submissions travel: by HTTP, unless a test gives another way.

    >>> from krand import Client, Ledger, generate_private_key
    >>> from krand.testing import FakeCollector, small_plan
    >>> plan, key = small_plan(), generate_private_key().public_key()
    >>> collector = FakeCollector(plan)
    >>> client = Client(plan, key, Ledger("answered.ledger"), transport=collector)
    >>> client.submit(collector.url, {"smokes": False, "pet": "cat"})
    >>> client.submit(collector.url, {"smokes": True})  # it has been answered: nothing is sent
    >>> collector.people
    1
    """

    def __init__(
        self,
        plan: Plan,
        public_key: X25519PublicKey,
        ledger: Ledger,
        *,
        transport: Transport | None = None,
    ) -> None:
        self.plan, self.ledger, self.transport = plan, ledger, transport
        self._sealer = Sealer(public_key, message_format(plan), bytes.fromhex(plan.hash))

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

        A round that has been delivered before is left as it is.
        """
        try:
            submission = self.prepare(answers, round_number)
        except AlreadySubmitted:
            return
        send(url, self.plan.hash, round_number, submission, transport=self.transport)
        self.acknowledge(round_number)

    def acknowledge(self, round_number: int = 1) -> None:
        """The collector has the submission: it need not be kept any longer."""
        self.ledger.acknowledge(self.plan, round_number)

    def _made(self, true_ones: tuple[int, ...], random: SecureRandom) -> Submission:
        sealed = tuple(map(self._sealer.seal, payloads(self.plan, true_ones, random)))
        return Submission(random.bytes(SUBMISSION_ID_LENGTH), sealed)
