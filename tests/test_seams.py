"""Tests speak to krand through what stays: public names, commands, HTTP, files, the wire.

So a room can be built anew without touching its tests. Three rooms are tested from inside, because
their mathematics or bytes are their public face.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
INSIDE = ("accounting", "wire", "randomness")
PUBLIC = ("krand", "krand.testing", "krand.simulation")
EXCEPTIONS: dict[str, tuple[str, ...]] = {
    "command_line.py": ("krand.cli.main",),
    "steps.py": ("krand.partners.identity", "krand.wire"),
    "consoles.py": (*("krand.console", "krand.console", "krand.site.running", "krand.web.access"),),
    "estimates.py": ("krand.analysis.group_differences",),
    "test_golden.py": ("krand.analysis.group_differences", "krand.analysis.joint.tables"),
    "fuzz/targets.py": (
        *("krand.batches", "krand.batches", "krand.wire.messages", "krand.wire.submissions"),
    ),
    "attacks/test_dummies.py": ("krand.mixing",),
    "mixing/test_dummies.py": ("krand.mixing.dummies",),
    "partners/mixers.py": ("krand.partners", "krand.site", "krand.wire"),
    "mixing/by_hand.py": ("krand.mixing",),
    "neighbours.py": ("krand.batches", "krand.mixing", "krand.partners", "krand.wire"),
    "parties.py": ("krand.partners", "krand.site", "krand.terminal.places", "krand.wire"),
    "spools.py": ("krand.collector", "krand.wire"),
    "test_storage.py": ("krand.storage",),
    "vectors.py": ("krand.randomness",),
}
"""The modules that a file may import all the same; the file says why."""
MOST = 40


def inner_imports(tree: ast.AST) -> Iterator[str]:
    """The inner modules that a file imports, by statement or by name."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module)):
                names = [module]
            case ast.Import(names=aliases):
                names = [alias.name for alias in aliases]
            case ast.Call(func=ast.Attribute() | ast.Name(), args=[ast.Constant(str(text)), *_]):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
                names = [text] if called in ("import_module", "setattr", "patch") else []
            case _:
                names = []
        yield from (name for name in names if name.startswith("krand.") and name not in PUBLIC)


def test_only_exceptions_import_what_is_inside() -> None:
    found = {
        str(path.relative_to(TESTS)): tuple(
            sorted(inner_imports(ast.parse(path.read_text("utf-8"))))
        )
        for path in sorted(TESTS.rglob("*.py"))
        if path.relative_to(TESTS).parts[0] not in INSIDE
    }
    assert {file: names for file, names in found.items() if names} == EXCEPTIONS
    assert sum(map(len, EXCEPTIONS.values())) <= MOST
