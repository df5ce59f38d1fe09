"""Progress for everybody: it tells hardly anybody's arrival.

Not even to somebody who watches it all the time, or who submits, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from krand.collector.progress import Newest, Progress, progress_of, status_step, step_for
from krand.collector.store import MINIMUM_GROUP, Batch, State
from krand.randomness.generator import SecureRandom

CROWD = 320
"""Its step is that of the smallest group."""


def batches_of(people: int, crowd: int = CROWD) -> list[Batch]:
    """So many people, in whole batches and an open one."""
    full, rest = divmod(people, crowd)
    return [
        Batch(
            number=number,
            state=State.OPEN if number > full else State.SEALED,
            crowd=crowd,
            people=rest if number > full else crowd,
            messages=0,
            sha256=None,
            id="00",
        )
        for number in range(1, full + 2)
    ]


def draws(*values: int) -> Callable[[int], int]:
    """A source that gives these, and after them no zero for longer than a crowd lasts."""
    rest = iter((*values, *[1] * 2 * CROWD))
    return lambda _: next(rest, 0)


def updates(progress: Progress, arrivals: Iterable[int]) -> list[int]:
    """After which arrivals the watcher, who asks after each, sees another value."""
    seen, found = progress.shown(batches_of(0)), []
    for people in arrivals:
        if (now := progress.shown(batches_of(people))) != seen:
            seen, found = now, [*found, people]
    return found


@pytest.mark.parametrize("crowd", [1, 20, 100, 1000, 20_000])
def test_progress_is_told_in_steps(crowd: int) -> None:
    """Of 32 people, or a tenth of the crowd: coarser than what the operator sees."""
    shown = [progress_of(people, crowd) for people in range(crowd)]
    changes = [n for n in range(1, crowd) if shown[n] != shown[n - 1]]
    assert all(n % status_step(crowd) == 0 for n in changes)
    assert len(changes) <= 10
    assert status_step(crowd) >= max(MINIMUM_GROUP, step_for(crowd))


def test_no_arrival_is_shown_before_32_have_come() -> None:
    """Then each decides by a draw of its own, so nobody can bring the count to just below it."""
    assert updates(Progress(CROWD, draws(0)), range(1, CROWD)) == [MINIMUM_GROUP]
    assert updates(Progress(CROWD, draws(5, 1, 0)), range(1, CROWD)) == [MINIMUM_GROUP + 2]
    assert updates(Progress(CROWD, draws(*[1] * 40, 0)), range(1, CROWD)) == [MINIMUM_GROUP + 40]


def test_nobody_is_told_before_32_have_come() -> None:
    """Then all of them at once, and the next ones wait again."""
    names = [number.to_bytes(16) for number in range(100)]
    newest = Newest(draws(0, 1, 0))
    for name in names[: MINIMUM_GROUP - 1]:
        newest.add(name)
    assert all(name in newest for name in names[: MINIMUM_GROUP - 1])
    newest.add(names[MINIMUM_GROUP - 1])
    assert not any(name in newest for name in names)
    for name in names[MINIMUM_GROUP : 2 * MINIMUM_GROUP]:
        newest.add(name)
    assert all(name in newest for name in names[MINIMUM_GROUP : 2 * MINIMUM_GROUP])
    newest.add(names[2 * MINIMUM_GROUP])
    assert not any(name in newest for name in names)


def test_what_is_shown_is_the_step_of_all_who_came() -> None:
    """Not only of those who came since the last time; also when a batch was completed."""
    progress = Progress(CROWD, draws(0, 0, 0))
    assert progress.shown(batches_of(0)) == 0.0
    assert progress.shown(batches_of(70)) == 64 / CROWD
    assert progress.shown(batches_of(101)) == 64 / CROWD
    assert progress.shown(batches_of(102)) == 96 / CROWD
    assert progress.shown(batches_of(CROWD + 33)) == 32 / CROWD


def test_each_arrival_draws_one_number_below_32() -> None:
    """The probability with which the 32nd or a later one is shown."""
    bounds: list[int] = []

    def below(bound: int) -> int:
        bounds.append(bound)
        return int(len(bounds) < 3)

    Progress(CROWD, below).shown(batches_of(0))
    assert bounds == [MINIMUM_GROUP] * 3


def test_the_draws_are_the_systems_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can foretell them."""
    monkeypatch.setattr(SecureRandom, "below", lambda _, bound: 0)
    assert updates(Progress(CROWD), range(1, 100)) == [32, 64, 96]


@pytest.mark.parametrize("step", [32, 33, 100, 250])
def test_a_step_tells_with_probability_one_in_32_whether_one_more_person_came(step: int) -> None:
    """To somebody who knows all others: the distance of the two laws of what they see."""
    chance, longest = 1 / MINIMUM_GROUP, step + 1500
    group = [
        chance * (1 - chance) ** (size - MINIMUM_GROUP) if size >= MINIMUM_GROUP else 0.0
        for size in range(longest)
    ]
    shown_at = [1.0, *[0.0] * (step - 1)]
    for n in range(1, step):
        shown_at[n] = sum(shown_at[k] * group[n - k] for k in range(n))
    first = [sum(shown_at[k] * group[n - k] for k in range(step)) for n in range(step, longest)]
    assert sum(first) == pytest.approx(1.0)
    shifted = zip([*first, 0.0], [0.0, *first], strict=True)
    assert sum(abs(one - other) for one, other in shifted) / 2 <= chance + 1e-12


TRIALS = 20
EVERY_STEP = 160


def right_guesses(shown_at: Callable[[int], float]) -> int:
    """How often an attacker is right who fills up to one below a step, and looks again later.

    In every other trial somebody comes meanwhile.
    """
    count = right = 0
    for trial in range(TRIALS):
        count += EVERY_STEP - 1 - count % EVERY_STEP
        before = shown_at(count)
        comes = trial % 2
        count += comes
        right += (shown_at(count) != before) == bool(comes)
    return right


def test_whoever_fills_up_a_step_does_not_see_the_next_person() -> None:
    """Somebody who never looks is right in ten of twenty trials; this one hardly more often."""
    crowd = 10 * EVERY_STEP
    assert status_step(crowd) == EVERY_STEP
    progress = Progress(crowd)
    right = right_guesses(lambda count: progress.shown(batches_of(count, crowd)))
    assert right <= 15  # each arrival is seen with probability 1/32
