"""Links in a file: a table, or slips of paper, and the collector's file beside it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from krand.collector.invitations import no_invitations, read_all_rounds, write_invitations
from krand.errors import InvalidInput
from krand.files import OWNER_ONLY, complete_file
from krand.inviting.slips import write_slips
from krand.randomness.generator import secure_random
from krand.survey.plan import Plan
from krand.wire.invitations import code_text, new_code

PAPER = ".pdf"
DIGESTS = ".json"


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
