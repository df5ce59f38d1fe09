"""Conditions as XLSForm writes them: comparisons, joined by and, or and not.

XLSForm can compute; what is more than that raises `Unsupported`, and nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 4_000
"""Characters of a condition; real ones have some hundred."""
DEEPEST = 40
SELF = "."
"""The question itself, in a constraint."""
_TOKEN = re.compile(
    r"\s*(?:\$\{\s*(?P<braced>[^}]*?)\s*\}"
    r"|'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\""
    r"|(?P<name>[A-Za-z_][\w-]*)"
    r"|(?P<number>-?\d+(?:\.\d+)?)"
    r"|(?P<sign><=|>=|!=|=|<|>|\(|\)|,|\.))"
)
_PIECE = re.compile(r"\$\{[^}]*\}|'[^']*'|\"[^\"]*\"|[()]|[\w.-]+")
_COMPARED = ("=", "!=", "<", "<=", ">", ">=")
_OPPOSITE = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Unsupported(Exception):
    """A condition, or a part of one, that krand's conditions cannot say; the message is why."""


@dataclass(frozen=True, slots=True)
class Compare:
    """An answer compared with a value; `selected` holds if it is, or contains, the value."""

    reference: str
    operator: str
    value: str


@dataclass(frozen=True, slots=True)
class All:
    """Every part must hold; without parts it always does."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one part must hold; without parts it never does."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part must not hold."""

    part: Node


Node = Compare | All | Some | Not


def parse(text: str) -> Node:
    """The condition of a text."""
    if len(text) > LONGEST:
        raise Unsupported(f"it is longer than {LONGEST:,} characters")
    reader = _Reader(text)
    found = reader.either(0)
    if reader.token is not None:
        raise Unsupported(f"krand does not know what {reader.token[1]!r} means here")
    return found


def parts_of(text: str) -> list[str]:
    """The texts that a condition joins by and, so that one of them can be lost; else itself."""
    if len(text) > LONGEST:
        raise Unsupported(f"it is longer than {LONGEST:,} characters")
    inside = text.strip()
    for _ in range(DEEPEST):
        parts = _split(inside)
        if len(parts) > 1:
            return parts
        if not (inside.startswith("(") and inside.endswith(")")):
            break
        inside = inside[1:-1].strip()
    return [text.strip()]


def _split(text: str) -> list[str]:
    """At each "and" outside of brackets; nowhere if there is an "or", or brackets do not match."""
    depth, begin, parts = 0, 0, []
    for piece in _PIECE.finditer(text):
        word = piece[0].lower()
        depth += (word == "(") - (word == ")")
        if depth < 0 or (depth == 0 and word == "or"):
            return [text]
        if depth == 0 and word == "and":
            parts.append(text[begin : piece.start()].strip())
            begin = piece.end()
    return [*parts, text[begin:].strip()] if depth == 0 else [text]


def comparisons(node: Node) -> Iterator[Compare]:
    """Every comparison in it."""
    match node:
        case Compare():
            yield node
        case Not(part):
            yield from comparisons(part)
        case All(parts) | Some(parts):
            for each in parts:
                yield from comparisons(each)


def conjuncts(node: Node) -> tuple[Node, ...]:
    """The parts that must all hold."""
    if isinstance(node, All):
        return tuple(part for each in node.parts for part in conjuncts(each))
    return (node,)


def holds(node: Node, answer: str) -> bool:
    """Whether it holds where the one question it is about has this answer; empty for none."""
    match node:
        case Compare(_, operator, value):
            return _compared(answer, operator, value)
        case Not(part):
            return not holds(part, answer)
        case All(parts):
            return all(holds(part, answer) for part in parts)
        case Some(parts):
            return any(holds(part, answer) for part in parts)


def _compared(answer: str, operator: str, value: str) -> bool:
    mine, other = number(answer), number(value)
    is_equal = answer == value or (mine is not None and mine == other)
    if operator in ("=", "selected"):
        return is_equal
    if operator == "!=":
        return not is_equal
    if mine is None or other is None:
        return False
    return {"<": mine < other, "<=": mine <= other, ">": mine > other, ">=": mine >= other}[
        operator
    ]


def number(text: str) -> float | None:
    """The number that a text is, if it is a plain one."""
    return float(text) if re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", text) else None


class _Reader:
    """One token ahead; or binds less than and, and that less than a comparison."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self.token: tuple[str, str] | None = None
        self._next()

    def _next(self) -> tuple[str, str] | None:
        """The token that was ahead; the one behind it is now."""
        before = self.token
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            if self._text[self._at :].strip():
                sign = self._text[self._at :].strip()[0]
                raise Unsupported(f"krand does not know what {sign!r} means in a condition")
            self.token = None
            return before
        self._at = found.end()
        kind = str(found.lastgroup)
        self.token = _word(found[kind]) if kind == "name" else (kind, found[kind])
        return before

    def _takes(self, *signs: str) -> bool:
        if self.token is not None and self.token[0] in ("sign", "word") and self.token[1] in signs:
            self._next()
            return True
        return False

    def either(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise Unsupported("it has too many brackets")
        parts = [self._both(depth)]
        while self._takes("or"):
            parts.append(self._both(depth))
        return parts[0] if len(parts) == 1 else Some(tuple(parts))

    def _both(self, depth: int) -> Node:
        parts = [self._one(depth)]
        while self._takes("and"):
            parts.append(self._one(depth))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _one(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise Unsupported("it has too many brackets")
        if self._takes("("):
            inside = self.either(depth + 1)
            self._close()
            return inside
        kind, text = self._value()
        if kind == "reference" and self._takes("("):
            return self._function(text, depth)
        return self._comparison(kind, text)

    def _close(self) -> None:
        if not self._takes(")"):
            raise Unsupported("a bracket is not closed where krand expects it")

    def _function(self, name: str, depth: int) -> Node:
        if name in ("true", "false"):
            self._close()
            return All(()) if name == "true" else Some(())
        if name == "not":
            inside = self.either(depth + 1)
            self._close()
            return Not(inside)
        if name == "selected":
            kind, reference = self._value()
            if kind != "reference" or not self._takes(","):
                raise Unsupported("selected needs a question and a choice")
            kind, text = self._value()
            if kind != "value":
                raise Unsupported("selected needs a question and a choice")
            self._close()
            return Compare(reference, "selected", text)
        raise Unsupported(f"it computes with {name}()")

    def _comparison(self, kind: str, text: str) -> Node:
        token = self.token
        sign = token[1] if token and token[0] == "sign" else ""
        if sign not in _COMPARED:
            raise Unsupported("it is not a comparison of a question with a value")
        self._next()
        other_kind, other = self._value()
        if (kind, other_kind) == ("reference", "value"):
            return Compare(text, sign, other)
        if (kind, other_kind) == ("value", "reference"):
            return Compare(other, _OPPOSITE.get(sign, sign), text)
        raise Unsupported("it compares questions with each other")

    def _value(self) -> tuple[str, str]:
        """A question or a fixed value."""
        token = self._next()
        if token is None:
            raise Unsupported("it ends too early")
        kind, text = token
        if kind == "sign" and text == SELF:
            return "reference", SELF
        if kind in ("braced", "name"):
            return "reference", text
        if kind in ("single", "double", "number"):
            return "value", text
        raise Unsupported(f"krand does not know what {text!r} means here")


def _word(text: str) -> tuple[str, str]:
    """A name, or a word of the language."""
    lower = text.lower()
    return ("word", lower) if lower in ("and", "or") else ("name", text)
