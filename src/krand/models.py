"""Models: what a file, a plan and a program say, checked once; and every mistake in it.

A model is frozen, converts nothing, and refuses keys that it does not have. Its fields are what
people may write, what plans carry and what the JSON Schema describes. Mistakes are found in two
stages: all mistakes of tables, each at its place; and if there are none, all of the whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Self, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from krand.errors import InvalidInput
from krand.mistakes import Broken, Path, SurveyErrors, nearest, path_text, problems_of

RULES = {
    "bool_type": "must be true or false",
    "dataclass_type": "must be an object of fields and values",
    "date_type": "must be a day, YYYY-MM-DD",
    "dict_type": "must be a table of keys and values",
    "finite_number": "must be a finite number",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "missing": "must be given",
    "model_attributes_type": "must be a table of keys and values",
    "model_type": "must be a table of keys and values",
    "string_too_short": "must not be empty",
    "string_type": "must be text between quotes",
    "tuple_type": "must be a list",
    "unexpected_keyword_argument": "is not a field of this object",
}
"""What pydantic finds, in krand's words; `rule_of` has those that name a limit."""


class Model(BaseModel):
    """A table of a file, a value of Python and a part of a plan in one."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        validate_by_name=True,
        validate_by_alias=True,
        defer_build=True,
    )
    hints: ClassVar[Mapping[str, str]] = {}
    """What to do about keys of which no example can be shown."""

    if not TYPE_CHECKING:

        def __init__(self, **values: Any) -> None:
            try:
                self.__pydantic_validator__.validate_python(values, self_instance=self)
            except ValidationError as error:
                broken = broken_in(type(self), error)
            else:
                return
            raise _error(type(self).__name__, broken)

        # Tables inside others need no call of this: pydantic collects their mistakes itself.
        __init__.__pydantic_base_init__ = True

    def _rules(self) -> Iterator[Broken]:
        """What is wrong with the table as a whole, of which each key is right by itself."""
        yield from ()

    @model_validator(mode="after")
    def _that_keeps_its_rules(self) -> Self:
        if broken := tuple(self._rules()):
            raise wrong(broken)
        return self

    @classmethod
    def read(
        cls,
        values: object,
        source: str,
        line_of: Callable[[Path], int] | None = None,
        **context: Any,
    ) -> Self:
        """The value of plain data, with the keys of files; all mistakes are in one error."""
        try:
            return cls.model_validate(values, by_alias=True, by_name=False, context=context)
        except ValidationError as error:
            broken = broken_in(cls, error)
        raise SurveyErrors(source, problems_of(broken, line_of))

    def __str__(self) -> str:
        return repr(self)

    def changed(self, **changes: Any) -> Self:
        """The same value with other fields, under the same rules."""
        return type(self)(
            **{name: getattr(self, name) for name in type(self).model_fields} | changes
        )

    def values(self) -> dict[str, Any]:
        """Plain data with the keys of files, every value written out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def wrong(broken: Iterable[Broken]) -> PydanticCustomError:
    """What a validator raises: rules that are broken, seen from its own value."""
    return PydanticCustomError("krand", "breaks a rule", {"broken": tuple(broken)})


def obeys(rule: Callable[[Any], Iterator[Broken]]) -> AfterValidator:
    """One of krand's own rules as a validator; all that it finds travels in one error."""

    def check(value: Any) -> Any:
        if broken := tuple(rule(value)):
            raise wrong(broken)
        return value

    return AfterValidator(check)


def checked(check: Callable[[Any], Any]) -> AfterValidator:
    """What a function makes of a value, as a validator; its `InvalidInput` is the mistake."""

    def made(value: Any) -> Any:
        try:
            return check(value)
        except InvalidInput as error:
            raise wrong([Broken((), error.rule, error.value, error.hint)]) from None

    return AfterValidator(made)


def unsaid(value: object) -> bool:
    """Whether a plan leaves out a text or a list, because there is none."""
    return not value


def broken_in(model: type[Model], error: ValidationError) -> list[Broken]:
    """Everything that pydantic found wrong with values of a model, in krand's words."""
    found = error.errors(include_url=False)
    outer = {each["loc"][:end] for each in found for end in range(len(each["loc"]))}
    # pydantic counts right entries alone: a list with a wrong one may only seem too short.
    told = [each for each in found if each["type"] != "too_short" or each["loc"] not in outer]
    return [broken for each in told for broken in _broken(model, each)]


def _error(name: str, broken: list[Broken]) -> InvalidInput:
    if len(broken) > 1:
        return SurveyErrors(name, problems_of(broken))
    (only,) = broken
    return InvalidInput(path_text(only.where) or name, only.rule, only.value, only.hint)


def _broken(model: type[Model], found: ErrorDetails) -> Iterator[Broken]:
    where, owner, field, tags = _walked(model, found["loc"])
    kind, value, context = found["type"], found["input"], found.get("ctx", {})
    key = str(where[-1]) if where else ""
    if kind == "krand":
        hint = owner.hints.get(key, "")
        for broken in context["broken"]:
            mended = broken if broken.hint or broken.where else replace(broken, hint=hint)
            yield mended.under(where)
    elif kind == "extra_forbidden":
        keys = [said(name, each) for name, each in owner.model_fields.items()]
        hint = nearest(key, keys, f"known keys: {', '.join(keys)}")
        yield Broken(where, "is not a key of this table", value, hint)
    elif kind == "union_tag_not_found":
        yield Broken((*where, "type"), "must be given", None, f"one of {', '.join(tags)}")
    elif kind == "union_tag_invalid":
        hint = nearest(context["tag"], tags, "", '"{}"')
        tag = value["type"] if isinstance(value, Mapping) else context["tag"]
        yield Broken((*where, "type"), f"must be one of {', '.join(tags)}", tag, hint)
    else:
        rule, value = rule_of(kind, context, found["msg"]), None if kind == "missing" else value
        yield Broken(where, rule, value, owner.hints.get(key) or _example(field))


def _walked(
    model: type[Model], loc: Path
) -> tuple[Path, type[Model], tuple[str, FieldInfo] | None, list[str]]:
    """A place as files have it; the model of its innermost key, that key, and its known types."""
    where: list[str | int] = []
    owner, key = model, None
    kind: Any = model
    for step in loc:
        kinds = _kinds(kind)
        if isinstance(kinds, dict):  # of a question, one step is its type
            kind = kinds[str(step)]
            continue
        kind = kinds
        if isinstance(kind, type) and issubclass(kind, Model):
            fields = {said(name, each): each for name, each in kind.model_fields.items()}
            fields = {**kind.model_fields, **fields}
            owner, key = kind, None
            if step in fields:
                key, kind = (str(step), fields[str(step)]), fields[str(step)].annotation
        else:
            kind = (get_args(kind) or (Any,))[0]
        where.append(step)
    kinds = _kinds(kind)
    return tuple(where), owner, key, list(kinds) if isinstance(kinds, dict) else []


def _kinds(kind: Any) -> Any:
    """A type without what it is annotated with, and without None; models of a union by `type`."""
    while hasattr(kind, "__metadata__"):
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, UnionType):
        some = [each for each in get_args(kind) if each is not NoneType]
        if len(some) == 1:
            return _kinds(some[0])
        if all(isinstance(each, type) and issubclass(each, Model) for each in some):
            return {each.model_fields["type"].default: each for each in some}
    return kind


def said(name: str, field: FieldInfo) -> str:
    """What files call a field."""
    return str(field.validation_alias or name)


def rule_of(kind: str, context: Mapping[str, Any], message: str) -> str:
    """What pydantic found, in krand's words."""
    match kind:
        case "greater_than":
            return f"must be above {_plain(context['gt'])}"
        case "greater_than_equal":
            return f"must be at least {_plain(context['ge'])}"
        case "less_than":
            return f"must be below {_plain(context['lt'])}"
        case "less_than_equal":
            return f"must be at most {_plain(context['le'])}"
        case "literal_error" | "enum":
            return f"must be {context['expected']}".replace("'", '"')
        case "too_long" if (
            context["field_type"] != "Value"
        ):  # which is a text with rules of its own
            return f"must hold at most {context['max_length']:,}"
        case "string_too_long" | "too_long":
            return f"must be at most {context['max_length']:,} characters long"
        case "too_short":
            return f"must hold at least {context['min_length']}"
        case "string_pattern_mismatch":
            return f"must look like {context['pattern']}"
        case "timezone_aware" | "datetime_type" | "datetime_parsing" | "datetime_from_date_parsing":
            return "must be an instant with its time zone"
        case "value_error":
            return str(context["error"])
    return RULES.get(kind, message)


def _plain(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:g}"


def _example(field: tuple[str, FieldInfo] | None) -> str:
    """An example of the key, written as in the file."""
    if field is None or not field[1].examples:
        return ""
    written = re.sub(r'"(\w+)": ', r"\1 = ", json.dumps(field[1].examples[0]))
    return f"for example {field[0]} = {written}"
