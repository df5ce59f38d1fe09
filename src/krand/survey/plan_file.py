"""Reading a plan back: what is read is the plan that was written, or it is refused.

That the noise gives what is promised is not computed here, which takes a second: `check_promise`
does that, wherever a plan is used. A device compares the plan's hash instead.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from krand.errors import InvalidInput, KrandError
from krand.files import json_object, read_whole, whole, write_new
from krand.privacy.guarantee import MAX_POPULATION, NOISE_GRID
from krand.survey.plan import FORMAT, Plan, Promise, planned_from
from krand.survey.promises import MEND, check_asked
from krand.survey.reading import survey_from_document

__all__ = ["parse_plan", "read_plan", "save_plan"]

RULE = "must be a plan made by krand"
KEY = re.compile("[0-9a-f]{64}")


def read_plan(path: str | Path) -> Plan:
    """The plan in a file; it needs no other file.

    >>> from krand import read_plan, save_plan
    >>> from krand.testing import small_plan
    >>> save_plan(small_plan(), "plan.json")
    >>> read_plan("plan.json") == small_plan()
    True
    """
    return parse_plan(read_whole("plan", path), str(path))


def save_plan(plan: Plan, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the plan file, whose SHA-256 is the plan's name; another plan is there to stay.

    >>> import hashlib
    >>> from krand import save_plan
    >>> from krand.testing import small_plan
    >>> save_plan(small_plan(), "plan.json")
    >>> hashlib.sha256(open("plan.json", "rb").read()).hexdigest() == small_plan().hash
    True
    """
    write_new("output", Path(path), plan.bytes.decode(), overwrite=overwrite)


def parse_plan(content: bytes, source: str = "plan") -> Plan:
    """The plan in these bytes, which must be exactly those that krand would write."""
    values = json_object("plan", content, source, RULE)
    try:
        plan = _plan(values)
    except KrandError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        fault = f"{error}; " if type(error) is ValueError else ""
        raise InvalidInput("plan", RULE, source, fault + MEND) from None
    if plan.bytes != content:
        raise InvalidInput(
            "plan", "must be unchanged since it was made, down to the last byte", source, MEND
        )
    check_asked(plan)
    return plan


def _plan(values: dict[str, Any]) -> Plan:
    """From survey, noise and promise; everything else follows, and must be what stands there."""
    if values["format"] != FORMAT:
        raise InvalidInput("plan", f"must have the format {FORMAT}", values["format"], MEND)
    key = values.get("analyst_key")
    if key is not None and not KEY.fullmatch(key):
        rule = "must be the 32 bytes of an X25519 public key, in hexadecimal"
        raise InvalidInput("analyst_key", rule, key, MEND)
    return planned_from(
        survey_from_document(values["survey"]),
        tuple(
            whole("noise_numerator", block["noise_numerator"], 1, NOISE_GRID // 2 - 1)
            for block in values["blocks"]
        ),
        _promise(values["promise"]),
        key,
    )


def _promise(values: dict[str, Any]) -> Promise:
    """Every number is one, of the declared kind."""
    from pydantic import TypeAdapter, ValidationError

    try:
        TypeAdapter(Promise).validate_json(json.dumps(values), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, ("promise", *first["loc"])))
        raise ValueError(f"{where}: {first['msg'].lower()}") from None
    whole("promise.population", values["population"], 1, MAX_POPULATION)
    whole("promise.colluding", values["colluding"], 0, MAX_POPULATION)
    return Promise(**{**values, "assumptions": tuple(values["assumptions"])})
