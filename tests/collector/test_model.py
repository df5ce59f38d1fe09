"""The collector beside a model of a few lines: whatever happens, in any order, they agree."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TypeVar

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

from chaos import quick_folder, statements_below
from effort import EFFORT
from rounds import ACCEPTED, CLOSED, KNOWN, Collector, Round

T = TypeVar("T")

EXAMPLES = 6 * EFFORT
GROUPS = st.integers(1, 8)
MOMENTS = st.integers(0, 24)
"""At which statement of SQL a crash comes; often after the last one, before the acknowledgement."""


class Machine(RuleBasedStateMachine):
    """A round, what it should hold, and everything that can happen to it."""

    steps = 0

    @initialize(mixed=st.booleans())
    def begin(self, mixed: bool) -> None:
        self.stack = ExitStack()
        self.home = self.stack.enter_context(quick_folder())
        self.sql = self.stack.enter_context(statements_below(self.home))
        self.round = Round.begun(self.home / "0", "mixer" if mixed else "tiny")
        self.crowd = 1 if mixed else 12
        self.people = self.images = 0
        self.known: list[int] = []
        self.unsure: list[int] = []
        self.is_open = True
        self.is_erased = False
        self.files: dict[str, bytes] = {}
        self.start()

    # What may happen.

    @rule(count=GROUPS, at_once=GROUPS)
    def submit(self, count: int, at_once: int) -> None:
        """New people, one after the other or several at once."""
        self.send(self.new(count), at_once)

    @rule(times=st.integers(2, 4))
    def the_same_twice_at_once(self, times: int) -> None:
        """One submission several times at the same moment."""
        (number,) = self.new(1)
        said = self.collector.send([number] * times, times)
        if not self.is_open:
            assert said == [CLOSED] * times
            return
        self.known.append(number)
        assert sorted(said) == [ACCEPTED, *[KNOWN] * (times - 1)]

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def retry_acknowledged(self, data: st.DataObject) -> None:
        """Somebody comes again, perhaps long after the batch was released."""
        self.send([data.draw(st.sampled_from(self.known)), *self.new(1)], 2)

    @precondition(lambda self: self.unsure)
    @rule(data=st.data())
    def retry_unacknowledged(self, data: st.DataObject) -> None:
        """Somebody who was not told comes again: new only if nothing had been stored."""
        number = data.draw(st.sampled_from(self.unsure))
        self.unsure.remove(number)
        self.send([number])

    @precondition(lambda self: self.is_open)
    @rule(count=GROUPS, moment=MOMENTS)
    def crash_while_storing(self, count: int, moment: int) -> None:
        """Whoever was told before it is stored; of the others, nobody before a commit."""
        group, told = self.new(count), list[int]()

        def come(number: int) -> None:
            assert self.collector.post(self.round.body(number)) == ACCEPTED
            told.append(number)

        def all_come() -> None:
            with ThreadPoolExecutor(count) as threads:
                list(threads.map(come, group))

        acknowledged, before = self.cut_short(all_come, moment, lambda: [*told])
        stored = [number for number in group if self.collector.send([number]) == [KNOWN]]
        assert {*stored} >= {*acknowledged}, f"{acknowledged} were told, {stored} are stored"
        assert not stored or "COMMIT" in before, f"{stored} are stored after {before}"
        self.known += group

    @rule()
    def restart(self) -> None:
        """Stopped and started as it should be."""
        self.running.close()
        self.start()

    @rule(erase=st.booleans())
    def close(self, erase: bool) -> None:
        """A crowd leaves; fewer are erased if that is asked for, or nothing happens."""
        if not self.is_open:
            assert self.round.close("--erase" * erase)["closed"] is None
        elif self.may_close(erase):
            self.round.close("--erase" * erase)
            self.is_closed_now()
        else:
            assert self.round.refusal()["field"] == "people"

    @precondition(lambda self: self.is_open)
    @rule(erase=st.booleans(), moment=MOMENTS)
    def crash_while_closing(self, erase: bool, moment: int) -> None:
        """The round is closed with everybody, or not at all; what was begun is gone on with."""
        if not self.may_close(erase):
            return
        self.cut_short(lambda: self.round.close("--erase" * erase), moment)
        if not self.collector.told()["open"]:
            self.round.release()
            self.is_closed_now()

    # What must hold after every step.

    @invariant()
    def files_never_change_and_a_closed_round_takes_nobody(self) -> None:
        Machine.steps += 1
        for name, content in self.round.released().items():
            assert self.files.setdefault(name, content) == content, f"{name} has changed"
        if not self.is_open:
            assert self.collector.send(self.new(1)) == [CLOSED]

    def teardown(self) -> None:
        """In the end everybody who was acknowledged is in the batch once, or was erased."""
        if not hasattr(self, "round"):
            return
        with self.stack:
            if self.is_open and self.may_close(erase=False):
                self.round.close()
                self.is_closed_now()
            if self.is_open or self.is_erased:
                assert not self.round.released()
            else:
                self.round.check_released(self.known)
                assert self.round.left_in_spool(self.known) == 0
            self.running.close()

    # How.

    def start(self) -> None:
        self.running = ExitStack()
        self.collector: Collector = self.running.enter_context(self.round.served())

    def cut_short(
        self, act: Callable[[], object], moment: int, looked: Callable[[], T] = lambda: None
    ) -> tuple[T, list[str]]:
        """Go on with the files as they were at one moment; what was seen then, and what had run."""
        self.images += 1
        found: list[tuple[Round, T]] = []

        def look() -> None:
            seen = looked()
            found.append((self.round.copied(self.home / str(self.images)), seen))

        self.sql.begin(moment, look)
        act()
        before = self.sql.end()
        left, ((self.round, seen),) = self.running, found
        ending = threading.Thread(target=left.close)  # in a folder that nobody looks at any more
        ending.start()
        self.stack.callback(ending.join)
        self.start()
        return seen, before

    def may_close(self, erase: bool) -> bool:
        return erase or len(self.known) >= self.crowd

    def is_closed_now(self) -> None:
        self.is_open, self.is_erased = False, len(self.known) < self.crowd

    def new(self, count: int) -> list[int]:
        self.people += count
        return list(range(self.people - count, self.people))

    def send(self, numbers: list[int], at_once: int = 1) -> None:
        """Submit, and be told."""
        new = ACCEPTED if self.is_open else CLOSED
        expected = [KNOWN if number in self.known else new for number in numbers]
        said = self.collector.send(numbers, at_once)
        assert said == expected, f"{numbers} were told {said}, not {expected}"
        self.known += [n for n in numbers if self.is_open and n not in self.known]


def test_the_collector_follows_its_model() -> None:
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
