"""One spool of a party, as those who keep it and those who copy it see it.

What people send has random bytes where sealed messages would be: a test finds each of them again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import krand
from chaos import files_in
from krand.collector import public, rounds, spool
from krand.wire import submissions
from parties import Chain

Verdict, State, Damaged, Spool = public.Verdict, rounds.State, rounds.Damaged, spool.Spool

ID_BYTES = 16


class Place:
    """A party's folder with a plan, its people by numbers, and what has left."""

    def __init__(self, at: Path, plan: krand.Plan) -> None:
        self.at, self.plan = at, plan
        self.length = submissions.format_of(plan).message_length
        self.folder, self.left = at / "party", at / "in"

    @classmethod
    def begun(cls, at: Path, survey: str = "tiny") -> Place:
        """A new one; `survey` is a name of the world."""
        chain = Chain.made(at / "study", survey)
        chain.plan.save(at / "study" / "plan.json")
        return cls(at, chain.plan)

    def copied(self, at: Path, keys: Path | None = None) -> Place:
        """The same as it is now, somewhere else; perhaps with the keys of another folder."""
        shutil.copytree(self.folder, at / "party")
        if keys is not None:
            shutil.rmtree(at / "party" / "keys")
            shutil.copytree(keys / "keys", at / "party" / "keys")
        return Place(at, self.plan)

    def opened(self) -> Spool:
        return Spool(self.folder, self.plan)

    def sent(self, number: int) -> submissions.Submitted:
        """What this person sends, the same each time."""
        name = hashlib.shake_256(b"id %d" % number).digest(ID_BYTES)
        return submissions.Submitted(name, b"".join(self.messages(number)))

    def messages(self, number: int) -> list[bytes]:
        content = hashlib.shake_256(b"sent %d" % number).digest(self.length * self.plan.messages)
        return [content[at : at + self.length] for at in range(0, len(content), self.length)]

    def add(self, spool: Spool, numbers: Iterable[int]) -> list[Verdict]:
        return spool.add([self.sent(number) for number in numbers])

    def check_left(self, people: Sequence[int]) -> None:
        """The batch is what these people sent, each message once, in its lane, in another order."""
        content, at = self.left.read_bytes(), 0
        assert len(content) == len(people) * self.plan.messages * self.length
        first = 0
        for lane in self.plan.lanes:
            count = len(people) * lane.messages
            rows = [content[at + n * self.length :][: self.length] for n in range(count)]
            sent = [self.messages(n)[first : first + lane.messages] for n in people]
            assert sorted(rows) == sorted(message for one in sent for message in one), lane.number
            at, first = at + count * self.length, first + lane.messages

    def found(self, numbers: Iterable[int]) -> int:
        """How many messages of these people are anywhere in the folder, in whole or in part."""
        content = b"\0".join(files_in(self.folder).values())
        return sum(one[:24] in content for n in numbers for one in self.messages(n))


def live(at: str, plan: str, told: str, people: int) -> None:
    """A spool's whole life: people one by one and together, quiet, the end, the batch.

    What was acknowledged is written to a file, `told`, number by number, only when it was.
    """
    place = Place(Path(at), krand.read_plan(plan))
    with place.opened() as spool, open(told, "ab", buffering=0) as said:

        def come(numbers: Sequence[int]) -> None:
            place.add(spool, numbers)
            os.write(said.fileno(), b"".join(b"%d\n" % number for number in numbers))

        for number in range(8):
            come([number])
        come(range(8, 8 + 40))
        for number in range(48, people, 6):
            come(range(number, min(number + 6, people)))
        spool.tidy()
        finish(place, spool)


def finish(place: Place, spool: Spool) -> None:
    """Go on from wherever it was left: the round ends, its batch is written, then recorded."""
    record = place.at / "record"
    if spool.close_round().state is State.CLOSED:
        if not record.exists():
            spool.write(place.left)
            record.write_text(json.dumps("recorded"), encoding="ascii")
        spool.forget()
