"""Nobody asks which mechanism it is, or what a response looks like: the values are asked instead.

Counted as asking, outside the packages called `mechanisms`, the modules of shapes, and that of the
mathematics' own mechanism (`accounting/mechanism.py`):

* `has_flips` and `has_dummies`, in modules and in templates;
* comparing anything with DEVICES, MIXERS or BOTH, or with Linkage.BIT or Linkage.RECORD;
* comparing `noise`, `code` or `linkage` with the text of one of them;
* `mixing` or `flips` of a plan compared with None;
* `isinstance` of a mechanism, of one of its parts, of a model of counts or of a shape.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import krand.analysis.mechanisms as analysis
import krand.planning.mechanisms as planning
from krand.survey.mechanisms import Mechanism, mechanisms
from krand.wording.mechanisms import words_of

SOURCE = Path(__file__).parents[2] / "src" / "krand"
PROPERTIES = {"has_flips", "has_dummies"}
VALUES = {"DEVICES", "MIXERS", "BOTH", "BIT", "RECORD"}
TEXTS = {"devices", "mixers", "both", "bit", "record"}
NAMED = {"noise", "code", "linkage"}
ABSENT = {"mixing", "flips"}
TYPES = {
    *("NoiseModel", "DummyModel", "BothModel", "CountModel", "FlippedModel"),
    *("Mechanism", "Devices", "Mixers", "Both", "Shape", "Tokens", "Records"),
    *("PlanningPart", "AnalysisPart", "DevicesPart", "MixersPart", "BothPart", "BothMechanisms"),
}


def _last(node: ast.expr) -> str:
    """The last name of a.b.c."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _compares(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    names = {_last(side) for side in sides}
    constants = [side.value for side in sides if isinstance(side, ast.Constant)]
    if names & VALUES and not _is_other(sides):
        return True
    parts = {side.attr for side in sides if isinstance(side, ast.Attribute)}
    if None in constants and parts & ABSENT:
        return True
    return bool(names & NAMED) and bool(TEXTS & {text for text in constants if text is not None})


def _is_other(sides: list[ast.expr]) -> bool:
    """A name of another enumeration, such as Provenance.DEVICES."""
    enums = {_last(side.value) for side in sides if isinstance(side, ast.Attribute)}
    return "Provenance" in enums


def asking(tree: ast.AST) -> Iterator[ast.AST]:
    """Every place of a module that asks."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            asks = node.attr in PROPERTIES
        elif isinstance(node, ast.Compare):
            asks = _compares(node)
        elif isinstance(node, ast.Call) and _last(node.func) == "isinstance":
            types = (part for part in ast.walk(node.args[1]) if isinstance(part, ast.expr))
            asks = any(_last(part) in TYPES for part in types)
        else:
            asks = False
        if asks:
            yield node


def places(path: Path) -> int:
    """How often a module or a template asks."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return len(re.findall("|".join(PROPERTIES), text))
    return sum(1 for _ in asking(ast.parse(text)))


@pytest.mark.check
def test_nobody_asks_which_mechanism_it_is() -> None:
    """Outside the mechanisms themselves: nowhere."""
    files = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.html")]
    others = [
        path
        for path in files
        if "mechanisms" not in path.parts and path.name not in ("shapes.py", "mechanism.py")
    ]
    found = {path.relative_to(SOURCE).as_posix(): places(path) for path in others}
    assert {name: count for name, count in found.items() if count} == {}


@pytest.mark.parametrize(
    ("asks", "code"),
    [
        (1, "plan.mechanism.has_flips"),
        (1, "survey.trust.noise is mechanisms.MIXERS"),
        (1, "survey.linkage is Linkage.RECORD"),
        (1, 'noise == "devices"'),
        (1, "plan.mixing is None"),
        (1, "isinstance(law, BothModel | DummyModel)"),
        (0, "tally.provenance is Provenance.DEVICES"),
        (0, "plan.mechanism.crowd_needed(plan)"),
        (0, "isinstance(question, Words)"),
        (0, "results.plan is None"),
    ],
)
def test_what_counts_as_asking(asks: int, code: str) -> None:
    """The pattern finds what it says, and nothing else."""
    assert sum(1 for _ in asking(ast.parse(code))) == asks


@pytest.mark.parametrize("mechanism", mechanisms(), ids=str)
def test_every_code_has_all_its_parts(mechanism: Mechanism) -> None:
    """In surveys, in planning, in analysis and in words."""
    assert planning.part_of(mechanism)
    assert analysis.part_of(mechanism)
    assert words_of(mechanism)
