"""What people read: rounded to the safe side, true of where noise was added, never markup."""

from __future__ import annotations

import json
import math
import re
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import pytest

import krand
import steps
import world
from command_line import done, told
from effort import EFFORT
from krand.testing import unsafe_exact_plan, unsafe_simulated_tally

POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def number_in(text: str) -> float:
    """The number that a text for people stands for: 2.182×10⁻²⁴ or 12,345."""
    digits, _, power = text.replace(",", "").rpartition("10") if "⁻" in text else (text, "", "")
    digits = digits.replace(",", "").removesuffix("×") or "1"
    return float(f"{digits}e{power.translate(POWERS) or 0}")


def is_just_above(shown: str, value: float) -> bool:
    """Never below what is proven, and close to it."""
    return value * (1 - 1e-12) <= number_in(shown) <= value * 1.002 + 1e-300


def privacy_of(noise: float, **more: Any) -> tuple[dict[str, Any], str]:
    """What `krand privacy` says to programs, and to people."""
    options = {"crowd": 1000, "bits": 3, "epsilon": 1.0, "noise": noise, **more}
    line = " ".join(f"--{name} {value}" for name, value in options.items())
    return told("privacy", line), " ".join(done("privacy", line).stdout.split())


def test_bounds_are_rounded_up() -> None:
    """Whatever is proven, what is printed promises no more."""
    chance = Random(1)
    for _ in range(12 * EFFORT):
        crowd, epsilon = round(10 ** chance.uniform(1, 6)), round(chance.uniform(0.05, 4), 7)
        noise = round(chance.uniform(0.01, 0.45), 5)
        values, text = privacy_of(noise, crowd=crowd, epsilon=epsilon)
        found = re.search(r"│ ε (\S+) │ │ δ, η at most (\S+), (\S+) │.*\(ε₀ = (\S+)\)", text)
        assert found, text
        names = ("epsilon", "delta", "eta", "local_epsilon")
        for name, shown in zip(names, found.groups(), strict=True):
            value = values[name]
            assert is_just_above(shown, value), f"{name} is {value!r}, shown as {shown}"


@pytest.mark.parametrize(
    ("below", "above", "limit"),
    [("real", "only weak", 1.0), ("only weak", "hardly any", 3.0), ("hardly any", "no", 7.0)],
)
def test_the_words_follow_what_an_attacker_may_be_sure_of(
    below: str, above: str, limit: float
) -> None:
    """From even odds, e^ε₀ makes somebody 73 %, 95 % or 99.9 % sure; there the words change."""
    for local, words in ((limit - 0.01, below), (limit + 0.01, above)):
        _, text = privacy_of(1 / (1 + math.exp(local)), bits=1)
        verb = "is" if words == "no" else "remains"
        there = f"there is {words} protection" if verb == "is" else f"{words} protection remains"
        assert there in text, f"not said of ε₀ = {local}: {there!r}; {text}"


def test_all_rounds_together_are_told(tmp_path: Path) -> None:
    """Where a promise is for a part of the rounds; bounds are added as they are written."""
    text = world.survey_file("weeks").read_text(encoding="utf-8")
    text = text.replace('every = "week"', 'every = "week"\npromise = "round"')
    (tmp_path / "survey.toml").write_text(text, encoding="utf-8")
    said = " ".join(done("plan survey.toml", at=tmp_path).stdout.split())
    assert "in all 6 together ε = 6, δ = 6×10⁻⁶" in said


def test_no_words_are_in_a_promise() -> None:
    """A sentence can be corrected or translated without changing any file."""
    for name in world.NAMES:
        promise = krand.promise_of(world.plan(name))
        for code in (promise.method, *promise.assumptions):
            assert re.fullmatch("[a-z-]+", str(code)), code


# --- where noise was added -----------------------------------------------------------------------

OF_DEVICES = ("sealed message", "What was sent", "shuffler", "collector", "client", "Refused")
"""Words that have no place beside a data holder's table."""


def test_a_table_is_never_said_to_come_from_devices(tmp_path: Path) -> None:
    """Neither on the terminal nor on the page; both say who saw all answers."""
    results = steps.counted(tmp_path, world.responses("tiny"), world.plan_file("tiny"))
    page = told_on_the_page(results, tmp_path)
    terminal = " ".join(
        done(
            f"estimate tally.json --plan {world.plan_file('tiny')} -o again.json", at=tmp_path
        ).stdout.split()
    )
    for text in (page, terminal):
        assert "data holder" in text
        assert not [word for word in OF_DEVICES if word in text]
    assert "saw all" in page
    assert "not against the data holder" in page
    values = json.loads((tmp_path / "results.json").read_bytes())
    assert values["provenance"] == "table"
    assert "data-holder-keeps-secrets" in values["promise"]["assumptions"]
    assert "collector-keeps-secrets" not in values["promise"]["assumptions"]


def test_devices_are_said_to_be_devices() -> None:
    """Through a collector: the sentences that only then are true."""
    page = (steps.example("tiny").at / "report.html").read_text(encoding="utf-8")
    assert "Each device added noise before it sent anything" in page
    assert "sent by itself in a sealed message" in page
    assert "data holder" not in page
    mixed = (steps.example("trio").at / "report.html").read_text(encoding="utf-8")
    assert "Each device added noise" not in mixed


def told_on_the_page(results: krand.Results, folder: Path) -> str:
    """The text of its report, from the beginning of its body."""
    krand.save_report(results, folder / "page.html")
    return (folder / "page.html").read_text(encoding="utf-8").partition("<body")[2]


def test_results_say_who_declared_that_people_are_different(tmp_path: Path) -> None:
    """On the page and in the file."""
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    plan, table = world.plan("tiny"), world.table("tiny")
    for file in files:
        krand.randomize_table(plan, table, file, again=True)
    with pytest.raises(krand.InvalidInput, match="different_people"):
        krand.tally_responses(plan, files)
    tally = krand.tally_responses(plan, files, different_people=True)
    page = told_on_the_page(krand.make_results(plan, tally), tmp_path)
    sentence = "The analyst who counted them declared that the 2 files are about different people"
    assert sentence in page


def test_a_report_is_in_the_surveys_language(tmp_path: Path) -> None:
    """Where there is a catalog: its words, its days and its signs of numbers."""
    text = world.survey_file("tiny").read_text(encoding="utf-8")
    for language, shown in (("en", "en"), ("es", "en"), ("de-AT", "de")):
        lines = f'language = "{language}"\ncloses = 2126-12-04\n'
        plan = unsafe_exact_plan(krand.parse_survey(lines + text))
        tally = unsafe_simulated_tally(plan, world.table("tiny"), seed=1)
        krand.save_report(krand.make_results(plan, tally), tmp_path / f"{language}.html")
        page = (tmp_path / f"{language}.html").read_text(encoding="utf-8")
        found = page.partition('<html lang="')[2].partition('"')[0]
        assert found == shown, f"a page in {found!r}, not {shown!r}, for {language}"
        own, other = ("4. Dezember 2126", "4 December 2126")[:: 1 if shown == "de" else -1]
        assert own in page, f"not on the page in {language}: {own!r}"
        assert other not in page, f"on the page in {language}: {other!r}"
        delta, other_delta = ("δ = 0,01", "δ = 0.01")[:: 1 if shown == "de" else -1]
        said = page.replace("\N{NO-BREAK SPACE}", " ")
        assert delta in said, f"not on the page in {language}: {delta!r}"
        assert other_delta not in said, f"on the page in {language}: {other_delta!r}"


# --- a survey's own words ------------------------------------------------------------------------

TITLE = "Pets & [bold]smoke[/bold] <b>2026</b>"
TITLED = f"""\
title = "{TITLE}"
organiser = "City <i>council</i>"
contact = "pets@example.org"
language = "pt-BR"
closes = 2126-12-04
"""
WHO = (
    "Organiser: City <i>council</i> · Contact: pets@example.org · Last day for answers: 2126-12-04"
)


@pytest.fixture(scope="module")
def titled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A survey with a title that looks like markup."""
    own = world.survey_file("tiny").read_text(encoding="utf-8")
    own = re.sub(r"(?m)^(title|organiser) = .*\n", "", own)
    folder = tmp_path_factory.mktemp("titled")
    (folder / "survey.toml").write_text(TITLED + own, encoding="utf-8")
    return folder


def test_a_title_is_shown_as_it_is(titled: Path) -> None:
    """Brackets are no markup of the terminal, and tags none of a notebook."""
    first, second, *_ = done("plan survey.toml", at=titled).stdout.splitlines()
    assert first == WHO
    assert second.strip() == f"{TITLE} (tiny): expected precision"
    survey = krand.read_survey(titled / "survey.toml")
    for value, head in ((survey, "Survey"), (unsafe_exact_plan(survey), "Plan of")):
        shown = value._repr_html_()
        assert "<b>2026" not in shown
        assert f"{head} {TITLE} (tiny)" in unescape(shown)


def test_a_report_has_the_title_as_its_heading(titled: Path) -> None:
    """With who asks until when; the id is in the annex; all is escaped and in its language."""
    survey = krand.read_survey(titled / "survey.toml")
    plan = unsafe_exact_plan(survey)
    tally = unsafe_simulated_tally(plan, world.table("tiny"), seed=1)
    krand.save_report(krand.make_results(plan, tally), titled / "report.html")
    page = (titled / "report.html").read_text(encoding="utf-8")
    (heading,) = re.findall(r"<h1 dir=\"auto\" lang=\"pt-BR\">(.*?)</h1>", page)
    assert unescape(heading) == TITLE
    assert "<b>" not in heading
    (below,) = re.findall(r'<dl class="about">(.*?)</dl>', page, re.DOTALL)
    rows = re.findall(r'<dt>(.*?)</dt><dd dir="auto">(.*?)</dd>', below)
    assert [(name, unescape(text)) for name, text in rows] == [
        ("Organiser", "City <i>council</i>"),
        ("Contact", "pets@example.org"),
        ("Last day for answers", "4 December 2126"),
    ]
    assert f'<dd class="hash">{survey.id}</dd>' in page.partition('id="annex"')[2]
    text = (titled / "survey.toml").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^(title|organiser|contact|closes) = .*\n", "", text)
    bare = unsafe_exact_plan(krand.parse_survey(text))
    again = unsafe_simulated_tally(bare, world.table("tiny"), seed=1)
    krand.save_report(krand.make_results(bare, again), titled / "bare.html")
    bare_page = (titled / "bare.html").read_text(encoding="utf-8")
    assert re.search(r'<h1 dir="auto"[^>]*>tiny</h1>', bare_page)
    assert '<dl class="about">' not in bare_page
