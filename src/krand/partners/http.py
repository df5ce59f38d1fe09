"""The HTTP of a partner's service: who asks is known before a body is read, and what is stored.

Answers are JSON. A signed request is checked by its headers alone, then its sender is admitted or
refused, and only then is the body read, up to a limit, and compared with the hash that was signed.
Bodies of strangers, who may ask for keys, have fewer places than those of partners: so strangers
cannot keep partners waiting. Neither addresses nor times of requests are stored or logged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from krand.collector.public import BRIEFLY, CLOSE, SAFE
from krand.errors import InvalidInput, KrandError, Unavailable
from krand.files import Unwritable, json_object
from krand.languages.catalogs import codes
from krand.partners.requests import (
    OTHER_VERSION,
    Asked,
    Nonces,
    NotAdmitted,
    NotAuthenticated,
    NotFound,
    check_request,
)
from krand.partners.talking import About, Answer
from krand.survey.plain_values import Malformed, typed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from krand.collector.public import Page
    from krand.partners.identity import Identity

T = TypeVar("T")

LEAST_BODY, SURVEY_BODY, PLAN_BODY, CHUNK_BODY = 2**16, 2**20, 2**22, 2**23
"""The most bytes of a small request, of a survey, of a plan, and of a piece of a batch."""
STRANGER_SECONDS, PARTNER_SECONDS = 10.0, 120.0
"""The time in which a body must arrive."""
STRANGER_BODIES, PARTNER_BODIES = 4, 8
"""How many bodies are in memory at a time."""
PAGE_SECONDS = 1.0
"""The page and the lists are made at most once in this time, for everybody."""
SHORTER = "send batches in smaller pieces, or ask with a smaller survey"
RETRY_AFTER = {"Retry-After": "5"}

log = logging.getLogger("krand.partners")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A request whose sender is known, with the body that the sender signed."""

    identity: str
    parts: Mapping[str, str]
    """Of the path."""
    query: Mapping[str, str]
    body: bytes

    def read(self, kind: type[T]) -> T:
        """The body as this kind of value."""
        with self.values() as values:
            found: T = typed(kind, values)
            return found

    @contextmanager
    def values(self) -> Iterator[dict[str, Any]]:
        """The JSON of the body; what is wrong with it is told to whoever sent it."""
        values = json_object("request", self.body, "request")
        try:
            yield values
        except Malformed as error:
            raise InvalidInput("request", str(error), None, OTHER_VERSION) from None


Admit = Callable[[str, Mapping[str, str]], bool]
"""Whether this identity is a partner; NotAdmitted if it may not ask for these parts of a path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One kind of signed request."""

    path: str
    admit: Admit
    answer: Callable[[Asking], Answer]
    method: str = "POST"
    most: int = LEAST_BODY


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicEndpoint:
    """Something that everybody may read."""

    path: str
    answer: Callable[[Mapping[str, str]], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """All that a service answers."""

    signed: Sequence[Endpoint]
    open: Sequence[PublicEndpoint] = ()
    page: Callable[[str], Page] | None = None
    """For people; given a browser's Accept-Language."""
    stranger_seconds: float = STRANGER_SECONDS
    start: Callable[[], None] = field(default=lambda: None)
    """Called when the service is ready to answer, and when it ends."""
    stop: Callable[[], None] = field(default=lambda: None)


class PartnerService(Starlette):
    """The application of one identity. Its calls are answered one at a time, in a thread."""

    def __init__(self, identity: Identity, name: str, endpoints: Endpoints) -> None:
        self._identity, self._endpoints, self._nonces = identity.public, endpoints, Nonces()
        self._about = About(name, identity.public).values
        self._thread = ThreadPoolExecutor(1, "partners")
        self._strangers = asyncio.Semaphore(STRANGER_BODIES)
        self._partners = asyncio.Semaphore(PARTNER_BODIES)
        self._kept: dict[str, tuple[float, Response]] = {}
        """What was answered to everybody, and until when: the page by language, lists by path."""
        routes = [
            Route("/v1/about", self._tell_about),
            Route("/v1/nonce", self._give_nonce, methods=["POST"]),
            *(
                Route(endpoint.path, self._signed(endpoint), methods=[endpoint.method])
                for endpoint in endpoints.signed
            ),
            *(Route(each.path, self._opened(each)) for each in endpoints.open),
        ]
        if endpoints.page is not None:
            routes.append(Route("/", _refusing(self._page)))
        super().__init__(
            routes=routes,
            lifespan=self._life,
            exception_handlers={
                HTTPException: _not_served,
                ClientDisconnect: _nobody,
                Exception: _unforeseen,
            },
        )
        self.router.redirect_slashes = False  # a redirect would repeat what the request contained

    @asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncIterator[None]:
        self._endpoints.start()
        yield
        self._thread.shutdown()
        self._endpoints.stop()

    async def _call(self, call: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call, *arguments)

    async def _tell_about(self, _: Request) -> Response:
        return _json(self._about)

    async def _give_nonce(self, _: Request) -> Response:
        return _json({"nonce": self._nonces.give()})

    def _opened(self, endpoint: PublicEndpoint) -> Callable[[Request], Any]:
        async def handle(request: Request) -> Response:
            async def made() -> Response:
                return _json(await self._call(endpoint.answer, request.path_params))

            return await (made() if request.path_params else self._once(endpoint.path, made))

        return _refusing(handle)

    async def _once(self, name: str, make: Callable[[], Awaitable[Response]]) -> Response:
        """An answer that is made at most once in a second, however many ask for it."""
        until, kept = self._kept.get(name, (0.0, None))
        if kept is None or _seconds() >= until:
            kept = await make()
            self._kept[name] = _seconds() + PAGE_SECONDS, kept
        return kept

    def _signed(self, endpoint: Endpoint) -> Callable[[Request], Any]:
        async def handle(request: Request) -> Response:
            asked = check_request(
                self._nonces, self._identity, endpoint.method, _target(request), request.headers
            )
            partner = await self._call(endpoint.admit, asked.identity, request.path_params)
            async with self._partners if partner else self._strangers:
                answer = await self._answered(endpoint, asked, request, partner)
            return _json(answer.values, answer.status)

        return _refusing(handle)

    async def _answered(
        self, endpoint: Endpoint, asked: Asked, request: Request, partner: bool
    ) -> Answer:
        seconds = PARTNER_SECONDS if partner else self._endpoints.stranger_seconds
        body = await _body(request, endpoint.most, seconds)
        asked.check_body(body)
        asking = Asking(
            identity=asked.identity,
            parts=request.path_params,
            query=request.query_params,
            body=body,
        )
        answer: Answer = await self._call(endpoint.answer, asking)
        return answer

    async def _page(self, request: Request) -> Response:
        language = request.headers.get("accept-language", "")[:2].lower()
        language = language if language in codes() else ""

        async def made() -> Response:
            assert self._endpoints.page is not None
            page = await self._call(self._endpoints.page, language)
            headers = dict((*SAFE, *page.headers))
            return Response(page.content, 200, headers, page.content_type)

        return await self._once(f"page {language}", made)


def _refusing(endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Any]:
    """The same, with what goes wrong told to whoever asks."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except KrandError as error:
            return refusal(error)

    return answered


def refusal(error: KrandError) -> Response:
    """The answer that says what is wrong, for the party that can mend it."""
    values: dict[str, object] = {"field": "service", "rule": f"cannot do this now: {error}"}
    if isinstance(error, (Unavailable, Unwritable)):
        return _json({"error": values}, 503, RETRY_AFTER)
    if not isinstance(error, InvalidInput):
        log.error("unforeseen %s", type(error).__name__)
        return _json({"error": {"field": "service", "rule": str(error)}}, 500)
    kinds = {NotAuthenticated: 401, NotAdmitted: 403, NotFound: 404, TooLong: 413, TooLate: 408}
    status = next((code for kind, code in kinds.items() if isinstance(error, kind)), 422)
    values = {"field": error.field, "rule": error.rule, "value": error.value, "hint": error.hint}
    # The body may not have been read, so nothing more on this connection can be understood.
    headers = CLOSE if status != 422 else None
    return _json({"error": values}, status, headers)


class TooLong(InvalidInput):
    """A body above its limit."""


class TooLate(InvalidInput):
    """A body that does not arrive."""


async def _body(request: Request, most: int, seconds: float) -> bytes:
    """The body, if it arrives in time and is not too long."""
    told = request.headers.get("content-length", "0")
    if len(told) > len(str(most)) or not told.isdecimal() or int(told) > most:
        raise TooLong("body", f"must have at most {most:,} bytes", told[:40], SHORTER)
    found = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                found += part
                if len(found) > most:
                    raise TooLong("body", f"must have at most {most:,} bytes", len(found), SHORTER)
    except TimeoutError:
        rule = f"must arrive within {seconds:g} seconds"
        raise TooLate("body", rule, f"{len(found):,} bytes", "send it again") from None
    return bytes(found)


def _target(request: Request) -> str:
    """The path with its query, byte by byte as it was sent."""
    raw: bytes = request.scope.get("raw_path", b"")
    query: bytes = request.scope.get("query_string", b"")
    return (raw + (b"?" + query if query else b"")).decode("latin-1")


def _json(values: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse(values, status, {**BRIEFLY, **dict(SAFE), **(headers or {})})


def _seconds() -> float:
    return asyncio.get_running_loop().time()


async def _not_served(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    rule = "must be one that this service answers"
    return _json({"error": {"field": "request", "rule": rule}}, status, {**headers, **CLOSE})


async def _nobody(_: Request, __: Exception) -> Response:
    return Response(status_code=400)  # nobody is there to read it


async def _unforeseen(_: Request, error: Exception) -> Response:
    """A bug in krand: its type is logged, and nothing of the request."""
    log.error("unforeseen %s", type(error).__name__)
    return _json({"error": {"field": "service", "rule": "failed"}}, 500, CLOSE)
