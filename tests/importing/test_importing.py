"""Questionnaires of other tools: what they ask is asked, and whatever is lost is named.

The table is the golden text importing/forms: under each form (see forms.py) stand the questions
that it becomes, and what is said about what is lost.
"""

from __future__ import annotations

import contextlib
import random
import re
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

import krand
from command_line import done, refused, told
from components import require
from golden import FOLDER, Golden
from importing.forms import xlsform

require("openpyxl")
require("defusedxml")
KEPT = "select_one yn | kept\n"


def test_every_form_becomes_questions_or_remarks(golden: Golden, tmp_path: Path) -> None:
    """krand's own reader accepts what is written; it says the same as the value."""
    kept = (FOLDER / "importing" / "forms.txt").read_text(encoding="utf-8")
    found = []
    for part in re.split(r"(?m)^==\n", kept):
        text = "".join(line for line in part.splitlines(True) if not line.startswith("> "))
        found.append(text + "".join(f"> {line}\n" for line in imported(xlsform(tmp_path, text))))
    assert len(found) > 60
    golden("importing/forms", "==\n".join(found))


def imported(path: Path) -> list[str]:
    """The survey file without its promise, and all remarks; or why there is none."""
    try:
        made = krand.import_survey(path)
    except krand.InvalidInput as error:
        return str(error).splitlines()
    assert krand.parse_survey(made.text) == made.survey
    assert all(f"#   {remark}" in made.text for remark in made.remarks)
    own = re.sub(r"(?s)\n\[(policy|trust)\]\n.*?(?=\n\[|\Z)", "", made.text)
    lines = [line for line in own.splitlines() if line and not line.startswith("#")]
    lost = [f"left out: {remark}" for remark in made.left_out]
    return [*lines, *lost, *(f"changed: {remark}" for remark in made.changed)]


def test_the_command_imports_and_the_survey_can_be_planned(tmp_path: Path) -> None:
    """What was left out is on stderr; programs read it as values; an old file stays."""
    path = xlsform(tmp_path, "<gates>\nselect_one fruit | q | relevant=${yes} = '1'\n")
    result = done("import form.xlsx -o survey.toml --epsilon 2", at=tmp_path)
    assert "left out: survey, row 6, name: free text" in result.stderr
    assert result.stdout == "5 questions, 1 left out, 1 to look at.\nWritten: survey.toml\n"
    made = krand.import_survey(path, epsilon=2)
    assert (tmp_path / "survey.toml").read_text(encoding="utf-8") == made.text
    assert made.survey.policy.epsilon == 2
    values = told("import form.xlsx -o other.toml --noise-of devices --crowd 5000", at=tmp_path)
    assert values["questions"] == ["yes", "one", "several", "age", "q"]
    assert [each["left_out"] for each in values["remarks"]] == [False, True]
    assert krand.read_survey(tmp_path / "other.toml").policy.minimum_crowd == 5000
    assert "must not exist yet" in refused("import form.xlsx -o other.toml", at=tmp_path)["rule"]
    problem = refused("import form.xlsx -o new.toml --noise-of devices", at=tmp_path)
    assert "minimum_crowd" in problem["problems"][0]["path"]


@pytest.mark.parametrize(
    ("name", "content", "rule"),
    [
        ("a.xlsx", b"PK\x03\x04", "must be an Excel workbook"),
        ("a.xls", b"", "must be an XLSForm, which ends in .xlsx"),
        ("a.lss", b"", "must be an XLSForm, which ends in .xlsx"),
        ("absent.xlsx", None, "must be a file"),
    ],
)
def test_files_that_are_no_questionnaires(
    name: str, content: bytes | None, rule: str, tmp_path: Path
) -> None:
    """Each is refused with a remedy, before anything is written."""
    if content is not None:
        (tmp_path / name).write_bytes(content)
    found = refused("import", name, "-o survey.toml", at=tmp_path)
    assert (found["field"], found["hint"] != "") == ("questionnaire", True)
    assert rule in found["rule"]
    assert not (tmp_path / "survey.toml").exists()


@pytest.mark.parametrize("component", ["openpyxl", "defusedxml"])
def test_a_missing_component_is_named(
    component: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = xlsform(tmp_path, KEPT)
    monkeypatch.setitem(sys.modules, component, None)
    with pytest.raises(krand.MissingComponent, match=rf"{component} is not installed.*krand\[ex"):
        krand.import_survey(path)


SHEET = "xl/worksheets/sheet1.xml"
MAIN = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
HOSTILE: dict[str, tuple[str, bytes, str]] = {
    "macros": ("xl/vbaProject.bin", b"", "must not contain macros"),
    "entities": (
        SHEET,
        b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaa">]><x>&a;</x>',
        "EntitiesForbidden",
    ),
    "no XML": (SHEET, b"<", "must be an Excel workbook"),
    "another thing": (SHEET, b"<a/>", "must have a column named type"),
    "a cell of no column": (
        SHEET,
        MAIN + b'<sheetData><row r="1"><c r="!!"><v>1</v></c></row></sheetData></worksheet>',
        "must be an Excel workbook",
    ),
    "a bomb": ("xl/media/image1.png", bytes(2**26), "when it is unpacked"),
}


@pytest.mark.parametrize("damage", HOSTILE)
def test_hostile_workbooks_are_refused(damage: str, tmp_path: Path) -> None:
    """Whatever the reader of workbooks makes of it; nothing is unpacked that fills the memory."""
    part, content, message = HOSTILE[damage]
    with (
        ZipFile(xlsform(tmp_path, KEPT)) as whole,
        ZipFile(tmp_path / "damaged.xlsx", "w", compression=8) as damaged,
    ):
        for name in whole.namelist():
            if name != part:
                damaged.writestr(name, whole.read(name))
        damaged.writestr(part, content)
    with pytest.raises(krand.InvalidInput, match=message):
        krand.import_survey(tmp_path / "damaged.xlsx")


def test_sheets_are_named_and_have_limits(tmp_path: Path) -> None:
    """A workbook of anything else, and one that would take for ever."""
    many = "".join(f"select_one yn | q{number}\n" for number in range(2_001))
    wide = " | ".join(["select_one yn | q", *(f"c{number}=1" for number in range(500))])
    for text, rule in ((many, "at most 2,000 questions"), (wide, "at most 500 columns")):
        with pytest.raises(krand.InvalidInput, match=rule):
            krand.import_survey(xlsform(tmp_path, text))
    endless = "<gates>\nselect_one yn | q | relevant=" + "${yes} = '1' or " * 999 + "${yes} = '1'"
    told_of = [str(remark) for remark in krand.import_survey(xlsform(tmp_path, endless)).remarks]
    assert any("longer than 4,000 characters" in each for each in told_of), told_of
    path = xlsform(tmp_path, KEPT)
    book = require("openpyxl").load_workbook(path)
    book["survey"]["A1"] = "kind"
    book.save(path)
    with pytest.raises(krand.InvalidInput, match="sheet survey: must have a column named type"):
        krand.import_survey(path)
    book["survey"].title = "answers"
    book.save(path)
    with pytest.raises(krand.InvalidInput, match=r'a sheet named "survey".*answers'):
        krand.import_survey(path)


def test_damaged_questionnaires_are_imported_or_refused(tmp_path: Path) -> None:
    """Nothing but krand's own errors; a workbook is damaged inside its parts."""
    chance = random.Random(1)
    whole = xlsform(tmp_path, KEPT + "select_one fruit | q | relevant=${kept} = '1'\n")
    with ZipFile(whole) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(40):
        victim = chance.choice(sorted(parts))
        with ZipFile(whole, "w") as archive:
            for name, inside in parts.items():
                archive.writestr(name, _damaged(inside, chance) if name == victim else inside)
        with contextlib.suppress(krand.KrandError):
            assert krand.import_survey(whole).survey.questions


def _damaged(content: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, some removed."""
    found = bytearray(content)
    for _ in range(chance.randrange(1, 6)):
        place = chance.randrange(len(found))
        found[place : place + chance.randrange(3)] = bytes([chance.randrange(256)])
    return bytes(found)
