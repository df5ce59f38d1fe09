"""Metrics are for the operator, and tell nobody's arrival even to somebody who submits, too."""

from __future__ import annotations

import http.client
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collecting import exact_plan, running
from collector.test_progress import batches_of, draws
from krand.collector.intake import Counts
from krand.collector.metrics import Metrics
from krand.collector.progress import Progress, in_steps, status_step
from krand.collector.states import State
from krand.collector.store import MINIMUM_GROUP, Batch
from krand.promise import Linkage

CROWD = 1_000
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
    progress = Progress(CROWD)
    metrics = Metrics(progress)
    seen: set[tuple[float, str]] = set()
    for people in range(CROWD):
        now = batches_of(people, CROWD)
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
    metrics = Metrics(Progress(CROWD, draws()))
    states = [f'krand_batches{{state="{state}"}}' for state in ("open", "sealed", "released")]

    def seen(batches: Sequence[Batch]) -> list[int]:
        values = values_in(metrics.text(Counts(), batches))
        return [values[state] for state in states]

    assert seen(batches_of(CROWD - 1, CROWD)) == [1, 0, 0]
    assert seen(batches_of(CROWD + 1, CROWD)) == [1, 0, 0]
    assert seen(moved(batches_of(CROWD + 1, CROWD), 1, State.RELEASED)) == [0, 0, 1]


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
    """Where people submit there are none; where there are metrics, there is nothing else."""
    plan = exact_plan(CROWD, Linkage.BIT)
    (tmp_path / "plan.json").write_bytes(plan.bytes)
    files = (tmp_path / "plan.json", tmp_path / "spool", tmp_path / "log")
    with running(*files, options=["--metrics", "127.0.0.1:0"]) as collector:
        with urlopen(collector.metrics) as answer:
            assert values_in(answer.read().decode())["krand_people_planned"] == CROWD
        own = collector.metrics.removesuffix("/metrics")
        assert own != collector.url
        assert status(f"{collector.url}/metrics") == 404
        for path in ("/", "/healthz", f"/v1/{plan.hash}/status", f"/v1/{plan.hash}/submissions"):
            assert status(own + path) == 404
        client = http.client.HTTPConnection(own.removeprefix("http://"))
        client.request("POST", "/metrics")
        assert client.getresponse().status == 405
        client.close()
    with running(*files) as collector:
        assert (collector.metrics, status(f"{collector.url}/metrics")) == ("", 404)
