"""A collector in the same process: no network, no disk until it releases, no waiting."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from krand.client.transport import Reply
from krand.survey.canonical import canonical_json
from krand.survey.plan import Plan
from krand.survey.plan_check import CrowdTooSmall, check_round
from krand.wire.keys import analyst_key_of
from krand.wire.mixers import check_mixers
from krand.wire.plan_signatures import PlanSignature, signature_values
from krand.wire.submissions import Refused, format_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from krand.survey.lanes import Lane

OK, ACCEPTED, REFUSED, NOT_FOUND, GONE, WRONG_LENGTH = 200, 202, 400, 404, 410, 413


class FakeCollector:
    """Takes what clients send, by the rules of the real one; give it to them as `transport`.

    It reads submissions, knows a retry by its id, refuses what is no submission of the plan and
    round, and releases nothing below the planned crowd. Releasing closes the round. One thing
    differs: it forgets everything when the program ends. `FakeChain` makes one, with the keys of
    everybody.

    >>> from krand.testing import FakeChain, small_plan
    >>> chain = FakeChain(small_plan())
    >>> chain.collector.fail_next(503, OSError("no network"))
    >>> sent = chain.client().submit({"pet": "dog"})
    >>> chain.collector.people, len(chain.collector.waited)
    (1, 2)
    """

    url = "https://collector.test"
    """What to submit to; nothing is ever sent there. It answers for the plan's parties, too."""

    def __init__(
        self, plan: Plan, round_number: int = 1, signatures: Iterable[PlanSignature] = ()
    ) -> None:
        self.plan, self.round = plan, round_number
        self._homes = [mixer.url or self.url for mixer in plan.mixers] + [self.url]
        self.signatures = tuple(signatures)
        """The mixers' signatures of the plan, which it serves beside it."""
        self.repeated = 0
        """Submissions that came again."""
        self.refused: list[str] = []
        """The rule that each refused submission breaks."""
        self.waited: list[float] = []
        """How long clients would have waited between attempts, in seconds."""
        analyst_key_of(plan)
        check_round(plan, round_number)
        check_mixers(plan)
        self._format = format_of(plan, round_number)
        self._submissions: dict[bytes, bytes] = {}
        self._failures: deque[Reply | OSError] = deque()
        self._closed = False

    @property
    def people(self) -> int:
        """Submissions that were counted, each once."""
        return len(self._submissions)

    def fail_next(self, *failures: int | OSError) -> None:
        """Let the next submissions fail, one after the other: a status of HTTP, or an error."""
        self._failures.extend(Reply(f) if isinstance(f, int) else f for f in failures)

    def get(self, url: str) -> Reply:
        """Plan, signatures, and which round is open, as the real one would tell it by HTTP."""
        published = {
            "": self.plan.bytes,
            "/signatures": canonical_json([signature_values(each) for each in self.signatures]),
            "/open": canonical_json({"round": self.round, "open": not self._closed}),
        }
        home, _, what = url.partition(f"/v1/plans/{self.plan.hash}")
        content = published.get(what) if home in self._homes else None
        return Reply(NOT_FOUND) if content is None else Reply(OK, content=content)

    def post(self, url: str, body: bytes) -> Reply:
        """Take a submission, as the real one would by HTTP."""
        if self._failures:
            failure = self._failures.popleft()
            if isinstance(failure, OSError):
                raise failure
            return failure
        if not url.endswith(f"/v1/plans/{self.plan.hash}/submissions"):
            return self._refusal(NOT_FOUND, "must be the plan that is collected here")
        try:
            submitted = self._format.read(body)
        except Refused as refusal:
            is_whole = len(body) == self._format.length
            return self._refusal(REFUSED if is_whole else WRONG_LENGTH, refusal.rule)
        if submitted.id in self._submissions:
            self.repeated += 1
            return Reply(ACCEPTED, known=True)
        if self._closed:
            return self._refusal(GONE, "must not be closed: nothing more is taken")
        self._submissions[submitted.id] = submitted.messages
        return Reply(ACCEPTED)

    def wait(self, seconds: float) -> None:
        """Write down that somebody waits; no time passes."""
        self.waited.append(seconds)

    @property
    def counts(self) -> tuple[int, ...]:
        """How many messages of each lane came."""
        return tuple(self.people * lane.messages for lane in self.plan.lanes)

    def messages(self) -> list[tuple[Lane, bytes]]:
        """Everybody's sealed messages with their lanes, in random order within each lane."""
        lanes = zip(self.plan.lanes, self._lanes(), strict=True)
        return [(lane, row.tobytes()) for lane, rows in lanes for row in rows]

    def close(self, batch: Path) -> Path:
        """Take nobody any more, and write what everybody sent, lane after lane.

        Fewer people than the plan needs are refused.
        """
        needed = self.plan.smallest_batch
        if self.people < needed:
            hint = "let more people submit, or plan the survey for fewer"
            raise CrowdTooSmall("people", f"must be at least {needed:,}", self.people, hint)
        self._closed = True
        batch.write_bytes(b"".join(rows.tobytes() for rows in self._lanes()))
        return batch

    def _lanes(self) -> Iterator[NDArray[np.uint8]]:
        """The messages of each lane, in an order that is theirs: they may be written again."""
        length, whole = self._format.message_length, b"".join(self._submissions.values())
        sent = np.frombuffer(whole, np.uint8).reshape(self.people, self._format.messages, length)
        ends = np.cumsum([lane.messages for lane in self.plan.lanes])
        for rows in np.split(sent, ends[:-1], axis=1):
            flat = rows.reshape(-1, length)
            yield flat[np.argsort([row.tobytes() for row in flat], kind="stable")]

    def _refusal(self, status: int, rule: str) -> Reply:
        self.refused.append(rule)
        return Reply(status, rule)
