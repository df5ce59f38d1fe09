"""Schedules: windows by number alone, periods, odd time zones, and plans that carry them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand.planning.making import make_plan
from krand.survey.document import document_of, survey_of, survey_text
from krand.survey.plan_file import parse_plan
from krand.survey.reading import parse_survey
from krand.survey.schedule import Schedule
from krand.survey.survey import Survey
from krand.testing import small_survey
from krand.wording.plans import promise_sentence

TEXT = """
id = "app"
rounds = {rounds}
[policy]
epsilon = 1
delta = 1e-6
[trust]
noise = "mixers"
[schedule]
{schedule}
[[question]]
name = "crashed"
type = "yes_no"
"""


def scheduled(rounds: int = 4, **given: object) -> Survey:
    values = {"every": "week", "starts": date(2027, 1, 4), **given}
    return replace(small_survey(), rounds=rounds, schedule=Schedule(**values))  # type: ignore[arg-type]


def opens(survey: Survey) -> list[str]:
    assert survey.schedule is not None
    return [f"{each:%Y-%m-%d %H:%M}" for each in survey.schedule.opens]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ["2027-01-04 00:00", "2027-01-11 00:00", "2027-01-18 00:00"]),
        # Summer time begins on 28 March: a week of 167 hours.
        (
            {"starts": date(2027, 3, 22), "time_zone": "Europe/Berlin"},
            ["2027-03-21 23:00", "2027-03-28 22:00", "2027-04-04 22:00"],
        ),
        # Offsets of 45 minutes, and the first place on Earth to have a day.
        (
            {"every": "day", "time_zone": "Asia/Kathmandu"},
            ["2027-01-03 18:15", "2027-01-04 18:15", "2027-01-05 18:15"],
        ),
        (
            {"every": "day", "time_zone": "Pacific/Kiritimati"},
            ["2027-01-03 10:00", "2027-01-04 10:00", "2027-01-05 10:00"],
        ),
        # Clocks skip midnight of 28 April 2023 to 1 o'clock: the day begins with that moment.
        (
            {"every": "day", "starts": date(2023, 4, 27), "time_zone": "Africa/Cairo"},
            ["2023-04-26 22:00", "2023-04-27 22:00", "2023-04-28 21:00"],
        ),
        # Midnight comes twice: the first one counts.
        (
            {"every": "day", "starts": date(2020, 10, 31), "time_zone": "America/Havana"},
            ["2020-10-31 04:00", "2020-11-01 04:00", "2020-11-02 05:00"],
        ),
        (
            {"every": "month", "starts": date(2027, 11, 28), "time_zone": "Australia/Lord_Howe"},
            ["2027-11-27 13:00", "2027-12-27 13:00", "2028-01-27 13:00"],
        ),
        ({"every": "month", "starts": date(2027, 12, 1), "first": 2}, ["2028-01-01 00:00"] * 1),
    ],
)
def test_windows_follow_from_schedule_and_number(
    given: dict[str, object], expected: list[str]
) -> None:
    assert opens(scheduled(2, **given))[: len(expected)] == expected


@given(
    st.dates(date(1970, 1, 1), date(2200, 1, 1)).filter(lambda day: day.day <= 28),
    st.sampled_from(["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Tehran", "Africa/Cairo"]),
    st.sampled_from(["day", "week", "month"]),
    st.integers(1, 60),
)
def test_every_moment_belongs_to_one_round(
    starts: date, zone: str, every: str, rounds: int
) -> None:
    """Windows touch, and each begins on its own day of the zone."""
    found = Schedule(every=every, starts=starts, time_zone=zone).filled("id", rounds)
    assert list(found.window_rules(rounds)) == []
    for number, (one, other) in enumerate(pairwise(found.opens), 1):
        assert one.astimezone(ZoneInfo(zone)).date() == found.day(number)
        for moment in (one.timestamp(), other.timestamp() - 1):
            assert found.open_at(moment) == number
        assert not found.is_open(number, other.timestamp())
    assert found.open_at(found.opens[0].timestamp() - 1) is None
    assert found.open_at(found.opens[-1].timestamp()) is None


WEEKLY = 'every = "week"\nstarts = 2027-01-04\n'


@pytest.mark.parametrize(
    ("lines", "field"),
    [
        ('every = "fortnight"\nstarts = 2027-01-04', "schedule.every"),
        ('every = "week"', "schedule.starts"),
        ('every = "week"\nstarts = 2027-01-04T00:00:00', "schedule.starts"),
        ('every = "week"\nstarts = "2027-02-30"', "schedule.starts"),
        ('every = "month"\nstarts = 2027-01-31', "schedule.starts"),
        (
            WEEKLY + 'time_zone = "Europe/Atlantis"',
            "schedule.time_zone",
        ),
        (
            WEEKLY + 'time_zone = "../../etc/passwd"',
            "schedule.time_zone",
        ),
        (WEEKLY + 'time_zone = ""', "schedule.time_zone"),
        (WEEKLY + "first = 5", "schedule.first"),
        (WEEKLY + "first = 2", "another campaign"),
        (WEEKLY + 'promise = "quarter"\nfirst = 2', "must be the first round of a period"),
        (WEEKLY + 'promise = "year"', "schedule.promise"),
        (WEEKLY + 'keys = "period"', "schedule.keys"),
        (WEEKLY + 'campaign = "no spaces"', "schedule.campaign"),
        (WEEKLY + 'opens = ["2027-01-04T00:00:00Z"]', "schedule.opens"),
        # Samoa left out the 30th of December 2011.
        ('every = "day"\nstarts = 2011-12-29\ntime_zone = "Pacific/Apia"', "schedule.opens"),
        ('every = "week"\nstarts = 0001-01-01', "schedule.starts"),
    ],
)
def test_bad_schedules_name_their_field(lines: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_survey(TEXT.format(rounds=4, schedule=lines))
    assert field in str(refused.value)


def test_a_day_of_closing_beside_a_schedule_is_refused() -> None:
    lines = WEEKLY
    survey = parse_survey(TEXT.format(rounds=4, schedule=lines))
    assert survey.about.closes == date(2027, 1, 31)
    with pytest.raises(InvalidInput, match="closes"):
        parse_survey("closes = 2027-02-01\n" + TEXT.format(rounds=4, schedule=lines))
    with pytest.raises(InvalidInput, match="closes"):
        replace(survey, schedule=Schedule(every="day", starts=date(2027, 1, 4)))


def test_windows_of_a_plan_cannot_be_moved() -> None:
    """A year in a day: windows that are not those of the schedule are no survey."""
    survey = scheduled()
    assert survey.schedule is not None
    hours = tuple(datetime(2027, 1, 4, hour, tzinfo=UTC) for hour in range(5))
    with pytest.raises(InvalidInput, match="about midnight of 2027-01-11"):
        replace(survey, schedule=replace(survey.schedule, opens=hours))


@pytest.mark.parametrize(
    ("given", "rounds", "together", "periods", "last"),
    [
        ({}, 52, 52, 1, (1, 1, 52)),
        ({"promise": "quarter"}, 52, 13, 4, (4, 40, 52)),
        ({"promise": "quarter"}, 53, 13, 5, (5, 53, 53)),
        ({"promise": "round"}, 52, 1, 52, (52, 52, 52)),
        ({"promise": "quarter", "every": "month"}, 12, 3, 4, (4, 10, 12)),
        ({"promise": "quarter", "every": "day"}, 30, 30, 1, (1, 1, 30)),
        ({"promise": "quarter", "first": 14}, 52, 13, 4, (4, 40, 52)),
        ({"first": 20}, 52, 33, 1, (1, 20, 52)),
    ],
)
def test_periods_follow_from_numbers(
    given: dict[str, object], rounds: int, together: int, periods: int, last: tuple[int, int, int]
) -> None:
    survey = scheduled(rounds, **given)
    assert survey.schedule is not None
    assert (survey.promised_rounds, survey.periods) == (together, periods)
    assert survey.schedule.period_of(rounds, rounds) == last
    every = [survey.schedule.period_of(n, rounds) for n in range(survey.first_round, rounds + 1)]
    before = (survey.first_round - 1) // together if survey.periods > 1 else 0
    assert len(set(every)) == periods - before
    assert all(first <= n <= end for n, (_, first, end) in enumerate(every, survey.first_round))


@pytest.mark.parametrize(
    ("given", "first", "last"),
    [
        ({"promise": "quarter"}, 1, 13),
        ({"promise": "quarter"}, 14, 26),
        ({"promise": "quarter"}, 40, 52),
        ({"promise": "quarter"}, 53, 53),
        ({"promise": "round"}, 5, 5),
        ({"promise": "quarter", "every": "month"}, 4, 6),
        ({"promise": "quarter", "every": "day"}, 92, 182),
    ],
)
def test_a_plan_may_begin_and_end_with_a_period(
    given: dict[str, object], first: int, last: int
) -> None:
    """Windows and the last day are those of its rounds; it promises once, and all before it."""
    whole, survey = scheduled(last, **given), scheduled(last, **given, first=first)
    assert whole.schedule is not None
    assert survey.schedule is not None
    assert survey.schedule.period_of(last, last)[1:] == (first, last)
    assert survey.schedule.opens == whole.schedule.opens[first - 1 :]
    assert survey.schedule.open_at(survey.schedule.opens[-1].timestamp()) is None
    assert survey.about.closes == survey.schedule.last_day
    assert (survey.promised_rounds, survey.periods) == (last - first + 1, whole.periods)


def test_a_survey_with_a_schedule_is_read_back() -> None:
    survey = scheduled(52, time_zone="Europe/Berlin", promise="quarter", first=14)
    assert survey_of(json.loads(json.dumps(document_of(survey)))) == survey
    assert parse_survey(survey_text(survey)) == survey


@pytest.mark.check
def test_the_promise_is_for_its_period_and_tells_the_total() -> None:
    """The same noise as a survey of 13 rounds; and the plan says what a year costs."""
    lines = WEEKLY + 'promise = "quarter"'
    survey = parse_survey(TEXT.format(rounds=52, schedule=lines))
    plan = make_plan(survey)
    alone = make_plan(parse_survey(TEXT.format(rounds=13, schedule=WEEKLY)))
    assert plan.mixing.laws == alone.mixing.laws
    assert plan.promise == alone.promise
    assert "13 of 52 rounds; in all 52 together ε = 4, δ = 4×10⁻⁶" in promise_sentence(plan)
    assert parse_plan(plan.bytes) == plan


@pytest.mark.parametrize("starts", ["2027-01-04T10:00:00", '"4.1.2027"'])
def test_a_first_day_that_is_none_has_a_hint_for_its_own_key(starts: str) -> None:
    """Not for the last day of a survey without a schedule."""
    lines = f'every = "week"\nstarts = {starts}\n'
    with pytest.raises(InvalidInput, match=r"starts = 202\d-") as caught:
        parse_survey(TEXT.format(rounds=4, schedule=lines))
    assert "closes" not in str(caught.value)
