"""Links in a file, as a table or a sheet to print, and the file of digests that a collector reads.

That file lies where `krand run` looks for it, in the folder of whoever collects. Codes are only
ever added to it, so every link that was handed out or mailed stays valid.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.resources import files
from ipaddress import ip_address
from pathlib import Path
from socket import inet_aton
from typing import BinaryIO
from urllib.parse import urlsplit

import segno
from jinja2 import Environment
from markupsafe import Markup

from krand.client.transport import is_loopback
from krand.collector.invitations import (
    AllRounds,
    no_invitations,
    read_all_rounds,
    write_invitations,
)
from krand.errors import InvalidInput
from krand.files import OWNER_ONLY, complete_file
from krand.inviting.templates import ROOM, SHEET, SLIP, filled_lines, known_values, own_text
from krand.languages.catalogs import main_language
from krand.languages.cldr import direction_of
from krand.randomness.generator import secure_random
from krand.storage import make_folder
from krand.survey.plan import Plan
from krand.survey.survey import Survey
from krand.wire.invitations import code_text, new_code

PAPER = ".html"
MOST_SLIPS = 5_000
"""On one sheet, 500 pages: browsers print no more at once."""
LONGEST_URL = 300
NAMES_HERE = ("localhost", "local", "internal", "home.arpa", "lan")
"""Domains that no public name server knows."""


def check_url(url: str, *, local: bool) -> None:
    """Refuse an address of the form that the people who get links cannot reach.

    `local`: they are at this machine, or in its private network.
    """
    hint = "for example https://form.example/"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    plain = url.isascii() and url.isprintable() and not {*url} & {*' #"<>'}
    is_page = host and parts.scheme in ("http", "https") and "@" not in parts.netloc
    if not is_page or not plain or len(url) > LONGEST_URL:
        rule = f"must be the address of a page: ASCII, without #, at most {LONGEST_URL} characters"
        hint += "; a host in another alphabet begins with xn--"
        raise InvalidInput("url", rule, url[: LONGEST_URL // 3], hint)
    if not local and _is_private(host):
        rule = "must lead to a public address, because people elsewhere cannot reach this one"
        raise InvalidInput("url", rule, url, "if everybody asked can reach it, add --local")
    if parts.scheme == "http" and not is_loopback(host):
        hint = "browsers encrypt only on pages that come by https: put TLS in front of the form"
        raise InvalidInput("url", "must begin with https://", url, hint)


def _is_private(host: str) -> bool:
    """Whether a browser elsewhere would look for this host on its own machine or network."""
    name = unicodedata.normalize("NFKC", host).rstrip(".")
    try:
        return not ip_address(name).is_global
    except ValueError:
        pass
    try:  # browsers read 127.1, 0x7f.1 and 2130706433 as addresses, too
        return not ip_address(inet_aton(name)).is_global
    except OSError:
        return "." not in name or f".{name}".endswith(tuple(f".{end}" for end in NAMES_HERE))


def links_of(url: str, codes: Iterable[bytes]) -> Iterator[str]:
    """A link for each code, which stands where browsers do not send it."""
    return (f"{url}#{code_text(code)}" for code in codes)


def invitations_beside(plan_file: Path) -> Path:
    """The collector's file of the plan in this file: `invitations/HASH.json` in the folder of a
    party that publishes the plan, which nobody is served from; beside any other plan."""
    home = plan_file.resolve().parent
    if home.parent.name == "public":
        return make_folder(home.parents[1] / "invitations") / f"{home.name}.json"
    return plan_file.with_name("invitations.json")


def invitations_so_far(plan: Plan, plan_file: Path) -> AllRounds:
    """What that file says; a new key and no codes if there is none."""
    file = invitations_beside(plan_file)
    return read_all_rounds(file, plan) if file.exists() else no_invitations()


def make_links(
    plan: Plan,
    plan_file: Path,
    count: int,
    url: str,
    output: Path,
    progress: Callable[[int], None] = lambda _: None,
) -> int:
    """Write new links into a file, and add their digests; how many people have a link now."""
    is_paper = output.suffix.lower() == PAPER
    if is_paper and count > MOST_SLIPS:
        hint = "make several sheets, or a table: -o links.csv"
        raise InvalidInput("count", f"must be at most {MOST_SLIPS:,} on a sheet", count, hint)
    random = secure_random()
    codes = [new_code(random) for _ in range(count)]
    with _secret_file(output, hint="its links may be in use: name another file") as stream:
        write = write_sheet if is_paper else _write_table
        write(stream, plan.survey, _counted(links_of(url, codes), progress))
        return add_codes(plan, plan_file, codes, handed_out=count, progress=progress)


def add_codes(
    plan: Plan,
    plan_file: Path,
    codes: Sequence[bytes],
    *,
    handed_out: int = 0,
    mailed: int | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> int:
    """Replace the collector's file by one that has these codes too; how many people have one now.

    `handed_out` are more people with a link in a file, `mailed` is how many have one by mail.
    """
    with _alone(plan_file):
        earlier = invitations_so_far(plan, plan_file)
        earlier.check_count(plan, len(codes))
        now = replace(
            earlier,
            handed_out=earlier.handed_out + handed_out,
            mailed=earlier.mailed if mailed is None else mailed,
        )
        with _secret_file(invitations_beside(plan_file), replace=True) as stream:
            write_invitations(stream, plan, codes, now, progress)
    return now.handed_out + now.mailed


@contextmanager
def _alone(plan_file: Path) -> Iterator[None]:
    """Links of two processes are added one after the other, so that none are lost."""
    import fcntl

    with plan_file.open("rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


@contextmanager
def _secret_file(path: Path, *, replace: bool = False, hint: str = "") -> Iterator[BinaryIO]:
    with complete_file("output", path, replace=replace, hint=hint) as stream:
        os.chmod(stream.fileno(), OWNER_ONLY)  # before anything is in it
        yield stream


def _counted(links: Iterable[str], progress: Callable[[int], None]) -> Iterator[str]:
    for link in links:
        yield link
        progress(1)


def _write_table(stream: BinaryIO, _: Survey, links: Iterable[str]) -> None:
    stream.write(b"number,link\r\n")
    for number, link in enumerate(links, 1):
        stream.write(f'{number},"{link}"\r\n'.encode())


def write_sheet(stream: BinaryIO, survey: Survey, links: Iterable[str]) -> None:
    """Write a page to print and cut; slips have no number, so nobody can note who got which."""
    language = main_language(survey.language, ROOM)
    template = files("krand.inviting").joinpath("sheet.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page = environment.from_string(template).stream(
        survey=survey,
        direction=direction_of(survey.language),
        language=language,
        note=own_text(SHEET, language).strip(),
        lines=filled_lines(own_text(SLIP, language), known_values(survey)),
        slips=((link, _qr(link)) for link in links),
    )
    page.dump(stream, encoding="utf-8")


def _qr(link: str) -> Markup:
    """Dark on white in every colour scheme, with the empty border that readers need."""
    code = segno.make_qr(link, error="m")
    return Markup(code.svg_inline(border=4, light="#fff", omitsize=True))
