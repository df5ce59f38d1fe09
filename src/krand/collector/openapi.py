"""The collector's API as an OpenAPI description."""

from __future__ import annotations

from typing import Any

from krand.collector.settings import Settings
from krand.collector.store import SpoolConfig
from krand.wire.submissions import ID_LENGTH

PROBLEM = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["field", "rule"],
            "properties": {"field": {"type": "string"}, "rule": {"type": "string"}},
        }
    },
}
ACCEPTED = {
    "type": "object",
    "required": ["status"],
    "properties": {"status": {"enum": ["accepted", "known"]}, "receipt": {"type": "string"}},
}
STATUS = {
    "type": "object",
    "required": ["plan", "round", "open", "invitations", "crowd", "progress", "receipt_key"],
    "properties": {
        "plan": {"type": "string"},
        "round": {"type": "integer"},
        "open": {"type": "boolean"},
        "invitations": {"type": "boolean"},
        "crowd": {"type": ["integer", "null"]},
        "progress": {"type": ["number", "null"]},
        "receipt_key": {"type": ["string", "null"]},
    },
}
INVITATION = {
    "type": "object",
    "required": ["status"],
    "properties": {"status": {"enum": ["unused", "used", "unknown"]}},
}
REFUSALS = {
    "400": "the connection ended early",
    "403": "the survey asks for invitations, and this is none of them",
    "404": "another plan is collected here",
    "408": "the body took too long",
    "410": "the round is closed; nothing more is taken",
    "413": "the body is too long",
    "415": "the body is not application/octet-stream",
    "422": "the body is not a submission of this plan and round",
    "503": "nothing can be stored now; try again later",
}


def describe_api(config: SpoolConfig, settings: Settings | None = None) -> dict[str, Any]:
    """The description for one plan."""
    submission_format = config.format
    plan = {
        "name": "plan",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "enum": [config.plan_hash]},
    }
    body = {
        "type": "string",
        "format": "binary",
        "minLength": submission_format.length,
        "maxLength": submission_format.length,
    }
    about = "This description."
    this = _answer(about, {"type": "object"})
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "krand collector",
            "version": "1",
            "description": "Takes sealed submissions of one plan. Stores no identity.",
        },
        "paths": {
            "/v1/{plan}/submissions": {
                "post": {
                    "summary": "One person's whole submission.",
                    "parameters": [plan],
                    "requestBody": {
                        "required": True,
                        "content": {"application/octet-stream": {"schema": body}},
                    },
                    "responses": {
                        "202": _answer("durably stored, now or before", ACCEPTED),
                        **{code: _answer(why, PROBLEM) for code, why in REFUSALS.items()},
                    },
                }
            },
            **_public(plan, settings or Settings()),
            **_invitation(plan, settings or Settings()),
            **{path: {"get": _text(*page)} for path, page in _PAGES.items()},
            "/openapi.json": {"get": {"summary": about, "responses": {"200": this}}},
        },
    }


_PAGES = {
    "/healthz": ("Whether the process runs.", False),
    "/readyz": ("Whether submissions can be stored.", True),
}
"""What each says, and whether it needs the spool."""


def _public(plan: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """What clients ask for under the plan's hash."""
    found = {"status": ("Whether the round is open, and how far it is, in coarse steps.", STATUS)}
    if settings.plan is not None:
        found["plan"] = ("The plan.", {"type": "object"})
        found["signatures"] = ("The signatures of its mixers.", {"type": "array"})
    missing = _answer("another plan is collected here", PROBLEM)
    busy = _answer("the spool cannot be used now", PROBLEM)
    return {
        f"/v1/{{plan}}/{name}": {
            "get": {
                "summary": about,
                "parameters": [plan],
                "responses": {"200": _answer(about, schema), "404": missing, "503": busy},
            }
        }
        for name, (about, schema) in found.items()
    }


def _invitation(plan: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Where the survey has invitations: what is told about one."""
    if settings.invitations is None:
        return {}
    name = {"type": "string", "format": "binary", "minLength": ID_LENGTH, "maxLength": ID_LENGTH}
    refusals = {code: REFUSALS[code] for code in ("400", "404", "408", "413", "415", "422", "503")}
    refusals["422"] = "the body is not an id"
    return {
        "/v1/{plan}/invitation": {
            "post": {
                "summary": "Whether an invitation is known, and was used some time ago.",
                "parameters": [plan],
                "requestBody": {
                    "required": True,
                    "content": {"application/octet-stream": {"schema": name}},
                },
                "responses": {
                    "200": _answer("what is told about it", INVITATION),
                    **{code: _answer(why, PROBLEM) for code, why in refusals.items()},
                },
            }
        }
    }


def _answer(about: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": about, "content": {"application/json": {"schema": schema}}}


def _text(about: str, needs_spool: bool) -> dict[str, Any]:
    content = {"text/plain": {"schema": {"type": "string"}}}
    answers: dict[str, Any] = {"200": {"description": about, "content": content}}
    if needs_spool:
        answers["503"] = _answer("the spool cannot be used now", PROBLEM)
    return {"summary": about, "responses": answers}
