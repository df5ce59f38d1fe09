"""Progress for everybody and metrics for the operator: they tell hardly anybody's arrival.

Not even to somebody who watches them all the time, or who submits, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collecting import asked, exact_plan, running
from krand.collector.intake import Counts
from krand.collector.metrics import Metrics
from krand.collector.progress import Newest, Progress, in_steps, progress_of, status_step, step_for
from krand.collector.states import State
from krand.collector.store import MINIMUM_GROUP, Batch
from krand.promise import Linkage
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
    """Of 32 people, or a tenth of the crowd: coarser than an operator's metrics."""
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


THOUSAND = 1_000
TRIALS = 20
EVERY_STEP = 160
"""A multiple of ten, and of the step of the status."""
FAULTS = ["repeated", "refused", "unavailable"]


def values_in(text: str) -> dict[str, int]:
    """Every sample, which has its help and its type; numbers only."""
    values = {}
    for line in text.splitlines():
        if line.startswith("# "):
            assert re.fullmatch(r"# (HELP|TYPE) krand_\w+ .+", line)
        else:
            name, value = re.fullmatch(r'(krand_\w+(?:\{state="\w+"\})?) (\d+)', line).groups()
            values[name] = int(value)
            assert f"# TYPE {name.partition('{')[0]} " in text
    return values


def right_guesses(text_at: object, first: int = 0) -> int:
    """How often an attacker is right who fills up to one below a step, and looks again later.

    In every other trial somebody comes meanwhile.
    """
    assert callable(text_at)
    count, right = first, 0
    for trial in range(TRIALS):
        count += EVERY_STEP - 1 - count % EVERY_STEP
        before = text_at(count)
        comes = trial % 2
        count += comes
        right += (text_at(count) != before) == bool(comes)
    return right


@pytest.mark.parametrize("what", ["accepted", *FAULTS])
def test_whoever_fills_up_a_step_does_not_see_the_next_person(what: str) -> None:
    """Somebody who never looks is right in ten of twenty trials; this one hardly more often."""
    metrics = Metrics(Progress(10**6))

    def text_at(count: int) -> str:
        counts = replace(Counts(), **{what: count})
        return metrics.text(counts, batches_of(count if what == "accepted" else 0, 10**6))

    assert right_guesses(text_at) <= 15  # each arrival is seen with probability 1/32


def test_metrics_and_status_are_brought_up_to_date_together() -> None:
    """Whoever sees both sees no more than one of them."""
    progress = Progress(THOUSAND)
    metrics = Metrics(progress)
    seen: set[tuple[float, str]] = set()
    for people in range(THOUSAND):
        now = batches_of(people, THOUSAND)
        text = metrics.text(Counts(accepted=people), now)
        seen.add((progress.shown(now), text))
    assert len(seen) == len({shown for shown, _ in seen}) == len({text for _, text in seen})


@given(st.integers(1, 10**8), st.integers(0, 10**8))
def test_steps_are_coarse_and_few(crowd: int, count: int) -> None:
    """At least 32 people; ten up to the crowd, and beyond it one whenever the number doubles."""
    shown = in_steps(count, crowd)
    assert shown <= count
    if count < max(crowd, MINIMUM_GROUP):
        assert count - shown < status_step(crowd)
        assert shown % status_step(crowd) == 0
    else:
        assert count < 2 * shown
    assert status_step(crowd) >= max(MINIMUM_GROUP, crowd // 10)


def moved(batches: Sequence[Batch], number: int, state: State) -> list[Batch]:
    return [replace(one, state=state) if one.number == number else one for one in batches]


def test_what_the_operator_does_is_seen_at_once() -> None:
    """A batch that arrivals complete is seen with the next update; a released one immediately."""
    metrics = Metrics(Progress(THOUSAND, draws()))
    states = [f'krand_batches{{state="{state}"}}' for state in ("open", "sealed", "released")]

    def seen(batches: Sequence[Batch]) -> list[int]:
        values = values_in(metrics.text(Counts(), batches))
        return [values[state] for state in states]

    assert seen(batches_of(THOUSAND - 1, THOUSAND)) == [1, 0, 0]
    assert seen(batches_of(THOUSAND + 1, THOUSAND)) == [1, 0, 0]
    assert seen(moved(batches_of(THOUSAND + 1, THOUSAND), 1, State.RELEASED)) == [0, 0, 1]


def test_the_text_is_what_prometheus_reads() -> None:
    """No numbers besides these."""
    text = Metrics(Progress(10_000)).text(Counts(0, 17, 50, 10), batches_of(14_321, 10_000))
    assert text.endswith("\n")
    values = values_in(text)
    states = {f'krand_batches{{state="{state}"}}': 0 for state in State}
    assert values == states | {
        "krand_people_planned": 10_000,
        "krand_people_gathered": 4_000,
        'krand_batches{state="open"}': 1,
        'krand_batches{state="sealed"}': 1,
        "krand_submissions_accepted_total": 10_000,
        "krand_submissions_repeated_total": 0,
        "krand_submissions_refused_total": 32,
        "krand_submissions_unavailable_total": 0,
    }


def status(url: str) -> int:
    try:
        return int(urlopen(url).status)
    except HTTPError as error:
        return int(error.code)


@pytest.mark.check
def test_metrics_have_a_listener_of_their_own(tmp_path: Path) -> None:
    """Where people submit there are none; where there are metrics, there is health alone."""
    plan = exact_plan(THOUSAND, Linkage.BIT)
    (tmp_path / "plan.json").write_bytes(plan.bytes)
    files = (tmp_path / "plan.json", tmp_path / "spool", tmp_path / "log")
    with running(*files, options=["--metrics", "127.0.0.1:0"]) as collector:
        with urlopen(collector.metrics) as answer:
            assert values_in(answer.read().decode())["krand_people_planned"] == THOUSAND
        own = collector.metrics.removesuffix("/metrics")
        assert own != collector.url
        assert status(f"{collector.url}/metrics") == 404
        assert [status(own + path) for path in ("/healthz", "/readyz")] == [200, 200]
        for path in ("/", f"/v1/{plan.hash}/status", f"/v1/{plan.hash}/submissions"):
            assert status(own + path) == 404
        assert asked(int(own.rpartition(":")[2]), "POST", "/metrics").status == 405
    with running(*files) as collector:
        assert (collector.metrics, status(f"{collector.url}/metrics")) == ("", 404)
