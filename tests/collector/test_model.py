"""The collector beside a model of a few lines: whatever happens, in any order, they agree."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace

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

from collecting import message, quick_folder, released, spool_config, submitted
from effort import CHECK
from krand.batches.chain import parse_manifest
from krand.collector.release import release_batch, release_sealed
from krand.collector.sqlite.spool import Spool
from krand.collector.store import RoundClosed, State
from krand.errors import InvalidInput
from krand.survey.plan_check import CrowdTooSmall
from krand.wire.keys import generate_signing_key

EXAMPLES = int(os.environ.get("KRAND_MODEL_EXAMPLES", "50" if CHECK else "15"))
KEY = generate_signing_key()
GROUPS = st.integers(1, 4)
MOMENTS = st.integers(0, 16)
"""At which statement of SQL a crash comes; often after the last one, before the acknowledgement."""


class Collector(RuleBasedStateMachine):
    """A spool, what it should hold, and everything that can happen to it."""

    steps = 0

    @initialize(crowd=st.integers(2, 5), messages=st.integers(1, 3), more=st.integers(-1, 2))
    def begin(self, crowd: int, messages: int, more: int) -> None:
        """`more`: how many people above the crowd fill a batch; below 0, it is closed by hand."""
        self.stack = ExitStack()
        self.home = self.stack.enter_context(quick_folder())
        self.out = self.home / "out"
        self.out.mkdir()
        full = {"release_every": crowd + more} if more >= 0 else {"release_every": 0, "closings": 1}
        self.config = replace(spool_config(crowd, messages), **full)
        self.images = 0
        self.spool = Spool(self.home / "0", self.config)
        self.people = 0
        self.batches: list[list[int]] = [[]]
        self.states = [State.OPEN]
        self.known: list[int] = []
        self.unsure: list[int] = []
        self.files: dict[str, bytes] = {}

    # What may happen.

    @rule(count=GROUPS)
    def submit(self, count: int) -> None:
        """New people, alone or several at once."""
        self.send(self.new(count))

    @rule(place=st.integers(0, 3))
    def the_same_twice_at_once(self, place: int) -> None:
        """One submission several times in one group."""
        group = self.new(2)
        self.send([*group[:1] * (place + 1), *group[1:]])

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def retry_acknowledged(self, data: st.DataObject) -> None:
        """Somebody comes again, perhaps long after their batch was released."""
        self.send([data.draw(st.sampled_from(self.known)), *self.new(1)])

    @precondition(lambda self: self.unsure)
    @rule(data=st.data())
    def retry_unacknowledged(self, data: st.DataObject) -> None:
        """Somebody who was not told comes again: new only if nothing had been stored."""
        number = data.draw(st.sampled_from(self.unsure))
        self.unsure.remove(number)
        self.send([number])

    @rule(count=GROUPS, moment=MOMENTS)
    def crash_while_storing(self, count: int, moment: int) -> None:
        """Before the commit nothing is stored, after it everything; nobody is told."""
        group = self.new(count)
        commits = self.cut_short(lambda: self.spool.add(self.group(group)), moment)
        assert commits in (0, 1)
        if commits:
            self.expect(group)
        assert not (commits and self.is_closed)
        self.unsure += group

    @rule()
    def crash(self) -> None:
        """Ended without a word, and started again."""
        self.cut_short(lambda: None, 0)

    def cut_short(self, act: Callable[[], object], moment: int) -> int:
        """Go on with the files as they were at one moment; how much had been committed."""
        self.images += 1
        target, out = self.home / str(self.images), self.home / f"out-{self.images}"
        seen: list[str] = []
        commits = -1

        def image() -> None:
            nonlocal commits
            commits = seen.count("COMMIT")
            shutil.copytree(self.spool.folder, target)
            shutil.copytree(self.out, out, ignore=shutil.ignore_patterns(".*"))

        def traced(statement: str) -> None:
            if len(seen) == moment and commits < 0:
                image()
            seen.append(statement)

        self.spool._connection.set_trace_callback(traced)
        with suppress(RoundClosed, CrowdTooSmall):
            act()
        self.spool._connection.set_trace_callback(None)
        if commits < 0:
            image()
        self.spool._connection.close()
        self.spool, self.out = Spool(target, self.config), out
        return commits

    @rule()
    def restart(self) -> None:
        """Stopped and started as it should be."""
        self.spool.close()
        self.spool = Spool(self.spool.folder, self.config)

    @rule()
    def quiet_moment(self) -> None:
        """The journal is emptied, the pages are written anew."""
        self.spool.tidy()

    @rule(erase=st.booleans())
    def close(self, erase: bool) -> None:
        """A crowd is sealed; fewer join a batch of which nothing was written, or are erased."""
        before, expected = self.spool.batches(), self.expect_closing(erase)
        if isinstance(expected, int):
            closed = self.spool.close_batch(erase=erase)
            assert closed.lost == expected
            assert closed.joined is None or not expected
            return
        with pytest.raises(expected):
            self.spool.close_batch(erase=erase)
        assert self.spool.batches() == before

    @rule(erase=st.booleans(), moment=MOMENTS)
    def crash_while_closing(self, erase: bool, moment: int) -> None:
        """The round is closed with everybody, or not at all."""
        commits = self.cut_short(lambda: self.spool.close_batch(erase=erase), moment)
        assert commits in (0, 1)
        if commits:
            assert isinstance(self.expect_closing(erase), int)

    @rule()
    def begin_to_release(self) -> None:
        """A release that is interrupted before it wrote anything: from then on nobody joins."""
        for batch in self.spool.batches():
            if batch.state is State.SEALED:
                assert self.spool.mark_releasing(batch).people == batch.people
                self.states[batch.number - 1] = State.RELEASING
                return

    @rule()
    def release(self) -> None:
        """Everything that is sealed, and nothing else."""
        done = release_sealed(self.spool, self.out, KEY)
        assert [entry.batch.number for entry in done] == [n + 1 for n in self.waiting()]
        for number in self.waiting():
            self.states[number] = State.RELEASED

    @precondition(lambda self: self.waiting())
    @rule(moment=MOMENTS)
    def crash_while_releasing(self, moment: int) -> None:
        """The files may be there or not; the next release writes the same."""
        steps = [(n, state) for n in self.waiting() for state in (State.RELEASING, State.RELEASED)]
        done = self.cut_short(lambda: release_sealed(self.spool, self.out, KEY), moment)
        for number, state in steps[:done]:
            self.states[number] = state

    @rule()
    def release_the_open_batch(self) -> None:
        """It cannot be done, not even by calling it sealed."""
        waiting = self.spool.batches()[-1]
        if waiting.state.is_waiting:
            return
        for claimed in (waiting, replace(waiting, state=State.SEALED)):
            with pytest.raises(InvalidInput):
                release_batch(self.spool, claimed, self.out, KEY)

    # What must hold after every step.

    @invariant()
    def counts_are_those_of_the_model(self) -> None:
        Collector.steps += 1
        model = zip(self.spool.batches(), self.batches, self.states, strict=True)
        for number, (batch, own, state) in enumerate(model, start=1):
            assert (batch.number, batch.state, batch.people) == (number, state, len(own))
            assert batch.crowd == self.config.crowd
            assert batch.messages == len(own) * self.config.format.messages
            if state not in (State.OPEN, State.ERASED):
                assert batch.people >= self.config.crowd
            if state.has_messages:
                assert self.stored(number) == self.expected(own)

    @invariant()
    def files_never_change_and_hold_a_crowd(self) -> None:
        for path in self.out.iterdir():
            content = path.read_bytes()
            assert self.files.setdefault(path.name, content) == content
            assert path.name.startswith("batch-")
        for number, (own, state) in enumerate(zip(self.batches, self.states, strict=True), start=1):
            if state is not State.RELEASED:
                continue
            data = self.out / f"batch-{number:06d}.parquet"
            signed = (self.out / f"batch-{number:06d}.manifest.json").read_bytes()
            manifest = parse_manifest(signed, KEY.public_key())
            assert manifest.submissions == len(own) >= self.config.crowd
            assert Counter(released(data)) == self.expected(own)

    def teardown(self) -> None:
        """In the end every message of every sealed batch is in exactly one file."""
        if not hasattr(self, "spool"):
            return
        with self.stack:
            release_sealed(self.spool, self.out, KEY)
            found = [m for path in self.out.glob("*.parquet") for m in released(path)]
            ends = (State.OPEN, State.ERASED)
            model = zip(self.batches, self.states, strict=True)
            assert Counter(found) == self.expected(
                [n for own, state in model if state not in ends for n in own]
            )
            assert len(set(found)) == len(found)
            self.spool.check()
            self.spool.close()

    # The model.

    def new(self, count: int) -> list[int]:
        self.people += count
        return list(range(self.people - count, self.people))

    def group(self, numbers: list[int]) -> list[object]:
        return [submitted(n, self.config.format) for n in numbers]

    def send(self, numbers: list[int]) -> None:
        """Submit, and be told."""
        if self.is_closed and any(number not in self.known for number in numbers):
            with pytest.raises(RoundClosed):
                self.spool.add(self.group(numbers))
            return
        assert self.spool.add(self.group(numbers)) == self.expect(numbers)

    def expect(self, numbers: list[int]) -> list[bool]:
        verdicts = []
        for number in numbers:
            verdicts.append(number not in self.known)
            if verdicts[-1]:
                self.known.append(number)
                self.batches[-1].append(number)
                if len(self.batches[-1]) == self.config.release_every:
                    self.states[-1] = State.SEALED
                    self.batches.append([])
                    self.states.append(State.OPEN)
        return verdicts

    @property
    def is_closed(self) -> bool:
        return self.states[-1] is not State.OPEN

    def waiting(self) -> list[int]:
        return [n for n, state in enumerate(self.states) if state.is_waiting]

    def expect_closing(self, erase: bool) -> int | type[Exception]:
        """Close the model: how many are lost, or the error."""
        if self.is_closed:
            return RoundClosed
        rest = self.batches[-1]
        if len(rest) >= self.config.crowd:
            self.states[-1] = State.SEALED
            return 0
        sealed = [n for n, state in enumerate(self.states) if state is State.SEALED]
        if rest and sealed:
            self.batches[sealed[-1]] += rest
            self.batches[-1], self.states[-1] = [], State.ERASED
            return 0
        if not erase and (rest or len(self.states) == 1):
            return CrowdTooSmall
        self.states[-1] = State.ERASED
        return len(rest)

    def expected(self, numbers: list[int]) -> Counter[bytes]:
        return Counter(
            message(n, copy) for n in numbers for copy in range(self.config.format.messages)
        )

    def stored(self, number: int) -> Counter[bytes]:
        (batch,) = (b for b in self.spool.batches() if b.number == number)
        width = 8 + self.config.format.message_length
        rows = b"".join(self.spool.rows_of(batch))
        return Counter(rows[at + 8 : at + width] for at in range(0, len(rows), width))


@pytest.mark.loop
def test_the_collector_follows_its_model() -> None:
    """Submit, retry, crash, restart, close, release in any order: never below N, nobody lost or
    counted twice who is not named as erased."""
    run_state_machine_as_test(
        Collector,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert Collector.steps > EXAMPLES
