"""`krand report`: turn results into a readable report."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.options import FILE, force_option, output_option, output_options
from krand.terminal.output import Output

__all__ = ["report"]


@click.command(short_help="Turn results into a readable report.")
@click.argument("release", type=FILE)
@output_option("Where the page is written.", made_again=True, endings=(".html", ".htm"))
@force_option
@output_options
def report(as_json: bool, no_color: bool, release: Path, output: Path, force: bool) -> None:
    """Write results as one HTML file: the estimates, the guarantee, and how to verify them.

    The file is self-contained: it needs no network and no scripts. It can be printed, read on a
    phone and passed on. It shows what the results file says; krand verify checks that file.

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
        out.warn("the guarantee is weaker than the survey promised; the report says so at the top")
    if as_json:
        kept, plan = values["kept"], values["plan_hash"]
        out.json({"release": str(release), "output": str(output), "plan": plan, "kept": kept})
        return
    console = out.console()
    console.print(f"Written: {output}", markup=False, soft_wrap=True)
    console.print(f"Check what it says: krand verify {release}", markup=False, soft_wrap=True)
