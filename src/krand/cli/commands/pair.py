"""`krand pair`: publish a survey with partners."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.options import FILE, FOLDER, output_options
from krand.errors import Unavailable
from krand.terminal.output import Output

if TYPE_CHECKING:
    from krand.partners.identity import Link
    from krand.partners.organising import Later
    from krand.site.folder import Folder, Settings
    from krand.survey.plan import Analyst
    from krand.survey.survey import Survey

LOOK_SECONDS = 5.0
FOR_A_PARTNER = """\
To ask an organisation for help, send it this text:

  We plan a survey: {title}.
  Nobody, not even we, should see who answered what. For that we need a partner who mixes the
  encrypted answers. You need a server with an address of its own. Run there:

    pip install 'krand[serve]'
    krand mix --name "NAME OF YOUR ORGANISATION" --url https://mix.example.org

  Please send us the line that it prints. It begins with https:// and has a # in it. Then we ask
  your program to take part; it shows you our link, which has to end with

    #{identity}

Then run: krand pair {file} LINK"""


@click.command(short_help="Publish a survey with partners, who mix.")
@click.argument("file", metavar="SURVEY", type=FILE)
@click.argument("link", metavar="[LINK]...", nargs=-1)
@click.option(
    "--analyst", metavar="LINE", help="Who counts, if not you: what krand keygen printed."
)
@click.option("--url", metavar="URL", help="Where partners and people reach you, with https://.")
@click.option("--name", help="What you are called in the plan; by default the survey's organiser.")
@click.option("--folder", type=FOLDER, help="Of a site; by default survey.krand beside the file.")
@click.option("--no-wait", is_flag=True, help="Ask once, and end if a partner has to do something.")
@click.option("--local", is_flag=True, help="Partners may be on this machine, to try it out.")
@output_options
def pair(
    out: Output,
    file: Path,
    link: tuple[str, ...],
    analyst: str | None,
    folder: Path | None,
    no_wait: bool,
    **options: Any,
) -> None:
    """Ask partners to mix for a survey, and publish it once all of them have signed its plan.

    LINK is what krand mix prints at a partner: name as many partners as you like, in the order in
    which they mix. You are the first mixer: you collect. Each partner accepts your request, gives
    keys, computes the promise itself, and signs the plan. Then krand run SURVEY opens the survey.

    Without a LINK, what was begun goes on; or you get a text that asks a partner for help. It can
    be interrupted at any time.

    \b
    Examples:
      krand pair team.toml
      krand pair team.toml https://mix.university.example#3b6a… --url https://survey.example.org
      krand pair team.toml --no-wait
    """
    from krand.partners.identity import ensure_identity, parse_analyst, parse_link
    from krand.site.folder import Folder
    from krand.site.running import ENDING
    from krand.survey.reading import read_survey

    survey = read_survey(file)
    asked = [parse_link(each, local=options["local"]) for each in link]
    counting = None if analyst is None else parse_analyst(analyst)
    place = Folder(folder or file.with_suffix(ENDING))
    identity = ensure_identity(place.identity).public
    if not asked and counting is None and not _is_begun(place, survey):
        text = FOR_A_PARTNER.format(title=survey.shown_title, identity=identity, file=file)
        out.tell({"identity": identity, "text": text}, *text.split("\n"))
        return
    settings = _settings(survey, **options)
    own = f"{settings.url}#{identity}"
    told: set[Later] = set()
    while isinstance(found := _once(place, settings, survey, asked, counting), tuple):
        if not told and asked:
            shown = "Your link, which partners compare with what they are shown:"
            out.lines(shown, f"  {own}", stderr=True)
        for each in found:
            if each not in told:
                told.add(each)
                out.lines(f"{each.name}: {each.why}", stderr=True)
        if no_wait:
            waits = "; ".join(f"{each.name}: {each.why}" for each in found)
            raise Unavailable(f"{waits}. The same command goes on")
        time.sleep(LOOK_SECONDS)
    behind = (
        " --port 8080, which your proxy passes on to" if settings.url.startswith("https") else ""
    )
    out.tell(
        {"plan": found, "identity": identity},
        f"All partners have signed the plan {found}.",
        f"Open the survey: krand run {file}{behind}",
    )


def _settings(survey: Survey, url: str | None, name: str | None, local: bool) -> Settings:
    """What partners are told of this party."""
    from krand.partners.identity import checked_url
    from krand.site.folder import LOOPBACK, Settings
    from krand.site.running import SELF

    here = f"http://{LOOPBACK}" if local else ""
    return Settings(
        name=name or survey.organiser or SELF,
        url=checked_url("url", url, local=local) if url else here,
        local=local,
    )


def _is_begun(place: Folder, survey: Survey) -> bool:
    """Whether partners were asked for this survey before."""
    from krand.partners.organising import progress
    from krand.site.control import ask
    from krand.site.state import alone

    answer = ask(place.control, "partners", survey_id=survey.id)
    if answer is not None:
        return bool(answer["partners"])
    with alone(place) as state:
        return bool(progress(state, survey.id))


def _once(
    place: Folder,
    settings: Settings,
    survey: Survey,
    links: Sequence[Link],
    analyst: Analyst | None,
) -> str | tuple[Later, ...]:
    """Ask everybody once: the plan's hash, or who has to do something first."""
    from krand.partners.identity import analyst_line
    from krand.partners.organising import Later, publish
    from krand.site.control import ask
    from krand.site.publishing import publish_plan
    from krand.site.state import alone

    line, texts = analyst_line(analyst) if analyst else "", [str(link) for link in links]
    answer = ask(place.control, "pair", survey=survey.values(), links=texts, analyst=line)
    if answer is None:
        with alone(place) as state:
            work = publish(state, place, settings, survey, links, analyst)
            if isinstance(found := asyncio.run(work), tuple):
                return found
            today = datetime.now(UTC).date().isoformat()
            publish_plan(place.public, found, state.signatures(found.hash), 1, day=today)
            return found.hash
    if "plan" in answer:
        return str(answer["plan"])
    return tuple(Later(*each) for each in answer["later"])
