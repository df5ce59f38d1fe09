"""`krand run`: surveys, from their publication to their report."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.exit_codes import INTERRUPTED, until_stopped
from krand.cli.numbers import Count
from krand.cli.options import output_options
from krand.errors import InvalidInput, Unavailable
from krand.showing import some
from krand.terminal.output import Output
from krand.terminal.overwriting import FILE_OR_FOLDER

if TYPE_CHECKING:
    from krand.site.site_file import Site

LAST_PORT = 2**16 - 1
ONLY = "."
"""What --close names by itself: the only survey there is."""


@click.command(short_help="Run surveys: form, collector, counting, report.")
@click.argument("file", type=FILE_OR_FOLDER, default=".")
@click.option("--check", is_flag=True, help="Check the file and what it names, and write nothing.")
@click.option("--status", is_flag=True, help="Show how far the surveys are, and change nothing.")
@click.option(
    "--close",
    "closing",
    metavar="[SURVEY]",
    is_flag=False,
    flag_value=ONLY,
    help="Close the open round of a survey, by its id; without one, of the only survey.",
)
@click.option("--erase", is_flag=True, help="With --close: too few people end it without results.")
@click.option("--end", is_flag=True, help="With --close: open no further round of the schedule.")
@click.option("--yes", is_flag=True, help="Publish or close without asking, for scripts.")
@click.option(
    "--port",
    type=Count(0),
    help="Serve a survey's form at this port; by default at a free one.",
)
@click.option("--local", is_flag=True, help="Partners may be on this machine, to try it out.")
@click.option("--no-console", is_flag=True, help="Serve no pages for the organiser.")
@output_options
def run(
    out: Output,
    file: Path,
    check: bool,
    status: bool,
    closing: str | None,
    erase: bool,
    end: bool,
    yes: bool,
    port: int | None,
    local: bool,
    no_console: bool,
) -> None:
    """Run surveys until they are closed and reported.

    FILE is a survey, a site file or a folder. A survey is published, if you say so, and served on
    this machine; the folder survey.krand beside it keeps everything. When it is closed, it is
    counted, the report is written, and the command ends. Without partners you can read every
    answer, and the form says so; a partner changes that: krand pair --help.

    A site file is what an organisation runs on a server. In a folder without site.toml, surveys are
    written, published and read in a browser: open the address that is printed. It is for this
    machine alone, and has a token in it.

    Ctrl-C or SIGTERM ends it. Nothing is lost, even if it is killed: the same command goes on.

    \b
    Examples:
      krand run survey.toml
      krand run survey.toml --close
      krand run site.toml --check
      krand run surveys
    """
    if (erase or end) and closing is None:
        raise InvalidInput("erase" if erase else "end", "must come with --close", True)
    if port is not None and port > LAST_PORT:
        raise InvalidInput("port", f"must be at most {LAST_PORT:,}", port)
    site, kind = _site(file, port, local)
    if status:
        _show_status(out, site)
    elif closing is not None:
        _close(out, site, closing, erase=erase, end=end, yes=yes)
    elif check:
        _check(out, file, site)
    else:
        _run(out, file, site, kind, yes=yes, console=not no_console)


def _site(file: Path, port: int | None, local: bool) -> tuple[Site, str]:
    """What is run, and whether the file is a "survey", a "site" or a "folder" of surveys."""
    from krand.site.running import site_of, site_of_folder
    from krand.site.site_file import SiteFile, read_site
    from krand.survey.reading import read_toml

    if file.is_dir():
        if not (file / "site.toml").is_file():
            return site_of_folder(file, port or 0, local=local), "folder"
        file /= "site.toml"
    document = read_toml("file", file).document
    if not document:
        hint = "a survey has an id, a [policy] and [[question]] tables; a site has a name"
        raise InvalidInput("file", "must be a survey or a site, not empty", str(file), hint)
    if "id" not in document and document.keys() & set(SiteFile.model_fields):
        if port is not None:
            raise InvalidInput("port", "must be left out: the site file says listen", port)
        return read_site(file, local=local), "site"
    return site_of(file, port or 0, local=local), "survey"


def _check(out: Output, file: Path, site: Site) -> None:
    """Everything that can be wrong with the files; nothing is made."""
    from krand.planning.making import make_plan
    from krand.planning.promises import check_promise
    from krand.site.running import published_in
    from krand.survey.reading import read_survey

    names = []
    with out.progress("checking"):
        for each in site.surveys:
            survey = read_survey(each)
            plan = published_in(site.folder, survey)
            if plan is None:
                make_plan(survey)
            else:
                check_promise(plan)
            names.append(survey.id)
    line = f"{file}: {some(len(names) + len(site.links), 'survey')}, no mistakes."
    out.tell({"surveys": [*names, *site.links]}, line)


def _status(site: Site) -> dict[str, Any]:
    from krand.site.control import ask
    from krand.site.status import status_in

    return ask(site.folder / "control", "status") or status_in(site.folder)


def _show_status(out: Output, site: Site) -> None:
    from krand.site.status import status_lines

    status = _status(site)
    out.tell(status, *status_lines(status))


def _close(out: Output, site: Site, name: str, *, erase: bool, end: bool, yes: bool) -> None:
    """Ask the program that runs it to close the open round."""
    from krand.site.control import ask
    from krand.site.status import came_line

    status = ask(site.folder / "control", "status")
    if status is None:
        hint = "start it with the same command without --close, then close it in another terminal"
        raise InvalidInput("close", "must be of a survey that krand run serves now", None, hint)
    found = [each for each in status["surveys"] if name in (ONLY, each["survey"], each["plan"])]
    found = [each for each in found if each["place"] == 1]
    if len(found) != 1:
        known = ", ".join(each["survey"] for each in status["surveys"] if each["place"] == 1)
        rule = "must name one survey that is collected here"
        raise InvalidInput("close", rule, name, f"one of {known}" if known else "there is none")
    (survey,) = found
    if not yes:
        _ask(f"{survey['title']}: {came_line(survey)} Close it?", "close")
    values = {"plan": survey["plan"], "erase": erase, "end": end}
    closed = ask(site.folder / "control", "close", **values)
    if closed is None:
        raise Unavailable("krand run has just ended; nothing was closed")
    lines = [
        f"Round {each['round']} is closed with {some(each['people'], 'person')}."
        for each in closed["rounds"]
    ]
    out.tell({"survey": survey["survey"], **closed}, *(lines or ["No round was open."]))


def _run(out: Output, file: Path, site: Site, kind: str, *, yes: bool, console: bool) -> None:
    import asyncio

    from krand.site.running import Running, published_in
    from krand.survey.reading import read_survey
    from krand.web.server import check_installed

    check_installed()
    heard = partial(tell, out, f"krand mix {site.folder}")
    for each in site.surveys:
        survey = read_survey(each)
        if published_in(site.folder, survey) is None and not yes:
            _ask(f"{survey.shown_title}: a published survey cannot be edited. Publish?", "publish")
    running = Running(site, heard, ends=kind == "survey")
    beside = []
    if console:
        from krand.console.app import serve_console

        folder = file if kind == "folder" else None
        beside.append(lambda each: serve_console(each, folder, heard))
    with until_stopped(running.stop):
        asyncio.run(running.run(*beside))


def _ask(question: str, what: str) -> None:
    """Yes, or the command ends."""
    if not sys.stdin.isatty():
        rule, hint = "must be given where nobody can be asked", f"add --yes to {what} it"
        raise InvalidInput("yes", rule, None, hint)
    if not click.confirm(question, err=True):
        raise click.exceptions.Exit(INTERRUPTED)


LINES = {
    "serving": "Ctrl-C stops it; the same command goes on later.",
    "console": "Console at {url}",
    "signed": "{name}: signed.",
    "published": "{name}: form at {form}\nTo close it and get the report: krand run {file} --close",
    "opened": "{name}: round {round} is open.",
    "round closed": "{name}: round {round} is closed, {people}.",
    "missed": "{name}: round {round} had too few people ({people}), so it has no results.",
    "mixed": "{name}: round {round} is mixed.",
    "released": "{name}: the batch of round {round} is released.",
    "fetched": "{name}: the batch of round {round} has come.",
    "reported": "{name}: report of {people}: {report}",
}
WARNINGS = {
    "no walls": "the listener is not separated from the worker on this system: whoever takes it"
    " over reads what krand run reads",
    "refused": "{name}: its plan is not signed: {reason}",
    "partner": "{partner} does not answer: {what}",
    "trouble": "{name}: {what}",
}
"""What people read about events."""


def tell(out: Output, command: str, event: dict[str, Any]) -> None:
    """What people have to know; `command` is what accepts a partner's request."""
    if out.as_json:
        if not out.quiet:
            click.echo(json.dumps(event))
        return
    from krand.wording.requests import request_lines

    values = {"name": event.get("survey") or "krand run", **event}
    if "people" in event:
        values["people"] = some(event["people"], "person")
    kind = event["event"]
    if kind == "waiting":
        out.lines(*request_lines(event, command), stderr=True)
    elif kind == "partner" and not event["what"]:
        out.lines(f"{event['partner']} answers again.", stderr=True)
    elif kind in WARNINGS:
        out.warn(WARNINGS[kind].format_map(values))
    elif kind in LINES:
        out.lines(*LINES[kind].format_map(values).split("\n"), stderr=True)
