"""Pages of a survey that is published, or about to be: publish, watch, close, results."""

from __future__ import annotations

import asyncio
import itertools
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import segno
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from krand.analysis.results_file import read_results
from krand.console import commands, editing
from krand.console.editing import mistakes_in
from krand.console.folder import Place, Stage, document_in
from krand.console.pages import SENDS_FORMS, Find, Handler, Pages, part_now, to
from krand.console.partners import pairing_again
from krand.console.running import Keeping, Now, now, results_files, site_words
from krand.errors import InvalidInput, Unavailable
from krand.files import write_atomically
from krand.partners.identity import checked_url
from krand.site.site_file import read_site, site_text
from krand.survey.plan_file import read_plan
from krand.survey.survey_folder import SurveyFolder
from krand.web.forms import read_form
from krand.web.guard import document_policy
from krand.web.site_page import REFRESH_SECONDS

INVITATIONS = ("invitations.csv", "invitations.html")
"""Beside invitations.json, to which both add; the second is a sheet of slips to print and cut."""
LINKS_FILE = re.compile(r"invitations(-\d+)?\.(csv|html)")
"""The last ones that were made; those with a number are earlier ones."""
STEP_OF = {
    Stage.DRAFT: "questions",
    Stage.PAIRING: "partners",
    Stage.READY: "publish",
    Stage.OPEN: "watch",
    Stage.CLOSED: "results",
    Stage.EMPTY: "results",
    Stage.REPORTED: "results",
}
_inviting = threading.Lock()


class Published(Pages):
    """The routes; `closing` is called before a survey is closed."""

    def __init__(
        self,
        find: Find,
        keeping: Keeping,
        shared: dict[str, Any],
        closing: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(find, keeping, shared)
        self._closing = closing

    def routes(self, *, whole: bool = True) -> Sequence[Route]:
        """Those that krand run has, or the whole console."""
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
        done: dict[str, Handler] = {"invite": self.invite, "close": self.close}
        if whole:
            done |= {"publish": self.publish, "address": self.save_address, "start": self.start}
        return (*self._routes("GET", shown), *self._routes("POST", done))

    async def _to_step(self, _: Request, place: Place) -> Response:
        return to(f"/surveys/{place.name}/{STEP_OF[place.stage]}")

    # --- publishing ---

    async def publish_page(self, place: Place) -> str:
        """The part of the page that is updated."""
        stage = place.stage
        shown: Now | None = None
        if stage.is_published:
            shown = await asyncio.to_thread(now, place, self.keeping)
        form = shown.form if shown else ""
        folder = place.folder
        return self._render(
            "publish_now.html",
            place=place,
            stage=stage,
            now=shown,
            form=form,
            qr=_qr(form),
            failure=self.keeping.failure(place),
            at_work=self.keeping.is_at_work(place),
            links=folder.invitations.exists(),
            files=links_files(folder),
            folder=commands.relative(place, folder.path),
        )

    async def publish_now(self, _: Request, place: Place) -> Response:
        """The same, for the script."""
        return part_now(place, await self.publish_page(place))

    async def publish(self, request: Request, place: Place) -> Response:
        """What will happen and, when asked to, keys, plan and the site that serves the form."""
        if request.method == "POST":
            return await self._publish(request, place)
        draft = place.read()
        document = document_in(draft.text) or {}
        served = place.served if place.stage.is_published else None
        html = self._page(
            "publish.html",
            place,
            "publish",
            invitations=document.get("invitations") is True,
            invited=document.get("invited", ""),
            mixers=document.get("trust", {}).get("mixers", 1),
            address="" if served is None else served.address,
            listen="" if served is None else str(served.listen),
            mistakes=mistakes_in(place, draft.text),
            command=commands.shown(place, *site_words(place)),
            at_work=self.keeping.is_at_work(place),
            now=Markup(await self.publish_page(place)),
            refresh=REFRESH_SECONDS,
        )
        return HTMLResponse(html, headers=SENDS_FORMS)

    async def _publish(self, request: Request, place: Place) -> Response:
        form = (await read_form(request)).texts
        if place.stage.is_published:
            return to(f"/surveys/{place.name}/publish")
        draft = place.read()
        if mistakes_in(place, draft.text):
            raise InvalidInput("survey", "must be complete before it is published", place.name)
        if "yes" not in form:
            raise InvalidInput("yes", "must be ticked: a published survey cannot be edited", None)
        document = document_in(draft.text) or {}
        count = form.get("count", "").strip()
        if place.stage.is_editable and bool(form.get("invitations")) != bool(
            document.get("invitations")
        ):
            document["invitations"] = bool(form.get("invitations"))
            place.write(editing.file_text(document, draft.text), draft.base)
        if form.get("invitations") or document.get("invitations"):
            await asyncio.to_thread(self._with_links, place, count)
        self.keeping.serve(place)
        return to(f"/surveys/{place.name}/publish")

    def _with_links(self, place: Place, count: str) -> None:
        """Plan and links, before anybody is served."""
        commands.run(place, *site_words(place), "--check")  # makes the folder, and misses the links
        if place.folder.plan.exists() and not place.folder.invitations.exists():
            self._invited(place, count, "invitations.csv")

    def _invited(self, place: Place, count: str, name: str) -> None:
        """The page shows the address, and says where it leads to this machine alone."""
        folder = place.folder
        words = ("invite", str(folder.plan), "--count", count or "0", "--url", place.url, "--local")
        done = commands.run(place, *words, "-o", str(folder.path / name))
        if done.failure:
            raise Unavailable(done.failure)
        if not count:  # all will be mailed
            (folder.path / name).unlink()

    async def invite(self, request: Request, place: Place) -> Response:
        """More personal links, in a table, or on a sheet to print and cut."""
        form = (await read_form(request)).texts
        name = form.get("file", "")
        if name not in INVITATIONS or place.stage is not Stage.OPEN:
            raise InvalidInput("file", f"must be one of {', '.join(INVITATIONS)}", name)
        count = form.get("count", "").strip()
        if not count and (place.folder.path / name).exists():  # nothing would take its place
            raise InvalidInput("count", "must be how many more links to make", count, "enter it")
        await asyncio.to_thread(self._invite_more, place, count, name)
        return to(f"/surveys/{place.name}/publish")

    def _invite_more(self, place: Place, count: str, name: str) -> None:
        """Earlier links may not be handed out yet: they stay, in a file with a number."""
        path = place.folder.path / name
        with _inviting:
            if path.exists():
                earlier = (path.with_stem(f"{path.stem}-{number}") for number in itertools.count(1))
                path.rename(next(each for each in earlier if not each.exists()))
            self._invited(place, count, name)

    async def save_address(self, request: Request, place: Place) -> Response:
        """Where people reach the form: the site file says so, and the site follows it."""
        address = (await read_form(request)).texts.get("address", "").strip()
        if address:
            address = f"{checked_url('address', address)}/"
        file = place.folder.site_file
        site = read_site(file)
        surveys = tuple(replace(each, address=address) for each in site.surveys)
        write_atomically("site", file, site_text(replace(site, surveys=surveys), file.parent))
        return to(f"/surveys/{place.name}/publish")

    async def start(self, _: Request, place: Place) -> Response:
        """Go on, after a restart of the machine: pair with partners, or run the site."""
        if place.stage is Stage.PAIRING:
            self.keeping.start(place, *pairing_again(place))
            return to(f"/surveys/{place.name}/partners")
        if place.stage.is_published:
            self.keeping.serve(place)
        return to(f"/surveys/{place.name}/watch")

    # --- watching and closing ---

    async def watch(self, _: Request, place: Place) -> Response:
        """How many came, how parts and partners are, and how to close."""
        shown = now(place, self.keeping) if place.stage is Stage.OPEN else None
        html = self._page(
            "watch.html",
            place,
            "watch",
            now=Markup(await asyncio.to_thread(self._watch_now, place)),
            closing=shown and shown.closing,
            scheduled=bool(shown and shown.round_ends),
            command=commands.shown(place, "close", str(place.file)),
            refresh=REFRESH_SECONDS,
        )
        return HTMLResponse(html, headers=SENDS_FORMS)

    async def watch_now(self, _: Request, place: Place) -> Response:
        """The part that is updated."""
        return part_now(place, await asyncio.to_thread(self._watch_now, place))

    def _watch_now(self, place: Place) -> str:
        stage = place.stage
        shown = now(place, self.keeping) if stage.is_published else None
        failure = self.keeping.failure(place)
        return self._render("watch_now.html", place=place, stage=stage, now=shown, failure=failure)

    async def close(self, request: Request, place: Place) -> Response:
        """Close the survey; then its site releases what came, and writes the report."""
        form = (await read_form(request)).texts
        if "yes" not in form:
            raise InvalidInput("yes", "must be ticked: closing cannot be undone", None)
        erase = ("--erase",) if "erase" in form else ()
        self._closing()
        done = await asyncio.to_thread(
            commands.run, place, "close", str(place.file), "--yes", *erase
        )
        if done.failure:
            return self._refused(request, place, done.failure)
        self.keeping.serve(place)
        return to(f"/surveys/{place.name}/results")

    # --- results ---

    async def results(self, _: Request, place: Place) -> Response:
        """The report, and everything to download."""
        html = self._page(
            "results.html",
            place,
            "results",
            now=Markup(self._results_now(place)),
            refresh=REFRESH_SECONDS,
        )
        return HTMLResponse(html)

    async def results_now(self, _: Request, place: Place) -> Response:
        """The part that is updated."""
        return part_now(place, await asyncio.to_thread(self._results_now, place))

    def _results_now(self, place: Place) -> str:
        stage, files, command = place.stage, _results(place), ""
        if files:
            command = f"krand export {commands.relative(place, files['results.json'])}"
        return self._render(
            "results_now.html", place=place, stage=stage, files=files, command=command
        )

    async def report(self, request: Request, place: Place) -> Response:
        """The report of the last round, or the trend of all, as it stands in the folder."""
        name = f"{request.url.path.rpartition('/')[2]}.html"
        found = await asyncio.to_thread(_results, place)
        if name not in found:
            return HTMLResponse(self._render("missing.html"), 404)
        policy = {"Content-Security-Policy": document_policy()}
        return FileResponse(found[name], media_type="text/html", headers=policy)

    async def download(self, request: Request, place: Place) -> Response:
        """A file of the survey; a workbook is made when it is asked for."""
        name = request.path_params["file"]
        if LINKS_FILE.fullmatch(name):
            found = {name: place.folder.path / name}
        else:
            found = await asyncio.to_thread(_results, place)
        if name == "results.xlsx" and "results.json" in found:
            found = {name: await asyncio.to_thread(_workbook, found["results.json"])}
        if name not in found or not found[name].is_file():
            return HTMLResponse(self._render("missing.html"), 404)
        return FileResponse(found[name], filename=f"{place.name}-{quote(name)}")


def links_files(folder: SurveyFolder) -> list[str]:
    """Newest first."""
    found = (path for path in folder.path.glob("invitations*") if LINKS_FILE.fullmatch(path.name))
    return [
        each.name for each in sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)
    ]


def _results(place: Place) -> dict[str, Path]:
    return results_files(place, read_plan(place.folder.plan)) if place.stage.is_published else {}


def _workbook(results: Path) -> Path:
    """As krand export writes it, from the results as they are now."""
    path = results.with_suffix(".xlsx")
    read_results(results).to_excel(path)
    return path


def _qr(address: str) -> Markup:
    """A picture of the address."""
    if not address:
        return Markup("")
    code = segno.make(address, error="m", micro=False)
    return Markup(code.svg_inline(scale=5, border=3, dark="#000", light="#fff", omitsize=True))
