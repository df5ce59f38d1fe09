"""What is said about a result follows where its answers became noisy, in every form of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import krand as api
from command_line import done, refused, run
from krand.analysis.checks import Check, State
from krand.analysis.results import make_results
from krand.analysis.results_table import flat_table
from krand.analysis.tally import Tally, read_tally
from krand.analysis.tally_checks import manifests_check, provenance_check
from krand.batches.provenance import Provenance
from krand.cli.result_tables import remarks
from krand.report import report_page
from krand.testing import (
    FakeCollector,
    UnsafeMemoryLedger,
    simulated_people,
    simulated_table,
    small_plan,
)
from krand.wire.keys import public_key_pem

KEY = api.generate_private_key()
PLAN = small_plan().sealed_for(KEY.public_key())
OF_DEVICES = ("device", "sealed message", "What was sent", "shuffler", "collector", "client")
OF_DEVICES += ("Refused",)
"""Words that have no place beside a data holder's table."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan, a table of answers, and everything that comes of it on the command line."""
    at = tmp_path_factory.mktemp("table")
    (at / "plan.json").write_bytes(PLAN.bytes)
    rows = ["yes,cat"] * 60 + ["no,dog"] * 40
    (at / "a.csv").write_text("smokes,pet\n" + "\n".join(rows), encoding="utf-8")
    done("randomize a.csv --plan plan.json -o r.parquet", at=at)
    done("tally r.parquet --plan plan.json -o tally.json", at=at)
    estimated = done("estimate tally.json --plan plan.json -o results.json", at=at)
    (at / "estimate.txt").write_text(estimated.output, encoding="utf-8")
    done("report results.json -o report.html", at=at)
    return at


@pytest.fixture(scope="module")
def devices(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tally, FakeCollector]:
    """The tally of a hundred devices, and their collector."""
    folder = tmp_path_factory.mktemp("devices")
    collector = FakeCollector(PLAN)
    for answers in simulated_people(PLAN.survey, 100, seed=1):
        given = {"transport": collector, "expected_hash": PLAN.hash}
        api.Client(PLAN, UnsafeMemoryLedger(), **given).submit(collector.url, answers)
    batch = collector.release(folder)
    return api.tally_batches(PLAN, [batch], KEY, collector.public_key), collector


def test_a_table_is_never_said_to_come_from_devices(place: Path) -> None:
    """Neither on the terminal nor on the page; both say who saw all answers."""
    page = (place / "report.html").read_text(encoding="utf-8")
    terminal = (place / "estimate.txt").read_text(encoding="utf-8")
    told = page[page.index("<main") :] if "<main" in page else page[page.index("<body") :]
    for text in (told, terminal):
        assert "data holder" in text
        assert [word for word in OF_DEVICES if word in text] == []
    assert "saw all" in page
    assert "not about the data holder" in " ".join(terminal.split())
    assert "not against the data holder" in page


def test_files_carry_a_code(place: Path) -> None:
    """The tally, the results, and every row of a flat table."""
    for name in ("tally.json", "results.json"):
        assert json.loads((place / name).read_bytes())["provenance"] == "table"
    results = make_results(PLAN, api.tally_responses(PLAN, [place / "r.parquet"]))
    assert set(flat_table(results).column("provenance").to_pylist()) == {"table"}
    rests_on = json.loads((place / "results.json").read_bytes())["promise"]["assumptions"]
    assert "data-holder-keeps-secrets" in rests_on
    assert "collector-keeps-secrets" not in rests_on


def test_devices_are_said_to_be_devices(devices: tuple[Tally, FakeCollector]) -> None:
    """Through a collector: the sentences that only then are true."""
    tally, _ = devices
    results = make_results(PLAN, tally)
    page = report_page(results)
    assert "Each device added noise before it sent anything" in page
    assert "sent by itself in a sealed message" in page
    assert "data holder" not in page
    assert "collector and analyst" in " ".join(remarks(results))


def test_results_say_who_declared_that_people_are_different(tmp_path: Path) -> None:
    """On the terminal, on the page, in the file."""
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    table = simulated_table(PLAN.survey, 100, seed=1)
    for file in files:
        api.randomize_table(PLAN, table, file, again=True)
    results = make_results(PLAN, api.tally_responses(PLAN, files, different_people=True))
    assert results.values()["different_people"] is True
    sentence = "The analyst who counted them declared that the 2 files are about different people"
    assert sentence in " ".join(remarks(results))
    assert sentence in report_page(results)


def check_of(name: str, *words: object) -> dict[str, str]:
    """The states of the checks of that name in all files."""
    found = json.loads(run("verify", *words, "--json").stdout)
    return {
        Path(file["file"]).name: entry["state"]
        for file in found["files"]
        for entry in file["checks"]
        if entry["name"] == name
    }


def test_another_provenance_than_the_tally_has_fails(place: Path, tmp_path: Path) -> None:
    """Results that claim devices for a table."""
    values = json.loads((place / "results.json").read_bytes())
    edited = tmp_path / "edited.json"
    edited.write_text(json.dumps({**values, "provenance": "devices"}), encoding="utf-8")
    plan, tally = place / "plan.json", place / "tally.json"
    assert check_of("from_tally", plan, tally, edited) == {"edited.json": "failed"}
    assert check_of("from_tally", plan, tally, place / "results.json") == {"results.json": "passed"}


Edit = Callable[[Tally], Tally]


@pytest.mark.parametrize(
    ("edit", "failing"),
    [
        (lambda t: replace(t, provenance=Provenance.DEVICES), manifests_check),
        (lambda t: replace(t, ids=()), provenance_check),
        (lambda t: replace(t, ids=("x",)), provenance_check),
        (lambda t: replace(t, nulls=5), provenance_check),
        (lambda t: replace(t, different_people=True), provenance_check),
        (lambda t: replace(t, batches=(*t.batches, "ab" * 32)), provenance_check),
        (lambda t: replace(t, batches=t.batches * 2, ids=t.ids * 2), provenance_check),
    ],
    ids=["devices", "no id", "odd id", "nulls", "a word for one file", "two files", "twice"],
)
def test_a_tally_of_a_table_that_was_edited_fails(
    edit: Edit, failing: Callable[..., Check], place: Path
) -> None:
    """'devices' needs sealed batches with signed manifests; a table has no messages."""
    tally = read_tally(place / "tally.json")
    assert provenance_check(tally, None).state is State.NOT_CHECKED  # its holder's word
    assert failing(edit(tally), None).state is State.FAILED


@pytest.mark.parametrize(
    "edit",
    [
        lambda t: replace(t, people=t.people - 1),
        lambda t: replace(t, manifests=()),
        lambda t: replace(t, manifests=t.manifests * 2),
        lambda t: replace(t, ids=("ab" * 16,)),
        lambda t: replace(t, nulls=t.nulls + 1),
        lambda t: replace(t, rejected={}),
        lambda t: replace(t, manifests=(t.manifests[0].replace('"round":1', '"round":2'),)),
        lambda t: replace(t, manifests=("{}",)),
    ],
    ids=["people", "none", "twice", "id", "nulls", "refused", "round", "no manifest"],
)
def test_a_tally_of_devices_is_held_against_what_the_collector_signed(
    edit: Edit, devices: tuple[Tally, FakeCollector]
) -> None:
    """With or without the collector's key."""
    tally, collector = devices
    counted = replace(tally, nulls=tally.nulls - 1, rejected={"wrong_length": 1})
    for key in (None, collector.public_key):
        expected = State.NOT_CHECKED if key is None else State.PASSED
        assert manifests_check(counted, key).state is expected
        assert manifests_check(edit(counted), key).state is State.FAILED


def test_another_collectors_signature_is_found(
    devices: tuple[Tally, FakeCollector], tmp_path: Path
) -> None:
    """Only with the key can a signature be told from another one."""
    tally, _ = devices
    (tmp_path / "plan.json").write_bytes(PLAN.bytes)
    (tmp_path / "c.pem").write_bytes(public_key_pem(api.generate_signing_key().public_key()))
    tally.save(tmp_path / "t.json")
    files = (tmp_path / "t.json", "--plan", tmp_path / "plan.json")
    assert check_of("manifests", *files) == {"t.json": "not_checked"}
    assert check_of("manifests", *files, "--collector-key", tmp_path / "c.pem") == {
        "t.json": "failed"
    }


def test_the_command_line_declares_what_python_does(place: Path, tmp_path: Path) -> None:
    """A second run, its way out, and two runs that are counted together."""
    randomize = ("randomize", place / "a.csv", "--plan", place / "plan.json")
    done(*randomize, "-o 1.parquet", "--again", at=tmp_path)
    assert "--again" in refused(*randomize, "-o 2.parquet", at=tmp_path)["message"]
    done(*randomize, "-o 2.parquet", "--again", at=tmp_path)
    tally = ("tally 1.parquet 2.parquet -o t.json --plan", place / "plan.json")
    assert "--different-people" in refused(*tally, at=tmp_path)["message"]
    assert not (tmp_path / "t.json").exists()
    counted = done(*tally, "--different-people", at=tmp_path).output
    assert "The analyst who counted them declared" in " ".join(counted.split())
    assert read_tally(tmp_path / "t.json").different_people
