"""The spool beside a model of a few lines: whatever happens, in any order, they agree."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import krand
from chaos import quick_folder, statements_below
from effort import EFFORT
from spools import Place, State, Verdict, finish

T = TypeVar("T")

EXAMPLES = 12 * EFFORT
GROUPS = st.integers(1, 40)
MOMENTS = st.integers(0, 24)
"""At which statement of SQL a crash comes; often after the last one, before the acknowledgement."""
ACCEPTED, KNOWN, CLOSED = Verdict.ACCEPTED, Verdict.KNOWN, Verdict.CLOSED


class Machine(RuleBasedStateMachine):
    """A round, what it should hold, and everything that can happen to it."""

    steps = 0

    @initialize(mixed=st.booleans())
    def begin(self, mixed: bool) -> None:
        self.stack = ExitStack()
        self.home = self.stack.enter_context(quick_folder())
        self.sql = self.stack.enter_context(statements_below(self.home))
        self.place = Place.begun(self.home / "0", "mixer" if mixed else "tiny")
        self.crowd = 1 if mixed else 12
        self.people = self.images = 0
        self.known: list[int] = []
        self.state = State.OPEN
        self.left = b""
        self.spool = self.place.opened()

    # What may happen.

    @rule(count=GROUPS)
    def submit(self, count: int) -> None:
        self.send(self.new(count))

    @rule(times=st.integers(2, 4))
    def the_same_twice_at_once(self, times: int) -> None:
        """One submission several times in one group."""
        (number,) = self.new(1)
        said = self.place.add(self.spool, [number] * times)
        if self.state is not State.OPEN:
            assert said == [CLOSED] * times
            return
        self.known.append(number)
        assert said == [ACCEPTED, *[KNOWN] * (times - 1)]

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        """Somebody comes again, perhaps long after the batch was recorded."""
        self.send([data.draw(st.sampled_from(self.known)), *self.new(1)])

    @rule()
    def rest(self) -> None:
        """Nobody comes for a while."""
        self.spool.tidy()

    @rule()
    def restart(self) -> None:
        self.spool.close()
        self.spool = self.place.opened()

    @precondition(lambda self: self.state is State.OPEN)
    @rule(count=GROUPS, moment=MOMENTS)
    def crash_while_storing(self, count: int, moment: int) -> None:
        """All of a group are stored, or none of them, and all if somebody may have been told."""
        group = self.new(count)
        before = self.cut_short(lambda: self.place.add(self.spool, group), moment)
        stored = {*self.place.add(self.spool, group)}
        self.known += group
        assert stored in ({ACCEPTED}, {KNOWN})
        assert stored == {ACCEPTED} or "COMMIT" in before, f"stored after {before}"

    @rule(erase=st.booleans(), moment=MOMENTS)
    def crash_while_closing(self, erase: bool, moment: int) -> None:
        """The round is closed with everybody, or not at all."""
        if self.may_close(erase):
            self.cut_short(lambda: self.spool.close_round(erase=erase), moment)
            if self.state is State.OPEN and self.spool.round().state is not State.OPEN:
                self.is_closed_now()

    @rule(erase=st.booleans())
    def close(self, erase: bool) -> None:
        """A crowd leaves; fewer are erased if that is asked for, or nothing happens."""
        if not self.may_close(erase):
            with pytest.raises(krand.CrowdTooSmall):
                self.spool.close_round()
            return
        self.spool.close_round(erase=erase)
        if self.state is State.OPEN:
            self.is_closed_now()

    @precondition(lambda self: self.state in (State.CLOSED, State.RELEASED))
    @rule(moment=MOMENTS)
    def crash_while_mixing(self, moment: int) -> None:
        """Once what came is recorded, it is never mixed again; nothing of it stays."""
        if self.state is State.CLOSED:
            self.spool.write(self.place.left)
            self.left = self.place.left.read_bytes()
            self.place.check_left(self.known)
        self.cut_short(self.spool.forget, moment)
        self.spool.forget()
        self.state = State.RELEASED
        assert self.place.found(self.known) == 0
        with pytest.raises(krand.InvalidInput, match="closed"):
            self.spool.write(self.place.left)

    # What must hold after every step.

    @invariant()
    def it_is_as_far_as_the_model(self) -> None:
        Machine.steps += 1
        found = self.spool.round()
        assert (found.state, found.people) == (self.state, len(self.known))

    def teardown(self) -> None:
        """In the end everybody who was acknowledged is in the batch once, or was erased."""
        if not hasattr(self, "spool"):
            return
        with self.stack:
            if self.state is State.OPEN and self.may_close(erase=False):
                self.spool.close_round()
                self.is_closed_now()
            if self.state is State.CLOSED:
                finish(self.place, self.spool)
                self.place.check_left(self.known)
            if self.state is not State.OPEN:
                assert self.place.found(self.known) == 0
            self.spool.close()

    # How.

    def cut_short(self, act: Callable[[], object], moment: int) -> list[str]:
        """Go on with the files as they were at one moment; what had run before."""
        self.images += 1
        found: list[Place] = []
        self.sql.begin(
            moment, lambda: found.append(self.place.copied(self.home / str(self.images)))
        )
        act()
        before = self.sql.end()
        self.spool.close()
        (self.place,) = found
        self.spool = self.place.opened()
        return before

    def may_close(self, erase: bool) -> bool:
        return erase or self.state is not State.OPEN or len(self.known) >= self.crowd

    def is_closed_now(self) -> None:
        self.state = State.ERASED if len(self.known) < self.crowd else State.CLOSED

    def new(self, count: int) -> list[int]:
        self.people += count
        return list(range(self.people - count, self.people))

    def send(self, numbers: list[int]) -> None:
        """Submit, and be told."""
        new = ACCEPTED if self.state is State.OPEN else CLOSED
        expected = [KNOWN if number in self.known else new for number in numbers]
        said = self.place.add(self.spool, numbers)
        assert said == expected, f"{numbers} were told {said}, not {expected}"
        self.known += [n for n in numbers if self.state is State.OPEN and n not in self.known]


def test_the_spool_follows_its_model() -> None:
    """Submit, retry, crash, restart, close in any order: nobody lost, nobody counted twice."""
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert Machine.steps > EXAMPLES
