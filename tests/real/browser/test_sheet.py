"""The sheet of slips in a browser: every slip is whole and readable, on paper and on screens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import done
from components import require
from mailing import PLAN, URL
from real.browser.visiting import DESKTOP, PHONE, Visit

COUNT = 23
LONG = "What we want to keep, what we want to change, and how we get there together in ten years"
LONG_URL = f"{URL}{'4f1c2a9e7b3d5f60' * 4}"
SLIPS = """() => [...document.querySelectorAll(".slip")].map(e => [
    e.querySelector(".link").textContent,
    [...e.querySelectorAll("*")].every(p => p.closest("svg") ||
        p.getBoundingClientRect().bottom <= e.getBoundingClientRect().bottom + 1),
    getComputedStyle(e.closest("[dir]")).direction])"""


@pytest.mark.parametrize("language", ["de", "ar"])
@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_every_slip_is_whole(
    tmp_path: Path, visit: Callable[..., Visit], language: str, paper: str
) -> None:
    """A phone reads each code from the printed page, and the link stands on the same page."""
    pdfium, codes = require("pypdfium2"), require("zxingcpp")
    survey = PLAN.survey.changed(language=language, title=LONG, translations=())
    replace(PLAN, survey=survey).save(tmp_path / "plan.json")
    done(f"invite plan.json --count {COUNT} --url {LONG_URL} -o sheet.html", at=tmp_path)
    begun = visit("file:", DESKTOP)
    begun.page.goto((tmp_path / "sheet.html").as_uri())
    links = [link for link, _, _ in begun.page.evaluate(SLIPS)]
    begun.page.emulate_media(color_scheme="dark")
    printed = pdfium.PdfDocument(begun.page.pdf(format=paper))
    read: list[str] = []
    for page in printed:
        picture, square = page.render(scale=3).to_pil(), codes.BarcodeFormat.QRCode
        found = [each.text for each in codes.read_barcodes(picture, square)]
        text = "".join(page.get_textpage().get_text_range().split()).replace("\ufffe", "-")
        assert [link for link in found if text.count(link) != 1] == [], text
        read += found
    assert sorted(read) == sorted(links)
    assert len({*links}) == COUNT


def test_a_sheet_is_for_everybody(tmp_path: Path, visit: Callable[..., Visit]) -> None:
    """Wide and narrow, light and dark; from right to left in Arabic, but for the links."""
    survey = PLAN.survey.changed(language="ar", title=LONG, translations=())
    replace(PLAN, survey=survey).save(tmp_path / "plan.json")
    done(f"invite plan.json --count {COUNT} --url {LONG_URL} -o sheet.html", at=tmp_path)
    for device in (DESKTOP, PHONE):
        begun = visit("file:", device)
        begun.page.goto((tmp_path / "sheet.html").as_uri())
        begun.is_for_everybody("sheet")
        assert all(
            (whole, direction) == (True, "rtl")
            for _, whole, direction in begun.page.evaluate(SLIPS)
        )
