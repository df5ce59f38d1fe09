"""`krand mix`: mix for partners, and decide whose surveys."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.exit_codes import until_stopped
from krand.cli.numbers import Count
from krand.cli.options import FOLDER, output_options
from krand.errors import InvalidInput
from krand.terminal.output import Output

if TYPE_CHECKING:
    from krand.site.site_file import Site

SITE = "site.toml"
LISTEN = "127.0.0.1:8080"
HINT = 'krand mix --name "Our organisation" --url https://mix.example.org'


class _FolderFirst(click.Group):
    """A group whose first argument may be a folder."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["--folder", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_FolderFirst,
    invoke_without_command=True,
    short_help="Mix for partners.",
    subcommand_metavar="[FOLDER] [accept NUMBER | refuse NUMBER]",
)
@click.option(
    "--folder", type=FOLDER, default="mixer", show_default=True, help="Made by the first run."
)
@click.option("--name", help="What the mixer is called in plans; needed by the first run.")
@click.option(
    "--url", metavar="URL", help="Where partners reach it: https://mix.example.org; needed as well."
)
@click.option("--listen", metavar="HOST:PORT", help=f"Where your proxy reaches it; {LISTEN}.")
@click.option("--local", is_flag=True, help="Everything is on this machine, to try things.")
@click.option("--status", is_flag=True, help="Show all requests and plans, and change nothing.")
@output_options
@click.pass_context
def mix(ctx: click.Context, /, out: Output, folder: Path, status: bool, **options: Any) -> None:
    """Mix surveys of organisations that ask for it, as long as this runs.

    It prints a link. Give it to organisers in a way that both of you trust; they run krand pair.
    Each request waits until you accept it: the program says who asks, what is promised, and what
    to type. Before it signs a plan it computes the plan's promise itself. It opens one layer of
    encryption, adds noise and shuffles; it sees no answer and nobody's address.

    The first run writes FOLDER/site.toml, in which you can list organisations that you accept
    without being asked, and limits. No backup may hold FOLDER/keys. TLS is a proxy's: see deploy/.

    \b
    Examples:
      krand mix --name "University" --url https://mix.university.example
      krand mix accept 3
      krand mix refuse 3 --reason "we do not know you"
      krand mix --status
    """
    ctx.obj = folder
    if ctx.invoked_subcommand is not None:
        out.pass_on(ctx)
    elif status:
        _show(folder, out)
    else:
        _run(_site(folder, **options), folder, out)


@mix.command(short_help="Accept a request, or list those that wait.")
@click.argument("number", type=Count(1), required=False)
@output_options
@click.pass_obj
def accept(folder: Path, out: Output, number: int | None) -> None:
    """Accept the request with this number; without one, list those that wait.

    Anybody can call themselves anything: what counts is the link. Compare it with the one that the
    organiser gave you before you accept.

    \b
    Examples:
      krand mix accept
      krand mix accept 3
    """
    from krand.wording.requests import request_lines

    if number is None:
        waiting = _asked(folder, "waiting")["waiting"]
        lines = [line for each in waiting for line in request_lines(each, _command(folder))]
        out.tell({"waiting": waiting}, *(lines or ["No request waits."]))
        return
    done = _asked(folder, "accept", number=number)
    out.tell(done, f"Request {number} is accepted: the organiser gets keys for {done['survey']}.")


@mix.command(short_help="Refuse a request.")
@click.argument("number", type=Count(1))
@click.option("--reason", default="", help="What the organiser is told.")
@output_options
@click.pass_obj
def refuse(folder: Path, out: Output, number: int, reason: str) -> None:
    """Refuse the request with this number; the organiser is told why.

    \b
    Examples:
      krand mix refuse 3 --reason "we do not know you"
    """
    done = _asked(folder, "refuse", number=number, reason=reason)
    out.tell(done, f"Request {number} is refused.")


def _asked(folder: Path, what: str, **values: Any) -> dict[str, Any]:
    """What the mixer that runs in the folder answers; if none does, this program does it."""
    from krand.partners.identity import ensure_identity
    from krand.partners.pairing import Pairings
    from krand.site.control import ask
    from krand.site.folder import Folder
    from krand.site.site_file import read_site
    from krand.site.state import alone

    answer = ask(folder / "control", what, **values)
    if answer is not None:
        return answer
    if not (folder / SITE).is_file():
        raise InvalidInput("folder", "must be that of a mixer", str(folder), HINT)
    place, settings = Folder(folder), read_site(folder / SITE).settings
    with alone(place) as state:
        pairings = Pairings(state, place, ensure_identity(place.identity), settings)
        return pairings.decide(what, **values)


def _show(folder: Path, out: Output) -> None:
    from krand.site.control import ask
    from krand.site.status import status_in, status_lines
    from krand.wording.requests import state_line

    requests = _asked(folder, "requests")["requests"]
    status = ask(folder / "control", "status") or status_in(folder)
    lines = [*map(state_line, requests), *status_lines(status)]
    out.tell({"requests": requests, **status}, *(lines or ["Nobody has asked yet."]))


def _site(folder: Path, name: str | None, url: str | None, listen: str | None, local: bool) -> Site:
    """What the operator decided in the first run, or decides now."""
    from krand.files import write_atomically
    from krand.partners.identity import checked_url
    from krand.site.site_file import SiteFile, read_site
    from krand.storage import make_folder
    from krand.survey.reading import TomlFile
    from krand.terminal.places import place_in

    file = folder / SITE
    if file.exists():
        for field, value in (("name", name), ("url", url), ("listen", listen)):
            if value is not None:
                raise InvalidInput(field, "must be changed in the file", value, f"edit {file}")
    else:
        if name is None:
            raise InvalidInput("name", "must be given for a new mixer", None, HINT)
        if url is None and not local:
            raise InvalidInput("url", "must be given for a new mixer", None, HINT)
        values = {"name": name, "folder": ".", "listen": listen or LISTEN, "roles": ["mixer"]}
        place_in("listen", str(values["listen"]))
        if url is not None:
            values["address"] = checked_url("url", url)
        text = "".join(
            f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items()
        )
        TomlFile(SITE, text).read(SiteFile)  # before anything is made
        write_atomically("folder", make_folder(folder) / SITE, text + POLICY)
    site = read_site(file, local=local)
    if local and not site.settings.url:
        settings = replace(site.settings, url=f"http://{site.settings.listen}")
        return replace(site, settings=settings)
    return site


POLICY = """
# Whose surveys are mixed without asking you first, and within which limits:
# [policy]
# accept = "listed"                 # or "ask"
# organisations = ["https://organiser.example#0123…"]
# [policy.limits]
# largest_epsilon = 2.0
"""


def _run(site: Site, folder: Path, out: Output) -> None:
    import asyncio

    from krand.cli.commands.run import tell
    from krand.partners.identity import Link, ensure_identity
    from krand.site.folder import Folder
    from krand.site.running import Running
    from krand.web.server import check_installed

    check_installed()
    link = Link(site.settings.url, ensure_identity(Folder(site.folder).identity).public)
    out.lines(
        f"{site.settings.name} mixes. Give organisers this link, in a way that both of you trust:",
        f"  {link}",
        stderr=True,
    )
    running = Running(site, partial(tell, out, _command(folder)))
    with until_stopped(running.stop):
        asyncio.run(running.run())


def _command(folder: Path) -> str:
    return "krand mix" if folder == Path("mixer") else f"krand mix {folder}"
