"""`krand plan`: a table for people, JSON for programs, one file that names itself."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path

import pytest

from command_line import done, refused, run, told
from krand.client.ledger import Ledger, Submission
from krand.mixing.keys import descriptor_bytes, generate_mixer_keys
from krand.promise import PRECISION_DIGITS
from krand.survey.encoding import encode
from krand.survey.plan_file import read_plan
from survey_texts import question_text, survey_text

EXAMPLES = Path(__file__).parents[2] / "examples"
HEALTH = EXAMPLES / "health.toml"
SIX_DIGITS = 10.0 ** (1 - PRECISION_DIGITS)
"""By how much rounding up may change σ and margins, at most."""
QUESTIONS = (
    question_text("smokes", "yes_no"),
    question_text("engine", "choice", choices=["a", "b", "c"]),
)
POLICY = {"epsilon": 1.0, "delta": 1e-5}
SURVEY = survey_text("habits", *QUESTIONS, **POLICY, minimum_crowd=20_000)
MIXERS = survey_text("habits", *QUESTIONS, **POLICY, trust={"noise": "mixers", "mixers": 3})
INSTEAD = 'With noise = "mixers" in [trust] no crowd is needed, only one honest mixer.'
PLAN = "plan survey.toml"


@pytest.fixture
def survey(here: Path) -> Path:
    """The file that is planned, where commands are run."""
    file = here / "survey.toml"
    file.write_text(SURVEY, encoding="utf-8")
    return file


def text_of(*words: object) -> str:
    """What a command prints, without its line breaks."""
    return " ".join(done(*words).stdout.split())


@pytest.mark.check
def test_the_table_says_how_precise_every_question_is(survey: Path) -> None:
    """± people and per cent, the promise and to whom, the plan's name."""
    text = text_of(PLAN, "-o plan.json")
    assert "± " in text
    assert "people (" in text
    assert "If at least 20,000 people take part, changing your answers changes" in text
    assert "(proven, whatever everybody else answers)" in text
    assert hashlib.sha256(Path("plan.json").read_bytes()).hexdigest() in text


def test_without_an_output_nothing_is_written(survey: Path, here: Path) -> None:
    """The survey file stays alone."""
    done(PLAN)
    assert list(here.iterdir()) == [survey]


def test_json_holds_the_whole_plan(survey: Path) -> None:
    """The same values as the file, and its hash."""
    values = told(PLAN)
    assert len(values["hash"]) == 64
    assert [block["name"] for block in values["blocks"]] == ["smokes", "engine"]
    assert values["promise"]["delta"] <= 1e-5


@pytest.mark.parametrize("linkage", ["bit", "record"])
def test_it_says_how_far_a_dishonest_person_can_move_a_count(linkage: str, survey: Path) -> None:
    """Before anybody is asked, in people, rounded up; JSON has it for every question."""
    survey.write_text(f'linkage = "{linkage}"\n{SURVEY}', encoding="utf-8")
    values = told(PLAN)
    raised = 0.0
    for shift, block in zip(values["shifts"], values["blocks"], strict=True):
        truth = 1 - 2 * block["noise_numerator"] / 2**32
        tokens = block["messages"] if linkage == "bit" else 1
        assert shift["name"] == block["name"]
        assert shift["too_high"] == pytest.approx(tokens / truth, rel=SIX_DIGITS)
        assert shift["too_low"] == pytest.approx(1 / truth, rel=SIX_DIGITS)
        raised = max(raised, shift["too_high"])
    said = f"can raise the count of an answer by at most {math.ceil(raised):,} people"
    assert said in text_of(PLAN)


@pytest.mark.check
def test_explain_compares_with_the_alternatives(survey: Path) -> None:
    """Whole records, copies, RAPPOR and the curator, each with its precision."""
    widths = {way["name"]: way["worst"] for way in told(PLAN, "--explain")["alternatives"]}
    assert widths["trusted curator"] < widths["this plan"] < widths["whole records, one copy"]
    assert widths["whole records, 16 copies"] < widths["whole records, one copy"]
    assert widths["whole records, one copy"] < widths["RAPPOR"]
    assert "other methods with the same promise" in done(PLAN, "--explain").stdout


def test_all_mistakes_of_a_file_are_named_with_their_lines(survey: Path) -> None:
    """In one go, with exit code 2; for programs each with path, line, rule, value and hint."""
    wrong = SURVEY.replace("1.0", "-1").replace('"choice"', '"choise"')
    survey.write_text(f"copies = 2\n{wrong}", "utf-8")
    error = refused(PLAN)
    assert (error["field"], error["rule"]) == ("survey.toml", "has 3 mistakes")
    found = [(mistake["path"], mistake["line"], mistake["value"]) for mistake in error["problems"]]
    assert found == [
        ("copies", 1, 2),
        ("policy.epsilon", 5, -1),
        ("question[1].type", 15, "choise"),
    ]
    assert all(mistake["rule"] and mistake["hint"] for mistake in error["problems"])
    text = run(PLAN).output
    assert all(words in text for words in ("3 mistakes", "line 1", "line 5", "line 15"))


@pytest.mark.check
def test_the_precision_of_a_group_is_said_to_be_that_of_a_cell() -> None:
    """An answer's count is the sum of cells: nobody should read more precision than there is."""
    lines = done("plan", HEALTH).stdout.splitlines()
    (group,) = (line for line in lines if "smokes + age" in line)
    assert "per cell" in group
    assert all("per cell" not in line for line in lines if "yes_no" in line)


@pytest.mark.check
def test_a_plan_shows_how_precise_each_question_of_a_group_will_be() -> None:
    """On the terminal and for programs: smoking alone adds up the six cells of age."""
    values = told("plan", HEALTH)
    (group,) = (block for block in values["blocks"] if block["kind"] == "together")
    margins = group["margins"]
    assert [(each["question"], each["cells"]) for each in margins] == [("smokes", 6), ("age", 3)]
    for margin in margins:
        wider = margin["cells"] ** 0.5
        for name in ("half_width_95", "sigma"):
            assert margin[name] == pytest.approx(wider * group[name], rel=SIX_DIGITS)
    assert all("margins" not in block for block in values["blocks"] if block is not group)
    lines = done("plan", HEALTH).stdout.splitlines()
    for margin in margins:
        (line,) = (line for line in lines if f"{margin['question']} alone" in line)
        assert f"± {margin['half_width_95']:,.0f} people" in line


@pytest.mark.check
def test_a_plan_warns_of_results_that_could_not_be_read(survey: Path) -> None:
    """Before anybody is asked; for a question of a group as well."""
    asked = [question_text(name, "choice", choices=["x", "y", "z"]) for name in "ab"]
    policy = {"epsilon": 2, "delta": 0.001, "minimum_crowd": 60}
    survey.write_text(survey_text("few", *asked, together=["a", "b"], **policy), encoding="utf-8")
    assert "warning: too noisy to use: a, b" in done(PLAN).stderr
    assert "warning" not in done("plan", HEALTH).stderr


@pytest.mark.check
@pytest.mark.parametrize("example", ["browser", "health"])
def test_the_examples_are_planned(example: str) -> None:
    """Precisely enough to be of use."""
    values = told("plan", EXAMPLES / f"{example}.toml")
    assert all(block["half_width_percent"] < 1 for block in values["blocks"])


@pytest.mark.check
def test_a_plan_needs_no_other_file(survey: Path, here: Path) -> None:
    """A list of choices in a file of its own goes into the plan: a device elsewhere can answer."""
    (here / "there").mkdir()
    (here / "engines.txt").write_text("a\nb\nc\n", encoding="utf-8")
    asked = SURVEY.replace('choices = ["a", "b", "c"]', 'choices_file = "engines.txt"')
    (here / "listed.toml").write_text(asked, encoding="utf-8")
    done("plan listed.toml -o there/plan.json")
    (here / "engines.txt").unlink()
    plan = read_plan(here / "there" / "plan.json")
    assert encode(plan.layout, {"engine": "c"}) == (3,)
    assert told(PLAN)["hash"] == plan.hash  # the list, not its file, is what counts


@pytest.mark.check
def test_explain_shows_coalitions_and_sources_of_noise(survey: Path) -> None:
    """What remains for a person, and in one line what mixers would give instead."""
    values = told(PLAN, "--explain")
    assert [row["coalition"] for row in values["coalitions"]][:2] == ["analyst", "people"]
    sources = [(each["noise"], each["mixers"]) for each in values["noise_sources"]]
    assert sources == [("devices", 1), ("mixers", 1), ("mixers", 3)]
    text = text_of(PLAN, "--explain")
    assert "the analyst and 200 of 20,000 people" in text
    assert "whoever serves the web form, for people who use it │ no protection" in text
    assert INSTEAD in text


def test_a_plan_of_devices_says_in_a_line_what_mixers_would_give(survey: Path) -> None:
    """Without being asked; not among values for programs, nor where it was chosen."""
    assert INSTEAD in text_of(PLAN)
    assert "noise_sources" not in told(PLAN)
    survey.write_text(MIXERS, encoding="utf-8")
    assert INSTEAD not in text_of(PLAN)


def test_a_plan_of_mixers_says_what_it_rests_on(survey: Path) -> None:
    """No crowd, no share of the people, no q; it can be written without mixers' keys."""
    survey.write_text(MIXERS, encoding="utf-8")
    result = done(PLAN, "--explain -o plan.json")
    text = " ".join(result.stdout.split())
    assert "If at least one of the 3 mixers is honest, changing your answers" in text
    assert "however few people take part" in text
    assert "the analyst, all other people and 2 of 3 mixers" in text
    for absent in ("If at least 2 people", "inf", "With noise"):
        assert absent not in text
    assert "too noisy" not in result.output
    plan = read_plan("plan.json")
    assert plan.mixing.mixers == ()


def descriptors(rounds: tuple[int, ...]) -> str:
    """Options that name a mixer with keys for each number of rounds."""
    for hop, count in enumerate(rounds, 1):
        described = generate_mixer_keys(count).described(f"mixer {hop}")
        Path(f"mixer-{hop}.json").write_bytes(descriptor_bytes(described))
    return " ".join(f"--mixer mixer-{hop}.json" for hop in range(1, len(rounds) + 1))


def test_mixers_become_part_of_the_plan(survey: Path) -> None:
    """In the order of the options; the promise is the same with other mixers."""
    survey.write_text(MIXERS, encoding="utf-8")
    assert "The plan names no mixers yet" in done(PLAN, "-o bare.json").output
    made = done(PLAN, descriptors((0, 1, 1)), "-o plan.json")
    assert "Mixers, the collector first: mixer 1, mixer 2, mixer 3." in made.output
    assert "Every mixer is needed: if one of the 3 is lost" in " ".join(made.output.split())
    plan, before = read_plan("plan.json"), read_plan("bare.json")
    assert [mixer.name for mixer in plan.mixing.mixers] == ["mixer 1", "mixer 2", "mixer 3"]
    assert [len(mixer.keys) for mixer in plan.mixing.mixers] == [0, 1, 1]
    assert plan.promise == before.promise
    assert plan.hash != before.hash


@pytest.mark.parametrize(
    ("text", "rounds", "said"),
    [
        (SURVEY, (0,), "must not be given where devices add the noise"),
        (MIXERS, (0, 1), "must be given 3 times"),
        (MIXERS, (0, 1, 2), "must have one key for each round"),
        (MIXERS, (1, 1, 1), "must have no keys"),
    ],
)
def test_mixers_that_do_not_fit_are_refused(
    text: str, rounds: tuple[int, ...], said: str, survey: Path
) -> None:
    """Nothing is written."""
    survey.write_text(text, encoding="utf-8")
    assert said in json.dumps(refused(PLAN, descriptors(rounds), "-o plan.json"))
    assert not Path("plan.json").exists()


def test_a_successor_says_who_would_spend_twice(survey: Path, here: Path) -> None:
    """As much as the ledger of a device that answers both will say; nothing for the same plan."""
    earlier = told(PLAN, "-o earlier.json")
    survey.write_text(SURVEY.replace("epsilon = 1.0", "epsilon = 2.0"), encoding="utf-8")
    result = run(PLAN, "-o plan.json --after earlier.json --json")
    assert "a published survey cannot be edited, only ended" in result.stderr
    after = json.loads(result.stdout)["after"]
    assert after["plan"] == earlier["hash"]
    assert (after["same_survey"], after["changed"]) == (True, ["policy"])
    ledger = Ledger(here / "answers.ledger")
    for name in ("earlier.json", "plan.json"):
        answer = Submission(bytes(16), (bytes(8),))
        ledger.submission(read_plan(name), 1, lambda answer=answer: answer)
    spent = ledger.spent()
    assert (after["epsilon"], after["delta"]) == pytest.approx((spent.epsilon, spent.delta))
    assert spent.epsilon == pytest.approx(3.0)
    text = text_of(PLAN, "--after earlier.json")
    assert "and of this one spends both: ε = 3, δ = " in text
    assert "nobody spends anything twice" in text_of(PLAN, "--after plan.json")
    assert told(PLAN, "--after plan.json")["after"]["epsilon"] == 2.0


def test_a_plan_that_is_replaced_is_named_if_it_is_of_the_same_survey(survey: Path) -> None:
    """Also without --after; another survey's plan, or the same plan, is replaced in silence."""
    done(PLAN, "-o plan.json")
    assert "after" not in told(PLAN, "-o plan.json --force")
    survey.write_text(SURVEY.replace("engine", "browser"), encoding="utf-8")
    result = run(PLAN, "-o plan.json --force --json")
    assert "for the same survey id, habits, with other content (question)" in result.stderr
    assert json.loads(result.stdout)["after"]["changed"] == ["question"]
    survey.write_text(SURVEY.replace('"habits"', '"others"'), encoding="utf-8")
    assert "after" not in told(PLAN, "-o plan.json --force")
    other = told(PLAN, "--after plan.json")["after"]
    assert (other["same_survey"], other["changed"]) == (True, [])
