"""An option of a command and the parameter of its Python function have one name.

Each difference is listed here with its reason; a new one, and a reason that is no longer needed,
fail. So do defaults that differ.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

import krand
from krand.cli.main import krand as commands
from krand.errors import InvalidInput
from krand.promise import Policy, ResponseFormat
from krand.wording.failures import OPTIONS, describe, explain
from krand_lab.observe.outcome import observe

FUNCTIONS: dict[str, tuple[Callable[..., Any], ...]] = {
    "noise": (Policy, ResponseFormat),
    "privacy": (krand.assess, ResponseFormat),
    "frontier": (Policy, ResponseFormat, krand.frontier),
    "import": (krand.import_survey, krand.ImportedSurvey.save),
    "plan": (krand.make_plan, krand.Plan.save),
    "randomize": (krand.randomize_table,),
    "tally": (krand.tally_responses, krand.tally_batches),
    "estimate": (krand.make_results, krand.ResultsOptions),
    "report": (krand.save_report,),
    "export": (krand.Results.to_csv,),
    "compare": (krand.compare_results,),
    "trend": (krand.make_trend,),
    "observe": (observe,),
}
SHARED = {"as_json", "quiet", "no_color"}

OTHER_NAMES = {
    "force": ("overwrite", "a script forces, a program overwrites; errors name both"),
    "plan_file": ("plan", "a command reads the file"),
    "round_number": ("round_number", "round is a function of Python; the option is --round"),
    ("noise", "crowd"): ("minimum_crowd", "a policy is kept by any larger crowd as well"),
    ("frontier", "crowd"): ("minimum_crowd", "a policy is kept by any larger crowd as well"),
    ("frontier", "copies_list"): ("copies", "--copies is one number in other commands"),
    ("report", "output"): ("path", "what a function of saving writes"),
    ("export", "output"): ("path", "what a function of saving writes"),
    ("import", "output"): ("path", "what a function of saving writes"),
    ("plan", "output"): ("path", "what a function of saving writes"),
    ("estimate", "siblings_file"): ("siblings", "a command reads the file"),
    ("observe", "show"): ("most", "a function shows nothing"),
    ("tally", "responses"): ("files", "responses or batches"),
}
"""A command's name for a parameter, Python's name, and why they differ."""

ONLY_COMMANDS = {
    ("frontier", "plot"): "krand.figures.frontier(…).save",
    ("frontier", "force"): "of --plot",
    ("plan", "analyst_key"): "Plan.sealed_for",
    ("plan", "mixers"): "Plan.mixed_by",
    ("plan", "explain"): "what is printed",
    ("plan", "earlier"): "what is printed about an earlier plan",
    ("randomize", "language"): "Plan.in_language",
    ("tally", "output"): "a function returns it",
    ("tally", "force"): "of --output",
    ("tally", "passphrase_env"): "read_private_key",
    ("tally", "passphrase"): "read_private_key",
    ("tally", "signing_key"): "of the tally's file",
    ("tally", "signing_passphrase_env"): "of the tally's file",
    ("tally", "signer"): "of the tally's file",
    ("tally", "engine"): "on a cluster",
    ("tally", "place"): "on a cluster",
    ("tally", "workers"): "processes of its own",
    ("estimate", "output"): "Results.save",
    ("estimate", "force"): "of --output",
    ("estimate", "form"): "Results.save, by its ending",
    ("estimate", "raw"): "what is printed",
    ("report", "force"): "a report can be made again, so Python replaces it",
    ("export", "force"): "a table can be made again, so Python replaces it",
    ("export", "results"): "self",
    ("export", "invited"): "a key of the survey",
    ("trend", "output"): "Trend.save",
    ("trend", "language"): "Trend.save",
    ("trend", "force"): "a trend can be made again, so Python replaces it",
    ("trend", "between"): "compare_results",
}
"""Options without a parameter, and what does the same in Python or why nothing need."""

ONLY_PYTHON = {
    "policy": "made from options",
    "responses": "made from options",
    "structure": "of surveys, which have a file",
    "progress": "a bar on the screen",
    "options": "made from options",
    "quantiles": "the report shows quartiles",
    "seed": "of a simulation",
    "self": "RESULTS",
    ("plan", "plan"): "what make_plan returned",
    ("plan", "suggestions"): "the command always makes them",
    ("frontier", "linkage"): "it compares both",
    ("report", "trend"): "made from RESULTS, if there are several",
}


def options_of(name: str) -> dict[str, click.Parameter]:
    return {str(p.name): p for p in commands.commands[name].params if p.name not in SHARED}


def parameters_of(name: str) -> dict[str, inspect.Parameter]:
    found: dict[str, inspect.Parameter] = {}
    for function in FUNCTIONS[name]:
        found |= inspect.signature(function).parameters
    return found


def in_python(command: str, option: str) -> str:
    """What Python calls it."""
    renamed = OTHER_NAMES.get((command, option)) or OTHER_NAMES.get(option)
    return renamed[0] if renamed else option


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_option_is_a_parameter_of_the_same_name(name: str) -> None:
    """Or it is listed above, with the reason."""
    parameters = parameters_of(name)
    strange = {
        option
        for option in options_of(name)
        if in_python(name, option) not in parameters and (name, option) not in ONLY_COMMANDS
    }
    assert strange == set()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_an_option_of_the_same_name(name: str) -> None:
    """Or it is listed above, with the reason."""
    known = {in_python(name, option) for option in options_of(name)}
    strange = {
        parameter
        for parameter in parameters_of(name)
        if parameter not in known
        and parameter not in ONLY_PYTHON
        and (name, parameter) not in ONLY_PYTHON
    }
    assert strange == set()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_defaults_are_the_same(name: str) -> None:
    """What is left out means the same in both."""
    parameters = parameters_of(name)
    for option, parameter in options_of(name).items():
        given = parameters.get(in_python(name, option))
        if not isinstance(parameter, click.Option) or parameter.required or given is None:
            continue
        value = _given(parameter)
        if given.default is inspect.Parameter.empty:  # in Python it must be given
            continue
        assert (value or None) == (_plain(given.default) or None), option


def _given(option: click.Option) -> Any:
    """The default of an option, as the command gets it; what is not a plain value is none."""
    if not isinstance(option.default, str | int | float):
        return None
    return option.type.convert(option.default, option, None)


def _plain(default: Any) -> Any:
    """A default as a command would have it; a factory of dicts is an empty one."""
    return None if type(default).__name__ == "_HAS_DEFAULT_FACTORY_CLASS" else default


def test_no_reason_is_left_over() -> None:
    """What is listed exists: an entry goes when its option does."""
    pairs = [key for key in (*OTHER_NAMES, *ONLY_COMMANDS) if isinstance(key, tuple)]
    for name, option in pairs:
        assert option in options_of(name), (name, option)
    for name, option in ONLY_COMMANDS:
        assert in_python(name, option) not in parameters_of(name) or option == "results"
    everything = {p for name in FUNCTIONS for p in parameters_of(name)}
    assert {key for key in ONLY_PYTHON if isinstance(key, str)} <= everything
    for key, (python, _) in OTHER_NAMES.items():
        assert python in (parameters_of(key[0]) if isinstance(key, tuple) else everything), key


def test_the_reference_names_the_function_of_each_command() -> None:
    """One row for each command with public functions; every function is there."""
    page = Path(__file__).parents[2] / "docs" / "reference" / "python.md"
    section = page.read_text(encoding="utf-8").partition("\n### Commands and functions\n")[2]
    rows = dict(re.findall(r"^\| `krand (\w+)` \| (.*) \|$", section.partition("\n## ")[0], re.M))
    assert set(rows) == set(FUNCTIONS) - {"observe"}
    for name, functions in FUNCTIONS.items():
        for function in functions if name in rows else ():
            if function is not Policy and function is not ResponseFormat:
                assert function.__name__ in rows[name], (name, function.__name__)


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("replace it with overwrite=True", "replace it with --force"),
        ("use round_number=2", "use --round 2"),
        ("different_people=True: the results", "--different-people: the results"),
    ],
)
def test_hints_name_parameters_in_python_and_options_in_commands(hint: str, told: str) -> None:
    """A caller of a function has no options."""
    error = InvalidInput("field", "must be so", "x", hint)
    assert str(error).endswith(hint)
    assert explain(error).endswith(told)
    assert describe(error)["error"]["hint"] == told


def test_functions_of_tables_and_tallies_speak_of_no_options() -> None:
    """What is raised there is read in Python too; and every option of a hint exists."""
    source = Path(krand.__file__).parent
    for file in (*(source / "tables").rglob("*.py"), source / "files.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not re.search(r"(^| )--[a-z]", node.value), (file, node.lineno)
    known = {o for c in commands.commands.values() for p in c.params for o in p.opts}
    assert set(OPTIONS.values()) <= known
