"""The public names: all there, all shown, each with an example that runs."""

from __future__ import annotations

import ast
import doctest
import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import krand

MODULES = ("krand", "krand.simulation", "krand.testing")
ERRORS = {
    name
    for name in krand.__all__
    if inspect.isclass(value := getattr(krand, name)) and issubclass(value, krand.KrandError)
} - {"KrandError"}
"""Which are shown where they are raised."""


def shown() -> list[tuple[str, object]]:
    """Every public name that can have an example, and the modules themselves."""
    found: dict[str, object] = {module: import_module(module) for module in MODULES}
    for module in MODULES:
        for name in import_module(module).__all__:
            value = getattr(import_module(module), name)
            if callable(value) and not (module == "krand" and name in ERRORS):
                found[f"{module}.{name}"] = value
    return list(found.items())


@pytest.mark.parametrize(("name", "value"), [pytest.param(*each, id=each[0]) for each in shown()])
def test_every_name_has_an_example_that_runs(
    name: str, value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each in an empty folder, because examples write files."""
    monkeypatch.chdir(tmp_path)
    finder = doctest.DocTestFinder(recurse=False)
    globs = {"__name__": "__main__"}
    tests = [test for test in finder.find(value, name, False, globs=globs) if test.examples]
    assert tests, f"{name} has no example"
    for test in tests:
        assert "SKIP" not in test.docstring, f"the example of {name} is not run"
        said: list[str] = []
        found = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
        assert not found.failed, "".join(said)


def test_the_list_of_names_is_read_whole() -> None:
    """Every import of `__init__.pyi` is exported, once, found where the list says, and shown."""
    assert krand.__file__
    stub = Path(krand.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    listed = {
        alias.name: node.module
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert dir(krand) == sorted(krand.__all__) == sorted(["__version__", *listed])
    for name, home in listed.items():
        value = getattr(krand, name)
        at_home = home != "krand" and getattr(import_module(str(home)), name)
        assert value is (at_home or import_module(f"krand.{name}")), name
    with pytest.raises(AttributeError, match="no attribute 'plan_nose'"):
        krand.plan_nose  # noqa: B018


def test_modules_are_public_as_attributes_and_typed() -> None:
    """`import krand` is enough for krand.testing; type checkers believe its annotations."""
    assert all(isinstance(getattr(krand, name), ModuleType) for name in ("simulation", "testing"))
    assert krand.__file__
    assert (Path(krand.__file__).parent / "py.typed").exists()


def test_one_verb_reads_files_and_values_save_themselves() -> None:
    """Reports and forms are no values but views of one: they are written by functions."""
    verbs = {name.split("_")[0] for name in krand.__all__ if callable(getattr(krand, name))}
    assert not verbs & {"load", "open", "write", "store", "dump"}
    saved = {name for name in krand.__all__ if name.startswith("save_")}
    assert saved == {"save_form", "save_report"}
    for value in (krand.Plan, krand.Tally, krand.Results):
        assert hasattr(value, "save")
        assert f"read_{value.__name__.lower()}" in krand.__all__


def test_the_example_of_a_users_program_has_every_name() -> None:
    """`make lint` holds it to mypy --strict."""
    example = Path(__file__).parent / "typing_example.py"
    used = {
        node.attr
        for node in ast.walk(ast.parse(example.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "krand"
    }
    assert used == set(krand.__all__)
