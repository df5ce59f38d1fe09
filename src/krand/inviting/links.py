"""Links in a file: a table, or slips of paper, and the collector's file beside it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from krand.collector.invitations import no_invitations, read_all_rounds, write_invitations
from krand.errors import InvalidInput, MissingComponent
from krand.files import OWNER_ONLY, complete_file
from krand.inviting.templates import ROOM, SLIP, filled_lines, known_values, own_text
from krand.languages.catalogs import main_language
from krand.randomness.generator import secure_random
from krand.survey.plan import Plan
from krand.survey.survey import Survey
from krand.wire.invitations import code_text, new_code

if TYPE_CHECKING:
    from fpdf import FPDF

PAPER = ".pdf"
DIGESTS = ".json"
WIDTH, HEIGHT = 210.0, 297.0
"""Of a page, A4, in millimetres."""
ACROSS, DOWN = 2, 5
PER_PAGE = ACROSS * DOWN
SLIP_WIDTH, SLIP_HEIGHT = WIDTH / ACROSS, HEIGHT / DOWN
EDGE, TITLE, CODE, GAP = 5.0, 10.0, 32.0, 1.5
"""Around a slip; the heights of its title and of the QR code; and between them."""
LINK = SLIP_HEIGHT - 2 * EDGE - TITLE - CODE - 2 * GAP
"""The height that is left for the link."""
SIZES = (11, 9, 8, 7, 6, 5)
"""Of letters, in points: the largest that fits is taken."""
OWN_FONT, GIVEN_FONT, LINK_FONT = "helvetica", "given", "courier"


def links_of(url: str, codes: Iterable[bytes]) -> Iterator[str]:
    """A link for each code, which stands where browsers do not send it."""
    return (f"{url}#{code_text(code)}" for code in codes)


def make_links(
    plan: Plan,
    count: int,
    url: str,
    output: Path,
    *,
    replace: bool = False,
    add: bool = False,
    font: Path | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> int:
    """Write so many links and the collector's file; how many people have a link now.

    With `add` the links that were made before stay valid.
    """
    digests, is_paper = output.with_suffix(DIGESTS), output.suffix.lower() == PAPER
    if is_paper and not url.isascii():
        raise InvalidInput("url", "must be ASCII on paper", url, "write its host as xn--…")
    if font is not None and not is_paper:
        raise InvalidInput("font", "must be given only for slips, slips.pdf", str(font))
    earlier = read_all_rounds(digests, plan) if add and digests.exists() else no_invitations()
    earlier.check_count(plan, count)
    hint = "name another file, or replace it with --force"
    kept = f"{hint}; --add keeps its links, and adds others"
    with (
        complete_file("output", output, replace=replace, hint=hint) as links,
        complete_file("output", digests, replace=replace or add, hint=kept) as known,
    ):
        for stream in (links, known):
            os.chmod(stream.fileno(), OWNER_ONLY)  # before anything is in it
        random = secure_random()
        codes = [new_code(random) for _ in range(count)]
        if is_paper:
            write_slips(links, plan.survey, links_of(url, codes), font)
        else:
            _write_table(links, links_of(url, codes))
        progress(count)
        now = dataclasses.replace(earlier, handed_out=earlier.handed_out + count)
        write_invitations(known, plan, codes, now, progress)
    return now.handed_out + now.mailed


def _write_table(stream: BinaryIO, links: Iterable[str]) -> None:
    stream.write(b"number,link\r\n")
    for number, link in enumerate(links, 1):
        quoted = link.replace('"', '""')
        stream.write(f'{number},"{quoted}"\r\n'.encode())


def write_slips(stream: BinaryIO, survey: Survey, links: Iterable[str], font: Path | None) -> None:
    """Write a PDF; slips have no number, so that nobody can write down who got which."""
    said = "\n".join(_lines(survey))
    page = _page(font, survey.shown_title + "".join(_lines(survey)))
    family = OWN_FONT if font is None else GIVEN_FONT
    wide = SLIP_WIDTH - 2 * EDGE
    for place, link in enumerate(links):
        if place % PER_PAGE == 0:
            page.add_page()
            _cutting_lines(page)
        row, column = divmod(place % PER_PAGE, ACROSS)
        left, top = column * SLIP_WIDTH + EDGE, row * SLIP_HEIGHT + EDGE
        below = top + TITLE + GAP
        beside = left + CODE + GAP
        _write(page, survey.shown_title, family, (left, top, wide, TITLE))
        _draw_code(page, link, left, below)
        _write(page, said, family, (beside, below, wide - CODE - GAP, CODE), SIZES[1:])
        _write(page, link, LINK_FONT, (left, below + CODE + GAP, wide, LINK), SIZES[2:])
    stream.write(bytes(page.output()))


def _write(
    page: FPDF,
    text: str,
    family: str,
    box: tuple[float, float, float, float],
    sizes: tuple[int, ...] = SIZES,
) -> None:
    """The text in a box: left, top, width, height."""
    left, top, wide, high = box
    for size in sizes:
        page.set_font(family, size=size)
        line = size * 0.46  # in millimetres, with some room
        page.set_xy(left, top)
        given: dict[str, Any] = {"w": wide, "h": line, "text": text, "align": "L"}
        if family == LINK_FONT:
            given["wrapmode"] = "CHAR"
        found: Any = page.multi_cell(**given, dry_run=True, output="HEIGHT")
        if found <= high:
            break
    page.multi_cell(**given)


def _lines(survey: Survey) -> list[str]:
    text = own_text(SLIP, main_language(survey.language, ROOM))
    return filled_lines(text, known_values(survey))


def _page(font: Path | None, text: str) -> FPDF:
    """An empty document with a font that has the letters of the text."""
    try:
        from fpdf import FPDF
    except ModuleNotFoundError as error:
        raise MissingComponent(error.name or "fpdf2", "invite") from None
    page = FPDF(format="A4")
    page.set_auto_page_break(False)
    page.set_creator("krand")
    if font is not None:
        try:
            page.add_font(GIVEN_FONT, fname=font)
        except Exception as error:  # the library's own, of many kinds
            rule, hint = "must be a TrueType or OpenType font", str(error)[:100]
            raise InvalidInput("font", rule, str(font), hint) from None
        missing = sorted({sign for sign in text if not _has(page, sign)})
    else:
        missing = sorted({sign for sign in text if not _is_latin(sign)})
    if missing:
        rule = "must have all letters of the survey's title and organiser"
        hint = "name a font that has them, as --font DejaVuSans.ttf"
        shown = "".join(missing[:20])
        raise InvalidInput("font", rule, f"none for {shown}", hint)
    return page


def _is_latin(sign: str) -> bool:
    return sign.encode("latin-1", "ignore") != b""


def _has(page: FPDF, sign: str) -> bool:
    known: Any = page.fonts[GIVEN_FONT]
    return ord(sign) in known.cmap


def _cutting_lines(page: FPDF) -> None:
    page.set_draw_color(190)
    page.set_line_width(0.1)
    for column in range(1, ACROSS):
        page.line(column * SLIP_WIDTH, 0, column * SLIP_WIDTH, HEIGHT)
    for row in range(1, DOWN):
        page.line(0, row * SLIP_HEIGHT, WIDTH, row * SLIP_HEIGHT)


def _draw_code(page: FPDF, link: str, left: float, top: float) -> None:
    """Squares that touch are drawn as one bar, so that a page stays small."""
    try:
        import segno
    except ModuleNotFoundError as error:
        raise MissingComponent(error.name or "segno", "invite") from None
    rows = [bytes(row) for row in segno.make_qr(link, error="m").matrix]
    size = CODE / (len(rows) + 8)  # with the four empty squares around it that readers need
    page.set_fill_color(0)
    for number, row in enumerate(rows, 4):
        place = 4
        for dark, squares in groupby(row):
            wide = len(list(squares))
            if dark:
                page.rect(left + place * size, top + number * size, wide * size, size, "F")
            place += wide
