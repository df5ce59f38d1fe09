"""The JSON Schema of survey files, for editors: it is made of the models, and stored nowhere."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from textwrap import dedent
from typing import Any

from krand.models import Model, said
from krand.policy import Policy
from krand.survey.kinds.question import Condition, Matrix, Statement
from krand.survey.questions import KINDS
from krand.survey.schedule import Schedule
from krand.survey.survey import Survey, Together, Trust

TABLES: tuple[type[Model], ...] = (
    *(Survey, Policy, Trust, Schedule, Together, Condition, Statement, Matrix),
    *KINDS.values(),
)


def survey_schema() -> dict[str, Any]:
    """What a survey file may hold, as far as a schema can say it."""
    schema: dict[str, Any] = _cleaned(Survey.model_json_schema())
    known = {model.__name__: model for model in TABLES}
    for name, table in {"Survey": schema, **schema["$defs"]}.items():
        if (model := known.get(name)) is not None:
            table["description"] = inspect.cleandoc(model.__doc__ or "").partition("\n")[0]
            for key, about in _descriptions(model).items():
                table["properties"].get(key, {}).setdefault("description", about)
    schema["$defs"]["Policy"]["required"].remove("minimum_crowd")  # see "then"
    for table in schema["$defs"].values():
        if "type" in table.get("properties", {}):
            table["required"].append("type")  # of a question, which only Python knows by its class
    record = {"properties": {"linkage": {"const": "record"}}, "required": ["linkage"]}
    said = {"properties": {"trust": {"required": ["noise"]}}, "required": ["trust"]}
    devices = {"properties": {"trust": {"properties": {"noise": {"const": "devices"}}}}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "krand survey",
        **schema,
        "anyOf": [record, {"properties": {"copies": {"const": 1}}}],
        "if": {"anyOf": [{"allOf": [said, devices]}, {"allOf": [record, {"not": said}]}]},
        "then": {
            "properties": {
                "trust": {"properties": {"mixers": {"const": 1}}},
                "policy": {"required": ["minimum_crowd"]},
            }
        },
        "else": {
            "not": record,
            "properties": {"policy": {"properties": {"max_local_epsilon": False}}},
        },
    }


def _descriptions(model: type[Model]) -> dict[str, str]:
    """What stands below each field. Devices, which load the models, need not look for it."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if not issubclass(each, Model) or each is Model:
            continue
        (table,) = ast.parse(dedent(inspect.getsource(each))).body
        assert isinstance(table, ast.ClassDef)
        for field, below in pairwise(table.body):
            match field, below:
                case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                    if name in model.model_fields:
                        found[said(name, model.model_fields[name])] = inspect.cleandoc(text)
    return found


def _cleaned(value: Any) -> Any:
    """Without titles that repeat the key, and without null, which TOML cannot say."""
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    if not isinstance(value, dict):
        return value
    kinds = [each for each in value.get("anyOf", ()) if each != {"type": "null"}]
    if len(kinds) == 1:
        value = kinds[0] | {key: each for key, each in value.items() if key != "anyOf"}
    return {
        key: _cleaned(each)
        for key, each in value.items()
        if not (key == "title" and isinstance(each, str))
        and not (key == "default" and each is None)
    }
