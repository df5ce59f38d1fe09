"""Survey files for tests, as text: a few words a question instead of a few lines."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import date

from schedules import WEEKLY


def question_text(name: str, kind: str, **keys: object) -> str:
    """The lines of one question; `kind` is its type."""
    return _table("[[question]]", {"name": name, "type": kind, **keys})


def survey_text(
    name: str, *questions: str, together: Sequence[str] = (), trust: object = None, **keys: object
) -> str:
    """A whole file. Keys of the policy are those that stand in no other place."""
    top = {key: keys.pop(key) for key in TOP if key in keys}
    parts = [_table("", {"id": name, **top}), _table("[policy]", keys)]
    if top.get("rounds", 1) != 1:
        parts.append(WEEKLY.strip())
    if isinstance(trust, dict):
        parts.append(_table("[trust]", trust))
    parts += questions
    if together:
        parts.append(_table("[[together]]", {"questions": list(together)}))
    return "\n".join(parts)


TOP = ("title", "organiser", "contact", "introduction", "thanks", "language", "linkage", "copies")
TOP += ("rounds", "invitations", "closes")


def _table(head: str, keys: dict[str, object]) -> str:
    lines = [f"{key} = {_value(value)}" for key, value in keys.items()]
    return "\n".join([*([head] if head else []), *lines, ""])


def _value(value: object) -> str:
    """TOML writes texts, numbers and lists as JSON does, but for days and for keys of tables."""
    if isinstance(value, date):
        return str(value)
    return re.sub(r'"(\w+)": ', r"\1 = ", json.dumps(value, ensure_ascii=False))
