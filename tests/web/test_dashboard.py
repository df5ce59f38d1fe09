"""The pages: nothing without the token. The dashboard: numbers as coarse as the collector's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from collecting import exact_plan, serving, submitted
from components import require
from krand.collector.opening import config_of, open_spool
from krand.collector.progress import coarse, step_for
from krand.collector.release import release_batch
from krand.collector.sqlite.batches import BatchTable, batches_in
from krand.collector.sqlite.high_water_mark import Progress
from krand.collector.sqlite.spool import Spool
from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.plan import Plan
from krand.web.watching import Watched, crowd_of, watched
from krand.wire.keys import generate_signing_key
from web.conftest import BASE, COOKIE, TOKEN
from web.reading import value_of

if TYPE_CHECKING:
    from starlette.testclient import TestClient


CROWD = 2_000
WAITING = 733


@pytest.fixture(scope="module")
def plan() -> Plan:
    return exact_plan(CROWD, Linkage.BIT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, plan: Plan) -> Path:
    """A collector's folder: one batch is released, one is sealed, one is open."""
    at = tmp_path_factory.mktemp("collector")
    shape = config_of(plan).format
    people = [submitted(number, shape) for number in range(2 * CROWD + WAITING)]
    with open_spool(plan, at / "spool") as spool:
        spool.add(people)
        release_batch(spool, spool.batches()[0], at / "out", generate_signing_key())
    (at / "results").mkdir()
    (at / "plan.json").write_bytes(plan.bytes)
    return at


@contextmanager
def pages(watch: Watched, folder: Path) -> Iterator[TestClient]:
    require("starlette")
    require("uvicorn")
    require("httpx2")
    from starlette.testclient import TestClient

    from krand.console.app import make_app
    from krand.web.access import Address

    app = make_app(Address("127.0.0.1", 8090, TOKEN), folder, watch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("krand.console.app._ready", _nothing)
        with TestClient(app, base_url=BASE, follow_redirects=False) as client:
            yield client


async def _nothing(_: object) -> None:
    """These tests do not plan."""


@pytest.fixture(scope="module")
def dashboard(folder: Path, plan: Plan) -> Iterator[TestClient]:
    with pages(
        Watched(plan=plan, spool=folder / "spool", results=folder / "results"), folder
    ) as client:
        yield client


@pytest.fixture
def stranger(dashboard: TestClient) -> TestClient:
    dashboard.cookies.clear()
    return dashboard


@pytest.fixture
def owner(dashboard: TestClient) -> TestClient:
    dashboard.cookies.clear()
    dashboard.cookies.set(COOKIE, TOKEN)
    return dashboard


PATHS = ["/", "/numbers", "/collector", "/collector/part", "/collector/results/results.json"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("given", ["", "?token=", "?token=wrong", f"?token={TOKEN}x"])
def test_without_the_token_nothing_is_told(
    stranger: TestClient, plan: Plan, path: str, given: str
) -> None:
    """401 and how to get in; no word about the survey, and no cookie."""
    answer = stranger.get(f"{path}{given}")
    assert answer.status_code == 401
    assert "<h1>These pages need their token</h1>" in answer.text
    assert not re.search("<(table|progress|section)", answer.text)
    for secret in (plan.survey.id, plan.hash, f"{CROWD}", "2,000", "results.json", TOKEN):
        assert secret not in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("cookie", ["", "wrong", TOKEN[:-1], TOKEN + "x"])
def test_a_wrong_cookie_is_no_token(stranger: TestClient, cookie: str) -> None:
    """As little as none."""
    stranger.cookies.set(COOKIE, cookie)
    assert stranger.get("/collector").status_code == 401
    stranger.cookies.clear()
    stranger.cookies.set("krand-token-8091", TOKEN)
    assert stranger.get("/collector").status_code == 401


def test_the_token_becomes_a_cookie_and_leaves_the_address(stranger: TestClient) -> None:
    """Out of reach of scripts and of other sites."""
    for answer in (
        stranger.get("/collector", params={"token": TOKEN}),
        stranger.post("/collector?enter", data={"token": f" {TOKEN} "}),
    ):
        assert (answer.status_code, answer.headers["location"]) == (303, "/collector")
        first, *rest = answer.headers["set-cookie"].split("; ")
        assert first == f"{COOKIE}={TOKEN}"
        assert {part.lower() for part in rest} == {"httponly", "path=/", "samesite=strict"}
    assert stranger.get("/collector").status_code == 200
    again = stranger.get("/collector", params={"token": TOKEN})
    assert (again.status_code, again.headers["location"]) == (303, "/collector")


def test_a_wrong_token_in_the_form_is_refused(stranger: TestClient) -> None:
    """And a form from another site is not even read."""
    answer = stranger.post("/collector", data={"token": "wrong"})
    assert answer.status_code == 401
    assert 'id="wrong-token"' in answer.text
    headers = {"Origin": "http://evil.example"}
    answer = stranger.post("/collector", data={"token": TOKEN}, headers=headers)
    assert answer.status_code == 403


def test_numbers_are_the_spools_and_coarse(owner: TestClient, folder: Path, plan: Plan) -> None:
    """The open batch in whole steps, the others exactly; batches and their states."""
    page = owner.get("/collector")
    assert page.status_code == 200
    step = step_for(CROWD)
    with open_spool(plan, folder / "spool") as spool:
        batches = spool.batches()
    assert value_of(page.text, "needed") == CROWD
    assert value_of(page.text, "gathered") == coarse(batches[-1].people, step) == 720
    assert value_of(page.text, "step") == step == 20
    assert f'max="{CROWD}" value="720"' in page.text
    for state in ("open", "sealed", "released"):
        assert value_of(page.text, f"count-{state}") == 1
    rows = re.findall(
        r'data-batch="(\d+)" data-state="(\w+)".*?data-value="(\d+)"', page.text, re.DOTALL
    )
    expected = [(str(b.number), b.state.value, "2000") for b in reversed(batches)]
    assert rows == [("3", "open", "720"), *expected[1:]]
    assert str(batches[0].sha256) in page.text
    for fine in ("733", "1466", "4733"):
        assert fine not in page.text
    assert owner.get("/collector/part").text in page.text


def test_without_a_script_the_page_loads_itself_again(owner: TestClient) -> None:
    """And there is a link for those who do not want to wait."""
    page = owner.get("/collector").text
    assert re.search(r'<noscript><meta http-equiv="refresh" content="\d+"></noscript>', page)
    assert 'id="reload" href="/collector"' in page


def test_looking_does_not_disturb_a_collector(
    tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it is open and writing, its files stay as they are, and it can do everything."""
    shape = config_of(plan).format
    watch = Watched(plan=plan, spool=tmp_path / "spool")
    with open_spool(plan, tmp_path / "spool") as spool:
        spool.add([submitted(1, shape)])
        before = {path.name: path.read_bytes() for path in spool.folder.glob("spool.sqlite*")}
        before.pop("spool.sqlite-shm")  # where readers note that they read
        with monkeypatch.context() as patch:
            patch.setattr(Spool, "__init__", None)  # opening it as its owner is out of the question
            assert crowd_of(watch).gathered == 0
        after = {name: (spool.folder / name).read_bytes() for name in before}
        assert after == before
        spool.add([submitted(number, shape) for number in range(2, 42)])
        assert crowd_of(watch).gathered == 40
        assert spool.settle()
    assert crowd_of(watch).gathered == 40


def test_a_reader_cannot_write(tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever bug there may be, the spool is out of its reach."""
    open_spool(plan, tmp_path / "spool").close()
    monkeypatch.setattr(BatchTable, "exists", lambda table: table.begin(2))
    with pytest.raises(InvalidInput, match="readonly"):
        batches_in(tmp_path / "spool" / "spool.sqlite", config_of(plan))


def test_a_spool_that_is_missing_foreign_or_damaged_is_told(tmp_path: Path, plan: Plan) -> None:
    """On the page, in krand's words; the page itself is fine."""
    other = exact_plan(CROWD, Linkage.RECORD)
    open_spool(other, tmp_path / "other").close()
    open_spool(plan, tmp_path / "lost").close()
    (tmp_path / "lost" / "spool.mark").write_bytes(Progress(9, 0).line())
    open_spool(plan, tmp_path / "changed").close()
    (tmp_path / "changed" / "spool.mark").write_bytes(b"krand-mark-1 people 9")
    for name, words in (
        ("missing", "must be a collector’s folder"),
        ("other", "must be of plan"),
        ("lost", "spool.mark records 9"),
        ("changed", "spool.mark was changed"),
    ):
        with pages(Watched(plan=plan, spool=tmp_path / name), tmp_path) as client:
            client.cookies.set(COOKIE, TOKEN)
            answer = client.get("/collector")
            assert answer.status_code == 200
            assert words in answer.text
            assert 'id="gathered"' not in answer.text


def test_whether_the_collector_answers(tmp_path: Path, plan: Plan) -> None:
    """Ready while it runs, silent after."""
    spool = open_spool(plan, tmp_path / "spool")
    with serving(spool) as port:
        watch = watched(
            _written(tmp_path, plan), tmp_path / "spool", collector=f"http://127.0.0.1:{port}"
        )
        with pages(watch, tmp_path) as client:
            client.cookies.set(COOKIE, TOKEN)
            text = client.get("/collector").text
    assert 'id="collector" data-state="ready"' in text
    with pages(watch, tmp_path) as client:
        client.cookies.set(COOKIE, TOKEN)
        assert 'id="collector" data-state="silent"' in client.get("/collector").text


def _written(folder: Path, plan: Plan) -> Path:
    path = folder / "plan.json"
    path.write_bytes(plan.bytes)
    return path


def test_results_are_listed_and_shown(
    owner: TestClient, folder: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results files only, this plan's and others'; what is no name in the folder is not found."""
    monkeypatch.setattr("krand.web.dashboard.LOOK_SECONDS", 0.0)
    results = folder / "results"
    assert "There are no results yet" in owner.get("/collector").text
    values = {
        "format": "krand-results-2",
        "plan_hash": plan.hash,
        "plan": plan.values(),
        "people": CROWD,
    }
    (results / "results <1>.json").write_text(json.dumps(values), encoding="utf-8")
    other = {**values, "plan_hash": "0" * 64}
    (results / "other.json").write_text(json.dumps(other), encoding="utf-8")
    for name, content in (("notes.json", "{}"), ("broken.json", "{"), ("results.txt", "{}")):
        (results / name).write_text(content, encoding="utf-8")
    (folder / "secret.json").write_text(json.dumps(values), encoding="utf-8")
    text = owner.get("/collector").text
    found = re.findall(r'data-results="([^"]*)"><a href="([^"]*)"', text)
    assert found == [
        ("other.json", "/collector/results/other.json"),
        ("results &lt;1&gt;.json", "/collector/results/results%20%3C1%3E.json"),
    ]
    assert text.count("of another plan") == 1
    for name in ("..%2Fsecret.json", "../secret.json", "notes.json", "%2e%2e%2fsecret.json", "x"):
        assert owner.get(f"/collector/results/{name}").status_code == 404


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"plan_file": "plan.json"}, "plan"),
        ({"spool": "spool"}, "spool"),
        ({"results": "results"}, "results"),
        ({"collector": "http://127.0.0.1"}, "collector"),
        ({"plan_file": "missing.json", "spool": "spool"}, "plan"),
        ({"plan_file": "plan.json", "spool": "spool", "results": "missing"}, "results"),
        ({"plan_file": "plan.json", "spool": "spool", "collector": "ftp://x"}, "collector"),
        ({"plan_file": "plan.json", "spool": "spool", "collector": "http://x/?a=b"}, "collector"),
        ({"plan_file": "plan.json", "spool": "spool", "collector": "http://[x"}, "collector"),
        ({"plan_file": "plan.json", "spool": "spool", "round_number": 2}, "round"),
    ],
)
def test_what_cannot_be_watched_is_refused(
    folder: Path, options: dict[str, object], field: str
) -> None:
    """Before anything is started; the refusal names the option."""
    for name in ("plan_file", "spool", "results"):
        if name in options:
            options = {**options, name: folder / str(options[name])}
    values = {"plan_file": None, "spool": None, **options}
    with pytest.raises(InvalidInput) as refused:
        watched(**values)  # type: ignore[arg-type]
    assert refused.value.field == field
    assert watched(None, None) is None
