"""The token: nothing without it, and it never stays in an address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from web.conftest import COOKIE, TOKEN, no_plans, opened

if TYPE_CHECKING:
    from starlette.testclient import TestClient


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The pages of a folder with one survey."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("krand.console.app._ready", no_plans)
        with opened(tmp_path_factory.mktemp("surveys"), follow_redirects=False) as client:
            client.post("/", data={"title": "Canteen"})
            yield client


@pytest.fixture
def stranger(console: TestClient) -> TestClient:
    console.cookies.clear()
    return console


PATHS = ["/", "/surveys/canteen", "/surveys/canteen/watch", "/surveys/canteen/part/promise"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("given", ["", "?token=", "?token=wrong", f"?token={TOKEN}x"])
def test_without_the_token_nothing_is_told(stranger: TestClient, path: str, given: str) -> None:
    """401 and how to get in; no word about the survey, and no cookie."""
    answer = stranger.get(f"{path}{given}")
    assert answer.status_code == 401
    assert "<h1>These pages need their token</h1>" in answer.text
    assert not re.search("<(table|progress|section)", answer.text)
    for secret in ("anteen", TOKEN):
        assert secret not in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("cookie", ["", "wrong", TOKEN[:-1], TOKEN + "x"])
def test_a_wrong_cookie_is_no_token(stranger: TestClient, cookie: str) -> None:
    """As little as none."""
    stranger.cookies.set(COOKIE, cookie)
    assert stranger.get("/").status_code == 401
    stranger.cookies.clear()
    stranger.cookies.set("krand-token-8091", TOKEN)
    assert stranger.get("/").status_code == 401


def test_the_token_becomes_a_cookie_and_leaves_the_address(stranger: TestClient) -> None:
    """Out of reach of scripts and of other sites."""
    for answer in (
        stranger.get("/", params={"token": TOKEN}),
        stranger.post("/?enter", data={"token": f" {TOKEN} "}),
    ):
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        first, *rest = answer.headers["set-cookie"].split("; ")
        assert first == f"{COOKIE}={TOKEN}"
        assert {part.lower() for part in rest} == {"httponly", "path=/", "samesite=strict"}
    assert stranger.get("/").status_code == 200
    again = stranger.get("/", params={"token": TOKEN})
    assert (again.status_code, again.headers["location"]) == (303, "/")


def test_a_wrong_token_in_the_form_is_refused(stranger: TestClient) -> None:
    """And a form from another site is not even read."""
    answer = stranger.post("/", data={"token": "wrong"})
    assert answer.status_code == 401
    assert 'id="wrong-token"' in answer.text
    headers = {"Origin": "http://evil.example"}
    answer = stranger.post("/", data={"token": TOKEN}, headers=headers)
    assert answer.status_code == 403
