"""What `krand run` runs: a worker, and what is published or fetched for it while it works."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from krand.client.transport import is_loopback
from krand.errors import InvalidInput, KrandError, Unavailable
from krand.partners.identity import LONGEST_NAME, Link
from krand.partners.organising import fetch_plan, publish
from krand.site.folder import Folder, Settings
from krand.site.site_file import LISTEN, Site
from krand.site.status import survey_status
from krand.site.worker import Worker
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan
from krand.survey.reading import read_survey
from krand.survey.survey import Survey
from krand.terminal.places import Place
from krand.web.server import listen
from krand.wording.failures import explain

if TYPE_CHECKING:
    from krand.partners.organising import Later

ENDING = ".krand"
"""The folder of survey.toml is survey.krand, beside it."""
SELF = "collector"
"""What a party is called where its survey names no organiser."""
LOOPBACK = LISTEN.host
LOOK_SECONDS, AGAIN_SECONDS = 0.5, 20.0
"""Until it is looked whether all is over, and until partners are asked again."""
EDITED = (
    "a published survey cannot be edited, only closed: put back the file that was published, and"
    " give the changed survey an id and a folder of its own"
)

Tell = Callable[[dict[str, Any]], None]
Beside = Callable[["Running"], Awaitable[None]]
"""What is served beside the worker: the console."""


def site_of(file: Path, port: int = 0, *, local: bool = False) -> Site:
    """A survey on this machine alone, in a folder beside its file; nothing is made."""
    survey, folder = read_survey(file), file.with_suffix(ENDING)
    published_in(folder, survey)
    name = survey.organiser[:LONGEST_NAME].strip() or SELF
    return _on_this_machine(folder, name, port, local, (file,))


def site_of_folder(folder: Path, port: int = 0, *, local: bool = False) -> Site:
    """All surveys of a folder on this machine alone, as the console writes and publishes them."""
    return _on_this_machine(folder / ENDING, SELF, port, local)


def _on_this_machine(
    folder: Path, name: str, port: int, local: bool, surveys: tuple[Path, ...] = ()
) -> Site:
    """Plans name the address, so once something is published the port stays the same.

    By default it is one that is free.
    """
    urls = (plan.mixers[0].url for plan in _plans_in(folder))
    url = next(filter(None, urls), "")
    if is_loopback(urlsplit(url).hostname):
        port = urlsplit(url).port or port
    place = Place(LOOPBACK, port or _free_port())
    settings = Settings(
        name=name, listen=place, url=url or f"http://{place}", local=local, analyst=True
    )
    console = Place(LOOPBACK, 0)
    return Site(folder=folder, settings=settings, surveys=surveys, console=console)


def _free_port() -> int:
    with closing(listen(LOOPBACK, 0)) as found:
        port: int = found.getsockname()[1]
        return port


def published_in(folder: Path, survey: Survey) -> Plan | None:
    """The plan that was published of a survey; one that was edited since is refused."""
    return _published(_plans_in(folder), survey)


def _plans_in(folder: Path) -> Iterator[Plan]:
    return (read_plan(path) for path in sorted(folder.glob("public/*/plan.json")))


def _published(plans: Iterator[Plan], survey: Survey) -> Plan | None:
    plan = next((plan for plan in plans if plan.survey.id == survey.id), None)
    if plan is None:
        return None
    made = plan.survey
    mixers = made.trust.mixers if survey.trust.mixers == 1 else survey.trust.mixers
    trust = survey.trust.changed(mixers=mixers, analyst_runs=made.trust.analyst_runs)
    if survey.changed(trust=trust, closes=survey.closes or made.closes) != made:
        rule = "must be the survey that was published with this id"
        raise InvalidInput("survey", rule, survey.id, EDITED)
    return plan


class Running:
    """A party, from its start to its end."""

    def __init__(self, site: Site, tell: Tell, *, ends: bool = False) -> None:
        """`ends`: when all that is published here is over, unless it was closed in the console."""
        self.site, self._tell, self._ends = site, tell, ends
        self.folder = Folder(site.folder)
        self.worker = Worker(self.folder, site.settings, self._heard)
        self.troubles: dict[str, str] = {}
        """What is in the way of a plan, by its hash; of a survey that is not published, its id."""
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self, *beside: Beside) -> None:
        """Until it is stopped, or all is over."""
        self._loop = asyncio.get_running_loop()
        try:
            async with asyncio.TaskGroup() as tasks:
                files, links = self.site.surveys, self.site.links
                others = [
                    *(self._served(each) for each in beside),
                    *(self._publish_file(file) for file in files),
                    *(self._fetch(link) for link in links),
                    self._end_with_the_last(),
                ]
                running = [tasks.create_task(each) for each in others]
                await self.worker.run()
                for each in running:
                    each.cancel()
        except BaseExceptionGroup as group:
            raise _first(group) from None

    def stop(self) -> None:
        """End soon: what has arrived is answered."""
        if self._loop is None:
            self.worker.stop()
        else:
            self._loop.call_soon_threadsafe(self.worker.stop)

    def stay(self) -> None:
        """Do not end with the last report: somebody reads it in the console."""
        self._ends = False

    def plan_of(self, survey: Survey) -> Plan | None:
        """The plan that was published of a survey."""
        return _published(iter(self.worker.plans.values()), survey)

    def status(self, plan: Plan) -> dict[str, Any]:
        """How far a survey is."""
        return survey_status(self.worker, plan)

    async def close(self, plan_hash: str, *, erase: bool) -> dict[str, Any]:
        """Close the open round of a plan."""
        return self.worker.close(plan_hash, erase=erase)

    async def publish(self, survey: Survey, links: Sequence[Link] = ()) -> Plan:
        """Publish a survey; where partners have to do something first, ask them again and again."""
        plan = self.plan_of(survey)
        while plan is None:
            found = await publish(self.worker.state, self.folder, self.site.settings, survey, links)
            if isinstance(found, Plan):
                plan = found
                self.worker.add(plan)
                self.troubles.pop(survey.id, None)
            else:
                self._wait_for(survey, found)
                await asyncio.sleep(AGAIN_SECONDS)
        return plan

    async def _publish_file(self, file: Path) -> None:
        plan = await self.publish(read_survey(file))
        name, form = plan.survey.id, self.status(plan)["form"]
        self._tell({"event": "published", "survey": name, "form": form, "file": str(file)})

    async def _end_with_the_last(self) -> None:
        """End when nothing is left to do, unless somebody reads the results in the console."""
        while not (self._ends and self.worker.plans and self.worker.is_over):
            await asyncio.sleep(LOOK_SECONDS)
        self.worker.stop()

    async def _served(self, beside: Beside) -> None:
        """Something without which everything else goes on."""
        try:
            await beside(self)
        except KrandError as error:
            self._tell({"event": "trouble", "what": explain(error)})

    def _wait_for(self, survey: Survey, later: tuple[Later, ...]) -> None:
        what = "; ".join(f"{each.name}: {each.why}" for each in later)
        if self.troubles.get(survey.id) != what:
            self.troubles[survey.id] = what
            self._tell({"event": "trouble", "survey": survey.id, "what": what})

    async def _fetch(self, link: str) -> None:
        """The plan of a survey that is counted here."""
        settings, known = self.site.settings, self.worker.plans
        while not any(link.rstrip("/").endswith(plan) for plan in known):
            try:
                identity = self.worker.identity
                plan, signatures = await asyncio.to_thread(fetch_plan, settings, identity, link)
                assert plan.analyst is not None
                if plan.analyst.identity != self.worker.identity.public:
                    rule = "must be counted by this party: its plan names another analyst"
                    hint = "give the organiser the line that krand keygen prints"
                    raise InvalidInput("surveys", rule, link, hint)
                self.worker.state.add_plan(plan, signatures)
                self.worker.add(plan)
            except Unavailable as error:
                self._tell({"event": "trouble", "survey": link, "what": explain(error)})
                await asyncio.sleep(AGAIN_SECONDS)

    def _heard(self, event: dict[str, Any]) -> None:
        """Something that the worker said."""
        plan = event.get("plan", "")
        if known := self.worker.plans.get(plan):
            event = {**event, "survey": known.survey.id}
        if event["event"] == "partner":
            event = {**event, "partner": self._name_of(event["identity"])}
        self.troubles[plan] = event.get("what", "")
        with suppress(OSError):  # nobody reads it any more
            self._tell(event)

    def _name_of(self, identity: str) -> str:
        """What plans call a party."""
        mixers = (mixer for plan in self.worker.plans.values() for mixer in plan.mixers)
        return next((each.name for each in mixers if each.identity == identity), identity)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What went wrong first, where several tasks ended by it."""
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
