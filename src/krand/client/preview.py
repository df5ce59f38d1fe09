"""What a device would send, shown to the person before it is sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from krand.showing import some
from krand.survey.encoding import describe
from krand.survey.plan import Plan
from krand.wire.messages import LAYER_BYTES, Payload, Token, Vector, length_at

MOST_LINES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A submission, exactly as it will be sent, and what it means; `print` shows it in words.

    >>> from krand.testing import FakeChain, small_survey, unsafe_exact_plan
    >>> chain = FakeChain(unsafe_exact_plan(small_survey()))
    >>> shown = chain.client().preview({"pet": "cat"})
    >>> "pet = cat: your answer" in str(shown), len(shown.body)
    (True, 127)
    """

    plan: Plan = field(repr=False)
    round: int
    body: bytes = field(repr=False)
    """Exactly the bytes that are sent."""
    truth: tuple[int, ...] | None = None
    """The positions that the answers set; None if it was sealed earlier, with the answers given
    then: nobody can read it any more."""
    said: tuple[Payload, ...] | None = field(default=None, repr=False)
    """What each message says, in the order of the plan's lanes; None if it was sealed earlier."""

    @property
    def reported(self) -> tuple[tuple[int, ...], ...] | None:
        """The positions that are 1 in what is sent: one list, or one for each copy of a record."""
        if self.said is None:
            return None
        copies = [each.packed for each in self.said if isinstance(each, Vector)]
        if not copies:
            return (tuple(sorted(e.position for e in self.said if isinstance(e, Token))),)
        places = range(self.plan.layout.positions)
        return tuple(
            tuple(j for j in places if packed[j // 8] >> (7 - j % 8) & 1) for packed in copies
        )

    @property
    def lines(self) -> tuple[str, ...]:
        """Each position that is sent as 1, or that noise removed from the answers, in words."""
        if self.truth is None or self.reported is None:
            return ()
        return tuple(self._line(j, copy) for copy in self.reported for j in self._shown(copy))

    def _shown(self, copy: tuple[int, ...]) -> list[int]:
        return sorted({*copy, *(self.truth or ())})

    def _line(self, position: int, copy: tuple[int, ...]) -> str:
        name, label = describe(self.plan.layout, position)
        if position not in (self.truth or ()):
            means = "not your answer, added by the noise"
        elif position in copy:
            means = "your answer"
        else:
            means = "your answer, left out because of the noise"
        return f"{name} = {label}: {means}"

    def __str__(self) -> str:
        """All of it in plain words."""
        plan, length = self.plan, length_at(self.plan, 1)
        layers = ["the analyst", *(m.name for m in reversed(plan.mixers[1:]))]
        inside = length - LAYER_BYTES * len(layers)
        told = [
            f"Round {self.round} of {plan.survey.id}: {some(plan.messages, 'message')} of {length}"
            f" bytes, {len(self.body):,} bytes in all; everybody sends as many.",
            f"Each is sealed for {', then for '.join(layers)}; {inside} bytes are inside.",
        ]
        if self.said is None:
            told.append("It was sealed earlier, and nobody here can read it any more.")
        else:
            lines = self.lines
            told += [f"  {line}" for line in islice(lines, MOST_LINES)]
            if len(lines) > MOST_LINES:
                told.append(f"  and {len(lines) - MOST_LINES:,} more")
            empty = sum(not isinstance(each, Token | Vector) for each in self.said)
            if empty:
                told.append(f"  {some(empty, 'message')} without content")
        return "\n".join(told)
