"""A collector in the same process: no network, no disk until it releases, no waiting."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from krand.batches.chain import Manifest, manifest_bytes
from krand.batches.sealed import write_sealed
from krand.client.transport import Reply
from krand.collector.opening import config_of
from krand.collector.store import RoundClosed
from krand.errors import InvalidInput
from krand.files import complete_file, ensure_directory
from krand.mixing.mixer import first_mix
from krand.randomness.generator import secure_random
from krand.survey.canonical import canonical_json
from krand.survey.plan import Plan
from krand.survey.plan_check import CrowdTooSmall
from krand.wire.keys import generate_signing_key
from krand.wire.plan_signatures import PlanSignature, signature_values
from krand.wire.submissions import Refused

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from numpy.typing import NDArray

    from krand.mixing.store import MixerStore
    from krand.survey.lanes import Lane

OK, ACCEPTED, REFUSED, NOT_FOUND, GONE, WRONG_LENGTH = 200, 202, 400, 404, 410, 413


class FakeCollector:
    """Takes what clients send, by the rules of the real one; give it to them as `transport`.

    It reads submissions, knows a retry by its id, refuses what is no submission of the plan and
    round, and releases nothing below the planned crowd. Releasing closes the round; where mixers
    add the noise, it is the first mixer. One thing differs: it forgets everything when the program
    ends.

    >>> from krand import Client, generate_private_key
    >>> from krand.testing import FakeCollector, UnsafeMemoryLedger, small_plan
    >>> plan = small_plan().sealed_for(generate_private_key().public_key())
    >>> collector = FakeCollector(plan)
    >>> collector.fail_next(503, OSError("no network"))
    >>> client = Client.open(
    ...     collector.url, plan.hash, UnsafeMemoryLedger(), transport=collector
    ... )
    >>> sent = client.submit({"pet": "dog"})
    >>> collector.people, len(collector.waited)
    (1, 2)
    """

    url = "https://collector.test"
    """What to submit to; nothing is ever sent there."""

    def __init__(
        self, plan: Plan, round_number: int = 1, signatures: Iterable[PlanSignature] = ()
    ) -> None:
        self.plan, self.round = plan, round_number
        self.signatures = tuple(signatures)
        """The mixers' signatures of the plan, which it serves beside it."""
        self.repeated = 0
        """Submissions that came again."""
        self.refused: list[str] = []
        """The rule that each refused submission breaks."""
        self.waited: list[float] = []
        """How long clients would have waited between attempts, in seconds."""
        self._format = config_of(plan, round_number).format
        self._submissions: dict[bytes, bytes] = {}
        self._failures: deque[Reply | OSError] = deque()
        self._key = generate_signing_key()
        self._id = secure_random().bytes(16).hex()
        self._closed = False

    @property
    def people(self) -> int:
        """Submissions that were counted, each once."""
        return len(self._submissions)

    @property
    def public_key(self) -> Ed25519PublicKey:
        """What verifies its manifests."""
        return self._key.public_key()

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
        home = f"{self.url}/v1/plans/{self.plan.hash}"
        content = published.get(url.removeprefix(home)) if url.startswith(home) else None
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
            return self._refusal(GONE, RoundClosed().rule)
        self._submissions[submitted.id] = submitted.messages
        return Reply(ACCEPTED)

    def wait(self, seconds: float) -> None:
        """Write down that somebody waits; no time passes."""
        self.waited.append(seconds)

    def messages(self) -> list[tuple[Lane, bytes]]:
        """Everybody's sealed messages with their lanes, in random order within each lane."""
        lanes = self.plan.lanes
        return [(lanes[lane], row.tobytes()) for lane, rows in self._lanes() for row in rows]

    def _lanes(self) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        length, whole = self._format.message_length, b"".join(self._submissions.values())
        sent = np.frombuffer(whole, np.uint8).reshape(self.people, self._format.messages, length)
        ends = np.cumsum([lane.messages for lane in self.plan.lanes])
        for lane, rows in zip(self.plan.lanes, np.split(sent, ends[:-1], axis=1), strict=True):
            flat = rows.reshape(-1, length)
            yield lane.number, flat[secure_random().permutation(len(flat))]

    def release(self, folder: str | Path, mixer: MixerStore | None = None) -> Path:
        """Write the batch and beside it its signed manifest; the path of the batch.

        Everybody who came is in it, and from then on the round is closed. Fewer people than the
        plan needs are refused. Where mixers add the noise, `mixer` is the store of the first one,
        the batch has its dummies, and beside it is the chain.
        """
        if self.plan.survey.trust.chain:
            return self._mixed(Path(folder), mixer)
        self._close()
        folder = Path(folder)
        ensure_directory("output", folder)
        data, manifest = folder / "batch-000001.parquet", folder / "batch-000001.manifest.json"
        with complete_file("output", data, replace=False) as stream:
            length = self._format.message_length
            count = write_sealed(stream, length, self._id, self._lanes())
        digest = hashlib.sha256(data.read_bytes()).hexdigest()
        vouched = Manifest(
            plan=self.plan.hash,
            round=self.round,
            submissions=self.people,
            messages=count,
            batch_sha256=digest,
            batch_id=self._id,
        )
        with complete_file("output", manifest, replace=False) as stream:
            stream.write(manifest_bytes(vouched, self._key))
        return data

    def _mixed(self, folder: Path, mixer: MixerStore | None) -> Path:
        if mixer is None:
            rule, hint = "must be given with mixers' noise", "it is the first mixer's store"
            raise InvalidInput("mixer", rule, None, hint)
        self._close()
        rows = np.frombuffer(b"".join(self._submissions.values()), np.uint8)
        shape = (self.people, self._format.messages, self._format.message_length)
        return first_mix(mixer, self.plan, self.round, self._id, rows.reshape(shape), folder).data

    def _close(self) -> None:
        needed = self.plan.smallest_batch
        if self.people < needed:
            hint = "let more people submit, or plan the survey for fewer"
            raise CrowdTooSmall("people", f"must be at least {needed:,}", self.people, hint)
        self._closed = True

    def _refusal(self, status: int, rule: str) -> Reply:
        self.refused.append(rule)
        return Reply(status, rule)
