"""`krand run`: everything that one organisation runs on one machine."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import click

from krand.cli.options import FILE, output_options
from krand.terminal.output import Output


@click.command(short_help="Run a survey, or all that a site has.")
@click.argument("file", type=FILE)
@click.option("--check", is_flag=True, help="Check the file and all that it names, and end.")
@output_options
def run(out: Output, file: Path, check: bool) -> None:
    """Run what one organisation runs on one machine, each part in a process of its own.

    FILE is a survey or a site file. With a survey nothing else is needed: keys, plan and a site
    file are made in survey.krand beside it, and the form is served on this machine. When krand
    close has closed the survey, the report is written and the command ends. A site file has any
    number of surveys, for a collector, an analyst or both; it is looked at again when it changes.

    Parts that die are started again. Ctrl-C or SIGTERM ends all of them. Nothing is lost, even if
    they are killed: the same command goes on where they were.

    \b
    Examples:
      krand run survey.toml
      krand run site.toml
      krand run site.toml --check
    """
    from krand.site.checks import checked_site
    from krand.site.running import Running

    site_file, alone = _site_file(file, out)
    if check:
        with out.progress("checking"):
            site = checked_site(site_file, thorough=True)
        folders = [str(survey.folder.path) for survey in site.surveys]
        count = f"{len(folders):,} {'survey' if len(folders) == 1 else 'surveys'}"
        out.tell({"site": site.name, "surveys": folders}, f"{site_file}: {count}, no mistakes.")
        return
    running = Running(site_file, lambda event: _tell(out, event), ends=alone)
    before = [signal.signal(each, lambda *_: running.end()) for each in _ENDING]
    try:
        running.run()
    finally:
        for each, handler in zip(_ENDING, before, strict=True):
            signal.signal(each, handler)


_ENDING = (signal.SIGTERM, signal.SIGINT)


def _site_file(file: Path, out: Output) -> tuple[Path, bool]:
    """The site file, and whether it is of one survey that needs no partner.

    The folder of a survey is made if there is none.
    """
    from krand.site.making import folder_of
    from krand.survey.toml_file import read_toml

    if "question" not in read_toml("file", file).document:
        return file, False
    with out.progress("planning"):
        folder = folder_of(file)
    return folder.site_file, not folder.route.exists()


def _tell(out: Output, event: dict[str, Any]) -> None:
    """One line for each event."""
    if out.as_json:
        if not out.quiet:
            click.echo(json.dumps(event))
        return
    line, is_warning = _line(event)
    if line and is_warning:
        out.warn(line)
    elif line:
        out.lines(line, stderr=True)


def _line(event: dict[str, Any]) -> tuple[str, bool]:
    """What people read, and whether it is a warning; nothing for what they need not know."""
    name = Path(event.get("survey", "")).name
    match event["event"]:
        case "begun":
            return f"{event['site']}. Ctrl-C stops it; the same command goes on later.", False
        case "serving":
            form = f"{name}: form at {event['address'] or event['url'] + '/'}"
            return f"{form}; to end it and get the report: krand close {event['survey']}", False
        case "status":
            return f"Status at {event['url']}", False
        case "closed":
            return f"{name}: the last day has passed, so it is closed.", False
        case "released":
            return f"{name}: batch with {event['people']:,} people released.", False
        case "receiving":
            return f"Receiving batches at {event['url']}/#{event['identity']}", False
        case "passed on" if event["what"]:
            return f"{name}: not passed on to {event['to']} yet: {event['what']}", True
        case "passed on":
            return f"{name}: {event['to']} has the batch.", False
        case "partner" if not event["answers"]:
            return f"{name}: {event['name']} does not answer: {event['what']}", True
        case "reported":
            return f"{name}: report of {event['people']:,} people: {event['report']}", False
        case "changed":
            return f"The site file has changed: {event['surveys']:,} surveys.", False
        case "one hand":
            return f"{name}: {event['what']}", True
        case "mistaken" if event["what"]:
            return f"the changed site file is not used: {event['what']}", True
        case "trouble" | "failed" if event["what"]:
            return f"{name}, {event['part']}: {event['what']}", True
        case "died":
            again = f"starts again in {event['again']:g} s"
            return f"{name}, {event['part']}: ended with code {event['code']}, {again}", True
    return "", False
