"""`krand invite`: one-time links to a survey, and the digests by which a collector knows them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from krand.cli.options import FILE, output_option, output_options
from krand.errors import InvalidInput
from krand.terminal.output import Output
from krand.wording.numbers import Count

if TYPE_CHECKING:
    from typing import BinaryIO

    from krand.survey.plan import Plan

PRIVATE_MODE = 0o600


@click.command(short_help="Make one-time links to a survey.")
@click.argument("plan_file", type=FILE)
@click.option("--count", type=Count(1), required=True, help="How many links.")
@click.option("--url", required=True, help="The address of the form, as https://form.example/.")
@output_option(
    "CSV file for the links; the collector's file is written beside it, ending in .json.",
    endings=(".csv",),
)
@click.option("--force", is_flag=True, help="Replace existing files; the old links are lost.")
@output_options
def invite(
    out: Output,
    plan_file: Path,
    count: int,
    url: str,
    output: Path,
    force: bool,
) -> None:
    """Make one link for each person: one code, one submission in each round.

    The survey must have invitations = true. The links are secret: whoever has one can answer in the
    place of its owner. They go to the people, and the file beside them to the collector, which
    learns no code from it: krand serve --invitations invitations.json. Send each link to one
    person, keep no list of who got which, and delete the links when they are sent.

    \b
    Example:
      krand invite plan.json --count 800 --url https://form.example/ -o invitations.csv
    """
    from krand.files import complete_file
    from krand.survey.plan_file import read_plan

    plan = read_plan(plan_file)
    digests = output.with_suffix(".json")
    _check(plan, count, url)
    hint = "name another file, or replace it with --force"
    with (
        complete_file("output", output, replace=force, hint=hint) as links,
        complete_file("output", digests, replace=force, hint=hint) as known,
    ):
        _make(plan, count, url, links, known, out)
    if few := _too_few(plan, count):
        out.warn(few)
    out.tell(
        {"plan": plan.hash, "count": count, "links": str(output), "digests": str(digests)},
        f"links:         {output} ({count:,}; secret, for the people)",
        f"for collector: {digests} (krand serve --invitations {digests})",
    )


def _too_few(plan: Plan, count: int) -> str:
    """A warning if so many links cannot make a batch, or fewer people than are expected."""

    crowd, expected = plan.mechanism.smallest_batch(plan), plan.survey.expected
    links = "1 link" if count == 1 else f"{count:,} links"
    if count < crowd:
        return (
            f"{links} for a crowd of at least {crowd:,} people: even if everybody answers, nothing"
            f" can be released. Make at least {crowd:,}, more if not everybody will answer"
        )
    if expected is not None and count < expected:
        return f"{links}, but the survey expects {expected:,} people"
    return ""


def _check(plan: Plan, count: int, url: str) -> None:
    from krand.client.transport import is_loopback
    from krand.collector.invitations import MOST_INVITATIONS

    if not plan.survey.invitations:
        hint = "write invitations = true above the first table, and make the plan again"
        raise InvalidInput("plan", "must be of a survey with invitations = true", plan.hash, hint)
    if count * plan.survey.rounds > MOST_INVITATIONS:
        rule = f"must be at most {MOST_INVITATIONS:,}, counted for each round"
        raise InvalidInput("count", rule, count * plan.survey.rounds)
    parts = urlsplit(url) if url.isprintable() and " " not in url and "#" not in url else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        rule = "must be the address of a page, without #"
        raise InvalidInput("url", rule, url, "for example https://form.example/")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        hint = "browsers encrypt only on pages that come by https: put TLS in front of the form"
        raise InvalidInput("url", "must begin with https://", url, hint)


def _make(plan: Plan, count: int, url: str, links: BinaryIO, known: BinaryIO, out: Output) -> None:
    """Draw the codes, and write both files."""
    from krand.collector.invitations import KEY_BYTES, write_invitations
    from krand.randomness.generator import secure_random
    from krand.wire.invitations import code_text, new_code

    for stream in (links, known):
        os.chmod(stream.fileno(), PRIVATE_MODE)  # before anything is in it
    random, codes = secure_random(), []
    total = count * (1 + plan.survey.rounds)
    quoted = url.replace('"', '""')
    with out.counting("inviting", total, "links") as progress:
        links.write(b"number,link\r\n")
        for number in range(1, count + 1):
            codes.append(new_code(random))
            links.write(f'{number},"{quoted}#{code_text(codes[-1])}"\r\n'.encode())
            progress(1)
        write_invitations(known, plan, codes, random.bytes(KEY_BYTES), progress)
