"""Pages of a survey that is published, or about to be: publish, watch, close, results."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import segno
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from krand.analysis.results_file import read_results
from krand.console import editing
from krand.console.editing import mistakes_in
from krand.console.folder import FILE, Place, Stage, document_in
from krand.console.pages import SENDS_FORMS, Pages, to
from krand.errors import InvalidInput
from krand.partners.identity import Link, parse_link
from krand.site.counting import TREND, report_of
from krand.survey.plan import Plan
from krand.survey.reading import parse_survey
from krand.survey.survey import noise_of
from krand.web.forms import read_form
from krand.web.guard import document_policy

MOST_PARTNERS = 8
STEP_OF = {
    Stage.DRAFT: "questions",
    Stage.WAITING: "publish",
    Stage.OPEN: "watch",
    Stage.CLOSED: "results",
    Stage.EMPTY: "results",
    Stage.REPORTED: "results",
}


class Published(Pages):
    """The routes."""

    def routes(self) -> Sequence[Route]:
        """The routes."""
        shown = {
            "": self._to_step,
            "publish": self.publish,
            "publish/now": self.publish_now,
            "watch": self.watch,
            "watch/now": self.watch_now,
            "results": self.results,
            "results/now": self.results_now,
            "report": self.report,
            "trend": self.report,
            "files/{file}": self.download,
        }
        done = {"publish": self.begin, "close": self.close}
        return (*self._routes("GET", shown), *self._routes("POST", done))

    async def _to_step(self, _: Request, place: Place) -> Response:
        return to(f"/surveys/{place.name}/{STEP_OF[self.back.stage(place)]}")

    # --- publishing ---

    async def publish(self, _: Request, place: Place) -> Response:
        """What will happen, and who takes part; then where people answer."""
        html = self._page(
            "publish.html",
            place,
            "publish",
            closes=place.document.get("closes", ""),
            mistakes=mistakes_in(place, place.read().text),
            now=Markup(self._publish_now(place)),
        )
        return HTMLResponse(html, headers=SENDS_FORMS)

    async def publish_now(self, _: Request, place: Place) -> Response:
        """The part that is updated."""
        return self._part(place, self._publish_now(place))

    def _publish_now(self, place: Place) -> str:
        plan, stage = self.back.plan(place), self.back.stage(place)
        form = "" if plan is None else self.back.running.status(plan)["form"]
        failure = self.back.failure(place)
        return self._render(
            "publish_now.html", place=place, stage=stage, form=form, qr=_qr(form), failure=failure
        )

    async def begin(self, request: Request, place: Place) -> Response:
        """Publish it: alone, or with the partners whose links were given."""
        form = (await read_form(request)).texts
        if self.back.stage(place) is not Stage.DRAFT:
            return to(f"/surveys/{place.name}/publish")
        if "yes" not in form:
            raise InvalidInput("yes", "must be ticked: a published survey cannot be edited", None)
        if mistakes_in(place, place.read().text):
            raise InvalidInput("survey", "must be complete before it is published", place.name)
        lines = [line.strip() for line in form.get("links", "").splitlines() if line.strip()]
        local = self.back.running.site.settings.local
        links = [parse_link(line, local=local) for line in lines]
        if len(links) > MOST_PARTNERS:
            raise InvalidInput("links", f"must be at most {MOST_PARTNERS}", len(links))
        _write(place, links, form.get("closes", ""))
        survey = parse_survey(place.read().text, str(place.path), FILE)
        self.back.publish(place, survey, links)
        return to(f"/surveys/{place.name}/publish")

    # --- watching and closing ---

    async def watch(self, _: Request, place: Place) -> Response:
        """How many came, and how to close."""
        plan = self.back.plan(place)
        html = self._page(
            "watch.html",
            place,
            "watch",
            now=Markup(self._watch_now(place)),
            crowd=0 if plan is None else plan.smallest_batch,
            scheduled=plan is not None and plan.survey.schedule is not None,
        )
        return HTMLResponse(html, headers=SENDS_FORMS)

    async def watch_now(self, _: Request, place: Place) -> Response:
        """The part that is updated."""
        return self._part(place, self._watch_now(place))

    def _watch_now(self, place: Place) -> str:
        plan, stage = self.back.plan(place), self.back.stage(place)
        status = None if plan is None else self.back.running.status(plan)
        failure = self.back.failure(place)
        return self._render(
            "watch_now.html",
            place=place,
            stage=stage,
            plan=plan,
            status=status,
            ends=_ends(plan, status),
            failure=failure,
        )

    async def close(self, request: Request, place: Place) -> Response:
        """Close the open round; then it is mixed and counted, and the report is written."""
        form = (await read_form(request)).texts
        if "yes" not in form:
            raise InvalidInput("yes", "must be ticked: closing cannot be undone", None)
        plan = self.back.plan(place)
        if plan is None:
            raise InvalidInput("survey", "must be published", place.name)
        self.back.running.stay()
        await self.back.running.close(plan.hash, erase="erase" in form)
        return to(f"/surveys/{place.name}/results")

    # --- results ---

    async def results(self, _: Request, place: Place) -> Response:
        """The report, and everything to download."""
        now = Markup(self._results_now(place))
        return HTMLResponse(self._page("results.html", place, "results", now=now))

    async def results_now(self, _: Request, place: Place) -> Response:
        """The part that is updated."""
        return self._part(place, self._results_now(place))

    def _results_now(self, place: Place) -> str:
        stage, files = self.back.stage(place), self._files(place)
        return self._render("results_now.html", place=place, stage=stage, files=files)

    async def report(self, request: Request, place: Place) -> Response:
        """The report of the last round, or the trend of all, as it stands in the folder."""
        found = self._files(place).get(f"{request.url.path.rpartition('/')[2]}.html")
        if found is None:
            return HTMLResponse(self._render("missing.html"), 404)
        policy = {"Content-Security-Policy": document_policy()}
        return FileResponse(found, media_type="text/html", headers=policy)

    async def download(self, request: Request, place: Place) -> Response:
        """A file of the results; a workbook is made when it is asked for."""
        name, files = request.path_params["file"], self._files(place)
        if name == "results.xlsx" and "results.json" in files:
            files[name] = await asyncio.to_thread(_workbook, files["results.json"])
        if name not in files:
            return HTMLResponse(self._render("missing.html"), 404)
        return FileResponse(files[name], filename=f"{place.name}-{quote(name)}")

    def _files(self, place: Place) -> dict[str, Path]:
        """What was written of the last round that is reported, by name."""
        plan = self.back.plan(place)
        if plan is None:
            return {}
        folder, survey = self.back.running.folder.results(plan), plan.survey
        for number in range(survey.rounds, survey.first_round - 1, -1):
            report = report_of(folder, plan, number)
            if report.is_file():
                stem = report.name.replace("report", "results").replace(".html", ".json")
                found = {"report.html": report, "results.json": folder / stem}
                found["trend.html"] = folder / TREND
                return {name: path for name, path in found.items() if path.is_file()}
        return {}


def _write(place: Place, links: Sequence[Link], closes: str) -> None:
    """The file says how many mixers there are, and the last day."""
    before = place.read()
    document = document_in(before.text) or {}
    document = editing.with_head(document, {**editing.head_texts(document), "closes": closes})
    trust = {**document.get("trust", {}), "mixers": 1 + len(links)}
    if links and noise_of(document) == "devices":
        trust["noise"] = "mixers"
        policy = {**document.get("policy", {})}
        policy.pop("minimum_crowd", None)
        document["policy"] = policy
    if links or "mixers" in document.get("trust", {}):
        document["trust"] = trust
    place.write(editing.file_text(document, before.text), before.base)


def _ends(plan: Plan | None, status: Mapping[str, Any] | None) -> str:
    """When the open round of a schedule ends; empty without one."""
    if plan is None or status is None or plan.survey.schedule is None or not status["open"]:
        return ""
    return f"{plan.survey.schedule.closes(status['round']):%Y-%m-%d %H:%M} UTC"


def _workbook(results: Path) -> Path:
    path = results.with_suffix(".xlsx")
    read_results(results).to_excel(path)
    return path


def _qr(address: str) -> Markup:
    """A picture of the address."""
    if not address:
        return Markup("")
    code = segno.make(address, error="m", micro=False)
    return Markup(code.svg_inline(scale=5, border=3, dark="#000", light="#fff", omitsize=True))
