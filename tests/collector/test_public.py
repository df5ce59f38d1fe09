"""What clients ask for: plan, signatures, status, pages; from other origins only if configured."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from collecting import OCTETS, Answer, Served, served
from collector.crowds import body_of, config_for, plan_of
from components import require
from krand.collector.settings import (
    Page,
    Receipt,
    Settings,
    check_origins,
    receipt_of,
    served_signatures,
)
from krand.collector.sqlite.spool import Spool
from krand.errors import InvalidInput
from krand.survey.about import About
from krand.wire.keys import generate_signing_key
from krand.wire.plan_signatures import PlanSignature
from krand.wire.receipts import check_receipt

require("starlette")
require("uvicorn")

from krand.collector import public  # noqa: E402

CROWD = 1000
PLAN = plan_of(CROWD)
ROOT = f"/v1/{PLAN.hash}"
FORM = "https://form.example"
POLICY = ("Content-Security-Policy", "default-src 'none'")
PAGES = {"/": Page(b"<!doctype html>" + b"x" * 100_000, "text/html; charset=utf-8", (POLICY,))}


class Asked(Served):
    """A collector that runs, and whoever asks it."""

    def __call__(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: Any = None
    ) -> Answer:
        return self.ask(method, path, body, headers)


@contextmanager
def asking(**settings: Any) -> Iterator[Asked]:
    with served(config_for(CROWD), Settings(**{"plan": PLAN, **settings}), PAGES) as found:
        yield Asked(found.spool, found.port)


@pytest.fixture(scope="module")
def closed_off() -> Iterator[Asked]:
    """Without any origin."""
    with asking() as found:
        yield found


@pytest.fixture(scope="module")
def shared() -> Iterator[Asked]:
    """With one origin, and a receipt."""
    with asking(origins=(FORM,), receipt=Receipt("ab" * 32, "cd" * 64)) as found:
        yield found


def preflight(origin: str = FORM, method: str = "POST") -> dict[str, str]:
    """The headers that a browser sends first."""
    return {
        "Origin": origin,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "content-type",
    }


def test_the_plan_is_served_byte_by_byte_under_its_hash(closed_off: Asked) -> None:
    """Compressed for whoever accepts that; it never changes."""
    status, headers, content = closed_off("GET", f"{ROOT}/plan")
    assert (status, content) == (200, PLAN.bytes)
    assert headers["content-type"] == "application/json"
    assert "immutable" in headers["cache-control"]
    status, headers, content = closed_off("GET", f"{ROOT}/plan", {"Accept-Encoding": "br, gzip"})
    assert (headers["content-encoding"], headers["vary"]) == ("gzip", "Accept-Encoding")
    assert len(content) < len(PLAN.bytes)
    assert gzip.decompress(content) == PLAN.bytes
    for refusing in ("gzip;q=0", "gzip; q=0.0", "br", "xgzip"):
        _, headers, _ = closed_off("GET", f"{ROOT}/plan", {"Accept-Encoding": refusing})
        assert "content-encoding" not in headers


@pytest.mark.parametrize("name", ["plan", "signatures", "status"])
def test_another_plan_is_not_here(closed_off: Asked, name: str) -> None:
    """The answer says that it is the plan that is wrong."""
    status, _, content = closed_off("GET", f"/v1/{'00' * 32}/{name}")
    assert (status, json.loads(content)["error"]["field"]) == (404, "plan")


@pytest.mark.parametrize("path", [f"{ROOT}/plan", f"{ROOT}/signatures", f"{ROOT}/status", "/"])
def test_what_is_served_can_be_read_and_not_written(closed_off: Asked, path: str) -> None:
    """HEAD tells the length and sends nothing; other methods are told which ones there are."""
    _, _, content = closed_off("GET", path)
    status, headers, nothing = closed_off("HEAD", path)
    assert (status, nothing, headers["content-length"]) == (200, b"", str(len(content)))
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        status, headers, _ = closed_off(method, path)
        assert (status, headers["allow"]) == (405, "GET, HEAD")


def test_pages_are_served_as_they_are(closed_off: Asked) -> None:
    """With the headers that came with them, and those that every page needs."""
    status, headers, content = closed_off("GET", "/")
    assert (status, content) == (200, PAGES["/"].content)
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert headers["content-security-policy"] == "default-src 'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", ["//", "/.", "/%2f", "/index.html", "/%2e%2e/", "/..//", "/./"])
def test_only_exact_paths_are_pages(closed_off: Asked, path: str) -> None:
    """Nothing is resolved, decoded or guessed."""
    assert closed_off("GET", path)[0] == 404


@pytest.mark.parametrize("path", ["page", "/v1/x", "/ü"])
def test_pages_have_paths_of_their_own(path: str) -> None:
    """They cannot stand in the way of the collector."""
    with pytest.raises(InvalidInput, match="pages"):
        public._page_path(path)


def test_the_status_says_what_a_client_must_know(closed_off: Asked, shared: Asked) -> None:
    """Plan, round, whether it is open, and the key of receipts."""
    status, headers, content = closed_off("GET", f"{ROOT}/status")
    assert (status, headers["cache-control"]) == (200, "no-store")
    assert json.loads(content) == {
        "plan": PLAN.hash,
        "round": 1,
        "open": True,
        "invitations": False,
        "crowd": CROWD,
        "progress": 0.0,
        "receipt_key": None,
    }
    assert json.loads(shared("GET", f"{ROOT}/status")[2])["receipt_key"] == "ab" * 32


def test_the_status_is_computed_once_for_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many ask within a second."""
    monkeypatch.setattr(public, "STATUS_SECONDS", 3600.0)
    asked = []
    usual = Spool.batches
    monkeypatch.setattr(Spool, "batches", lambda spool: asked.append(1) or usual(spool))
    with asking() as ask:
        before = len(asked)
        assert {ask("GET", f"{ROOT}/status")[0] for _ in range(20)} == {200}
        assert len(asked) - before == 1


def test_without_origins_no_page_elsewhere_is_answered(closed_off: Asked) -> None:
    """No header for other origins, and no preflight."""
    for method, path, headers in (
        ("GET", f"{ROOT}/plan", {"Origin": FORM}),
        ("OPTIONS", f"{ROOT}/submissions", preflight()),
    ):
        status, found, _ = closed_off(method, path, headers)
        assert status == (200 if method == "GET" else 405)
        assert not [name for name in found if name.startswith("access-control")]


def test_a_preflight_is_answered_and_kept_by_the_browser(shared: Asked) -> None:
    """Methods, header and time; without a body."""
    for path in (f"{ROOT}/submissions", f"{ROOT}/plan", "/"):
        status, headers, content = shared("OPTIONS", path, preflight())
        assert (status, content) == (204, b"")
        assert headers["access-control-allow-origin"] == FORM
        assert headers["access-control-allow-methods"] == "GET, POST"
        assert headers["access-control-allow-headers"] == "content-type"
        assert headers["access-control-max-age"] == "86400"
        assert headers["vary"] == "Origin"


def test_other_origins_are_refused_and_not_repeated(shared: Asked) -> None:
    """Whatever the header contains, at most what the operator wrote is sent."""
    for origin in ("https://other.example", "null", f"{FORM}.evil", "*", "https://" + "x" * 20_000):
        status, headers, content = shared("OPTIONS", f"{ROOT}/submissions", preflight(origin))
        assert (status, headers["vary"]) == (403, "Origin")
        assert "access-control-allow-origin" not in headers
        assert origin == "*" or origin.encode() not in content
        _, headers, _ = shared("GET", f"{ROOT}/status", {"Origin": origin})
        assert "access-control-allow-origin" not in headers


def test_answers_to_a_page_can_be_read_by_it(shared: Asked) -> None:
    """Also refusals; and a proxy that keeps them keeps them for each origin."""
    body, ask = body_of(1), {"Origin": FORM, **OCTETS}
    for sent, path, status in (
        (body, f"{ROOT}/submissions", 202),
        (body[:-1], f"{ROOT}/submissions", 422),
        (body, f"/v1/{'00' * 32}/submissions", 404),
    ):
        found, headers, _ = shared("POST", path, ask, sent)
        assert (found, headers["access-control-allow-origin"]) == (status, FORM)
        assert headers["access-control-expose-headers"] == "Retry-After"
    for path in (f"{ROOT}/plan", f"{ROOT}/status"):
        _, headers, _ = shared("GET", path)
        assert "Origin" in headers["vary"]
    assert "access-control-allow-origin" not in shared("GET", "/readyz", {"Origin": FORM})[1]


def test_everybody_may_be_allowed() -> None:
    """Then nothing varies with the origin."""
    with asking(origins=("*",)) as ask:
        status, headers, _ = ask("OPTIONS", f"{ROOT}/submissions", preflight("https://any"))
        assert (status, headers["access-control-allow-origin"]) == (204, "*")
        assert "vary" not in headers


@pytest.mark.parametrize(
    "origin",
    [
        *("form.example", "https://form.example/", "https://Form.example", "https://", "null"),
        *("ftp://a", "https://a b", "https://a\r\nX: y", "https://u@a", "https://a:123456"),
        "https://" + "a" * 300,
    ],
)
def test_an_origin_is_scheme_host_and_port(origin: str) -> None:
    """The error says how it is written."""
    with pytest.raises(InvalidInput, match="without a path: --origin"):
        check_origins([origin])
    with pytest.raises(InvalidInput, match="alone"):
        check_origins(["*", FORM])
    good = [
        "https://form.example",
        "http://localhost:8080",
        "http://[::1]:80",
        "https://form.example",
    ]
    assert check_origins(good) == tuple(good[:3])


def test_everybody_is_given_the_same_receipt() -> None:
    """The first time and again, on both ways in; it proves plan and round, and nothing else."""
    key = generate_signing_key()
    receipt = receipt_of(PLAN, 1, key)
    with asking(receipt=receipt) as ask:
        told = [
            json.loads(ask("POST", f"{ROOT}/submissions", headers, body_of(number))[2])
            for headers in (OCTETS, {"Content-Type": "application/octet-stream; a=b"})
            for number in (1, 1, 2)
        ]
    assert {entry["receipt"] for entry in told} == {receipt.signature}
    assert [entry["status"] for entry in told][:3] == ["accepted", "known", "accepted"]
    assert check_receipt(key.public_key(), receipt.signature, PLAN.hash, 1)
    assert not check_receipt(key.public_key(), receipt.signature, PLAN.hash, 2)
    assert not check_receipt(key.public_key(), receipt.signature, "00" * 32, 1)
    assert not check_receipt(generate_signing_key().public_key(), receipt.signature, PLAN.hash, 1)


def test_signatures_belong_to_plans_with_mixers() -> None:
    """There is nobody who could have signed another plan."""
    with pytest.raises(InvalidInput, match="mixers"):
        served_signatures(PLAN, [PlanSignature(PLAN.hash, "3b" * 32, "77" * 64)])


def test_after_the_last_day_only_retries_are_answered() -> None:
    """The day belongs to the survey to its end, in UTC."""
    closes = date(2026, 3, 31)
    survey = replace(PLAN.survey, about=About(closes=closes))
    today = [closes]
    plan = replace(PLAN, survey=survey)
    with asking(plan=plan, is_over=lambda: survey.about.is_over(today[0])) as ask:
        assert ask("POST", f"{ROOT}/submissions", OCTETS, body_of(1))[0] == 202
        today[0] = date(2026, 4, 1)
        for headers in (OCTETS, {"Content-Type": "application/octet-stream; a=b"}):
            status, _, content = ask("POST", f"{ROOT}/submissions", headers, body_of(2))
            assert (status, json.loads(content)["error"]["field"]) == (410, "round")
            status, _, content = ask("POST", f"{ROOT}/submissions", headers, body_of(1))
            assert (status, json.loads(content)["status"]) == (202, "known")
        assert json.loads(ask("GET", f"{ROOT}/status")[2])["open"] is False


@pytest.mark.parametrize("zone", ["<A>-14", "<B>+12"])
def test_the_day_is_that_of_utc(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not that of the machine's time zone; a survey without a last day is never over."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        today = datetime.now(UTC).date()
        assert About(closes=today - timedelta(days=1)).is_over()
        assert not About(closes=datetime.now(UTC).date()).is_over()
        assert not About().is_over()
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_collector_that_was_not_told_how_to_know_the_day_does_not_start() -> None:
    """It would take answers for ever."""
    survey = replace(PLAN.survey, about=About(closes=date(2026, 3, 31)))
    with pytest.raises(InvalidInput, match="closes on 2026-03-31"):
        Settings(plan=replace(PLAN, survey=survey))
