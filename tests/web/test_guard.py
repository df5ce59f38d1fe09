"""What every request must obey, and what every answer says to the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from starlette.testclient import TestClient

OURS = "http://127.0.0.1:8090"
PATHS = [
    "/",
    "/surveys/missing/promise",
    "/static/krand.js",
    "/nowhere",
]


@pytest.mark.check
@pytest.mark.parametrize("path", PATHS)
def test_every_answer_carries_the_headers(planner: TestClient, path: str) -> None:
    """Pages, scripts and refusals: nothing from elsewhere, no frames, no referrer, no cookies."""
    headers = planner.get(path).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    forms = path == "/"  # without a referrer a browser hides where a form is from
    assert headers["referrer-policy"] == ("same-origin" if forms else "no-referrer")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "set-cookie" not in headers
    assert "server" not in headers


@pytest.mark.check
@pytest.mark.parametrize("path", PATHS)
def test_a_page_names_no_other_host(planner: TestClient, path: str) -> None:
    """Nothing in any page could make a browser ask somebody else."""
    text = planner.get(path).text
    for start in ("http://", "https://", '"//'):
        for rest in text.split(start)[1:]:
            # The names of SVG's own languages are never asked for.
            assert rest.startswith("www.w3.org/")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8090", 404),
        ("localhost:9999", 404),
        ("[::1]:8090", 404),
        ("LOCALHOST", 404),
        ("evil.example", 421),
        ("127.0.0.1.evil.example:8090", 421),
        ("localhost.evil.example", 421),
        ("10.0.0.1:8090", 421),
        ("", 421),
    ],
)
def test_only_our_own_names_are_answered(planner: TestClient, host: str, status: int) -> None:
    """A name that somebody made to point here gets nothing."""
    answer = planner.get("/nowhere", headers={"Host": host})
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("headers", "taken"),
    [
        ({}, True),
        ({"Origin": OURS}, True),
        ({"Origin": "http://localhost:8090", "Host": "localhost:8090"}, True),
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Origin": "null"}, False),
        ({"Origin": "http://evil.example"}, False),
        ({"Origin": "http://127.0.0.1:8091"}, False),
        ({"Origin": "http://[broken"}, False),
        ({"Origin": "ftp://127.0.0.1:8090"}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
    ],
)
def test_forms_are_taken_from_our_own_pages_only(
    planner: TestClient, headers: dict[str, str], taken: bool
) -> None:
    """Another site cannot make a browser send one; programs that are no browsers may."""
    for path in ("/", "/surveys/missing/questions", "/surveys/missing/close"):
        answer = planner.post(path, data={}, headers=headers)
        assert (answer.status_code != 403) is taken


@pytest.mark.parametrize(
    ("site", "mode", "status"),
    [
        ("cross-site", "navigate", 200),
        ("cross-site", "no-cors", 403),
        ("same-site", "cors", 403),
        ("same-origin", "cors", 200),
        ("none", "navigate", 200),
    ],
)
def test_other_sites_may_link_but_not_use_us(
    planner: TestClient, site: str, mode: str, status: int
) -> None:
    """An image of somebody's page must not make us plan."""
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
    assert planner.get("/", headers=headers).status_code == status


@pytest.mark.parametrize("path", ["/", "/surveys/x/watch", "/surveys/x/close", "/static/krand.css"])
def test_other_methods_are_refused(planner: TestClient, path: str) -> None:
    """With a page, not with a failure."""
    assert planner.request("DELETE", path).status_code == 405


def test_a_bug_of_ours_shows_no_traceback(
    planner: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page says that it is one, and still carries the headers."""

    def broken(*_: object, **__: object) -> None:
        raise ValueError("secret")

    monkeypatch.setattr("krand.console.folder.Surveys.places", broken)
    answer = planner.get("/")
    assert answer.status_code == 500
    assert "This is a bug in krand" in answer.text
    assert "secret" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
