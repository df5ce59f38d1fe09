"""Counts are told in steps: one person more or less is not seen, but for those who fill a step."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from krand.collector.intake import Counts
from krand.collector.metrics import coarse, metrics_text, step_for
from krand.collector.states import State
from krand.collector.store import Batch

POPULATIONS = st.integers(2, 10**8)


def batch(crowd: int, people: int) -> Batch:
    return Batch(
        number=1,
        state=State.OPEN,
        crowd=crowd,
        people=people,
        messages=3 * people,
        sha256=None,
        id="",
    )


@given(POPULATIONS, st.data())
def test_one_person_more_is_seen_only_where_a_step_is_crossed(
    crowd: int, data: st.DataObject
) -> None:
    """The text is the same for all numbers of people within a step."""
    step = step_for(crowd)
    people = data.draw(st.integers(0, crowd - 1))
    before = metrics_text(Counts(accepted=people), (batch(crowd, people),))
    after = metrics_text(Counts(accepted=people + 1), (batch(crowd, people + 1),))
    assert (before == after) == ((people + 1) % step != 0)


@given(st.sampled_from(["repeated", "refused", "unavailable"]), st.integers(0, 10**6))
def test_a_fault_more_is_seen_only_at_every_tenth(name: str, count: int) -> None:
    """Retries and refusals, too, would tell that somebody was there."""
    open_batch = (batch(1_000, 0),)
    before = metrics_text(replace(Counts(), **{name: count}), open_batch)
    after = metrics_text(replace(Counts(), **{name: count + 1}), open_batch)
    assert (before == after) == ((count + 1) % 10 != 0)


@given(POPULATIONS, st.integers(0, 10**8))
def test_steps_are_coarse_and_round_down(crowd: int, count: int) -> None:
    """At least ten people, about a hundredth of the crowd; never more than there are."""
    step = step_for(crowd)
    assert step >= 10
    assert step >= crowd // 100
    assert 0 <= count - coarse(count, step) < step
    assert coarse(count, step) % step == 0


def test_the_text_is_what_prometheus_reads() -> None:
    """Every sample has its help and its type; numbers only, and none besides those told."""
    text = metrics_text(Counts(1_234, 17, 5, 10), (batch(10_000, 4_321),))
    assert text.endswith("\n")
    values = {}
    for line in text.splitlines():
        if line.startswith("# "):
            assert re.fullmatch(r"# (HELP|TYPE) krand_\w+ .+", line)
        else:
            name, value = re.fullmatch(r'(krand_\w+(?:\{state="\w+"\})?) (\d+)', line).groups()
            values[name] = int(value)
            assert f"# TYPE {name.partition('{')[0]} " in text
    assert values == {
        "krand_people_planned": 10_000,
        "krand_people_gathered": 4_300,
        'krand_batches{state="open"}': 1,
        'krand_batches{state="sealed"}': 0,
        'krand_batches{state="released"}': 0,
        "krand_submissions_accepted_total": 1_200,
        "krand_submissions_repeated_total": 10,
        "krand_submissions_refused_total": 0,
        "krand_submissions_unavailable_total": 10,
    }
