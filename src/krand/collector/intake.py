"""What becomes of submissions. Nothing that the listener passed on is believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from krand.collector.public import Verdict
from krand.collector.rounds import MINIMUM_GROUP
from krand.collector.spool import Spool
from krand.errors import KrandError
from krand.randomness.generator import secure_random
from krand.wire.submissions import Refused, Submitted, round_in

if TYPE_CHECKING:
    from krand.collector.invitations import Followed


class Intake:
    """Takes submissions for the spool of a round."""

    def __init__(
        self,
        spool: Spool,
        invitations: Followed | None,
        is_taking: Callable[[], bool],
        tell: Callable[[str], None],
    ) -> None:
        """`is_taking` says whether it is the round's time; `tell` is told once what fails, and
        nothing when it works again."""
        self._spool, self._invitations = spool, invitations
        self._is_taking, self._tell = is_taking, tell
        self._newest, self._room = set[bytes](), 0
        self._failure = ""  # the one that was told last
        self._came, self._untidy = False, True

    def verdicts(self, bodies: Sequence[bytes]) -> list[Verdict]:
        """Store what can be stored, all of it or nothing; a verdict on each."""
        found = [self._checked(body) for body in bodies]
        fresh = [one for one in found if isinstance(one, Submitted)]
        self._came = self._untidy = True
        try:
            stored = iter(self._stored(fresh) if fresh else [])
            self._succeeded()
        except Exception as error:  # whatever it was: nobody in this group is acknowledged
            self._failed(error)
            stored = iter([Verdict.UNAVAILABLE] * len(fresh))
        return [next(stored) if isinstance(one, Submitted) else one for one in found]

    def _checked(self, body: bytes) -> Submitted | Verdict:
        try:
            found = self._spool.format.read(body)
        except Refused:
            asked = self._spool.format
            earlier = len(body) == asked.length and round_in(body) < asked.round
            return Verdict.CLOSED if earlier else Verdict.REFUSED
        if self._invitations is not None and not self._invitations.admit(found.id):
            return Verdict.UNINVITED
        return found

    def _stored(self, submissions: Sequence[Submitted]) -> list[Verdict]:
        """Once the round is over nobody new is stored, and retries are still acknowledged."""
        said = self._spool.add(submissions, taking=self._is_taking())
        if self._invitations is not None:
            for submission, verdict in zip(submissions, said, strict=True):
                if verdict is Verdict.ACCEPTED:
                    self._note(submission.id)
        return said

    def _note(self, name: bytes) -> None:
        """Somebody came: nobody is told before at least as many others did as hide them."""
        if len(self._newest) >= self._room:
            self._newest.clear()
            self._room = MINIMUM_GROUP + secure_random().below(MINIMUM_GROUP)
        self._newest.add(name)

    def invitation(self, name: bytes) -> str:
        """Whether an id belongs to an invitation, and whether that was used a while ago."""
        if self._invitations is None or not self._invitations.admit(name):
            return "unknown"
        (said,) = self._spool.add([Submitted(name, b"")], taking=False)
        return "used" if said is Verdict.KNOWN and name not in self._newest else "unused"

    def rest(self) -> None:
        """Tidy the spool, if nobody came since the last call."""
        try:
            if self._untidy and not self._came:
                self._spool.tidy()
                self._untidy = False
            self._came = False
        except Exception as error:  # it is tried again
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        """Each failure is told once, however many submissions it affects.

        krand's own messages contain nothing of a request; of others only the kind is told.
        """
        failure = str(error) if isinstance(error, KrandError) else type(error).__name__
        if failure != self._failure:
            self._failure = failure
            self._tell(f"submissions cannot be stored: {failure}")

    def _succeeded(self) -> None:
        if self._failure:
            self._failure = ""
            self._tell("")
