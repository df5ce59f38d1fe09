"""`krand plan`: a table for people, JSON for programs, one file that names itself."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from krand.cli.main import krand
from krand.mixing.keys import descriptor_bytes, generate_mixer_keys
from krand.promise import PRECISION_DIGITS
from krand.survey.encoding import encode
from krand.survey.plan_file import read_plan
from krand.wire.submissions import format_of

EXAMPLES = Path(__file__).parents[2] / "examples"
SIX_DIGITS = 10.0 ** (1 - PRECISION_DIGITS)
"""By how much rounding up may change σ and margins, at most."""

SURVEY = """
id = "habits"
[policy]
epsilon = 1.0
delta = 1e-5
minimum_crowd = 20_000
[[question]]
name = "smokes"
type = "yes_no"
[[question]]
name = "engine"
type = "choice"
choices = ["a", "b", "c"]
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(krand, list(arguments))


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    file = tmp_path / "survey.toml"
    file.write_text(SURVEY, encoding="utf-8")
    return file


@pytest.mark.check
def test_the_table_says_how_precise_every_question_is(survey: Path, tmp_path: Path) -> None:
    """± people and per cent, the promise and to whom, the plan's name."""
    done = run("plan", str(survey), "-o", str(tmp_path / "plan.json"))
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert "± " in text
    assert "people (" in text
    assert "If at least 20,000 people take part, changing your answers changes" in text
    assert "(proven, whatever the other participants answer)" in text
    name = hashlib.sha256((tmp_path / "plan.json").read_bytes()).hexdigest()
    assert name in text


def test_without_an_output_nothing_is_written(survey: Path, tmp_path: Path) -> None:
    """The survey file stays alone."""
    assert run("plan", str(survey)).exit_code == 0
    assert list(tmp_path.iterdir()) == [survey]


def test_json_holds_the_whole_plan(survey: Path) -> None:
    """The same values as the file, and its hash."""
    values = json.loads(run("plan", str(survey), "--json").stdout)
    assert len(values["hash"]) == 64
    assert [block["name"] for block in values["blocks"]] == ["smokes", "engine"]
    assert values["promise"]["delta"] <= 1e-5


@pytest.mark.parametrize("linkage", ["bit", "record"])
def test_it_says_how_far_a_liar_can_move_a_count(linkage: str, survey: Path) -> None:
    """Before anybody is asked, in people, rounded up; JSON has it for every question."""
    survey.write_text(f'linkage = "{linkage}"\n{SURVEY}', encoding="utf-8")
    values = json.loads(run("plan", str(survey), "--json").stdout)
    raised = 0.0
    for shift, block in zip(values["shifts"], values["blocks"], strict=True):
        truth = 1 - 2 * block["noise_numerator"] / 2**32
        tokens = block["messages"] if linkage == "bit" else 1
        assert (shift["name"], shift["corrupted"]) == (block["name"], 1)
        assert shift["too_high"] == pytest.approx(tokens / truth, rel=SIX_DIGITS)
        assert shift["too_low"] == pytest.approx(1 / truth, rel=SIX_DIGITS)
        raised = max(raised, shift["too_high"])
    text = " ".join(run("plan", str(survey)).stdout.split())
    assert f"can raise the count of an answer by at most {math.ceil(raised):,} people" in text


@pytest.mark.check
def test_explain_compares_with_the_alternatives(survey: Path) -> None:
    """Whole records, copies, RAPPOR and the curator, each with its precision."""
    values = json.loads(run("plan", str(survey), "--explain", "--json").stdout)
    widths = {way["name"]: way["worst"] for way in values["alternatives"]}
    assert widths["trusted curator"] < widths["this plan"] < widths["whole records, one copy"]
    assert widths["whole records, 16 copies"] < widths["whole records, one copy"]
    assert widths["whole records, one copy"] < widths["RAPPOR"]
    text = run("plan", str(survey), "--explain").stdout
    assert "other methods with the same promise" in text


def test_all_mistakes_of_a_file_are_named_with_their_lines(survey: Path) -> None:
    """In one go, and with exit code 2."""
    survey.write_text(SURVEY.replace("1.0", "-1").replace('"choice"', '"choise"'), "utf-8")
    done = run("plan", str(survey))
    assert done.exit_code == 2
    assert "2 mistakes" in done.output
    assert "line 4" in done.output
    assert "line 12" in done.output


def test_all_mistakes_of_a_file_are_listed_in_json(survey: Path) -> None:
    """One error object; each mistake with path, line, rule, value and hint."""
    wrong = SURVEY.replace("1.0", "-1").replace('"choice"', '"choise"')
    survey.write_text(f"copies = 2{wrong}", "utf-8")
    done = run("plan", str(survey), "--json")
    assert done.exit_code == 2
    error = json.loads(done.stdout)["error"]
    assert (error["field"], error["rule"]) == ("survey.toml", "has 3 mistakes")
    found = [(mistake["path"], mistake["line"], mistake["value"]) for mistake in error["problems"]]
    assert found == [
        ("copies", 1, 2),
        ("policy.epsilon", 4, -1),
        ("question[1].type", 12, "choise"),
    ]
    assert all(mistake["rule"] and mistake["hint"] for mistake in error["problems"])


@pytest.mark.check
def test_the_precision_of_a_group_is_said_to_be_that_of_a_cell() -> None:
    """An answer's count is the sum of cells: nobody should read more precision than there is."""
    lines = run("plan", str(EXAMPLES / "health.toml")).stdout.splitlines()
    (group,) = (line for line in lines if "smokes + age" in line)
    assert "per cell" in group
    assert all("per cell" not in line for line in lines if "yes_no" in line)


def test_a_plan_shows_how_precise_each_question_of_a_group_will_be() -> None:
    """On the terminal and for programs: smoking alone adds up the six cells of age."""
    path = str(EXAMPLES / "health.toml")
    values = json.loads(run("plan", path, "--json").stdout)
    (group,) = (block for block in values["blocks"] if block["kind"] == "together")
    smokes, age = group["margins"]
    assert (smokes["question"], smokes["cells"], age["question"], age["cells"]) == (
        *("smokes", 6),
        *("age", 3),
    )
    for margin in (smokes, age):
        wider = margin["cells"] ** 0.5
        for name in ("half_width_95", "sigma"):
            assert margin[name] == pytest.approx(wider * group[name], rel=SIX_DIGITS)
    assert all("margins" not in block for block in values["blocks"] if block is not group)
    lines = run("plan", path).stdout.splitlines()
    for margin in (smokes, age):
        (line,) = (line for line in lines if f"{margin['question']} alone" in line)
        assert f"± {margin['half_width_95']:,.0f} people" in line


def test_a_plan_warns_of_results_that_could_not_be_read(tmp_path: Path) -> None:
    """Before anybody is asked; for a question of a group as well."""
    survey = """
id = "few"
policy = { epsilon = 2, delta = 1e-3, minimum_crowd = 60 }
question = [
  { name = "a", type = "choice", choices = ["x", "y", "z"] },
  { name = "b", type = "choice", choices = ["x", "y", "z"] },
]
together = [{ questions = ["a", "b"] }]
"""
    (tmp_path / "s.toml").write_text(survey, encoding="utf-8")
    result = run("plan", str(tmp_path / "s.toml"))
    assert result.exit_code == 0
    assert "warning: too noisy to use: a, b" in result.stderr
    assert "warning" not in run("plan", str(EXAMPLES / "health.toml")).stderr


@pytest.mark.check
@pytest.mark.parametrize("example", ["browser", "health"])
def test_the_examples_are_planned(example: str) -> None:
    """Certified, and precise enough to be of use."""
    values = json.loads(run("plan", str(EXAMPLES / f"{example}.toml"), "--json").stdout)
    assert values["promise"]["assurance"] == "certified"
    assert all(block["half_width_percent"] < 1 for block in values["blocks"])


@pytest.mark.check
def test_a_plan_needs_no_other_file(tmp_path: Path) -> None:
    """A list of choices in a file of its own goes into the plan: a device elsewhere can answer."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (here / "engines.txt").write_text("a\nb\nc\n", encoding="utf-8")
    asked = SURVEY.replace('choices = ["a", "b", "c"]', 'choices_file = "engines.txt"')
    (here / "survey.toml").write_text(asked, encoding="utf-8")
    done = run("plan", str(here / "survey.toml"), "-o", str(there / "plan.json"))
    assert done.exit_code == 0, done.output
    (here / "engines.txt").unlink()
    plan = read_plan(there / "plan.json")
    assert encode(plan.layout, {"engine": "c"}) == (3,)
    plain = tmp_path / "plain.toml"
    plain.write_text(SURVEY, encoding="utf-8")
    again = run("plan", str(plain), "--json")
    assert json.loads(again.stdout)["hash"] == plan.hash  # the list, not its file, is what counts


MIXERS = SURVEY.replace("minimum_crowd = 20_000\n", "") + '[trust]\nnoise = "mixers"\nmixers = 3\n'


@pytest.mark.check
def test_explain_shows_coalitions_and_sources_of_noise(survey: Path) -> None:
    """What remains for a person, and in one line what mixers would give instead."""
    values = json.loads(run("plan", str(survey), "--explain", "--json").stdout)
    assert [row["coalition"] for row in values["coalitions"]][:2] == ["analyst", "people"]
    assert [(each["noise"], each["mixers"]) for each in values["noise_sources"]] == [
        ("devices", 1),
        ("mixers", 1),
        ("mixers", 3),
        ("both", 3),
    ]
    text = " ".join(run("plan", str(survey), "--explain").stdout.split())
    assert "the analyst and 200 of 20,000 people" in text
    assert "whoever serves the web form, for people who use it │ no protection" in text
    assert 'With noise = "mixers" in [trust] no crowd is needed, only one honest mixer.' in text


def test_a_plan_of_devices_says_in_a_line_what_mixers_would_give(survey: Path) -> None:
    """Without being asked; not among values for programs, nor where it was chosen."""
    instead = 'With noise = "mixers" in [trust] no crowd is needed, only one honest mixer.'
    assert instead in " ".join(run("plan", str(survey)).stdout.split())
    assert "noise_sources" not in json.loads(run("plan", str(survey), "--json").stdout)
    survey.write_text(MIXERS, encoding="utf-8")
    assert instead not in " ".join(run("plan", str(survey)).stdout.split())


def test_a_plan_of_mixers_says_what_it_rests_on(survey: Path, tmp_path: Path) -> None:
    """No crowd, no share of the people, no q; it can be written without mixers' keys."""
    survey.write_text(MIXERS, encoding="utf-8")
    done = run("plan", str(survey), "--explain", "-o", str(tmp_path / "plan.json"))
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert "If at least one of the 3 mixers is honest, changing your answers" in text
    assert "however few people take part" in text
    assert "the analyst, all other people and 2 of 3 mixers" in text
    assert "If at least 2 people" not in text
    assert "inf" not in text
    assert "With noise" not in text
    assert "too noisy" not in done.output
    plan = read_plan(tmp_path / "plan.json")
    assert plan.mixing is not None
    assert plan.mixing.mixers == ()


def descriptors(folder: Path, rounds: tuple[int, ...]) -> list[str]:
    """Options that name a mixer with keys for each number of rounds."""
    options = []
    for hop, count in enumerate(rounds, 1):
        file = folder / f"mixer-{hop}.json"
        file.write_bytes(descriptor_bytes(generate_mixer_keys(count).described(f"mixer {hop}")))
        options += ["--mixer", str(file)]
    return options


def test_mixers_become_part_of_the_plan(survey: Path, tmp_path: Path) -> None:
    """In the order of the options; the promise is the same with other mixers."""
    survey.write_text(MIXERS, encoding="utf-8")
    bare = run("plan", str(survey), "-o", str(tmp_path / "bare.json"))
    assert "The plan names no mixers yet" in bare.output
    options = descriptors(tmp_path, (0, 1, 1))
    done = run("plan", str(survey), *options, "-o", str(tmp_path / "plan.json"))
    assert done.exit_code == 0, done.output
    assert "Mixers, the collector first: mixer 1, mixer 2, mixer 3." in done.output
    plan, before = read_plan(tmp_path / "plan.json"), read_plan(tmp_path / "bare.json")
    assert plan.mixing is not None
    assert [mixer.name for mixer in plan.mixing.mixers] == ["mixer 1", "mixer 2", "mixer 3"]
    assert [len(mixer.keys) for mixer in plan.mixing.mixers] == [0, 1, 1]
    assert plan.promise == before.promise
    assert plan.hash != before.hash


def test_hybrid_seals_need_keys_of_their_kind(survey: Path, tmp_path: Path) -> None:
    """Made by both keygen commands; the plan says what is sent, and refuses other keys."""
    survey.write_text(f'seal = "mlkem768-x25519"\n{MIXERS}', encoding="utf-8")
    seal, options = ["--seal", "mlkem768-x25519"], []
    for hop, rounds in enumerate((0, 1, 1), 1):
        file, store = tmp_path / f"{hop}.json", tmp_path / f"store-{hop}"
        made = ["--no-anchor", "--store", store, "--name", f"mixer {hop}", "--rounds", rounds]
        done = run("mix", "keygen", *map(str, (*seal, *made, "-o", file)))
        assert done.exit_code == 0, done.output
        options += ["--mixer", str(file)]
    for name, kind in (("key", seal), ("other", [])):
        assert run("keygen", *kind, "-o", str(tmp_path / f"{name}.pem")).exit_code == 0
    plan = ["plan", str(survey), "-o", str(tmp_path / "plan.json")]
    wrong = run(*plan, *options, "--analyst-key", str(tmp_path / "other.pub.pem"))
    assert wrong.exit_code == 2
    assert "krand keygen --seal mlkem768-x25519 -o key.pem" in wrong.output
    key = ["--analyst-key", str(tmp_path / "key.pub.pem")]
    wrong = run(*plan, *descriptors(tmp_path, (0, 1, 1)), *key)
    assert wrong.exit_code == 2
    assert "krand mix keygen --seal mlkem768-x25519" in wrong.output
    done = run(*plan, *options, *key)
    assert done.exit_code == 0, done.output
    length = format_of(read_plan(tmp_path / "plan.json")).length
    text = " ".join(done.stdout.split())
    assert "Messages are sealed with mlkem768-x25519 for the key in the plan" in text
    assert f"each submission has {length:,} bytes." in text


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
    text: str, rounds: tuple[int, ...], said: str, survey: Path, tmp_path: Path
) -> None:
    """Nothing is written."""
    survey.write_text(text, encoding="utf-8")
    options = descriptors(tmp_path, rounds)
    done = run("plan", str(survey), *options, "-o", str(tmp_path / "plan.json"))
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())
    assert not (tmp_path / "plan.json").exists()
