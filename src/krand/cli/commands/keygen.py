"""`krand keygen`: an analyst elsewhere, whom an organiser names."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.options import FOLDER, output_options
from krand.terminal.output import Output


@click.command(short_help="Make an analyst's key, and the line that names it.")
@click.argument("folder", type=FOLDER, default="krand")
@output_options
def keygen(out: Output, folder: Path) -> None:
    """Make the key that answers are sealed for, where the organiser shall not have it.

    The key and an identity are kept in FOLDER, by default krand, as krand run uses them. What is
    printed is public: give it to the organiser, who names it with krand pair --analyst. Then list
    the survey's link in a site file with roles = ["analyst"]: krand run fetches what people
    answered, counts it and reports. Keep a copy of keys/analyst.pem elsewhere: without it there
    are no results. Who has it already keeps it: the same line is printed again.

    \b
    Examples:
      krand keygen
      krand keygen institute
    """
    from krand.partners.identity import analyst_line
    from krand.partners.organising import ensure_analyst
    from krand.site.folder import Folder

    place = Folder(folder)
    line = analyst_line(ensure_analyst(place))
    out.tell({"analyst": line, "key": str(place.analyst_key)}, line)
