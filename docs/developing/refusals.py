"""The English templates of what krand refuses, read from the source: `make catalogs`.

Rules, hints and reasons are strings in the code, most of them f-strings. A template is such a
string with a named place for each hole: `must be at least {least}`. Names, calls of functions and
conditions are followed to the strings behind them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
MODULES = (
    "files.py",
    "promise.py",
    "survey/about.py",
    "survey/assembling.py",
    "survey/choices.py",
    "survey/coherence.py",
    "survey/complaints.py",
    "survey/condition_rules.py",
    "survey/conditions.py",
    "survey/limits.py",
    "survey/plan_file.py",
    "survey/problems.py",
    "survey/rules.py",
    "survey/schedule.py",
    "survey/shapes.py",
    "survey/survey.py",
    "survey/toml_file.py",
    "survey/translations.py",
    "survey/kinds/*.py",
    "survey/mechanisms/*.py",
    "accounting/*.py",
    "planning/**/*.py",
    "importing/*.py",
    "tables/workbooks.py",
    "inviting/*.py",
    "client/transport.py",
    "partners/addresses.py",
    "partners/identity.py",
    "partners/mixer_service.py",
    "partners/pairing.py",
    "partners/policy.py",
    "partners/requests.py",
    "partners/signing.py",
    "partners/talking.py",
    "collector/closing.py",
    "collector/store.py",
    "collector/opening.py",
    "site/checks.py",
    "site/making.py",
    "site/site_file.py",
    "wording/failures.py",
    "wording/numbers.py",
    "wording/refusals.py",
    "web/forms.py",
    "web/settings.py",
    "web/tasks.py",
    "web/workers.py",
    "console/*.py",
    "cli/commands/close.py",
    "cli/commands/invite.py",
)
"""Whose refusals the organiser's console can show; patterns below src/krand."""
SAID = frozenset({"rule", "hint", "reason", "nearest"})
"""Parameters that take a message, and variables that hold one; `english` is such a variable."""
SYSTEM = (
    "input/output error",
    "is a directory",
    "no space left on device",
    "no such file or directory",
    "not a directory",
    "operation not permitted",
    "permission denied",
    "read-only file system",
)
"""What operating systems say about files, which becomes a hint."""
UNSAID = frozenset({"Field", "InternalError"})
"""Labels of forms, and faults of krand itself."""
COUNTED = re.compile(r"(about |row )?(\{\w+\}|\d+)( [a-z]+)?")
"""Values in krand's own words."""
DEEPEST = 6
MOST = 64
"""Variants of one string."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = tuple[ast.AST, ...]
"""Module, and what is inside of it: classes and functions, the innermost last."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """An expression, and where it stands; `part` is the wanted element of a tuple."""

    node: ast.AST
    scope: Scope
    part: int | None = None
    is_value: bool = False
    """Whether it is what was found, not what must be: `5 choices`."""


def templates() -> list[str]:
    """All templates, in the order of modules; those that differ in names of holes alone once."""
    found: dict[str, str] = {}
    for path in (path for each in MODULES for path in sorted((SOURCE / "krand").glob(each))):
        module = _module(path)
        for place in _messages(module, (module,)):
            for text in (text for leaf in _leaves(place) for text in _written(leaf)):
                if _has_words(text) and (not place.is_value or COUNTED.fullmatch(text)):
                    found.setdefault(re.sub(r"\{\w+\}", "{}", text), text)
    return [*found.values(), *SYSTEM]


@cache
def _module(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _has_words(text: str) -> bool:
    return bool(re.search(r"[A-Za-z]{2}", re.sub(r"\{\w+\}", "", text)))


def _messages(node: ast.AST, scope: Scope) -> Iterator[Place]:
    """Every expression that becomes a message."""
    for child in ast.iter_child_nodes(node):
        inside = (*scope, child) if isinstance(child, Function | ast.ClassDef) else scope
        if isinstance(child, ast.Call):
            yield from _said(child, scope)
        elif isinstance(child, ast.Assign):
            yield from (
                Place(value, scope, part)
                for name in sorted({*SAID, "english"} & _bindings(child).keys())
                for value, part in _bindings(child)[name]
            )
        yield from _messages(child, inside)


def _said(call: ast.Call, scope: Scope) -> Iterator[Place]:
    called = _callee(call, scope)
    if called is not None and getattr(called.node, "name", "") in UNSAID:
        return
    names = _parameters(called, scope)
    given = [
        *zip(names, call.args, strict=False),
        *((each.arg, each.value) for each in call.keywords),
    ]
    for name, value in given:
        if name in SAID or name == "value":
            yield Place(value, scope, is_value=name == "value")


def _callee(call: ast.Call, scope: Scope) -> Place | None:
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
            inside = next(each for each in reversed(scope) if isinstance(each, ast.ClassDef))
            return next(_bases(Place(inside, scope)), None)
        case ast.Attribute(attr=name, value=ast.Name(id="self" | "cls")):
            for each in reversed(scope):
                if isinstance(each, ast.ClassDef):
                    found = _defined(name, each)
                    return None if found is None else Place(found, (*scope[:1], each))
            return None
        case ast.Name(id=name):
            for each in reversed(scope[1:]):
                if inner := _defined(name, each):
                    return Place(inner, scope)
            return _find(name, scope)
    return None


def _bases(place: Place) -> Iterator[Place]:
    assert isinstance(place.node, ast.ClassDef)
    for base in place.node.bases:
        if isinstance(base, ast.Name) and (found := _find(base.id, place.scope)):
            yield found


def _parameters(place: Place | None, scope: Scope) -> list[str]:
    """The names of what a function, or a class when it is called, takes in order."""
    match place:
        case Place(node=ast.FunctionDef() | ast.AsyncFunctionDef() as function):
            names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
            return names[1:] if names[:1] in (["self"], ["cls"]) else names
        case Place(node=ast.ClassDef() as made):
            if own := _defined("__init__", made):
                return _parameters(Place(own, place.scope), scope)
            fields = [
                each.target.id
                for each in made.body
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
            ]
            if made.name == "KrandError":
                return ["reason"]
            return fields or next((_parameters(base, scope) for base in _bases(place)), [])
    return []


def _defined(name: str, node: ast.AST) -> ast.AST | None:
    for each in getattr(node, "body", ()):
        if isinstance(each, Function | ast.ClassDef) and each.name == name:
            return each
    return None


def _find(name: str, scope: Scope) -> Place | None:
    """The function, class or constant of a module that has this name."""
    module = scope[0]
    if found := _defined(name, module):
        return Place(found, (module,))
    for place in _bound(name, module, (module,)):
        return place
    for source, own in _imports(module).get(name, ()):
        return _find(own, (_module(_path(source)),))
    return None


@cache
def _imports(module: ast.AST) -> dict[str, list[tuple[str, str]]]:
    """What a module imports from krand: where it is from, and its name there."""
    found: dict[str, list[tuple[str, str]]] = {}
    for each in ast.walk(module):
        if isinstance(each, ast.ImportFrom) and (each.module or "").startswith("krand."):
            for alias in each.names:
                own = (str(each.module), alias.name)
                found.setdefault(alias.asname or alias.name, []).append(own)
    return found


def _path(module: str) -> Path:
    path = SOURCE.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _bound(name: str, inside: ast.AST, scope: Scope) -> Iterator[Place]:
    """What a name is set to in a function, or at the top of a module."""
    for value, part in _bindings(inside).get(name, ()):
        yield Place(value, scope, part)


@cache
def _bindings(inside: ast.AST) -> dict[str, list[tuple[ast.AST, int | None]]]:
    found: dict[str, list[tuple[ast.AST, int | None]]] = {}
    top = isinstance(inside, ast.Module)
    for node in ast.iter_child_nodes(inside) if top else ast.walk(inside):
        match node:
            case (
                ast.Assign(targets=[target], value=ast.AST() as value)
                | ast.AnnAssign(target=target, value=ast.AST() as value)
                | ast.NamedExpr(target=target, value=value)
            ):
                many = isinstance(target, ast.Tuple)
                for part, each in enumerate(target.elts if many else [target]):
                    if isinstance(each, ast.Name):
                        found.setdefault(each.id, []).append((value, part if many else None))
    return found


def _leaves(place: Place, depth: int = 0) -> Iterator[Place]:
    """The expressions that a value can come from, as far as they can be followed."""
    node, scope, part = place.node, place.scope, place.part

    def follow(*nodes: ast.AST) -> Iterator[Place]:
        for each in nodes:
            yield from _leaves(Place(each, scope, part), depth + 1)

    if depth > DEEPEST:
        yield place
        return
    match node:
        case ast.IfExp(body=first, orelse=second):
            yield from follow(first, second)
        case ast.BoolOp(values=values):
            yield from follow(*values)
        case ast.NamedExpr(value=value):
            yield from follow(value)
        case ast.Tuple(elts=elements) if part is not None and part < len(elements):
            yield from _leaves(Place(elements[part], scope), depth + 1)
        case ast.Tuple(elts=elements) if part is None:
            yield from follow(*elements)
        case ast.List(elts=elements):
            yield from follow(*elements)
        case ast.Dict(values=values):
            yield from follow(*values)
        case ast.Starred(value=value):
            yield from follow(value)
        case ast.Subscript(value=value, slice=ast.Constant(value=int(index))):
            yield from _leaves(Place(value, scope, index), depth + 1)
        case ast.Subscript(value=ast.Name() as value):
            yield from follow(value)
        case ast.Call(func=ast.Attribute(attr="get", value=value), args=args):
            yield from follow(value, *args[1:])
        case ast.Name(id=name):
            own = [each for each in scope if isinstance(each, Function)]
            found = [each for function in own for each in _bound(name, function, scope)]
            if not found and (constant := _find(name, scope)):
                found = [constant]
            for each in found:
                inner = Place(each.node, each.scope, each.part if each.part is not None else part)
                yield from _leaves(inner, depth + 1)
            if not found:
                yield place
        case ast.Call() if isinstance(called := _callee_function(node, scope), Place):
            inside = (*called.scope, called.node)
            for each in ast.walk(called.node):
                if isinstance(each, ast.Return | ast.Yield) and each.value is not None:
                    yield from _leaves(Place(each.value, inside, part), depth + 1)
        case _:
            yield place


def _callee_function(call: ast.Call, scope: Scope) -> Place | None:
    found = _callee(call, scope)
    return found if found is not None and isinstance(found.node, Function) else None


def _written(place: Place, depth: int = 0) -> list[str]:
    """A string as templates, one for each way in which its conditions can go."""
    node, scope = place.node, place.scope
    match node:
        case ast.Constant(value=str(text)):
            return [text.replace("{", "{{").replace("}", "}}")]
        case ast.JoinedStr(values=values):
            parts = [_written(Place(each, scope), depth) for each in values]
        case ast.BinOp(left=left, op=ast.Add(), right=right) if _is_said(node, scope):
            parts = [_inside(each, scope, depth) for each in (left, right)]
        case ast.FormattedValue(value=value):
            return _inside(value, scope, depth)
        case _:
            return [f"{{{_name(node)}}}"]
    return [_distinct("".join(each)) for each in islice(product(*parts), MOST)]


def _inside(node: ast.AST, scope: Scope, depth: int) -> list[str]:
    """What fills a hole: the strings themselves if they are known, otherwise its name."""
    if depth > DEEPEST:
        return [f"{{{_name(node)}}}"]
    found: dict[str, None] = {}
    for leaf in _leaves(Place(node, scope)):
        texts = [f"{{{_name(node)}}}"]
        if _is_said(leaf.node, leaf.scope):
            texts = _written(leaf, depth + 1)
        found.update(dict.fromkeys(texts))
    return list(found) or [f"{{{_name(node)}}}"]


def _is_said(node: ast.AST, scope: Scope) -> bool:
    """Whether an expression is a string: a sum is one if a part of it is."""
    match node:
        case ast.JoinedStr() | ast.Constant(value=str()):
            return True
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            leaves = (leaf for side in (left, right) for leaf in _leaves(Place(side, scope)))
            return any(_is_said(leaf.node, leaf.scope) for leaf in leaves)
    return False


def _name(node: ast.AST) -> str:
    """A name for a hole, from the expression that fills it."""
    match node:
        case ast.Name(id=name):
            return name.lower().strip("_")
        case ast.Attribute(attr=name):
            return name.lower().strip("_")
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=" or ")), args=[inner]):
            return f"any_{_name(inner)}"
        case ast.Call(func=ast.Name(id="any_of"), args=[inner, *_]):
            return f"any_{_name(inner)}"
        case ast.Call(args=[inner, *_]) if not isinstance(inner, ast.Constant):
            return _name(inner)
        case ast.Call(func=function):
            return _name(function)
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case ast.Subscript(value=value):
            return _name(value)
        case ast.GeneratorExp(elt=each) | ast.ListComp(elt=each):
            return _name(each)
        case ast.BinOp(left=left, right=right):
            return _name(right if isinstance(left, ast.Constant) else left)
        case ast.FormattedValue(value=value) | ast.Starred(value=value):
            return _name(value)
        case ast.JoinedStr(values=values):
            return next((_name(each) for each in values if not isinstance(each, ast.Constant)), "x")
    return "number"


def _distinct(text: str) -> str:
    """The same template with another name for a second hole of one name."""
    seen: set[str] = set()

    def named(found: re.Match[str]) -> str:
        name, number = found[1], 1
        while name in seen:
            number += 1
            name = f"{found[1]}_{number}"
        seen.add(name)
        return f"{{{name}}}"

    return re.sub(r"(?<!\{)\{(\w+)\}(?!\})", named, text)
