"""What clients ask a collector for: the plan, its signatures, and whether the round is open."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from krand.collector.answers import READING, Fixed, problem
from krand.collector.progress import Progress
from krand.collector.states import State
from krand.collector.store import Batch
from krand.errors import InvalidInput, KrandError
from krand.survey.canonical import canonical_json
from krand.survey.limits import crowd_needed
from krand.wire.plan_signatures import signature_values

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from krand.collector.intake import Intake
    from krand.collector.settings import Page, Settings

__all__ = ["BRIEFLY", "Status", "public_answers"]

STATUS_SECONDS = 1.0
"""A status is computed at most once in this time, for everybody."""
FOREVER = ("Cache-Control", "public, max-age=31536000, immutable")
BRIEFLY = {"Cache-Control": "no-store"}


def public_answers(
    intake: Intake, settings: Settings, pages: Mapping[str, Page], progress: Progress
) -> dict[bytes, ASGIApp]:
    """Who answers which path, byte by byte."""
    plan = settings.plan
    found: dict[bytes, ASGIApp] = {}
    for path, page in pages.items():
        found[_page_path(path)] = Fixed(page.content, page.content_type, page.headers)
    root = f"/v1/{intake.store.config.plan_hash}"
    found[f"{root}/status".encode()] = Status(intake, settings, progress)
    if plan is not None:
        signatures = canonical_json([signature_values(one) for one in settings.signatures])
        found[f"{root}/plan".encode()] = Fixed(plan.bytes, "application/json", (FOREVER,))
        found[f"{root}/signatures".encode()] = Fixed(signatures, "application/json")
    return found


def _page_path(path: str) -> bytes:
    if not path.startswith("/") or path.startswith("/v1/") or not path.isascii():
        rule = "must begin with / and must not begin with /v1/"
        raise InvalidInput("pages", rule, path)
    return path.encode()


class Status:
    """Whether the round is open, and how far it is: the same for everybody who asks."""

    def __init__(self, intake: Intake, settings: Settings, progress: Progress) -> None:
        self._intake, self._settings = intake, settings
        config, plan = intake.store.config, settings.plan
        # Mixers' noise needs no crowd, so there is no progress towards one.
        any_crowd = plan is not None and crowd_needed(plan) == 1
        self._progress = None if any_crowd or config.crowd == 1 else progress
        self._answer: Response | None = None
        self._until = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            answer: Response = problem(
                405, "request", f"must be one of {READING}", {"Allow": READING}
            )
        else:
            answer = await self._current()
        await answer(scope, receive, send)

    async def _current(self) -> Response:
        now = asyncio.get_running_loop().time()
        if self._answer is None or now >= self._until:
            try:
                batches = await self._intake.batches()
            except KrandError:
                retry = {"Retry-After": "5"}
                self._answer = problem(503, "spool", "must be usable", retry)
            else:
                self._answer = JSONResponse(self._values(batches), headers=BRIEFLY)
            self._until = now + STATUS_SECONDS
        return self._answer

    def _values(self, batches: Sequence[Batch]) -> dict[str, Any]:
        settings, config, progress = self._settings, self._intake.store.config, self._progress
        plan, receipt = settings.plan, settings.receipt
        return {
            "plan": config.plan_hash,
            "round": config.format.round,
            "open": batches[-1].state is State.OPEN and not self._intake.is_over,
            "invitations": plan is not None and plan.survey.invitations,
            "crowd": None if progress is None else config.crowd,
            "progress": None if progress is None else progress.shown(batches),
            "receipt_key": None if receipt is None else receipt.key,
        }
