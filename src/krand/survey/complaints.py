"""What pydantic found wrong with a table, in krand's words: where, which rule, what to do."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from krand.survey.models import Table
from krand.survey.rules import Broken

TYPES = {
    "bool_type": "must be true or false",
    "finite_number": "must be a finite number",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "list_type": "must be a list",
    "missing": "must be given",
    "model_type": "must be a table of keys and values",
    "string_type": "must be text between quotes",
}


def check_table(model: type[Table], raw: object) -> tuple[dict[str, Any], list[Broken]]:
    """The keys of a table that are right, and everything that is wrong with the others."""
    if not isinstance(raw, dict):
        return {}, [Broken((), "must be a table of keys and values", raw)]
    try:
        model.model_validate(raw)
    except ValidationError as error:
        details = error.errors(include_url=False)
        bad = {detail["loc"][0] for detail in details}
        broken = [entry for detail in details for entry in _broken(model, detail)]
        return {key: value for key, value in raw.items() if key not in bad}, broken
    return dict(raw), []


def unknown_key(key: str, value: object, known: Iterable[str]) -> Broken:
    """A key that means nothing here: most often a slip of the pen."""
    keys = list(known)
    near = difflib.get_close_matches(key, keys, 1)
    hint = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(keys)}"
    return Broken((key,), "is not a key of this table", value, hint)


def _broken(model: type[Table], detail: ErrorDetails) -> Iterator[Broken]:
    where, kind = detail["loc"], detail["type"]
    context: dict[str, Any] = detail.get("ctx", {})
    if kind == "krand_rule":
        yield from (broken.under(where) for broken in context["broken"])
    elif kind == "extra_forbidden":
        known = _innermost(model, where).model_fields
        yield unknown_key(str(where[-1]), detail["input"], known).under(where[:-1])
    else:
        value = None if kind == "missing" else detail["input"]
        yield Broken(where, _rule(kind, context, detail["msg"]), value, _example(model, where))


def _innermost(model: type[Table], where: tuple[int | str, ...]) -> type[Table]:
    """The model of the table that a key belongs to, inside another one or not."""
    for step in where[:-1]:
        if isinstance(step, str):
            inside: Any = model.model_fields[step].annotation
            model = (get_args(inside) or (inside,))[0]
    return model


def _rule(kind: str, context: dict[str, Any], message: str) -> str:
    match kind:
        case "greater_than":
            return f"must be above {_plain(context['gt'])}"
        case "greater_than_equal":
            return f"must be at least {_plain(context['ge'])}"
        case "less_than":
            return f"must be below {_plain(context['lt'])}"
        case "less_than_equal":
            return f"must be at most {_plain(context['le'])}"
        case "literal_error":
            return f"must be {context['expected']}"
        case "too_short":
            return f"must hold at least {context['min_length']}"
        case "string_too_short":
            return "must not be empty"
        case "string_too_long":
            return f"must be at most {context['max_length']:,} characters long"
        case "string_pattern_mismatch":
            return f"must look like {context['pattern']}"
    return TYPES.get(kind, message)


def _plain(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:g}"


def _example(model: type[Table], where: tuple[int | str, ...]) -> str:
    """An example of the key, written as in the file."""
    field = model.model_fields.get(str(where[0]))
    if field is None or not field.examples:
        return ""
    written = re.sub(r'"(\w+)": ', r"\1 = ", json.dumps(field.examples[0]))
    return f"for example {where[0]} = {written}"
