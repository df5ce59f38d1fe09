"""Attacks on what everybody may ask for: the plan, the status, preflights, pages, invitations."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from attacks.under_attack import MANY
from collector.crowds import plan_of
from components import require
from krand.survey.about import About
from krand.survey.plan import Plan

require("starlette")
require("uvicorn")

FORM = "https://form.example"
LONG_BYTES = 600_000
READERS = 300
PATIENCE_SECONDS = 30.0
SECRET = b"injected"


def long_plan() -> Plan:
    """One whose bytes are many, and cannot be compressed."""
    digits = "".join(hashlib.sha256(b"%d" % n).hexdigest() for n in range(LONG_BYTES // 64))
    plan = plan_of(MANY)
    parts = [digits[start : start + 5_000] for start in range(0, len(digits), 5_000)]
    question = plan.survey.questions[0]
    texts = tuple(replace(question, name=f"q{n}", help=part) for n, part in enumerate(parts))
    return replace(plan, survey=replace(plan.survey, about=About(), questions=texts))
