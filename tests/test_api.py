"""The public names: all there, all typed, each with an example that runs."""

from __future__ import annotations

import ast
import doctest
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import krand
from components import require

ROOT = Path(__file__).parents[1]
EXAMPLE = Path(__file__).parent / "typing_example.py"
MODULES = ("krand", "krand.simulation", "krand.testing")


def public(module: str) -> list[tuple[str, object]]:
    """The names of a public module that can have an example; the last one is the module itself."""
    home = import_module(module)
    found = [(f"{module}.{name}", getattr(home, name)) for name in home.__all__]
    return [*((n, v) for n, v in found if callable(v) or inspect.ismodule(v)), (module, home)]


ERRORS = [
    name
    for name in krand.__all__
    if inspect.isclass(value := getattr(krand, name)) and issubclass(value, krand.KrandError)
]
NAMES = [
    f"krand.{name}"
    for name in krand.__all__
    if name not in ("__version__", "simulation", "testing")
    and (name == "KrandError" or name not in ERRORS)
]
"""All but errors, which are shown where they are raised."""


def examples_of(name: str, value: object) -> list[doctest.DocTest]:
    """The examples in a name's own docstring."""
    finder = doctest.DocTestFinder(recurse=False)
    globs = {"__name__": "__main__"}
    return [test for test in finder.find(value, name, False, globs=globs) if test.examples]


def check_examples(name: str, value: object) -> None:
    tests = examples_of(name, value)
    assert tests, f"{name} has no example"
    assert not any("SKIP" in test.docstring for test in tests), f"the example of {name} is not run"
    for test in tests:
        said: list[str] = []
        found = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
        assert not found.failed, "".join(said)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples write files."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", [name.removeprefix("krand.") for name in NAMES])
def test_every_name_has_an_example_that_runs(name: str) -> None:
    """Each in an empty folder."""
    check_examples(f"krand.{name}", getattr(krand, name))


@pytest.mark.check
@pytest.mark.parametrize("module", MODULES)
def test_every_name_of_a_public_module_has_an_example_that_runs(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fakes, and what the modules themselves show."""
    for name, value in public(module):
        if name in NAMES or (module == "krand" and name != module and inspect.ismodule(value)):
            continue  # has its own test
        if name.removeprefix("krand.") in ERRORS:
            continue  # is shown where it is raised
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        check_examples(name, value)


def test_the_list_of_names_is_read_whole() -> None:
    """Every import of `__init__.pyi` is exported, once, found where the list says, and shown."""
    assert krand.__file__
    stub = Path(krand.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    listed = [
        (node.module, alias.name)
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert {name: home for home, name in listed} == krand._HOMES  # type: ignore[attr-defined]
    assert dir(krand) == sorted(krand.__all__)
    assert dir(krand) == sorted(["__version__", *(name for _, name in listed)])


def test_modules_are_public_as_attributes() -> None:
    """`import krand` is enough for krand.testing."""
    for name in ("simulation", "testing"):
        assert isinstance(getattr(krand, name), ModuleType)


def test_the_package_says_that_it_is_typed() -> None:
    """py.typed is there, so that type checkers believe its annotations."""
    assert krand.__file__
    assert (Path(krand.__file__).parent / "py.typed").exists()


def used_names() -> set[str]:
    """What the example of a user's program takes from krand."""
    tree = ast.parse(EXAMPLE.read_text(encoding="utf-8"))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "krand"
    }


@pytest.mark.check
def test_a_users_program_is_typed() -> None:
    """mypy --strict accepts a program that uses every public name."""
    require("mypy")
    assert used_names() == set(krand.__all__)
    command = [sys.executable, "-m", "mypy", "--strict", str(EXAMPLE)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_one_verb_reads_files_and_values_save_themselves() -> None:
    """A report is no value but a view of results: it alone is written by a function."""
    verbs = {name.split("_")[0] for name in krand.__all__ if callable(getattr(krand, name))}
    assert not verbs & {"load", "open", "write", "store", "dump"}
    assert [name for name in krand.__all__ if name.startswith("save_")] == ["save_report"]
    for value in (krand.Plan, krand.Tally, krand.Results):
        assert hasattr(value, "save")
        assert f"read_{value.__name__.lower()}" in krand.__all__
