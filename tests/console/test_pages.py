"""The console's pages: from a title to a published survey, and what they refuse."""

from __future__ import annotations

import re
from datetime import date, timedelta
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from krand.collector.closing import close_batch
from krand.collector.opening import open_spool
from krand.console.folder import FILE, Changed, Place, Stage, Surveys
from krand.errors import InvalidInput
from krand.site.checks import publish
from krand.site.making import folder_of
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan
from krand.survey.survey_folder import SurveyFolder

if TYPE_CHECKING:
    from starlette.testclient import TestClient


def base_in(page: str) -> str:
    found = re.search(r'name="base" value="([0-9a-f]{64})"', page)
    assert found is not None
    return found[1]


def one_question(page: str, text: str = "Do you smoke?", **more: str) -> dict[str, str]:
    """What a browser sends for a survey with one question."""
    return {"base": base_in(page), "title": "Habits", "q1_kind": "yes_no", "q1_text": text, **more}


def test_a_title_becomes_a_folder_with_a_survey(console: TestClient, tmp_path: Path) -> None:
    """And opens the editor; the same title again is another survey."""
    assert "There are no surveys yet" in console.get("/").text
    for name in ("habits", "habits-2"):
        page = console.post("/", data={"title": "Habits"})
        assert page.url.path == f"/surveys/{name}/questions"
        assert 'value="Habits"' in page.text
        assert (tmp_path / name / FILE).is_file()
    listed = console.get("/").text
    assert listed.count(">Habits</a>") == 2
    assert console.get("/surveys/..%2fsecret/questions").status_code == 404
    assert console.get("/surveys/nobody").status_code == 404


@pytest.mark.parametrize(
    "title", ["t" * 300, "نعم 🐕 <b>", "…"], ids=["long", "signs", "no letter"]
)
def test_any_title_can_begin(console: TestClient, tmp_path: Path, title: str) -> None:
    """It is escaped, and every page comes."""
    page = console.post("/", data={"title": title})
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    for step in ("questions", "promise", "partners", "publish", "watch", "results"):
        answer = console.get(f"/surveys/{folder.name}/{step}")
        assert answer.status_code == 200
        assert "<b>" not in re.sub(r"<textarea.*?</textarea>", "", answer.text, flags=re.DOTALL)
    assert title in unescape(page.text)


def test_what_is_written_becomes_the_file(console: TestClient, tmp_path: Path) -> None:
    """By the form, by its buttons, and as text; mistakes are told by labels."""
    page = console.post("/", data={"title": "Habits"}).text
    assert "Question 1, Text" in page
    place = "/surveys/habits/questions"
    page = console.post(place, data=one_question(page)).text
    assert "to complete" not in page
    page = console.post(place, data=one_question(page, do="add:choice")).text
    assert "Question 2, Options" in unescape(page)
    text = (tmp_path / "habits" / FILE).read_text(encoding="utf-8")
    assert 'type = "choice"' in text
    changed = text.replace("choices = []", 'choices = ["a", "b"]').replace(
        'text = ""', 'text = "B?"'
    )
    page = console.post(
        "/surveys/habits/text", data={"base": base_in(page), "survey": changed}
    ).text
    assert ">\na\nb</textarea>" in page
    broken = console.post("/surveys/habits/text", data={"base": base_in(page), "survey": "= 1"})
    assert "only be changed as text" in broken.text


def test_the_second_writer_is_told(console: TestClient, tmp_path: Path) -> None:
    """Nothing is written; the script is told apart from people; whoever insists may."""
    page = console.post("/", data={"title": "Habits"}).text
    place, older = "/surveys/habits/questions", one_question(page, "Older?")
    console.post(place, data=one_question(page, "Newer?"))
    refused = console.post(place, data=older)
    assert refused.status_code == 409
    assert "what you wrote is still there" in refused.text
    part = console.post(f"{place}?part", data=older)
    assert (part.status_code, part.json()["state"]) == (409, "changed")
    assert "Newer?" in (tmp_path / "habits" / FILE).read_text(encoding="utf-8")
    part = console.post(f"{place}?part", data={**older, "do": "over"})
    assert part.json()["state"] == "saved"
    assert "Older?" in part.json()["text"]


def test_a_published_survey_cannot_be_edited(console: TestClient, tmp_path: Path) -> None:
    """Whatever its page says."""
    page = console.post("/", data={"title": "Habits"}).text
    form = one_question(page)
    (tmp_path / "habits" / "survey.krand").mkdir()
    answer = console.post("/surveys/habits/questions", data=form)
    assert answer.status_code == 422
    assert "cannot be edited" in answer.text
    assert "cannot be changed any more" in console.get("/surveys/habits/questions").text


def test_only_what_is_whole_and_confirmed_is_published(
    console: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question without a text would be published under its name."""
    served: list[Place] = []
    monkeypatch.setattr(
        "krand.console.running.Keeping.serve", lambda _, place: served.append(place)
    )
    page = console.post("/", data={"title": "Habits"}).text
    place = "/surveys/habits/publish"
    assert "must be complete" in console.post(place, data={"yes": "yes"}).text
    console.post("/surveys/habits/questions", data=one_question(page))
    assert "must be ticked" in console.post(place, data={"count": ""}).text
    assert not served
    assert console.post(place, data={"yes": "yes"}).is_success
    assert [each.name for each in served] == ["habits"]


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("promise", {"chosen": "2", "expected": "30", "noise": "mixers", "delta": "1e-6"}),
        ("partners", {"closes": "2126-12-24"}),
    ],
)
def test_other_steps_write_the_same_file(
    console: TestClient, tmp_path: Path, path: str, data: dict[str, str]
) -> None:
    """Each its own part of it."""
    page = console.post("/", data={"title": "Habits"}).text
    console.post(f"/surveys/habits/{path}?part", data={"base": base_in(page), **data})
    text = (tmp_path / "habits" / FILE).read_text(encoding="utf-8")
    assert {"promise": "epsilon = 2", "partners": 'closes = "2126-12-24"'}[path] in text


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"addresses": "ftp://x"}, "address"),
        ({"addresses": "http://mixer.example"}, "https://"),
        ({"addresses": "\n".join(["https://127.0.0.1:1"] * 9)}, "at most 8"),
    ],
)
def test_addresses_that_cannot_be_are_refused(
    console: TestClient, data: dict[str, str], words: str
) -> None:
    """In words, and nothing is written."""
    console.post("/", data={"title": "Habits"})
    answer = console.post("/surveys/habits/partners", data=data)
    assert answer.status_code == 422
    assert words in answer.text


def test_the_folder_writes_only_what_nobody_else_changed(tmp_path: Path) -> None:
    """Compare and swap, by the file's hash."""
    place = Surveys(tmp_path).make("A survey")
    first = place.read()
    second = place.write(f"{first.text}# more\n", first.base)
    with pytest.raises(Changed):
        place.write("id = 1", first.base)
    assert place.read() == second
    assert place.stage is Stage.DRAFT
    with pytest.raises(InvalidInput, match="at most"):
        place.write("#" * 2**21, None)
    assert Place(tmp_path / FILE, "missing", tmp_path).title == "missing"


def a_schedule(console: TestClient, at: Path) -> tuple[Place, SurveyFolder, Plan]:
    """A published survey of four weeks, in the third one."""
    console.post("/", data={"title": "App"})
    place = Surveys(at).place("app")
    assert place is not None
    starts = date.today() - timedelta(days=15)
    place.file.write_text(
        'id = "app"\nrounds = 4\n[policy]\nepsilon = 1.0\ndelta = 1e-6\n'
        '[trust]\nnoise = "mixers"\n'
        f'[schedule]\nevery = "week"\nstarts = {starts.isoformat()}\n'
        '[[question]]\nname = "fair"\ntype = "yes_no"\n',
        encoding="utf-8",
    )
    folder = folder_of(place.file)
    plan = read_plan(folder.plan)
    publish(folder, plan)
    return place, folder, plan


def test_the_rounds_of_a_schedule_are_read_while_it_is_open(
    console: TestClient, tmp_path: Path
) -> None:
    """The report of the last round that was counted, and the trend of all of them."""
    place, folder, _ = a_schedule(console, tmp_path)
    assert place.stage is Stage.OPEN
    assert "Results come when" in console.get("/surveys/app/results").text
    folder.analyst.mkdir(exist_ok=True)
    for number in (1, 2):
        folder.spool(number).mkdir(parents=True)
        (folder.spool(number) / "spool.sqlite").touch()
        for name in ("report.html", "results.json"):
            folder.results(name, number, 4).write_text(f"{name} of {number}", encoding="utf-8")
    (folder.analyst / "trend.html").write_text("both", encoding="utf-8")
    assert place.stage is Stage.OPEN
    page = console.get("/surveys/app/results").text
    assert "The next one comes by itself" in page
    for path, said in (
        ("report", "report.html of 2"),
        ("trend", "both"),
        ("files/trend.html", "both"),
    ):
        assert f'href="/surveys/app/{path}"' in page
        assert console.get(f"/surveys/app/{path}").text == said


def test_the_page_of_a_schedule_is_about_its_open_round(
    console: TestClient, tmp_path: Path
) -> None:
    """Which it is, until when; closing it ends neither the survey nor the schedule."""
    _, folder, plan = a_schedule(console, tmp_path)
    ends = date.today() + timedelta(days=6)
    with open_spool(plan, folder.spool(3), 3) as store:
        page = console.get("/surveys/app/watch").text
        assert f"Round 3 of 4 ends on {ends} 00:00 UTC." in page
        assert "Close the round early" in page
        assert "Close the survey" not in page
        assert "Nobody can answer any more" not in page
        close_batch(store, erase=True)
    assert "Round 3 is closed." in console.get("/surveys/app/watch/now").text


def test_pages_come_while_the_spool_is_being_made(console: TestClient, tmp_path: Path) -> None:
    """The collector has made the file, and not yet its tables."""

    console.post("/", data={"title": "App"})
    place = Surveys(tmp_path).place("app")
    assert place is not None
    place.file.write_text(place.read().text.replace('text = ""', 'text = "Fair?"'), "utf-8")
    folder = folder_of(place.file)
    publish(folder, read_plan(folder.plan))
    folder.spool(1).mkdir(parents=True)
    (folder.spool(1) / "spool.sqlite").touch()
    assert place.stage is Stage.OPEN
    for page in ("publish/now", "watch/now", "results/now", "watch"):
        assert console.get(f"/surveys/app/{page}").status_code == 200


def test_a_survey_that_nobody_answered_has_an_end(console: TestClient, tmp_path: Path) -> None:
    """No page waits for its report."""

    console.post("/", data={"title": "App"})
    place = Surveys(tmp_path).place("app")
    assert place is not None
    place.file.write_text(place.read().text.replace('text = ""', 'text = "Fair?"'), "utf-8")
    folder = folder_of(place.file)
    plan = read_plan(folder.plan)
    publish(folder, plan)
    with open_spool(plan, folder.spool(1), 1) as store:
        store.close_batch(erase=True)
    assert place.stage is Stage.EMPTY
    assert "has no results" in console.get("/surveys/app/results").text
    assert "Start it again" not in console.get("/surveys/app/watch").text
