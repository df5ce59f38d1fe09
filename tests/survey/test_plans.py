"""What a survey file becomes: the survey in its plan, with every value written out."""

from __future__ import annotations

import hashlib
import json
import runpy
import sys
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import krand
import world
from effort import EFFORT
from forge import canonical, toml
from golden import Golden
from krand.testing import unsafe_exact_plan
from lanes import lanes_of
from survey import drawn
from survey.files import asked, counted, survey_of, written_out
from survey.test_mistakes import WHOLE

Values = dict[str, Any]
ROOT = Path(__file__).parents[2]


def exact_plan(text: str, folder: Path | str = ".") -> krand.Plan:
    """The plan of a survey file, with next to no noise."""
    return unsafe_exact_plan(krand.parse_survey(text, folder))


def plan_values(text: str, folder: Path | str = ".") -> Values:
    """The same as plain data."""
    values: Values = json.loads(exact_plan(text, folder).bytes)
    return values


def survey_in(text: str, folder: Path | str = ".") -> Values:
    """The survey as its plan has it."""
    values: Values = plan_values(text, folder)["survey"]
    return values


def test_a_plan_has_every_value_written_out(golden: Golden) -> None:
    """Under the keys of the file, and with the defaults of what the file leaves out."""
    found = {
        "every key": survey_in(toml(WHOLE)),
        "few keys": survey_in(written_out("<head>\n<yes>\n")),
    }
    golden("survey/in-plans", json.dumps(found, indent=1, ensure_ascii=False))


def test_the_survey_of_a_plan_is_a_survey_file() -> None:
    """It gives the same plan, byte for byte, as the file did; and the bytes are canonical."""
    for seed in range(30 * EFFORT):
        plan = unsafe_exact_plan(krand.parse_survey(toml(drawn.survey(Random(seed)))))
        values = json.loads(plan.bytes)
        again = krand.parse_survey(toml(values["survey"]))
        assert again == plan.survey, seed
        assert unsafe_exact_plan(again).bytes == plan.bytes == canonical(values), seed
        assert {again: 1}[krand.Survey.from_values(values["survey"])] == 1
    for name in ("weeks", "mixers", "branches", "copies"):
        values = json.loads(world.plan_file(name).read_bytes())
        assert krand.parse_survey(toml(values["survey"])) == world.survey(name)


NUMBERS = (0.1, 1e-7, 5e-324, 1e-6, 4.5, 999_999.9999999999, 333_333.3333333332)


def test_numbers_are_written_as_in_javascript() -> None:
    """Shortest digits, plain up to 10^21 and down to 10^-6 (RFC 8785); keys by UTF-16."""
    chance = Random(1)
    drawn_ones = [chance.random() * 10 ** chance.randint(-30, 6) for _ in range(200)]
    for weight in (*NUMBERS, *drawn_ones):
        text = written_out("<head>\n<yes>\n") + f"weight = {weight!r}\n"
        plan = unsafe_exact_plan(krand.parse_survey(text))
        assert plan.bytes == canonical(json.loads(plan.bytes)), weight
        assert json.loads(plan.bytes)["survey"]["question"][0]["weight"] == weight
    assert [canonical(n) for n in (1e21, 1e-7, 0.000001, 1e20, -0.0)] == [
        *(b"1e+21", b"1e-7", b"0.000001", b"100000000000000000000", b"0"),
    ]
    assert canonical({"\U0001f600": 1, "\ufb33": 2}) == '{"\U0001f600":1,"\ufb33":2}'.encode()


@pytest.mark.parametrize(
    ("crowd", "colluding"),
    [(2, 0), (3, 1), (30, 1), (100, 1), (101, 2), (400, 4), (100_000, 1_000), (10**9, 10**7)],
)
def test_one_in_a_hundred_is_counted_on_to_hide_nobody(crowd: int, colluding: int) -> None:
    """Where a survey does not say; at least one person, and two are left to hide each other."""
    text = written_out('<head>[trust]\nnoise = "devices"\n<yes>\n').replace(
        "minimum_crowd = 1000", f"minimum_crowd = {crowd}"
    )
    assert survey_in(text)["policy"]["colluding"] == colluding
    said = text.replace("[trust]", "colluding = 0\n[trust]")
    assert survey_in(said)["policy"]["colluding"] == 0


@pytest.mark.parametrize(
    ("said", "noise", "mixers"),
    [
        ({}, "mixers", 1),
        ({"trust": {}}, "mixers", 1),
        ({"trust": {"mixers": 3, "analyst_runs": [1]}}, "mixers", 3),
        ({"trust": {"noise": "devices"}}, "devices", 1),
        ({"linkage": "record"}, "devices", 1),
        ({"linkage": "record", "copies": 2, "trust": {"analyst_runs": [1]}}, "devices", 1),
    ],
)
def test_mixers_add_the_noise_unless_a_survey_says_devices(
    said: Values, noise: str, mixers: int
) -> None:
    """Whole records always have devices' noise. The dump has it written out, and so has a plan."""
    values = survey_of(asked("yes_no"))
    del values["trust"]
    made = krand.Survey.from_values(values | said)
    written = made.values()["trust"]
    assert (written["noise"], written["mixers"]) == (noise, mixers)
    assert krand.parse_survey(toml(values | said)) == made


@pytest.mark.parametrize(("linkage", "noise"), [("bit", "mixers"), ("record", "devices")])
def test_surveys_made_in_python_have_the_same_noise(linkage: str, noise: str) -> None:
    """Where they say nothing of it; a `Trust` that is given says mixers."""
    policy = krand.Policy(epsilon=1.0, minimum_crowd=1000, delta=1e-6)
    given: Values = {"policy": policy, "questions": [krand.YesNo(name="q")], "linkage": linkage}
    assert krand.Survey(id="s", **given).trust == krand.Trust(noise=noise)
    assert krand.Trust() == krand.Trust(noise="mixers", mixers=1)


def test_mixers_need_no_crowd() -> None:
    """Two people, of whom none is counted on to collude; what is written is kept."""
    policy = krand.parse_survey(written_out("<mixed>\n<yes>\n")).policy
    assert (policy.minimum_crowd, policy.colluding) == (2, 0)
    text = written_out("<mixed>\n<yes>\n").replace("[trust]", "minimum_crowd = 1000\n[trust]")
    policy = krand.parse_survey(text).policy
    assert (policy.minimum_crowd, policy.colluding) == (1000, 0)


GATES: list[tuple[Values, Any, list[str]]] = [
    (asked("yes_no", "g"), True, ["yes"]),
    (asked("yes_no", "g"), ["No", 1], ["yes", "no"]),
    (asked("choice", "g", choices=["red", "green", "blue"]), ["blue", "red"], ["red", "blue"]),
    (asked("pick_any", "g", choices=["red", "green"]), "green", ["green"]),
    (
        asked("number", "g", edges=[0, 5, 10.5], open="below"),
        [7, -1],
        ["below 0", "5 to under 10.5"],
    ),
    (asked("number", "g", edges=[0, 5, 6], integer=True), [5, "0 to 4"], ["0 to 4", "5"]),
    (asked("scale", "g", lowest=-1, highest=1, labels=["x", "y"]), [1, "0"], ["0", "1 (y)"]),
]


@pytest.mark.parametrize(("gate", "given", "named"), GATES)
def test_conditions_may_be_written_as_answers_are(
    gate: Values, given: Any, named: list[str]
) -> None:
    """They become the names of the gate's answers, in its order, and each once."""
    question = asked("yes_no", asked_if={"question": "g", "is": given})
    found = survey_in(toml(survey_of(gate, question)))["question"][1]["asked_if"]
    assert found == {"question": "g", "is": named}


# --- lists in files ------------------------------------------------------------------------------

LISTED = '<head>\n<choice>\nchoices_file = "pages.txt"\n'


def listed(folder: Path, content: bytes, more: str = "") -> Values:
    """The plan of a survey whose choices lie beside it."""
    (folder / "pages.txt").write_bytes(content)
    return plan_values(written_out(LISTED) + more, folder)


@pytest.mark.parametrize("content", [b"a\nb", b"a\r\nb\r\n", b"\xef\xbb\xbfa\nb\n", b"a\nb\n"])
def test_the_editor_of_a_list_does_not_matter(content: bytes, tmp_path: Path) -> None:
    """The items stand in the plan, which needs no other file, and is the same for all editors."""
    digest = hashlib.sha256(b"a\nb\n").hexdigest()
    pin = f'choices_sha256 = "{digest}"\n'
    found = listed(tmp_path, content, pin)
    assert found["survey"]["question"][0]["choices"] == ["a", "b"]
    inside = plan_values(written_out("<head>\n<choice>\nchoices = ['a', 'b']\n"))
    assert canonical(found) == canonical(inside)


def test_a_plan_names_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan from elsewhere cannot make a device read files: the list stands inside, or nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages.txt").write_bytes(b"soup\nsalad\nnone\n")
    values = json.loads(world.plan_file("tiny").read_bytes())
    del values["survey"]["question"][1]["choices"]
    values["survey"]["question"][1]["choices_file"] = "pages.txt"
    (tmp_path / "plan.json").write_bytes(canonical(values))
    with pytest.raises(krand.InvalidInput):
        krand.read_plan("plan.json")
    (found,) = krand.verify_files(["plan.json"])
    (survey,) = (entry for entry in found.checks if entry.name == "survey")
    assert "must not stand in a plan" in survey.says
    assert krand.Survey.from_values(values["survey"], tmp_path) == world.survey("tiny")


# --- values of Python ----------------------------------------------------------------------------


def test_python_keeps_the_rules_of_the_file() -> None:
    """A broken survey cannot be built either; the error names the field."""
    policy = krand.Policy(epsilon=1.0, minimum_crowd=1000, delta=1e-6)
    smokes = krand.YesNo(name="smokes")

    def survey(*questions: Any, **more: Any) -> krand.Survey:
        return krand.Survey(**{"id": "s", "policy": policy, "questions": questions, **more})

    assert survey(smokes, krand.Choice(name="c", choices=krand.Choices("ab"))).id == "s"
    for build, field in (
        (lambda: krand.YesNo(name="a b"), "name"),
        (lambda: krand.YesNo(name="a", text="one\x1b[2J"), "text"),
        (lambda: krand.Choices(["a", "a"]), "choices[1]"),
        (lambda: krand.Number(name="n", edges=(1, 0)), "edges[1]"),
        (lambda: krand.PickAny(name="p", choices=krand.Choices("ab"), at_most=3), "at_most"),
        (lambda: krand.Scale(name="q", lowest=6, highest=5), "highest"),
        (lambda: krand.Words(name="w", size=1, hashes=1), "size"),
        (lambda: krand.Together(questions=("a",)), "questions"),
        (lambda: survey(smokes, language="german"), "language"),
        (lambda: survey(smokes, smokes), "question[1].name"),
        (lambda: survey(), "questions"),
        (lambda: survey(smokes, copies=2), "copies"),
        (lambda: survey(smokes, trust=krand.Trust(noise="devices", mixers=2)), "trust.mixers"),
    ):
        with pytest.raises(krand.InvalidInput) as refusal:
            build()
        assert refusal.value.field == field, refusal.value
    with pytest.raises(ValueError, match="frozen"):
        smokes.name = "b"


def test_a_changed_survey_keeps_the_rules_too() -> None:
    """`changed` checks again; what was built and what was read are the same survey."""
    smokes = krand.YesNo(name="smokes", text="Do you smoke?")
    policy = krand.Policy(epsilon=1, delta=1e-6, minimum_crowd=1000, colluding=10)
    survey = krand.Survey(id="s", policy=policy, questions=[smokes])
    assert survey.changed(title="Habits").shown_title == "Habits"
    assert krand.Survey.from_values(survey.values()) == survey
    assert krand.parse_survey(toml(survey.values())) == survey
    for changes in ({"rounds": 2}, {"policy": {}}, {"titel": "x"}, {"expected": 9}):
        with pytest.raises(krand.InvalidInput):
            survey.changed(**changes)
    with pytest.raises(krand.SurveyErrors, match="2 mistakes"):
        krand.Survey.from_values({"question": [{"name": "a", "type": "yes_no"}]})


# --- positions and lanes -------------------------------------------------------------------------


def test_positions_and_lanes_of_standard_surveys(golden: Golden) -> None:
    """Blocks side by side; every lane with its positions and messages: devices rely on them."""
    told = []
    for name in world.NAMES:
        plan = world.plan(name)
        told.append(f"{name}: {plan.messages} messages")
        end = 0
        for block in (planned.block for planned in plan.blocks):
            assert block.offset == end, "side by side"
            end += block.positions
            sizes = f"t = {block.sensitivity}, at most {block.most_ones}"
            told.append(f"  {block.name}: {block.offset} + {block.positions}, {sizes}")
        lanes = [f"{lane.offset}+{lane.positions}×{lane.messages}" for lane in plan.lanes]
        keys = ("name", "offset", "positions", "most_ones")
        blocks = [{key: getattr(block, key) for key in keys} for block in plan.layout.blocks]
        rooms = None if plan.laws else [lane.messages for lane in plan.lanes]
        sent = [lane.values() for lane in plan.lanes]
        alike = zip(sent, lanes_of(plan.survey, blocks, rooms), strict=True)
        assert all(each == {**each, **lane} for each, lane in alike), "as the rules make them"
        assert sum(lane.positions for lane in plan.lanes) == end, "each position is in one lane"
        told.append(f"  lanes: {' '.join(lanes)}")
    golden("survey/positions", "\n".join(told))


def test_the_examples_have_the_sizes_that_the_pages_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Browser telemetry has 40 positions; one of a hundred thousand pages sets one bit."""
    browser = exact_plan((ROOT / "examples/browser.toml").read_text(encoding="utf-8"))
    assert sum(lane.positions for lane in browser.lanes) == 40
    assert browser.layout.sensitivity == 2 + 2 + 2 + 2 + 6 + 3
    health = exact_plan((ROOT / "examples/health.toml").read_text(encoding="utf-8"))
    assert health.layout.sensitivity == 10
    monkeypatch.setattr(sys, "argv", ["make_homepages.py", str(tmp_path)])
    runpy.run_path(str(ROOT / "examples/make_homepages.py"), run_name="__main__")
    capsys.readouterr()
    pages = exact_plan((ROOT / "examples/homepages.toml").read_text(encoding="utf-8"), tmp_path)
    blocks = (planned.block for planned in pages.blocks)
    sizes = [(block.positions, block.sensitivity, block.most_ones) for block in blocks]
    assert sizes == [(100_000, 2, 1), (4096, 4, 2)]


# --- schedules -----------------------------------------------------------------------------------


def scheduled(
    every: str, starts: str, zone: str = "UTC", rounds: int = 3, more: str = ""
) -> Values:
    """The survey in the plan of one with a schedule."""
    lines = f'[schedule]\nevery = "{every}"\nstarts = {starts}\ntime_zone = "{zone}"\n{more}\n'
    return survey_in(written_out(f"rounds = {rounds}\n<head>\n{lines}<yes>\n"))


def opens(survey: Values) -> list[datetime]:
    return [datetime.fromisoformat(each) for each in survey["schedule"]["opens"]]


WINDOWS = [
    ("week", "2027-01-04", "UTC", ["01-04 00:00", "01-11 00:00", "01-18 00:00"]),
    # Summer time begins on 28 March: a week of 167 hours.
    ("week", "2027-03-22", "Europe/Berlin", ["03-21 23:00", "03-28 22:00", "04-04 22:00"]),
    # Offsets of 45 minutes, and the first place on Earth to have a day.
    ("day", "2027-01-04", "Asia/Kathmandu", ["01-03 18:15", "01-04 18:15", "01-05 18:15"]),
    ("day", "2027-01-04", "Pacific/Kiritimati", ["01-03 10:00", "01-04 10:00", "01-05 10:00"]),
    # Clocks skip midnight of 28 April 2023 to 1 o'clock: the day begins with that moment.
    ("day", "2023-04-27", "Africa/Cairo", ["04-26 22:00", "04-27 22:00", "04-28 21:00"]),
    # Midnight comes twice: the first one counts.
    ("day", "2020-10-31", "America/Havana", ["10-31 04:00", "11-01 04:00", "11-02 05:00"]),
    ("month", "2027-11-28", "Australia/Lord_Howe", ["11-27 13:00", "12-27 13:00", "01-27 13:00"]),
]


@pytest.mark.parametrize(("every", "starts", "zone", "expected"), WINDOWS)
def test_windows_follow_from_schedule_and_number(
    every: str, starts: str, zone: str, expected: list[str]
) -> None:
    found = [f"{each:%m-%d %H:%M}" for each in opens(scheduled(every, starts, zone, 2))]
    assert found == expected


def test_every_window_begins_on_its_own_day() -> None:
    """Windows touch, in any time zone; the last day is that of the last round."""
    chance = Random(1)
    for _ in range(40 * EFFORT):
        starts = date(1970, 1, 1) + timedelta(chance.randrange(80_000))
        starts = starts.replace(day=min(starts.day, 28))
        zones = ("UTC", "Europe/Berlin", "America/St_Johns", "Asia/Tehran", "Africa/Cairo")
        zone, every = chance.choice(zones), chance.choice(("day", "week", "month"))
        rounds = chance.randint(2, 60)
        survey = scheduled(every, starts.isoformat(), zone, rounds)
        days = [each.astimezone(ZoneInfo(zone)).date() for each in opens(survey)]
        assert days[0] == starts
        assert len(days) == rounds + 1
        lengths = {"day": {1}, "week": {7}, "month": {28, 29, 30, 31}}[every]
        assert {(other - one).days for one, other in pairwise(days)} <= lengths
        end = opens(survey)[-1].astimezone(UTC) - timedelta(microseconds=1)
        assert survey["closes"] in {(days[-1] - timedelta(1)).isoformat(), end.date().isoformat()}


def test_keys_and_copies_end_31_days_after_the_round() -> None:
    """In UTC, of the last round as of any other; a survey without an end tells no day."""
    weeks = world.survey("weeks")
    assert weeks.schedule is not None
    ends = weeks.schedule.opens[1:]
    for number, end in enumerate(ends, 1):
        last = (end.astimezone(UTC) - timedelta(seconds=1)).date()
        assert weeks.until(number) == last + timedelta(days=31)
    once = world.survey("tiny").changed(closes=date(2026, 12, 24))
    assert (once.has_last_day, once.until(1)) == (True, date(2027, 1, 24))
    endless = world.survey("tiny")
    assert not endless.has_last_day
    with pytest.raises(krand.InvalidInput, match="closes: must be given"):
        endless.until(1)


def test_windows_of_a_plan_cannot_be_moved(tmp_path: Path) -> None:
    """A year in a day: windows that are not those of the schedule are no survey."""
    values = json.loads(world.plan_file("weeks").read_bytes())
    hours = [f"2027-01-04T{hour:02}:00:00Z" for hour in range(7)]
    values["survey"]["schedule"]["opens"] = hours
    (tmp_path / "plan.json").write_bytes(canonical(values))
    with pytest.raises(krand.InvalidInput, match="about midnight of 2027-01-11"):
        krand.read_plan(tmp_path / "plan.json")


PERIODS = [
    ("week", "campaign", 52, 1, 52),
    ("week", "quarter", 53, 1, 13),
    ("week", "quarter", 52, 14, 13),
    ("week", "round", 52, 1, 1),
    ("month", "quarter", 12, 4, 3),
    ("day", "quarter", 182, 92, 91),
]


@pytest.mark.parametrize(("every", "promise", "rounds", "first", "together"), PERIODS)
def test_periods_follow_from_numbers(
    every: str, promise: str, rounds: int, first: int, together: int
) -> None:
    """A plan may begin with any period; its windows are those of the whole campaign."""
    more = f'promise = "{promise}"\nfirst = {first}'
    found = scheduled(every, "2027-01-04", "UTC", rounds, more)
    whole = scheduled(every, "2027-01-04", "UTC", rounds, f'promise = "{promise}"')
    assert found["schedule"]["opens"] == whole["schedule"]["opens"][first - 1 :]
    assert krand.parse_survey(toml(found)).promised_rounds == together


# --- languages -----------------------------------------------------------------------------------

FRENCH = (Path(__file__).parent / "french.toml").read_text(encoding="utf-8")
PERSON = {"smokes": True, "brand": 'another "brand"', "why": True, "pay": 4, "way": 12}


def test_every_text_is_found_in_its_language(golden: Golden) -> None:
    """Also the answers that conditions name; the organiser's name stays."""
    survey = krand.parse_survey(written_out("<work>\n") + FRENCH)
    assert survey.languages == ("en", "fr")
    french = survey.in_language("fr")
    golden("survey/french", json.dumps(_survey_of(french), indent=1, ensure_ascii=False))
    with pytest.raises(krand.InvalidInput, match="must be a language of the survey: en, fr"):
        survey.in_language("de")
    same = krand.parse_survey(toml(_survey_of(survey)))
    assert same == survey


def _survey_of(survey: krand.Survey) -> Values:
    values: Values = json.loads(unsafe_exact_plan(survey).bytes)["survey"]
    return values


def test_positions_never_depend_on_the_language() -> None:
    """The same answers in French, in which choices have other names, set the same positions."""
    survey = krand.parse_survey(written_out("<work>\n") + FRENCH)
    own, french = _survey_of(survey), _survey_of(survey.in_language("fr"))
    for each in (own, french):
        each["policy"] |= {"minimum_crowd": 2, "colluding": 0}
    said = PERSON | {"brand": "une autre"}
    assert counted(own, [PERSON]) == counted(french, [said])
    assert sum(counted(own, [PERSON])) == 5


def test_names_that_are_the_same_need_no_translation() -> None:
    """`"same"` stands for the whole list."""
    lines = [line for line in FRENCH.splitlines() if not line.startswith("choices")]
    text = "\n".join(lines).replace("question.brand]", 'question.brand]\nchoices = "same"')
    survey = krand.parse_survey(written_out("<work>\n") + text + "\n")
    assert survey.in_language("fr").questions[1] == survey.questions[1]


def test_a_translation_of_another_list_is_refused_in_a_few_lines() -> None:
    """However long it is."""
    choices = {str(n): f"{n}!" for n in range(20_000)}
    values = survey_of(asked("choice", text="?", choices=["a", "b"]))
    values["translations"] = {"fr": {"question": {"q": {"text": "?", "choices": choices}}}}
    with pytest.raises(krand.SurveyErrors) as caught:
        krand.Survey.from_values(values)
    assert len(caught.value.problems) <= 6
