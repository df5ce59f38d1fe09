"""A person's device: answers in, sealed messages out, once per round.

What draws random numbers is imported when somebody answers: it needs numpy, which takes longer to
load than all the rest, and many an app only shows a survey.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from krand.client.ledger import Ledger, Submission
from krand.client.sending import Failed, NotDelivered, UsedInvitation, address_of, send
from krand.client.transport import Http, Transport
from krand.errors import InvalidInput
from krand.survey.encoding import encode
from krand.survey.plan import Plan
from krand.survey.plan_check import check_parts, check_pinned, check_round
from krand.wire.invitations import invited_id, read_code
from krand.wire.keys import analyst_key_of
from krand.wire.layers import LayerSealer
from krand.wire.plan_signatures import PlanSignature, check_signatures
from krand.wire.submissions import ID_LENGTH

if TYPE_CHECKING:
    from krand.randomness.generator import SecureRandom


class Client:
    """Takes part in the survey of one plan; messages are sealed for the key in the plan.

    `expected_hash` is the published hash of the plan, which is built into an app; any other plan is
    refused. The hash vouches for the promise, so that a device need not compute it. `signatures`
    are those of all mixers, of which the collector is the first: a plan that one did not sign is
    refused.
    `transport` sends submissions: over HTTP, unless a test provides another one. `now` is the
    device's clock, in seconds since 1970: a round outside its window in the plan is refused.

    >>> from krand import Client, Ledger
    >>> from krand.testing import FakeChain, small_plan
    >>> chain = FakeChain(small_plan())
    >>> ledger = Ledger("answered.ledger")
    >>> known = {"expected_hash": chain.plan.hash, "signatures": chain.signatures}
    >>> client = Client(chain.plan, ledger, **known, transport=chain.collector)
    >>> receipt = client.submit(chain.url, {"smokes": False, "pet": "cat"})
    >>> chain.collector.people
    1
    """

    def __init__(
        self,
        plan: Plan,
        ledger: Ledger,
        *,
        expected_hash: str,
        signatures: Iterable[PlanSignature] = (),
        transport: Transport | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        check_pinned(plan, expected_hash)
        analyst_key_of(plan)
        check_parts(plan)
        check_signatures(plan, signatures)
        self.plan, self.ledger, self.transport = plan, ledger, transport
        self.now = now

    def open_round(self, url: str) -> int:
        """The round that is open, as the collector tells and the plan's windows confirm.

        Without a schedule there is one, and nobody is asked. What was never delivered of rounds
        before it is erased.
        """
        schedule = self.plan.survey.schedule
        if schedule is None:
            return 1
        address = address_of(url, self.plan.hash, "open")
        try:
            status = json.loads((self.transport or Http()).get(address))
            number, is_open = status["round"], status["open"]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise NotDelivered(f"{url} does not tell which round is open: {error}") from None
        if not is_open or not isinstance(number, int):
            hint = "try again when the next round has begun"
            raise InvalidInput("round", "must be open", str(number)[:20], hint)
        self._check_window(number)
        return number

    def _check_window(self, round_number: int) -> None:
        """Refuse a round outside its window: otherwise a collector asks for a year in a day."""
        check_round(self.plan, round_number)
        schedule = self.plan.survey.schedule
        if schedule is None:
            return
        if not schedule.is_open(round_number, self.now()):
            place = round_number - schedule.first
            opens, closes = (f"{each:%Y-%m-%d %H:%M}" for each in schedule.opens[place : place + 2])
            rule = f"must be open by this device's clock: from {opens} to {closes} UTC"
            hint = "nothing was sent; is the clock of this device right?"
            raise InvalidInput("round", rule, round_number, hint)
        self.ledger.erase_before(self.plan, round_number)

    def prepare(
        self,
        answers: Mapping[str, object],
        round_number: int = 1,
        *,
        invitation: str | None = None,
    ) -> Submission:
        """The submission of this round; later calls return identical bytes, whatever the answers.

        `invitation` is the code behind # in the link; surveys with invitations need one.

        A second randomization would reveal more than the plan promises, so the first one stays
        even if somebody changes their mind.
        """
        from krand.randomness.generator import secure_random

        self._check_window(round_number)
        true_ones = encode(self.plan.layout, answers)
        code = self._code(invitation)
        kept = self.ledger.submission(
            self.plan,
            round_number,
            lambda: self._made(round_number, true_ones, secure_random()),
        )
        # After a wrong or used code the same messages go out under the id of another one.
        if code is None:
            return kept
        return replace(kept, id=invited_id(self.plan.hash, round_number, code))

    def submit(
        self,
        url: str,
        answers: Mapping[str, object],
        round_number: int | None = None,
        *,
        invitation: str | None = None,
    ) -> int:
        """Prepare, send, acknowledge: the round. After a failure the next call sends the same.

        Without a number it is the round that is open, or the only one.

        If the round was delivered before, AlreadySubmitted is raised and nothing is sent. If
        somebody else used the invitation, UsedInvitation is raised: another code sends the same
        messages.
        """
        number = self.open_round(url) if round_number is None else round_number
        submission = self.prepare(answers, number, invitation=invitation)
        self.deliver(url, submission, number)
        return number

    def deliver(
        self,
        url: str,
        submission: Submission,
        round_number: int = 1,
        *,
        failed: Callable[[Failed], None] | None = None,
    ) -> None:
        """Send what was prepared, and acknowledge it; `failed` is called before each retry."""
        plan, invited = self.plan, self.plan.survey.invitations
        is_first = invited and self.ledger.begin(plan, round_number, submission.id)
        found = send(
            url, plan.hash, round_number, submission, transport=self.transport, failed=failed
        )
        # It was never sent under this id, and the collector has the id: from somebody else.
        is_used = is_first and found.at_once and found.known
        if is_used and self.ledger.withdraw(plan, round_number):
            raise UsedInvitation(round_number)
        self.acknowledge(round_number)

    def acknowledge(self, round_number: int = 1) -> None:
        """Record that the collector has the submission, so that it need not be kept."""
        self.ledger.acknowledge(self.plan, round_number)

    def _code(self, invitation: str | None) -> bytes | None:
        """The code of the invitation, which surveys ask for or not."""
        asked = self.plan.survey.invitations
        if asked and invitation is None:
            hint = "give the code that stands behind # in the link of the invitation"
            raise InvalidInput("invitation", "must be given for this survey", None, hint)
        if invitation is not None and not asked:
            rule, hint = "must not be given: the survey is open to everybody", "leave it out"
            raise InvalidInput("invitation", rule, f"{len(invitation)} characters", hint)
        return None if invitation is None else read_code(invitation)

    def _made(
        self, round_number: int, true_ones: tuple[int, ...], random: SecureRandom
    ) -> Submission:
        """A new submission; with invitations it has no id of its own."""
        from krand.client.randomizer import message_lanes, payloads

        made, sealer = payloads(self.plan, true_ones, random), LayerSealer(self.plan, round_number)
        sealed = tuple(map(sealer.seal, message_lanes(self.plan), made))
        if self.plan.survey.invitations:
            return Submission(b"", sealed)
        return Submission(random.bytes(ID_LENGTH), sealed)
