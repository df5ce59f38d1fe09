"""The pages over HTTP: the token, the guard, what is computed."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chaos import Program
from components import require
from consoles import BASE, COOKIE, TOKEN, console_of
from golden import Golden
from html_pages import text_of, untranslated

if TYPE_CHECKING:
    from httpx2 import Client
    from starlette.testclient import TestClient

PATHS = ["/", "/surveys/canteen", "/surveys/canteen/watch", "/surveys/canteen/part/promise"]
FREE = ["/static/krand.js", "/nowhere", "/surveys/missing/promise"]


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """The pages of a folder with one survey."""
    client = console_of(tmp_path_factory.mktemp("surveys"), follow_redirects=False)
    client.post("/", data={"title": "Canteen"})
    return client


@pytest.fixture
def stranger(console: TestClient) -> Iterator[TestClient]:
    """Somebody without the token."""
    console.cookies.clear()
    yield console
    console.cookies.clear()
    console.cookies.set(COOKIE, TOKEN)


# ---- The token


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_nothing_is_told(stranger: TestClient, path: str) -> None:
    """401 and how to get in; no word about the survey, and no cookie."""
    for given in ("", "?token=", "?token=wrong", f"?token={TOKEN}x", f"?token={TOKEN[:-1]}"):
        answer = stranger.get(f"{path}{given}")
        assert answer.status_code == 401, f"{path}{given}"
        assert "<h1>These pages need their token</h1>" in answer.text
        assert not re.search("<(table|progress|section)", answer.text)
        assert not [secret for secret in ("anteen", TOKEN) if secret in answer.text]
        assert "set-cookie" not in answer.headers
    for name, value in ((COOKIE, "wrong"), (COOKIE, TOKEN + "x"), ("krand-token-8091", TOKEN)):
        stranger.cookies.clear()
        stranger.cookies.set(name, value)
        assert stranger.get(path).status_code == 401, f"cookie {name}={value}"


def test_the_token_becomes_a_cookie_and_leaves_the_address(stranger: TestClient) -> None:
    """Out of reach of scripts and of other sites; a form from another site is not even read."""
    wrong = stranger.post("/", data={"token": "wrong"})
    assert (wrong.status_code, 'id="wrong-token"' in wrong.text) == (401, True)
    foreign = {"Origin": "http://evil.example"}
    assert stranger.post("/", data={"token": TOKEN}, headers=foreign).status_code == 403
    for answer in (
        stranger.get("/", params={"token": TOKEN}),
        stranger.post("/?enter", data={"token": f" {TOKEN} "}),
    ):
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        first, *rest = answer.headers["set-cookie"].split("; ")
        assert first == f"{COOKIE}={TOKEN}"
        assert {part.lower() for part in rest} == {"httponly", "path=/", "samesite=strict"}
    assert stranger.get("/").status_code == 200
    assert stranger.get("/", params={"token": TOKEN}).status_code == 303


# ---- The guard


def test_every_answer_carries_the_headers_and_names_no_other_host(console: TestClient) -> None:
    """Nothing from elsewhere, no frames, no referrer, no cookies."""
    for path in [*PATHS[:3], *FREE]:
        answer = console.get(path, follow_redirects=True)
        policy = answer.headers["content-security-policy"]
        assert policy.split("; ")[0] == "default-src 'none'", path
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy, path
        kept = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
        assert {name: answer.headers[name] for name in kept} == kept, path
        assert answer.headers["referrer-policy"] in ("same-origin", "no-referrer")
        assert not {"set-cookie", "server"} & set(answer.headers)
        assert not re.search(r'https?://(?!www\.w3\.org/|127\.0|\w+\.example)|"//', answer.text), (
            path
        )
        assert not re.search(r"\son\w+=|<style|javascript:", answer.text) or path.endswith(".js")


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
def test_only_our_own_names_are_answered(console: TestClient, host: str, status: int) -> None:
    """A name that somebody made to point here gets nothing."""
    assert console.get("/nowhere", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("headers", "taken"),
    [
        ({}, True),
        ({"Origin": BASE}, True),
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
    console: TestClient, headers: dict[str, str], taken: bool
) -> None:
    """Another site cannot make a browser send one; programs that are no browsers may."""
    for path in ("/", "/surveys/missing/questions", "/surveys/missing/close"):
        assert (console.post(path, data={"title": ""}, headers=headers).status_code != 403) is taken


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
def test_other_sites_may_link_but_not_embed(
    console: TestClient, site: str, mode: str, status: int
) -> None:
    """A page that only shows something may not be asked for by the scripts of others."""
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
    assert console.get("/", headers=headers).status_code == status


def test_what_is_no_form_is_refused(console: TestClient) -> None:
    """By a page, not as a bug."""
    for path in ("/", "/surveys/canteen/questions"):
        answer = console.post(path, content=b"{}", headers={"Content-Type": "application/json"})
        assert answer.status_code == 422, path


# ---- The program


@contextmanager
def served(folder: Path) -> Iterator[tuple[Client, str]]:
    """A browser that has entered, and the address of the pages, while the program runs."""
    httpx = require("httpx2")
    words = ("run", folder, "--json")
    with Program(*words, errors=folder / "errors") as program:
        home, _, token = program.wait("console")["url"].partition("?token=")
        assert len(token) >= 43
        with httpx.Client(timeout=600, follow_redirects=True) as client:
            client.get(home, params={"token": token}).raise_for_status()
            yield client, home
    assert token not in (folder / "errors").read_text()


SURVEY = """\
id = "canteen"
title = "Canteen"
expected = 60
[policy]
epsilon = 0.8
delta = 1e-6
[trust]
noise = "mixers"
mixers = {}
[[question]]
name = "fair"
type = "yes_no"
text = "Were you treated fairly?"
[[question]]
name = "mood"
type = "scale"
lowest = 1
highest = 5
text = "How is the team?"
[[together]]
questions = ["fair", "mood"]
"""


def test_the_pages_are_there_until_it_is_stopped(tmp_path: Path, golden: Golden) -> None:
    """The address that it prints works; the numbers of a promise come from processes of its own.

    A preview has keys that nobody has, new ones for each survey.
    """
    place = tmp_path / "canteen"
    place.mkdir()
    texts: dict[str, str] = {}
    keys = []

    with served(tmp_path) as (client, home):
        for language in ("en", "de"):
            client.get(home, params={"language": language})
            found = []
            for mixers in (1, 3) if language == "en" else (3,):
                text = SURVEY.format(mixers)
                (place / "survey.toml").write_text(text, encoding="utf-8")
                for task in ("promise", "curve", "more"):
                    answer = client.get(f"{home}surveys/canteen/part/{task}")
                    assert answer.headers["x-state"] == "planned", answer.text
                    found.append(f"== {task}, {mixers} mixers\n{text_of(answer.text)}")
            texts[language] = "\n".join(found)
        page = client.get(f"{home}surveys/canteen/questions").text
        (preview,) = re.findall(r'"/(preview/[^"]*)"', page)
        for mixers in (2, 3):
            (place / "survey.toml").write_text(SURVEY.format(mixers), encoding="utf-8")
            shown = client.get(f"{home}{preview}")
            assert 'name="krand-preview"' in shown.text
            assert shown.headers["content-security-policy"].endswith("frame-ancestors 'self'")
            plan = client.get(f"{home}{preview}plan.json").json()
            keys.append(plan["analyst"]["key"])
            assert len(plan["mixers"]) == mixers
        (place / "survey.toml").write_text(SURVEY, encoding="utf-8")
        wrong = client.get(f"{home}surveys/canteen/part/promise")
        assert wrong.headers["x-state"] == "invalid"
        texts["wrong"] = text_of(wrong.text)
    assert len(set(keys)) == 2
    golden("web/parts.en", texts["en"])
    golden("web/parts.de", f"{texts['de']}\n{texts['wrong']}")
    assert untranslated(texts["de"], texts["en"], SURVEY) == []


SLOW = """\
id = "slow{}"
linkage = "record"
[policy]
epsilon = 2.0
eta = 0.003
minimum_crowd = 1_000_000_000
"""


@pytest.mark.nightly
def test_work_that_takes_too_long_ends_and_the_next_one_is_done(tmp_path: Path) -> None:
    """Twenty at once that would take for ever: all are told, and then the pages work as before."""
    asked = "".join(
        f'[[question]]\nname = "q{n}"\ntype = "yes_no"\ntext = "?"\n' for n in range(999)
    )

    texts = {"canteen": SURVEY.format(1)}
    texts |= {f"slow-{n}": SLOW.format(n) + asked for n in range(20)}
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "survey.toml").write_text(text, encoding="utf-8")
    with served(tmp_path) as (client, home):
        told: list[str] = []
        threads = [
            threading.Thread(
                target=lambda n=n: told.append(
                    client.get(f"{home}surveys/slow-{n}/part/promise").headers["x-state"]
                )
            )
            for n in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert told == ["busy"] * 20
        answer = client.get(f"{home}surveys/canteen/part/promise")
        assert answer.headers["x-state"] == "planned"
