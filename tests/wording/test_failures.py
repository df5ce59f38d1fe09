"""Whatever goes wrong ends in one message and one exit code, never in a traceback."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import click
import pytest
from click.testing import CliRunner

from command_line import command_named, refused, run
from krand.cli.main import krand
from krand.cli.menu import NAMES
from krand.errors import CannotMeet, InternalError, InvalidInput, MissingComponent, NoEntropy
from krand.survey.rules import Problem, SurveyErrors
from krand.wording.failures import OPTIONS, as_krand_error, describe, explain

SOURCE = Path(inspect.getfile(InvalidInput)).parent
REFUSALS = ("InvalidInput", "Broken", "NotAdmitted", "NotAuthenticated", "NotFound", "OtherBatch")
NOISE = ["noise", "--crowd", "10M", "--bits", "40", "--epsilon", "2", "--delta", "1e-6"]
BY_ETA = [*NOISE[:-2], "--eta", "0.1"]
PRIVACY = ["privacy", "--crowd", "10M", "--bits", "40", "--epsilon", "2", "--noise", "0.35"]


def changed(command: list[str], option: str, value: str) -> list[str]:
    """The command with one option replaced, or added."""
    if option not in command:
        return [*command, option, value]
    place = command.index(option) + 1
    return [*command[:place], value, *command[place + 1 :]]


BAD = [
    (PRIVACY, "--noise", "0.5", "noise", 0.5),
    (PRIVACY, "--noise", "0.7", "noise", 0.7),
    (PRIVACY, "--noise", "0", "noise", 0.0),
    (PRIVACY, "--noise", "-0.1", "noise", -0.1),
    (PRIVACY, "--noise", "nan", "noise", "nan"),
    (PRIVACY, "--crowd", "1", "crowd", 1),
    (PRIVACY, "--epsilon", "0", "epsilon", 0.0),
    (PRIVACY, "--bits", "0", "bits", 0),
    (PRIVACY, "--copies", "0", "copies", 0),
    (NOISE, "--crowd", "1", "crowd", 1),
    (NOISE, "--crowd", "-5", "crowd", -5),
    (NOISE, "--crowd", "1.5", "crowd", "1.5"),
    (NOISE, "--crowd", "many", "crowd", "many"),
    (NOISE, "--crowd", "inf", "crowd", "inf"),
    (NOISE, "--bits", "0", "bits", 0),
    (NOISE, "--bits", "forty", "bits", "forty"),
    (NOISE, "--epsilon", "0", "epsilon", 0.0),
    (NOISE, "--epsilon", "-1", "epsilon", -1.0),
    (NOISE, "--epsilon", "inf", "epsilon", "inf"),
    (NOISE, "--epsilon", "nan", "epsilon", "nan"),
    (NOISE, "--epsilon", "two", "epsilon", "two"),
    (NOISE, "--delta", "0", "delta", 0.0),
    (NOISE, "--delta", "1", "delta", 1.0),
    (NOISE, "--delta", "-inf", "delta", "-inf"),
    (NOISE, "--eta", "0.1", "delta/eta", "both"),
    (BY_ETA, "--eta", "0", "eta", 0.0),
    (BY_ETA, "--eta", "1", "eta", 1.0),
    (BY_ETA, "--eta", "1.5", "eta", 1.5),
    (BY_ETA, "--eta", "-0.1", "eta", -0.1),
    (NOISE, "--copies", "0", "copies", 0),
    (NOISE, "--rounds", "0", "rounds", 0),
    (NOISE, "--max-set-bits", "41", "max_set_bits", 41),
    (NOISE, "--max-local-epsilon", "0", "max_local_epsilon", 0.0),
    (NOISE, "--linkage", "both", "linkage", "both"),
]


@pytest.mark.parametrize(("command", "option", "typed", "field", "value"), BAD)
def test_bad_input_names_field_and_value_in_json_with_exit_code_2(
    command: list[str], option: str, typed: str, field: str, value: object
) -> None:
    """With --json the refusal is one object on stdout that names field, rule and value."""
    error = refused(*changed(command, option, typed))
    assert error["kind"] == "invalid_input"
    assert (error["field"], error["value"]) == (field, value)
    assert error["rule"]


def test_bad_input_reads_well_on_stderr() -> None:
    """A person sees one line with field, rule and value, then how to mend it; stdout is empty."""
    result = run(*changed(NOISE, "--crowd", "many"))
    assert result.exit_code == 2
    assert result.stdout == ""
    first, second = result.stderr.splitlines()
    assert first == "error: crowd: must be a whole number, found 'many'"
    assert "10M" in second


def test_neither_delta_nor_eta_is_refused_with_an_example() -> None:
    """Without a promise there is nothing to plan."""
    result = run(*NOISE[:-2])
    assert result.exit_code == 2
    assert "delta/eta: exactly one of the two must be given, found 'neither'" in result.stderr
    assert "--delta 1e-6" in result.stderr


def test_a_missing_option_is_named() -> None:
    """A forgotten option is an error of that field."""
    error = refused("noise --bits 40 --epsilon 2")
    assert (error["field"], error["rule"]) == ("crowd", "must be given")


def fail_with(error: BaseException) -> Any:
    def plan_noise(*_: object) -> NoReturn:
        raise error

    return plan_noise


def test_an_unexpected_exception_is_our_bug_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 70, a plea to report it, no traceback unless KRAND_DEBUG=1."""
    monkeypatch.delenv("KRAND_DEBUG", raising=False)
    monkeypatch.setattr("krand.accounting.calibration.plan_noise", fail_with(RuntimeError("boom")))
    result = run(*NOISE)
    assert result.exit_code == 70
    assert "internal error: RuntimeError: boom" in result.stderr
    assert "report" in result.stderr
    assert "Traceback" not in result.stderr
    monkeypatch.setenv("KRAND_DEBUG", "1")
    assert "Traceback" in run(*NOISE).stderr


def test_an_interruption_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C exits with 130 and leaves no traceback."""
    monkeypatch.setattr("krand.accounting.calibration.plan_noise", fail_with(KeyboardInterrupt()))
    result = run(*NOISE)
    assert result.exit_code == 130
    assert (result.stdout + result.stderr).strip() == ""


def test_color_appears_only_where_it_is_wanted() -> None:
    """--no-color and NO_COLOR strip the escape codes that a terminal would get."""
    bad = changed(NOISE, "--crowd", "many")
    assert "\x1b[" in CliRunner().invoke(krand, bad, color=True).stderr
    assert "\x1b[" not in CliRunner().invoke(krand, [*bad, "--no-color"], color=True).stderr
    result = CliRunner(env={"NO_COLOR": "1"}).invoke(krand, bad, color=True)
    assert "\x1b[" not in result.stderr


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (InvalidInput("noise", "must be small", float("inf"), "shrink it"), "invalid_input"),
        (InvalidInput("delta/eta", "exactly one", (None, None)), "invalid_input"),
        (CannotMeet("no"), "cannot_meet"),
        (MissingComponent("pandas", "pandas"), "missing_component"),
        (InternalError("2 < 1"), "internal_error"),
        (NoEntropy("failed"), "no_entropy"),
        (
            SurveyErrors(
                "s.toml", [Problem(path="id", line=1, rule="must be given", value=None, hint="")]
            ),
            "invalid_input",
        ),
    ],
)
def test_every_error_has_the_same_shape_in_json(error: Any, kind: str) -> None:
    """Programs can rely on the keys, and the object is standard JSON."""
    entry = describe(error)["error"]
    json.dumps(entry, allow_nan=False)
    assert set(entry) == {
        *("kind", "message", "field", "rule", "value", "hint", "reason", "nearest", "problems"),
    }
    assert entry["kind"] == kind
    assert entry["message"] == explain(error)


def test_every_mistake_of_a_survey_is_an_object_of_its_own() -> None:
    """Programs need not take the message apart; what is not known is null."""
    error = SurveyErrors(
        "s.toml",
        [
            Problem(
                path="policy.epsilon",
                line=4,
                rule="must be finite",
                value=float("nan"),
                hint="for example 1",
            ),
            Problem(path="", line=None, rule="must be UTF-8 text", value=None, hint=""),
            Problem(path="id", line=9, rule="must be text", value=[1, 2], hint=""),
        ],
    )
    assert describe(error)["error"]["problems"] == [
        {
            "path": "policy.epsilon",
            "line": 4,
            "rule": "must be finite",
            "value": "nan",
            "hint": "for example 1",
        },
        {"path": None, "line": None, "rule": "must be UTF-8 text", "value": None, "hint": None},
        {"path": "id", "line": 9, "rule": "must be text", "value": "[1, 2]", "hint": None},
    ]
    for other in (InvalidInput("noise", "must be small", 3), CannotMeet("no"), NoEntropy("failed")):
        assert describe(other)["error"]["problems"] == []


def test_clicks_own_errors_become_invalid_input() -> None:
    """Nothing of click's vocabulary is lost in translation."""
    error = as_krand_error(click.UsageError("Too much."))
    assert isinstance(error, InvalidInput)
    assert error.rule == "Too much"


def test_a_closed_pipe_is_no_bug() -> None:
    """`krand noise --help | head -0` ends without a traceback."""
    code = "from krand.cli.main import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", code, "noise", "--help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    stderr = process.stderr.read()
    process.stderr.close()
    process.wait()
    assert "Traceback" not in stderr
    assert "internal error" not in stderr


def test_a_machine_without_randomness_is_neither_the_users_mistake_nor_a_bug() -> None:
    """It says that nothing was randomized and what to do, and has an exit code of its own."""
    error = NoEntropy("failed (no device)")
    assert error.exit_code == 71
    assert "nothing was randomized" in explain(error)
    assert "Restart the machine" in explain(error)
    assert "bug" not in explain(error)
    assert describe(error)["error"]["kind"] == "no_entropy"


def test_whatever_partners_refuse_comes_with_a_remedy() -> None:
    """Two organisations read these errors, and often only one of them can mend what is wrong."""
    found = []
    for path in (path for room in ("partners", "site") for path in (SOURCE / room).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in REFUSALS:
                has_hint = len(node.args) > 3 or any(each.arg == "hint" for each in node.keywords)
                found += [] if has_hint else [f"{path.name}: {ast.unparse(node)}"]
    assert found == []


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("replace it with overwrite=True", "replace it with --force"),
        ("use round_number=2", "use --round 2"),
        ("different_people=True: the results", "--different-people: the results"),
        ("is it another encoding?", "is it another encoding?"),
    ],
)
def test_hints_name_parameters_in_python_and_options_in_commands(hint: str, told: str) -> None:
    """A caller of a function has no options; and every option of a hint exists."""
    error = InvalidInput("field", "must be so", "x", hint)
    assert str(error).endswith(hint)
    assert explain(error).endswith(told)
    assert describe(error)["error"]["hint"] == told
    known = {o for name in NAMES for p in command_named(name).params for o in p.opts}
    assert set(OPTIONS.values()) <= known
