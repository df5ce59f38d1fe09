"""`krand report`: from a release to one page for people."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.options import FILE, force_option, output_option, output_options
from krand.terminal.output import Output

__all__ = ["report"]


@click.command(short_help="From a release to one page for people.")
@click.argument("release", type=FILE)
@output_option("Where the page is written.", made_again=True, endings=(".html", ".htm"))
@force_option
@output_options
def report(as_json: bool, no_color: bool, release: Path, output: Path, force: bool) -> None:
    """Write a release as one HTML file: the results, what was promised, and how to verify it.

    The file needs nothing but itself: no network, no script. It can be printed, read on a phone
    and sent to whoever asks. It shows what the release says; krand verify checks that.

    \b
    Example:
      krand report release.json -o report.html
    """
    from krand.analysis.published_file import read_published
    from krand.files import write_atomically
    from krand.report import release_page

    out = Output(as_json, no_color)
    values = read_published(release)
    write_atomically("output", output, release_page(values))
    if not values["kept"]:
        out.warn("this is less than the survey promised; the page says so on top")
    if as_json:
        kept, plan = values["kept"], values["plan_hash"]
        out.json({"release": str(release), "output": str(output), "plan": plan, "kept": kept})
        return
    console = out.console()
    console.print(f"Written: {output}", markup=False, soft_wrap=True)
    console.print(f"Check what it says: krand verify {release}", markup=False, soft_wrap=True)
