"""What strangers talk to: `python -m krand.site.listener SOCKET PIPE PUBLIC IDENTITY`.

It has no key, reads the folder `public` alone, and asks the worker through a pipe for verdicts on
submissions and for what partners ask. What it decides, it decides to refuse early: the worker
believes nothing that it says. Nothing of a request is stored, logged or repeated in an answer, and
every refusal ends the connection: so nobody sends what nobody reads.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from krand.collector.public import BRIEFLY, CLOSE, FOREVER, JSON, SAFE, Verdict
from krand.partners.requests import asker
from krand.site.about import ABOUT, PLANS, About, about_in
from krand.site.frames import Asked, Invited, Kind, Pipe, Submissions, number
from krand.site.walls import confine
from krand.web.server import allow_many_files, make_server
from krand.wire.submissions import ID_LENGTH, round_in

BODY_SECONDS, PLAN_SECONDS = 10.0, 60.0
"""The time in which a body must arrive."""
LONGEST_BODY, LONGEST_PLAN = 256_000, 8_000_000
PLANS_AT_ONCE = 4
"""Plans that are being sent at a time: each is held in memory."""
PIECE_BYTES = 2**20
PREFLIGHT_SECONDS = 86_400
OCTETS = "application/octet-stream"
HASH = re.compile(r"[0-9a-f]{64}")


def refused(
    status: int, field: str, rule: str, headers: Mapping[str, str] | None = None, **more: int
) -> Response:
    """The answer that names what is wrong, and nothing that was sent."""
    return JSONResponse(
        {"field": field, "rule": rule, **more}, status, {**CLOSE, **(headers or {})}
    )


UNKNOWN_PLAN = refused(404, "plan", "must be one that is served here")
UNKNOWN = refused(404, "request", "must be one that is answered here")
BUSY = refused(503, "server", "cannot answer now; try again", {"Retry-After": "5"})
VERDICTS = {
    number(Verdict.ACCEPTED): JSONResponse({"status": "accepted"}, 202),
    number(Verdict.KNOWN): JSONResponse({"status": "known"}, 202),
    number(Verdict.REFUSED): refused(
        400, "submission", "must be of this plan and of the round now open"
    ),
    number(Verdict.UNINVITED): refused(403, "invitation", "must be one of this survey"),
    number(Verdict.CLOSED): refused(410, "round", "must not be closed: nothing more is taken"),
    number(Verdict.UNAVAILABLE): BUSY,
}
"""What a person's device is told; by what the worker says."""
INVITED = {number(each): each.name.lower() for each in Invited}


class Listener:
    """The application. The files in `public` say all there is to say, and nothing is reloaded."""

    def __init__(self, public: Path, identity: str, pipe: Pipe) -> None:
        self._public, self._identity, self._pipe = public, identity, pipe
        self._known: dict[str, tuple[tuple[int, int], About]] = {}
        self._room_for_plans = asyncio.Semaphore(PLANS_AT_ONCE)
        plan = "/v1/plans/{plan}"
        each = f"{plan}/rounds/{{number:int}}"
        self._routes = Starlette(
            routes=[
                Route(f"{plan}/submissions", self._submit, methods=["POST"]),
                Route(f"{plan}/invitation", self._invitation, methods=["POST"]),
                Route(plan, self._plan),
                Route(f"{plan}/signatures", self._signatures),
                Route(f"{plan}/open", self._open),
                Route(each, self._chain),
                Route(f"{each}/batch", self._batch),
                Route(f"{each}/link/{{place:int}}", self._ask_as_party),
                Route(f"{plan}/status", self._ask_as_party),
                Route("/v1/identity", self._ask_unsigned),
                Route("/v1/plans", self._plans),
                Route("/v1/plans", self._send_plan, methods=["POST"]),
                Route("/v1/keys", self._ask_signed, methods=["POST"]),
                Route("/{plan}", self._to_form),
                Route("/{plan}/", self._form),
                Route("/{plan}/{name}", self._form),
            ],
            exception_handlers={HTTPException: _not_served, Exception: _unforeseen},
        )
        self._routes.router.redirect_slashes = False  # it would repeat what was asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pages of the plan's mixers, and of those that the operator names, may ask elsewhere."""
        about = None
        if any(name == b"origin" for name, _ in scope["headers"]):
            about = self._about_of(scope["path"].removeprefix("/v1/plans/").partition("/")[0])
        if about is None or not about.origins:
            await self._routes(scope, receive, send)
            return
        cors = CORSMiddleware(
            self._routes,
            allow_origins=about.origins,
            allow_methods=["GET", "POST"],
            allow_headers=["content-type"],
            expose_headers=["Retry-After"],
            max_age=PREFLIGHT_SECONDS,
        )
        await cors(scope, receive, send)

    async def _submit(self, request: Request) -> Response:
        about = self._about(request)
        if about is None or not about.length:
            return UNKNOWN_PLAN
        body = await self._octets(request, about.length)
        if isinstance(body, Response):
            return body
        asked = Submissions(request.path_params["plan"], round_in(body), b"")
        said = await self._pipe.ask(Kind.SUBMIT, asked.content, body)
        return VERDICTS.get(said or b"", BUSY)

    async def _invitation(self, request: Request) -> Response:
        """Tells whoever has a code whether it is one; the body is the id that the code makes."""
        about = self._about(request)
        if about is None or not about.invitations:
            return refused(404, "invitation", "must be of a survey with invitations")
        body = await self._octets(request, ID_LENGTH)
        if isinstance(body, Response):
            return body
        said = await self._pipe.ask(
            Kind.INVITATION, bytes.fromhex(request.path_params["plan"]), body
        )
        found = INVITED.get(said or b"")
        return BUSY if found is None else JSONResponse({"status": found}, headers=BRIEFLY)

    async def _plan(self, request: Request) -> Response:
        return self._file(request, "plan.json", JSON, dict([FOREVER]))

    async def _signatures(self, request: Request) -> Response:
        return self._file(request, "signatures.json", JSON)

    async def _open(self, request: Request) -> Response:
        about = self._about(request)
        if about is None:
            return UNKNOWN_PLAN
        return JSONResponse({"open": about.open, "round": about.round}, headers=BRIEFLY)

    async def _plans(self, _: Request) -> Response:
        path = self._public / PLANS
        return _served(path, JSON, BRIEFLY) if path.exists() else JSONResponse({"plans": []})

    async def _chain(self, request: Request) -> Response:
        """For every party of the plan."""
        asking = self._party(request)
        if isinstance(asking, Response):
            return asking
        return self._file(request, f"{request.path_params['number']}.chain", JSON, BRIEFLY)

    async def _batch(self, request: Request) -> Response:
        """For the party after this one."""
        asking = self._party(request)
        if isinstance(asking, Response):
            return asking
        about = self._about(request)
        if about is None or about.parties[about.place :][:1] != (asking,):
            return refused(403, "authorization", "must be of the party that this batch is for")
        return self._file(request, f"{request.path_params['number']}.batch", OCTETS, BRIEFLY)

    async def _ask_as_party(self, request: Request) -> Response:
        asking = self._party(request)
        return asking if isinstance(asking, Response) else await self._ask(request)

    async def _ask_unsigned(self, request: Request) -> Response:
        return await self._ask(request)

    async def _ask_signed(self, request: Request) -> Response:
        body = await self._body(request, LONGEST_BODY, BODY_SECONDS)
        return body if isinstance(body, Response) else await self._signed(request, body)

    async def _send_plan(self, request: Request) -> Response:
        if self._room_for_plans.locked():
            return BUSY
        async with self._room_for_plans:
            body = await self._body(request, LONGEST_PLAN, PLAN_SECONDS)
            return body if isinstance(body, Response) else await self._signed(request, body)

    async def _signed(self, request: Request, body: bytes) -> Response:
        return (
            self._unsigned()
            if self._asker(request, body) is None
            else await self._ask(request, body)
        )

    async def _ask(self, request: Request, body: bytes = b"") -> Response:
        """The worker answers; it checks the signature itself."""
        header = request.headers.get("authorization", "")
        asked = Asked(request.method, _path(request), header, body)
        said = await self._pipe.ask(Kind.PARTNER, b"", asked.content)
        if said is None or len(said) < 2:
            return BUSY
        status = int.from_bytes(said[:2])
        headers = BRIEFLY if status < 400 else {**BRIEFLY, **CLOSE}
        return Response(said[2:], status, headers, JSON)

    def _party(self, request: Request) -> str | Response:
        """The party of the plan that asks, or a refusal."""
        about = self._about(request)
        if about is None:
            return UNKNOWN_PLAN
        identity = self._asker(request)
        return identity if identity in about.parties else self._unsigned()

    def _asker(self, request: Request, body: bytes = b"") -> str | None:
        header, path = request.headers.get("authorization", ""), _path(request)
        return asker(header, self._identity, request.method, path, body, int(time.time()))

    def _unsigned(self) -> Response:
        rule = "must be the signature of a party that may ask for this, made within the hour"
        return refused(401, "authorization", rule, time=int(time.time()))

    async def _octets(self, request: Request, length: int) -> bytes | Response:
        """A body of exactly this length."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != OCTETS:
            return refused(415, "content-type", f"must be {OCTETS}")
        return await self._body(request, length, BODY_SECONDS, exactly=True)

    async def _body(
        self, request: Request, most: int, seconds: float, *, exactly: bool = False
    ) -> bytes | Response:
        """The body, or a refusal before a byte of it is read."""
        headers = request.headers
        length = headers.get("content-length", "")
        if not length.isdecimal() or "transfer-encoding" in headers:
            return refused(411, "content-length", "must be given, and the body be sent as it is")
        if int(length) > most or (exactly and int(length) != most):
            return refused(413, "body", f"must have {'' if exactly else 'at most '}{most} bytes")
        try:
            async with asyncio.timeout(seconds):
                return await request.body()
        except TimeoutError:
            return refused(408, "body", f"must arrive within {seconds:g} seconds")
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it

    async def _to_form(self, request: Request) -> Response:
        plan = request.path_params["plan"]
        return UNKNOWN if self._about(request) is None else RedirectResponse(f"{plan}/")

    async def _form(self, request: Request) -> Response:
        """A file of the form, with the headers that it was published with."""
        about, name = self._about(request), request.path_params.get("name", "index.html")
        if about is None or name not in about.pages:
            return UNKNOWN
        headers = dict(about.pages[name])
        return self._file(request, name, headers["Content-Type"], headers)

    def _file(
        self, request: Request, name: str, kind: str, headers: Mapping[str, str] | None = None
    ) -> Response:
        """A file of the plan; beside it may be the same in fewer bytes."""
        if self._about(request) is None:
            return UNKNOWN_PLAN
        path, headers = self._public / request.path_params["plan"] / name, dict(headers or {})
        zipped = path.with_name(f"{name}.gz")
        if zipped.exists():
            headers["Vary"] = "Accept-Encoding, Origin"
            if "gzip" in request.headers.get("accept-encoding", ""):
                path, headers["Content-Encoding"] = zipped, "gzip"
        if "," in request.headers.get("range", ""):
            return refused(416, "range", "must be one part of the file")
        return _served(path, kind, headers)

    def _about(self, request: Request) -> About | None:
        return self._about_of(request.path_params["plan"])

    def _about_of(self, plan: str) -> About | None:
        """What is published of a plan now."""
        if not HASH.fullmatch(plan):
            return None
        try:
            found = os.stat(f"{self._public}/{plan}/{ABOUT}")
            stamp = (found.st_ino, found.st_mtime_ns)
            known = self._known.get(plan)
            if known is None or known[0] != stamp:
                content = (self._public / plan / ABOUT).read_bytes()
                known = self._known[plan] = (stamp, about_in(content))
        except FileNotFoundError:
            return None
        return known[1]


def _served(path: Path, kind: str, headers: Mapping[str, str]) -> Response:
    if not path.exists():
        return refused(404, "request", "must be for something that is there")
    # Without a media type it would look for one in files that it may not read.
    return FileResponse(path, headers={**dict(SAFE), **headers}, media_type=kind)


def _path(request: Request) -> str:
    """Path and query, as they were sent and signed."""
    raw: bytes = request.scope["raw_path"]
    query: bytes = request.scope["query_string"]
    return (raw + b"?" + query if query else raw).decode("latin-1")


async def _not_served(_: Request, error: Exception) -> Response:
    status, headers = 500, None
    if isinstance(error, HTTPException):
        status, headers = error.status_code, error.headers
    return refused(status, "request", "must be one that is answered here", headers)


async def _unforeseen(_: Request, error: Exception) -> Response:
    """After a bug in krand: the type of the error is logged, and nothing of the request."""
    print(f"listener: unforeseen {type(error).__name__}", file=sys.stderr, flush=True)
    return refused(500, "server", "failed; nothing was stored")


async def serve(listening: socket.socket, end: socket.socket, public: Path, identity: str) -> None:
    """Serve until the worker has gone, or a signal ends the process."""
    pipe = Pipe(end)
    server = make_server(Listener(public, identity, pipe), lifespan="off")
    asking = asyncio.create_task(pipe.run())
    await server.serve([listening])
    asking.cancel()


def main() -> None:
    """The process."""
    listening, end = (socket.socket(fileno=int(each)) for each in sys.argv[1:3])
    public, identity = Path(sys.argv[3]), sys.argv[4]
    allow_many_files()
    FileResponse.chunk_size = PIECE_BYTES
    confine(read=[public])
    asyncio.run(serve(listening, end, public, identity))


if __name__ == "__main__":
    main()
