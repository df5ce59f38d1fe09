"""`krand run`: everything that one organisation runs on one machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from krand.cli.exit_codes import until_stopped
from krand.cli.options import output_options
from krand.errors import InvalidInput
from krand.showing import some
from krand.terminal.output import Output
from krand.terminal.overwriting import FILE_OR_FOLDER


@click.command(short_help="Run a survey, or all that a site has.")
@click.argument("file", type=FILE_OR_FOLDER)
@click.option("--check", is_flag=True, help="Check the file and all that it names, and end.")
@click.option(
    "--no-console",
    is_flag=True,
    help="Only show the status in a browser; nothing can be done there.",
)
@click.option("--clock-is-right", is_flag=True, help="Go on although the clock has moved.")
@output_options
def run(out: Output, file: Path, check: bool, no_console: bool, clock_is_right: bool) -> None:
    """Run what one organisation runs on one machine, each part in a process of its own.

    FILE is a survey, a site file or a folder with a site.toml. With a survey nothing else is
    needed: keys, plan and a site file are made in survey.krand beside it, and the form is served on
    this machine. When krand close has closed the survey, the report is written and the command
    ends. With a schedule, rounds open, close and are reported by themselves, and it ends after the
    last one. A site file has any number of surveys, for a collector, an analyst or both; it is
    looked at again when it changes.

    The address that is printed opens the console of krand web for what is run: participation, the
    form's link, closing, results. It is for this machine alone, and needs the token in it. A survey
    that is closed there stays until Ctrl-C, so that its report can be read there.

    Parts that die are started again. Ctrl-C or SIGTERM ends all of them. Nothing is lost, even if
    they are killed: the same command goes on where they were.

    \b
    Examples:
      krand run survey.toml
      krand run site.toml
      krand run site.toml --check
      krand run site.toml --no-console
    """
    from krand.collector.serving import check_installed
    from krand.site.checks import checked_site
    from krand.site.running import Running

    check_installed()
    site_file, alone = _site_file(file, out)
    if check:
        with out.progress("checking"):
            site = checked_site(site_file, thorough=True)
        folders = [str(survey.folder.path) for survey in site.surveys]
        told = f"{site_file}: {some(len(folders), 'survey')}, no mistakes."
        out.tell({"site": site.name, "surveys": folders}, told)
        return
    if clock_is_right:
        for survey in checked_site(site_file).surveys:
            survey.folder.clock.unlink(missing_ok=True)
    running = Running(
        site_file, lambda event: _tell(out, event), ends=alone, console=not no_console
    )
    with until_stopped(running.end):
        running.run()


def _site_file(file: Path, out: Output) -> tuple[Path, bool]:
    """The site file, and whether it is of one survey that needs no partner.

    The folder of a survey is made if there is none.
    """
    from krand.site.making import folder_of
    from krand.site.site_file import SiteFile
    from krand.survey.reading import read_toml

    if file.is_dir():
        site_file = file / "site.toml"
        if not site_file.is_file():
            hint = (
                f"name a survey file, or write and publish surveys in a browser: krand web {file}"
            )
            raise InvalidInput("file", "must have a site.toml if it is a folder", str(file), hint)
        return site_file, False
    document = read_toml("file", file).document
    if not document:
        hint = "a survey has an id, a [policy] and [[question]] tables; a site has a [site]"
        raise InvalidInput("file", "must be a survey or a site, not empty", str(file), hint)
    if document.keys() & set(SiteFile.model_fields):
        return file, False
    with out.progress("planning"):
        folder = folder_of(file)
    return folder.site_file, not folder.route.exists()


LINES = {
    "begun": "{site}. Ctrl-C stops it; the same command goes on later.",
    "serving": "{name}: form at {address}; to end it and get the report: krand close {survey}",
    "status": "Status at {url}",
    "console": "Console at {url}",
    "stays": "{name}: closed in the console; this goes on after the report, until Ctrl-C.",
    "receiving": "Receiving batches at {url}/#{identity}",
    "awaited": "{name}: its organiser pairs with: --analyst {link}",
    "planned": "{name}: its plan has come.",
    "closed": "{name}: the last day has passed, so it is closed.",
    "opened": "{name}: round {round} is open.",
    "round closed": "{name}: round {round} is closed, {people}.",
    "missed": "{name}: round {round} had too few people ({people}), so it has no results.",
    "released": "{name}: batch with {people} released.",
    "passed on": "{name}: {to} has the batch.",
    "reported": "{name}: report of {people}: {report}",
    "followed": "{name}: trend over {rounds:,} rounds: {page}",
    "changed": "The site file has changed. Surveys now: {surveys:,}",
}
WARNINGS = {
    "one hand": "{name}: {what}",
    "mistaken": "the changed site file is not used: {what}",
    "passed on": "{name}: not passed on to {to} yet: {what}",
    "partner": "{name}: {partner} does not answer: {what}",
    "trouble": "{name}, {part}: {what}",
    "failed": "{name}, {part}: {what}",
    "died": "{name}, {part}: ended with code {code}, starts again in {again:g} s",
}
"""What people read about events; a warning where `what` says what is wrong."""


def _tell(out: Output, event: dict[str, Any]) -> None:
    """One line for each event that people have to know."""
    if out.as_json:
        if not out.quiet:
            click.echo(json.dumps(event))
        return
    kind, name = event["event"], Path(event.get("survey", "")).name or "site"
    address = event.get("address") or event.get("url")
    values = {**event, "partner": event.get("name"), "name": name, "address": address}
    if "people" in event:
        values["people"] = some(event["people"], "person")
    if kind in WARNINGS and event.get("what", kind):
        out.warn(WARNINGS[kind].format(**values))
    elif kind in LINES:
        out.lines(LINES[kind].format(**values), stderr=True)
