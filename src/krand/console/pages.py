"""The pages of the console: six steps of one survey, each a page with a form and what it did."""

from __future__ import annotations

import asyncio
import secrets
import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from krand.analysis.results_file import read_results
from krand.console import commands, editing
from krand.console.folder import FILE, Changed, Draft, Place, Stage, Surveys, document_in
from krand.console.partners import Asked, asked_for, pairing_again, pairing_words, partner_states
from krand.console.running import Keeping, Now, now, results_files, site_words
from krand.errors import InvalidInput, KrandError
from krand.files import write_atomically
from krand.partners.addresses import checked_url
from krand.report.pages import render as fill
from krand.site.site_file import read_site, site_text
from krand.survey import mechanisms
from krand.survey.problems import SurveyErrors
from krand.survey.reading import parse_survey
from krand.web.dashboard import REFRESH_SECONDS
from krand.web.form.site import static_file
from krand.web.forms import read_form
from krand.web.guard import POLICY, document_policy
from krand.web.plan_parts import guess_bar
from krand.web.planner import Desk, part_of
from krand.wording.failures import explain
from krand.wording.mechanisms import words_of

MOST_FIELDS = 8_000
STEPS = (
    ("questions", "Questions"),
    ("promise", "Promise"),
    ("partners", "Partners"),
    ("publish", "Publish"),
    ("watch", "Watch"),
    ("results", "Results"),
)
CHOSEN = (0.5, 1.0, 2.0, 3.0)
"""Promises to choose from; any other ε can be typed."""
SENDS_FORMS = {"Referrer-Policy": "same-origin"}
WITH_FRAME = {**SENDS_FORMS, "Content-Security-Policy": f"{POLICY}; frame-src 'self'"}

Handler = Callable[[Request, Place], Awaitable[Response]]


class Console:
    """The routes; `shared` is what every page shows around its content."""

    def __init__(self, surveys: Surveys, desk: Desk, shared: dict[str, Any]) -> None:
        self._surveys, self._desk, self._shared = surveys, desk, shared
        self.keeping = Keeping()
        self.free = f"/preview/{secrets.token_urlsafe(16)}/"
        """Where forms are previewed: they send no cookie, so the address is the secret."""
        self._previews: dict[str, dict[str, Any]] = {}
        self._asked: dict[str, Asked] = {}

    def routes(self) -> Sequence[Route]:
        """The routes."""
        at, get, post = "/surveys/{name}", ["GET"], ["POST"]

        def route(path: str, handler: Handler, methods: list[str]) -> Route:
            return Route(f"{at}/{path}", self._of_survey(handler), methods=methods)

        return (
            Route("/", self.first, methods=["GET", "POST"]),
            Route(at, self._of_survey(self._to_step), methods=get),
            *(route(f"part/{task}", self._part(task), get) for task in PARTS),
            *(route(name, getattr(self, name), get) for name, _ in STEPS),
            *(route(f"{name}/now", getattr(self, f"{name}_now"), get) for name in LIVE),
            *(route(path, handler, post) for path, handler in self._actions().items()),
            route("report", self.report, get),
            route("files/{file}", self.download, get),
            Route(f"{self.free}{{name}}/{{file:path}}", self._of_survey(self.preview), methods=get),
        )

    def _actions(self) -> dict[str, Handler]:
        return {
            "questions": self.save_questions,
            "text": self.save_text,
            "promise": self.save_promise,
            "partners": self.save_partners,
            "unpair": self.unpair,
            "publish": self.publish,
            "address": self.save_address,
            "invite": self.invite,
            "start": self.start,
            "close": self.close,
        }

    def _of_survey(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """A handler for the survey that the address names."""

        async def found(request: Request) -> Response:
            place = self._surveys.place(request.path_params["name"])
            if place is None:
                return HTMLResponse(self._render("missing.html"), 404)
            try:
                return await handler(request, place)
            except Changed:
                return self._conflict(request, place)
            except KrandError as error:
                return self._refused(request, place, explain(error))

        return found

    # --- the list of surveys ---

    async def first(self, request: Request) -> Response:
        """All surveys, and a field for a new one."""
        if request.method == "POST":
            title = (await read_form(request)).texts.get("title", "").strip()
            if title:
                place = self._surveys.make(title)
                return _to(f"/surveys/{place.name}/questions")
        rows = [(place, _stage(place)) for place in self._surveys.places()]
        html = self._render("first.html", rows=rows, stages=STAGES, folder=self._surveys.path)
        return HTMLResponse(html, headers=SENDS_FORMS)

    async def _to_step(self, _: Request, place: Place) -> Response:
        return _to(f"/surveys/{place.name}/{STEP_OF[place.stage]}")

    # --- questions ---

    async def questions(self, request: Request, place: Place) -> Response:
        """The editor, and the form as people will see it."""
        draft = place.read()
        return self._editor(place, draft, document_in(draft.text))

    def _editor(
        self, place: Place, draft: Draft, document: dict[str, Any] | None, base: str | None = None
    ) -> Response:
        tables = editing.tables_in(document or {}, "question")
        questions = editing.question_texts(tables)
        groups = editing.tables_in(document or {}, "together")
        pairs = [g["questions"] for g in groups if len(g.get("questions", ())) == 2]
        html = self._page(
            "questions.html",
            place,
            "questions",
            draft=draft,
            base=base or draft.base,
            head=None if document is None else editing.head_texts(document),
            head_fields=editing.HEAD,
            questions=questions,
            fields=editing.QUESTION,
            more=editing.MORE,
            kinds=editing.KIND_LABELS,
            scale=editing.SCALES[0],
            pairs=[*pairs, ("", "")],
            mistakes=Markup(self._mistakes(place, draft.text)),
            comments=editing.has_comments(draft.text),
            preview=f"{self.free}{place.name}/",
        )
        return HTMLResponse(html, headers=WITH_FRAME)

    def _mistakes(self, place: Place, text: str) -> str:
        return self._render("mistakes.html", mistakes=_mistakes(place, text))

    async def save_questions(self, request: Request, place: Place) -> Response:
        """The form becomes the file; add:KIND, remove:N, up:N and down:N change the order."""
        form = (await read_form(request, MOST_FIELDS)).texts
        do, at = form.pop("do", "save"), 0
        if do not in ("save", "over"):
            form, at = editing.changed_order(form, do)
        before = place.read()
        document = document_in(before.text)
        if document is None:
            raise InvalidInput("survey", "must be TOML before the form can change it", place.name)
        document = editing.with_questions(editing.with_head(document, form), form)
        base = None if do == "over" else form.get("base", "")
        draft = place.write(editing.file_text(document, before.text), base)
        if "part" in request.query_params:
            return self._saved(place, draft)
        return _to(f"/surveys/{place.name}/questions" + (f"#q{at}" if at else ""))

    def _saved(self, place: Place, draft: Draft) -> Response:
        """What the script shows: mistakes, the file, and what the next change is based on."""
        mistakes = _mistakes(place, draft.text)
        html = self._render("mistakes.html", mistakes=mistakes)
        fields = [mistake.field for mistake in mistakes if mistake.field]
        state = "mistakes" if mistakes else "saved"
        told = {"state": state, "base": draft.base, "text": draft.text, "html": html}
        return JSONResponse({**told, "fields": fields})

    async def save_text(self, request: Request, place: Place) -> Response:
        """The file as text."""
        form = (await read_form(request)).texts
        text = form.get("survey", "").replace("\r\n", "\n")
        place.write(text, None if form.get("do") == "over" else form.get("base", ""))
        return _to(f"/surveys/{place.name}/questions")

    async def preview(self, request: Request, place: Place) -> Response:
        """The form before any key exists."""
        name = request.path_params["file"] or "index.html"
        if name == "index.html":
            answer = await self._task(request, place, "form")
            if answer["state"] != "planned":
                page = self._render("no_preview.html", result=Markup(answer["html"]))
                framed = POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
                headers = {"Content-Security-Policy": framed, "X-Frame-Options": "SAMEORIGIN"}
                return HTMLResponse(page, headers=headers)
            self._previews[place.name] = answer
        made = self._previews.get(place.name)
        if made is None:
            return Response(status_code=404)
        if name in made["files"]:
            is_page = name.endswith(".html")
            kind, headers = ("text/html", made["headers"]) if is_page else ("application/json", {})
            return Response(made["files"][name], media_type=kind, headers=headers)
        content, kind = static_file(name)
        return Response(content, 200 if content else 404, media_type=kind)

    # --- the promise ---

    async def promise(self, request: Request, place: Place) -> Response:
        """What is promised, chosen by how often a guess is right, and what it costs."""
        draft = place.read()
        document = document_in(draft.text) or {}
        policy, trust = document.get("policy", {}), document.get("trust", {})
        epsilon = policy.get("epsilon")
        texts = {
            field.name: editing.shown(field, {**document, **policy}.get(field.name))
            for field in editing.PROMISE
        }
        html = self._page(
            "promise.html",
            place,
            "promise",
            draft=draft,
            texts=texts,
            fields={field.name: field for field in editing.PROMISE},
            chosen=[(f"{each:g}", guess_bar(each, 0.0), each == epsilon) for each in CHOSEN],
            is_other=epsilon not in CHOSEN,
            noise=trust.get("noise", "devices"),
            noises=[(m.code, words_of(m).option) for m in mechanisms.mechanisms()],
            partners=trust.get("mixers", 1) > 1,
            mistakes=Markup(self._mistakes(place, draft.text)),
            parts=await self._parts_now(request, place),
        )
        return HTMLResponse(html, headers=SENDS_FORMS)

    async def save_promise(self, request: Request, place: Place) -> Response:
        """The promise becomes part of the file."""
        form = (await read_form(request)).texts
        before = place.read()
        document = editing.with_promise(document_in(before.text) or {}, form)
        base = None if form.get("do") == "over" else form.get("base", "")
        draft = place.write(editing.file_text(document, before.text), base)
        if "part" in request.query_params:
            return self._saved(place, draft)
        return _to(f"/surveys/{place.name}/promise?numbers=1")

    async def _parts_now(self, request: Request, place: Place) -> dict[str, Markup]:
        """For a browser without scripts, the numbers with the page: it asked for them."""
        if "numbers" not in request.query_params:
            return {}
        tasks = ("promise", "curve", "more")
        return {t: Markup((await self._task(request, place, t))["html"]) for t in tasks}

    def _part(self, task: str) -> Handler:
        async def part(request: Request, place: Place) -> Response:
            return part_of(await self._task(request, place, task))

        return part

    async def _task(self, request: Request, place: Place, task: str) -> dict[str, Any]:
        draft = place.read()
        arguments = {"text": draft.text, "directory": str(place.path)}
        return await self._desk.answer(request, task, arguments, draft.base)

    # --- partners ---

    async def partners(self, request: Request, place: Place) -> Response:
        """Nobody, or mixers by their addresses; and how far they are."""
        document = document_in(place.read().text) or {}
        html = self._page(
            "partners.html",
            place,
            "partners",
            asked=self._asked.get(place.name),
            closes=editing.head_texts(document)["closes"],
            now=Markup(self._partners_now(place)),
            refresh=REFRESH_SECONDS,
            command="krand pair survey.toml --mixer ADDRESS … --address URL --no-anchor",
        )
        return HTMLResponse(html, headers=SENDS_FORMS)

    async def partners_now(self, _: Request, place: Place) -> Response:
        """The part that is updated."""
        return _now(place, await asyncio.to_thread(self._partners_now, place))

    def _partners_now(self, place: Place) -> str:
        return self._render(
            "partners_now.html",
            stage=place.stage,
            place=place,
            states=partner_states(place),
            failure=self.keeping.failure(place),
            at_work=self.keeping.is_at_work(place),
        )

    async def save_partners(self, request: Request, place: Place) -> Response:
        """Ask who answers; once the organiser has compared words, pair with them."""
        form = (await read_form(request)).texts
        asked = await asyncio.to_thread(asked_for, form)
        before = place.read()
        document = document_in(before.text) or {}
        document = editing.with_head(
            {**document}, {**editing.head_texts(document), "closes": form.get("closes", "")}
        )
        trust = {**document.get("trust", {}), "mixers": 1 + len(asked.partners)}
        if asked.partners and trust.get("noise", "devices") == "devices":
            trust["noise"] = "mixers"
            document["policy"] = {**document.get("policy", {})}
            document["policy"].pop("minimum_crowd", None)
        if trust.get("noise", "devices") != "devices":
            document["trust"] = trust
        place.write(editing.file_text(document, before.text), before.base)
        if not asked.partners:
            self._asked.pop(place.name, None)
            return _to(f"/surveys/{place.name}/publish")
        self._asked[place.name] = asked
        if asked.is_confirmed:
            parse_survey(place.read().text, str(place.path), FILE)
            self.keeping.start(place, *pairing_words(place, asked))
        return _to(f"/surveys/{place.name}/partners")

    async def unpair(self, _: Request, place: Place) -> Response:
        """Nobody has seen the survey yet: it can be changed, and paired again with new keys."""
        if place.stage.is_published or self.keeping.is_at_work(place):
            raise InvalidInput("survey", "must not be published, or being paired", place.name)
        await asyncio.to_thread(shutil.rmtree, place.folder.path)
        return _to(f"/surveys/{place.name}/questions")

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
            files=[name for name in INVITATIONS if (folder.path / name).exists()],
            folder=commands.relative(place, folder.path),
        )

    async def publish_now(self, _: Request, place: Place) -> Response:
        """The same, for the script."""
        return _now(place, await self.publish_page(place))

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
            mistakes=_mistakes(place, draft.text),
            command=commands.shown(place, *site_words(place)),
            at_work=self.keeping.is_at_work(place),
            now=Markup(await self.publish_page(place)),
            refresh=REFRESH_SECONDS,
        )
        return HTMLResponse(html, headers=SENDS_FORMS)

    async def _publish(self, request: Request, place: Place) -> Response:
        form = (await read_form(request)).texts
        if place.stage.is_published:
            return _to(f"/surveys/{place.name}/publish")
        draft = place.read()
        if _mistakes(place, draft.text):
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
        return _to(f"/surveys/{place.name}/publish")

    def _with_links(self, place: Place, count: str) -> None:
        """Plan and links, before anybody is served."""
        commands.run(place, *site_words(place), "--check")  # makes the folder, and misses the links
        if place.folder.plan.exists() and not place.folder.invitations.exists():
            self._invited(place, count, "invitations.csv")

    def _invited(self, place: Place, count: str, name: str, *more: str) -> None:
        folder = place.folder
        served = place.served
        url = served.address or f"http://{served.listen}/"
        words = ("invite", str(folder.plan), "--count", count or "0", "--url", url)
        done = commands.run(place, *words, "-o", str(folder.path / name), *more)
        if done.failure:
            raise InvalidInput("count", done.failure, count)

    async def invite(self, request: Request, place: Place) -> Response:
        """More personal links, in a table or on slips to cut."""
        form = (await read_form(request)).texts
        name = form.get("file", "")
        if name not in INVITATIONS or place.stage is not Stage.OPEN:
            raise InvalidInput("file", f"must be one of {', '.join(INVITATIONS)}", name)
        more = ("--add", "--force")
        await asyncio.to_thread(self._more_links, place, form.get("count", ""), name, more)
        return _to(f"/surveys/{place.name}/publish")

    def _more_links(self, place: Place, count: str, name: str, more: tuple[str, ...]) -> None:
        self._invited(place, count, name, *more)

    async def save_address(self, request: Request, place: Place) -> Response:
        """Where people reach the form: the site file says so, and the site follows it."""
        address = (await read_form(request)).texts.get("address", "").strip()
        if address:
            address = f"{checked_url('address', address)}/"
        file = place.folder.site_file
        site = read_site(file)
        surveys = tuple(replace(each, address=address) for each in site.surveys)
        write_atomically("site", file, site_text(replace(site, surveys=surveys), file.parent))
        return _to(f"/surveys/{place.name}/publish")

    async def start(self, _: Request, place: Place) -> Response:
        """Go on, after a restart of the machine: pair with partners, or run the site."""
        if place.stage is Stage.PAIRING:
            self.keeping.start(place, *pairing_again(place))
            return _to(f"/surveys/{place.name}/partners")
        if place.stage.is_published:
            self.keeping.serve(place)
        return _to(f"/surveys/{place.name}/watch")

    # --- watching and closing ---

    async def watch(self, _: Request, place: Place) -> Response:
        """How many came, how parts and partners are, and how to close."""
        html = self._page(
            "watch.html",
            place,
            "watch",
            now=Markup(await asyncio.to_thread(self._watch_now, place)),
            closing=_closing(place, self.keeping),
            command=commands.shown(place, "close", str(place.file)),
            refresh=REFRESH_SECONDS,
        )
        return HTMLResponse(html, headers=SENDS_FORMS)

    async def watch_now(self, _: Request, place: Place) -> Response:
        """The part that is updated."""
        return _now(place, await asyncio.to_thread(self._watch_now, place))

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
        done = await asyncio.to_thread(
            commands.run, place, "close", str(place.file), "--yes", *erase
        )
        if done.failure:
            return self._refused(request, place, done.failure)
        self.keeping.serve(place)
        return _to(f"/surveys/{place.name}/results")

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
        return _now(place, await asyncio.to_thread(self._results_now, place))

    def _results_now(self, place: Place) -> str:
        stage, files, command = place.stage, {}, ""
        if stage is Stage.REPORTED:
            shown = now(place, self.keeping)
            files = results_files(place, shown.plan, shown.served.round)
            command = f"krand export {commands.relative(place, files['results.json'])}"
        return self._render(
            "results_now.html", place=place, stage=stage, files=files, command=command
        )

    async def report(self, _: Request, place: Place) -> Response:
        """The report as it stands in the folder."""
        found = await asyncio.to_thread(_results, place, self.keeping)
        if "report.html" not in found:
            return HTMLResponse(self._render("missing.html"), 404)
        policy = {"Content-Security-Policy": document_policy()}
        return FileResponse(found["report.html"], media_type="text/html", headers=policy)

    async def download(self, request: Request, place: Place) -> Response:
        """A file of the survey; a workbook is made when it is asked for."""
        name = request.path_params["file"]
        if name in INVITATIONS:
            found = {name: place.folder.path / name}
        else:
            found = await asyncio.to_thread(_results, place, self.keeping)
        if name == "results.xlsx" and "results.json" in found:
            found = {name: await asyncio.to_thread(_workbook, found["results.json"])}
        if name not in found or not found[name].is_file():
            return HTMLResponse(self._render("missing.html"), 404)
        return FileResponse(found[name], filename=f"{place.name}-{quote(name)}")

    # --- what all pages have ---

    def _render(self, template: str, **values: Any) -> str:
        return fill(template, room=ROOMS, **{**self._shared, **values})

    def _page(self, template: str, place: Place, here: str, **values: Any) -> str:
        stage = _stage(place)
        return self._render(
            template,
            place=place,
            survey_title=place.title,
            step=here,
            steps=STEPS,
            stage=stage,
            stages=STAGES,
            here="surveys",
            **values,
        )

    def _conflict(self, request: Request, place: Place) -> Response:
        """Somebody else wrote the file: nothing of what was written here is lost."""
        if "part" in request.query_params:
            html = self._render("conflict.html", place=place)
            return JSONResponse({"state": "changed", "html": html, "fields": []}, 409)
        return self._refused(request, place, CONFLICT, 409)

    def _refused(self, request: Request, place: Place, what: str, status: int = 422) -> Response:
        if "part" in request.query_params:
            html = self._render("refused_part.html", what=what)
            return JSONResponse({"state": "refused", "html": html, "fields": []}, status)
        page = self._page("refused_page.html", place, "", what=what)
        return HTMLResponse(page, status, SENDS_FORMS)


ROOMS = ("krand.console", "krand.web")
PARTS = ("promise_quick", "promise", "curve", "more")
LIVE = ("partners", "publish", "watch", "results")
INVITATIONS = ("invitations.csv", "slips.pdf")
CONFLICT = (
    "Somebody else changed survey.toml since this page was loaded, so nothing was saved. Go back:"
    " what you wrote is still there. Copy it, load the page again, and write it once more."
)
STAGES = {
    Stage.DRAFT: "draft",
    Stage.PAIRING: "waiting for partners",
    Stage.READY: "ready to publish",
    Stage.OPEN: "open",
    Stage.CLOSED: "closed, being counted",
    Stage.REPORTED: "reported",
}
STEP_OF = {
    Stage.DRAFT: "questions",
    Stage.PAIRING: "partners",
    Stage.READY: "publish",
    Stage.OPEN: "watch",
    Stage.CLOSED: "results",
    Stage.REPORTED: "results",
}


def _stage(place: Place) -> Stage | None:
    """None where the folder cannot be read."""
    try:
        return place.stage
    except KrandError:
        return None


def _now(place: Place, html: str) -> Response:
    """A part that is updated; where the survey is further than its page, the page comes anew."""
    return HTMLResponse(html, headers={"X-Stage": place.stage})


def _to(path: str) -> Response:
    return RedirectResponse(path, 303)


def _results(place: Place, keeping: Keeping) -> dict[str, Any]:
    if place.stage is not Stage.REPORTED:
        return {}
    shown = now(place, keeping)
    return dict(results_files(place, shown.plan, shown.served.round))


def _workbook(results: Path) -> Path:
    """As krand export writes it, from the results as they are now."""
    from krand.analysis.results_sheets import write_table
    from krand.analysis.results_table import flat_table

    path = results.with_suffix(".xlsx")
    write_table(path, flat_table(read_results(results)), "xlsx")
    return path


def _mistakes(place: Place, text: str) -> list[editing.Mistake]:
    """Everything that is wrong with a survey, by the labels of fields, or is left to be written."""
    try:
        parse_survey(text, str(place.path), FILE)
    except SurveyErrors as error:
        return [editing.mistake_of(problem) for problem in error.problems]
    except KrandError as error:
        return [editing.Mistake("The survey", "", explain(error), "", None)]
    return editing.unwritten(document_in(text) or {})


def _closing(place: Place, keeping: Keeping) -> Any:
    return now(place, keeping).closing if place.stage is Stage.OPEN else None


def _qr(address: str) -> Markup:
    """A picture of the address, where segno is installed."""
    try:
        import segno
    except ImportError:
        return Markup("")
    if not address:
        return Markup("")
    code = segno.make(address, error="m", micro=False)
    return Markup(code.svg_inline(scale=5, border=3, dark="#000", light="#fff", omitsize=True))
