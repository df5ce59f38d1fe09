"""Reading a plan back: what is read is the plan that was written, or it is refused.

That the noise keeps the promise is not computed again here, which takes seconds: `verify_promise`
does that. Whoever trusts a plan knows its hash.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from krand.errors import InvalidInput, KrandError
from krand.files import read_whole, write_atomically
from krand.survey.plan import FORMAT, Plan, Promise, planned_from
from krand.survey.reading import survey_from_document

__all__ = ["parse_plan", "read_plan", "save_plan"]

MEND = "make it again from its survey file: krand plan survey.toml -o plan.json"


def read_plan(path: str | Path) -> Plan:
    """The plan in a file; lists of choices that it names are looked for beside it.

    >>> from krand import read_plan, save_plan
    >>> from krand.testing import small_plan
    >>> save_plan(small_plan(), "plan.json")
    >>> read_plan("plan.json") == small_plan()
    True
    """
    return parse_plan(read_whole("plan", path), Path(path).parent, str(path))


def save_plan(plan: Plan, path: str | Path) -> None:
    """Write the plan file, whose SHA-256 is the plan's name.

    >>> import hashlib
    >>> from krand import save_plan
    >>> from krand.testing import small_plan
    >>> save_plan(small_plan(), "plan.json")
    >>> hashlib.sha256(open("plan.json", "rb").read()).hexdigest() == small_plan().hash
    True
    """
    write_atomically("output", Path(path), plan.bytes.decode())


def parse_plan(content: bytes, directory: str | Path = ".", source: str = "plan") -> Plan:
    """The plan in these bytes, which must be exactly those that krand would write."""
    try:
        values = json.loads(content)
        plan = _plan(values, Path(directory))
    except KrandError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidInput("plan", "must be a plan made by krand", source, MEND) from None
    if plan.bytes != content:
        raise InvalidInput(
            "plan", "must be unchanged since it was made, down to the last byte", source, MEND
        )
    return plan


def _plan(values: dict[str, Any], directory: Path) -> Plan:
    """From survey, noise and promise; everything else follows, and must be what stands there."""
    if values["format"] != FORMAT:
        raise InvalidInput("plan", f"must have the format {FORMAT}", values["format"], MEND)
    promise = values["promise"]
    return planned_from(
        survey_from_document(values["survey"], directory),
        tuple(int(block["noise_numerator"]) for block in values["blocks"]),
        Promise(**{**promise, "assumptions": tuple(promise["assumptions"])}),
    )
