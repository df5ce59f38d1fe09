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
from krand.client.preview import Preview
from krand.client.sending import Failed, UsedInvitation, address_of, fetched, send
from krand.client.transport import Transport, safe_parts
from krand.errors import InvalidInput
from krand.survey.encoding import encode
from krand.survey.plan import Plan
from krand.survey.plan_check import check_parts, check_pinned, check_round
from krand.survey.plan_file import parse_plan
from krand.wire.invitations import invited_id, read_code
from krand.wire.keys import analyst_key_of
from krand.wire.layers import LayerSealer
from krand.wire.plan_signatures import PlanSignature, check_signatures, signatures_in
from krand.wire.submissions import ID_LENGTH, submission_bytes

if TYPE_CHECKING:
    from krand.wire.messages import Payload

Made = tuple[Submission, "list[Payload]"]
"""A submission, and what its messages say before they are sealed."""


class Client:
    """Takes part in the survey of one plan; messages are sealed for the key in the plan.

    `open` fetches everything from any party of the survey, and sends to its collector. Whoever has
    plan and signatures gives them here, and the collector's address. `expected_hash` is the
    published hash of the plan, which is built into an app; any other plan is refused. The hash
    vouches for the promise, so that a device need not compute it. `signatures` are those of all
    mixers, of which the collector is the first: a plan that one did not sign is refused.
    `transport` sends submissions: over HTTP, unless a test provides another one. `now` is the
    device's clock, in seconds since 1970: a round outside its window is refused.

    >>> from krand import Client, Ledger
    >>> from krand.testing import FakeChain, small_plan
    >>> chain = FakeChain(small_plan())
    >>> known = {"transport": chain.collector}  # for a test: no network
    >>> client = Client.open(chain.url, chain.plan.hash, Ledger("answered"), **known)
    >>> sent = client.submit({"smokes": False, "pet": "cat"})
    >>> chain.collector.people
    1
    """

    def __init__(
        self,
        plan: Plan,
        ledger: Ledger,
        *,
        expected_hash: str,
        url: str = "",
        signatures: Iterable[PlanSignature] = (),
        transport: Transport | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        if url:
            safe_parts("url", url)
        check_pinned(plan, expected_hash)
        analyst_key_of(plan)
        check_parts(plan)
        check_signatures(plan, signatures)
        self.plan, self.ledger, self.url, self.transport = plan, ledger, url, transport
        self.now = now
        self._previewed: dict[tuple[int, tuple[int, ...]], Made] = {}
        """What would be sent, for each round and true positions somebody asked about."""

    @classmethod
    def open(
        cls,
        url: str,
        plan_hash: str,
        ledger: Ledger,
        *,
        transport: Transport | None = None,
        now: Callable[[], float] = time.time,
        failed: Callable[[Failed], None] | None = None,
    ) -> Client:
        """Fetch the plan with this hash and its signatures, and check everything.

        `url` is the address of any party of the survey. What is sent goes to the plan's collector;
        to `url` where the plan does not say where that is. The client is then ready to submit: a
        round is open, by the collector's word and the clock of this device. `failed` is called
        before each retry.
        """
        plan_hash = plan_hash.lower()
        plan = parse_plan(fetched(url, plan_hash, transport=transport, failed=failed), "plan")
        signed = fetched(url, plan_hash, "signatures", transport=transport, failed=failed)
        client = cls(
            plan,
            ledger,
            url=(plan.mixers[0].url if plan.mixers else "") or url,
            expected_hash=plan_hash,
            signatures=signatures_in(signed),
            transport=transport,
            now=now,
        )
        client._told_open(failed)
        return client

    def open_round(self) -> int:
        """The round that is open, as the collector tells and the plan's windows confirm.

        Without a schedule there is one, and nobody is asked. What was never delivered of rounds
        before it is erased.
        """
        survey = self.plan.survey
        return survey.first_round if survey.schedule is None else self._told_open()

    def _told_open(self, failed: Callable[[Failed], None] | None = None) -> int:
        """The round that the collector says is open."""
        name, transport = self.plan.hash, self.transport
        content = fetched(self.url, name, "open", transport=transport, failed=failed)
        try:
            told = json.loads(content)
            number, is_open = told["round"], told["open"]
        except (ValueError, LookupError, TypeError, RecursionError):
            number, is_open = None, False
        if not is_open or not isinstance(number, int):
            hint = "the survey is over, or the next round has not begun"
            raise InvalidInput("round", "must be open", str(number)[:20], hint)
        self._check_window(number)
        return number

    def preview(
        self,
        answers: Mapping[str, object],
        round_number: int | None = None,
        *,
        invitation: str | None = None,
    ) -> Preview:
        """Exactly what `submit` would send for these answers, and what it means; nothing is kept.

        It is sent, byte for byte, if one goes on with this client and the same answers. Other
        answers give another submission.
        """
        number = self._round(round_number)
        true_ones = encode(self.plan.layout, answers)
        code = self._code(invitation)
        kept = self.ledger.kept(self.plan, number)
        made, said = self._previewed.get((number, true_ones), (None, None))
        if kept is None and made is None:
            made, said = self._previewed[number, true_ones] = self._made(number, true_ones)
        elif kept is not None and (made is None or made.messages != kept.messages):
            made, said = kept, None
        assert made is not None
        sent = self._named(made, number, code)
        body = submission_bytes(number, sent.id, sent.messages)
        return Preview(
            plan=self.plan,
            round=number,
            body=body,
            truth=None if said is None else true_ones,
            said=None if said is None else tuple(said),
        )

    def prepare(
        self,
        answers: Mapping[str, object],
        round_number: int | None = None,
        *,
        invitation: str | None = None,
    ) -> Submission:
        """The submission of a round; later calls return identical bytes, whatever the answers.

        Without a number it is the round that is open. `invitation` is the code behind # in the
        link; surveys with invitations need one.

        A second randomization would reveal more than the plan promises, so the first one stays
        even if somebody changes their mind.
        """
        number = self._round(round_number)
        true_ones = encode(self.plan.layout, answers)
        code = self._code(invitation)
        made = self._previewed.get((number, true_ones))
        kept = self.ledger.submission(
            self.plan, number, lambda: (made or self._made(number, true_ones))[0]
        )
        return self._named(kept, number, code)

    def submit(
        self,
        answers: Mapping[str, object],
        round_number: int | None = None,
        *,
        invitation: str | None = None,
    ) -> int:
        """Prepare, send, acknowledge; after a failure the next call sends the same bytes.

        Without a number it is the round that is open; the value is its number.

        If the round was delivered before, AlreadySubmitted is raised and nothing is sent. If
        somebody else used the invitation, UsedInvitation is raised: another code sends the same
        messages.
        """
        number = self._round(round_number)
        self.deliver(self.prepare(answers, number, invitation=invitation), number)
        return number

    def deliver(
        self,
        submission: Submission,
        round_number: int | None = None,
        *,
        failed: Callable[[Failed], None] | None = None,
    ) -> None:
        """Send what was prepared, and acknowledge it; `failed` is called before each retry."""
        plan, number = self.plan, self._round(round_number)
        is_first = plan.survey.invitations and self.ledger.begin(plan, number, submission.id)
        body = submission_bytes(number, submission.id, submission.messages)
        address = address_of(self.url, plan.hash, "submissions")
        found = send(address, body, transport=self.transport, failed=failed)
        # It was never sent under this id, and the collector has the id: from somebody else.
        is_used = is_first and found.at_once and found.known
        if is_used and self.ledger.withdraw(plan, number):
            raise UsedInvitation(number)
        self.acknowledge(number)

    def acknowledge(self, round_number: int | None = None) -> None:
        """Record that the collector has the submission, so that it need not be kept."""
        number = self.open_round() if round_number is None else round_number
        self.ledger.acknowledge(self.plan, number)
        self._previewed.clear()

    def _round(self, given: int | None) -> int:
        """The round that was given, in its window; or the open one."""
        number = self.open_round() if given is None else given
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

    def _named(self, made: Submission, round_number: int, code: bytes | None) -> Submission:
        """The same messages under the id of a code: after a wrong one, under that of another."""
        if code is None:
            return made
        return replace(made, id=invited_id(self.plan.hash, round_number, code))

    def _made(self, round_number: int, true_ones: tuple[int, ...]) -> Made:
        """A new submission, and what it says; with invitations it has no id of its own."""
        from krand.client.randomizer import message_lanes, payloads
        from krand.randomness.generator import secure_random

        random = secure_random()
        said, sealer = payloads(self.plan, true_ones, random), LayerSealer(self.plan, round_number)
        sealed = tuple(map(sealer.seal, message_lanes(self.plan), said))
        name = b"" if self.plan.survey.invitations else random.bytes(ID_LENGTH)
        return Submission(name, sealed), said
