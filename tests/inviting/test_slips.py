"""Slips of paper: what a phone reads from them are links, each once, that the collector knows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from collector.crowds import plan_of
from command_line import done, refused, told
from components import require
from krand.collector.invitations import read_invitations
from krand.survey.about import About
from krand.survey.plan import Plan
from krand.wire.invitations import invited_id, read_code

require("fpdf")
require("segno")

BOXES = Path(__file__).parents[1] / "browser" / "boxes.ttf"
"""A font with letters of all alphabets."""
URL = "https://form.example/"
MAKE = f"invite plan.json --count 23 --url {URL} -o slips.pdf"


def written(folder: Path, title: str = "Lärm in der Stadt") -> Plan:
    plan = plan_of(30)
    about = About(title=title, organiser="Die Stadt", language="de")
    found = replace(plan, survey=replace(plan.survey, invitations=True, about=about))
    (folder / "plan.json").write_bytes(found.bytes)
    return found


def test_phones_read_links_that_the_collector_knows(tmp_path: Path) -> None:
    """Ten on a page; the link stands beside its code, and no number does."""
    pdfium, zxing = require("pypdfium2"), require("zxingcpp")
    plan = written(tmp_path)
    done(MAKE, at=tmp_path)
    known = read_invitations(tmp_path / "slips.json", plan, 1)
    document = pdfium.PdfDocument(tmp_path / "slips.pdf")
    assert len(document) == 3
    links, text = [], ""
    for page in document:
        links += [found.text for found in zxing.read_barcodes(page.render(scale=3).to_pil())]
        text += page.get_textpage().get_text_range()
    assert len(set(links)) == len(links) == known.invited == 23
    for link in links:
        assert link.startswith(f"{URL}#")
        assert known.admit(invited_id(plan.hash, 1, read_code(link.removeprefix(f"{URL}#"))))
        assert text.count(link) == 1
    assert text.count("Lärm in der Stadt") == text.count("Die Stadt") == 23


def test_links_can_be_added_to_those_that_exist(tmp_path: Path) -> None:
    """All of them are admitted; without --add or --force nothing is replaced."""
    plan = written(tmp_path)
    done(f"invite plan.json --count 5 --url {URL} -o slips.csv", at=tmp_path)
    before = read_invitations(tmp_path / "slips.json", plan, 1)
    assert "--add" in refused(MAKE, at=tmp_path)["hint"]
    assert told(f"{MAKE} --add", at=tmp_path)["invited"] == 28
    after = read_invitations(tmp_path / "slips.json", plan, 1)
    assert before.digests < after.digests
    assert (len(after.digests), after.invited, after.key) == (28, 28, before.key)


def test_a_title_in_another_alphabet_needs_a_font(tmp_path: Path) -> None:
    """The error names the letters, and nothing is written; a font that has them is enough."""
    written(tmp_path, "Шум в городе")
    error = refused(MAKE, at=tmp_path)
    assert (error["field"], "Ш" in error["value"]) == ("font", True)
    (tmp_path / "bad.ttf").write_bytes(b"no font")
    assert refused(f"{MAKE} --font bad.ttf", at=tmp_path)["field"] == "font"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.ttf", "plan.json"]
    done(MAKE, "--font", BOXES, at=tmp_path)


@pytest.mark.check
@pytest.mark.parametrize("title", ["x" * 200, "many words " * 18])
def test_a_long_title_stays_on_its_slip(tmp_path: Path, title: str) -> None:
    """It becomes smaller, and phones still read every code."""
    pdfium, zxing = require("pypdfium2"), require("zxingcpp")
    written(tmp_path, title.strip())
    done(MAKE, at=tmp_path)
    first = pdfium.PdfDocument(tmp_path / "slips.pdf")[0].render(scale=3).to_pil()
    assert len(zxing.read_barcodes(first)) == 10
