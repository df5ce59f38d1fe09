"""Pages of a survey before it is published: the list of all, questions, promise."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from krand.console import editing, fields
from krand.console.editing import mistakes_in
from krand.console.folder import Draft, Place, document_in
from krand.console.pages import SENDS_FORMS, STAGES, Backstage, Handler, Pages, to
from krand.errors import InvalidInput
from krand.survey.survey import noise_of
from krand.web.form.site import static_file
from krand.web.forms import read_form
from krand.web.guard import POLICY
from krand.web.plan_parts import guess_bar
from krand.web.workers import Desk, part_of
from krand.wording.mechanisms import words_of

MOST_FIELDS = 8_000
CHOSEN = (0.5, 1.0, 2.0, 3.0)
"""Promises to choose from; any other ε can be typed."""
PARTS = ("promise", "curve", "more")
WITH_FRAME = {**SENDS_FORMS, "Content-Security-Policy": f"{POLICY}; frame-src 'self'"}


class Writing(Pages):
    """The routes."""

    def __init__(self, back: Backstage, desk: Desk, shared: dict[str, Any]) -> None:
        super().__init__(back, shared)
        self._desk = desk
        self.free = f"/preview/{secrets.token_urlsafe(16)}/"
        """Where forms are previewed: they send no cookie, so the address is the secret."""
        self._previews: dict[str, dict[str, Any]] = {}

    def routes(self) -> Sequence[Route]:
        """The routes."""
        shown = {
            "questions": self.questions,
            "promise": self.promise,
        }
        done = {
            "questions": self.save_questions,
            "text": self.save_text,
            "promise": self.save_promise,
        }
        previews, preview = f"{self.free}{{name}}/{{file:path}}", self._of_survey(self.preview)
        return (
            Route("/", self.first, methods=["GET", "POST"]),
            *self._routes("GET", {f"part/{task}": self._computed(task) for task in PARTS}),
            *self._routes("GET", shown),
            *self._routes("POST", done),
            Route(previews, preview, methods=["GET"]),
        )

    # --- the list of surveys ---

    async def first(self, request: Request) -> Response:
        """All surveys, and a field for a new one."""
        if request.method == "POST":
            try:
                title = (await read_form(request)).texts.get("title", "").strip()
            except InvalidInput:
                raise HTTPException(422) from None
            if title:
                place = self.back.surveys.make(title)
                return to(f"/surveys/{place.name}/questions")
        surveys, running = self.back.surveys, self.back.running
        rows = [(place, self.back.stage(place)) for place in surveys.places()]
        own = {place.document.get("id") for place, _ in rows}
        plans = [plan for plan in running.worker.plans.values() if plan.survey.id not in own]
        others = [running.status(plan) for plan in plans]
        html = self._render(
            "first.html", rows=rows, others=others, stages=STAGES, folder=surveys.path
        )
        return HTMLResponse(html, headers=SENDS_FORMS)

    # --- questions ---

    async def questions(self, request: Request, place: Place) -> Response:
        """The editor, and the form as people will see it."""
        draft = place.read()
        document = document_in(draft.text)
        tables = editing.tables_in(document or {}, "question")
        questions = editing.question_texts(tables)
        groups = editing.tables_in(document or {}, "together")
        pairs = [g["questions"] for g in groups if len(g.get("questions", ())) == 2]
        html = self._page(
            "questions.html",
            place,
            "questions",
            draft=draft,
            head=None if document is None else editing.head_texts(document),
            head_fields=fields.HEAD,
            questions=questions,
            fields=fields.QUESTION,
            more=fields.MORE,
            kinds=fields.KIND_LABELS,
            scale=fields.SCALES[0],
            pairs=[*pairs, ("", "")],
            mistakes=Markup(self._mistakes(place, draft.text)),
            comments=editing.has_comments(draft.text),
            preview=f"{self.free}{place.name}/",
        )
        return HTMLResponse(html, headers=WITH_FRAME)

    def _mistakes(self, place: Place, text: str) -> str:
        return self._render("mistakes.html", mistakes=mistakes_in(place, text))

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
        draft = self._written(place, editing.file_text(document, before.text), base)
        if "part" in request.query_params:
            return self._saved(place, draft)
        return to(f"/surveys/{place.name}/questions" + (f"#q{at}" if at else ""))

    def _written(self, place: Place, text: str, base: str | None) -> Draft:
        if not self.back.stage(place).is_editable:
            hint = "a published survey cannot be edited, only closed"
            raise InvalidInput("survey", "must not be published yet", place.name, hint)
        return place.write(text, base)

    def _saved(self, place: Place, draft: Draft) -> Response:
        """What the script shows: mistakes, the file, and what the next change is based on."""
        mistakes = mistakes_in(place, draft.text)
        html = self._render("mistakes.html", mistakes=mistakes)
        fields = [mistake.field for mistake in mistakes if mistake.field]
        state = "mistakes" if mistakes else "saved"
        told = {"state": state, "base": draft.base, "text": draft.text, "html": html}
        return JSONResponse({**told, "fields": fields})

    async def save_text(self, request: Request, place: Place) -> Response:
        """The file as text."""
        form = (await read_form(request)).texts
        text = form.get("survey", "").replace("\r\n", "\n")
        self._written(place, text, None if form.get("do") == "over" else form.get("base", ""))
        return to(f"/surveys/{place.name}/questions")

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
            for field in fields.PROMISE
        }
        html = self._page(
            "promise.html",
            place,
            "promise",
            draft=draft,
            texts=texts,
            fields={field.name: field for field in fields.PROMISE},
            chosen=[(f"{each:g}", guess_bar(each, 0.0), each == epsilon) for each in CHOSEN],
            is_other=epsilon not in CHOSEN,
            noise=noise_of(document),
            noises=[(noise, words_of(noise).option) for noise in ("devices", "mixers")],
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
        draft = self._written(place, editing.file_text(document, before.text), base)
        if "part" in request.query_params:
            return self._saved(place, draft)
        return to(f"/surveys/{place.name}/promise?numbers=1")

    async def _parts_now(self, request: Request, place: Place) -> dict[str, Markup]:
        """For a browser without scripts, the numbers with the page: it asked for them."""
        if "numbers" not in request.query_params:
            return {}
        tasks = ("promise", "curve", "more")
        return {t: Markup((await self._task(request, place, t))["html"]) for t in tasks}

    def _computed(self, task: str) -> Handler:
        async def part(request: Request, place: Place) -> Response:
            return part_of(await self._task(request, place, task))

        return part

    async def _task(self, request: Request, place: Place, task: str) -> dict[str, Any]:
        draft = place.read()
        arguments = {"text": draft.text, "directory": str(place.path)}
        return await self._desk.answer(request, task, arguments)
