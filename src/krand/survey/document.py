"""Tables of surveys as TOML, for files that krand writes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def translation_lines(translations: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A table for each language, and one for each of its questions."""
    lines = []
    for language, texts in translations.items():
        about = {key: text for key, text in texts.items() if key != "question"}
        lines += ["", f"[translations.{language}]", *toml_lines(about)]
        for name, table in texts.get("question", {}).items():
            lines += ["", f"[translations.{language}.question.{name}]", *toml_lines(table)]
    return lines


def toml_lines(table: dict[str, Any]) -> list[str]:
    """The keys of a table, one on each line."""
    return [f"{key} = {toml_value(value)}" for key, value in table.items()]


def toml_value(value: Any) -> str:
    """A value as TOML writes it, in one line."""
    if isinstance(value, dict):
        pairs = (f"{_toml_key(key)} = {toml_value(each)}" for key, each in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    # JSON writes everything else in the same way, but for one character.
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("\x7f", "\\u007f")


def _toml_key(key: str) -> str:
    """Plain words stand as they are; choices, which translations name, may be anything."""
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else toml_value(key)
