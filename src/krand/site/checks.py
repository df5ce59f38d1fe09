"""Whether a survey's folder has what its site needs; everything that is missing is told at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from krand.collector.rounds import check_collected
from krand.errors import InvalidInput, KrandError, Unavailable
from krand.files import complete_file, read_whole
from krand.mistakes import Broken, SurveyErrors, problems_of
from krand.mixing.store import MixerStore
from krand.partners.documents import Route, check_route
from krand.partners.identity import read_identity
from krand.planning.promises import check_promise
from krand.site.site_file import ANALYST, COLLECTOR, Site, SiteSurvey, site_in
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan
from krand.survey.reading import read_toml
from krand.survey.survey_folder import SurveyFolder
from krand.wire.plan_signatures import PlanSignature, check_signatures, read_signature
from krand.wire.signed import parse_signed

EDITED = (
    "a published survey cannot be edited, only ended: put back the plan that was published, and"
    " give the changed survey an id and a folder of its own"
)


def checked_site(path: Path, *, thorough: bool = False) -> Site:
    """The site in a file, if all that it names is there.

    A `thorough` check also recomputes promises and opens keys. Otherwise no key is read here: the
    supervisor has none.
    """
    file = read_toml("site", path)
    site = _without_awaited(site_in(file, path.parent))
    broken = [*_survey_rules(site, thorough)]
    if broken:
        raise SurveyErrors(file.source, problems_of(broken, file.line_of))
    return site


def _without_awaited(site: Site) -> Site:
    """An analyst's surveys whose plans have not come yet are apart."""
    awaited = [
        each
        for each in site.surveys
        if site.receiver and each.roles == (ANALYST,) and not each.folder.plan.exists()
    ]
    left = tuple(each for each in site.surveys if each not in awaited)
    return replace(site, surveys=left, awaited=tuple(each.folder for each in awaited))


def published_plan(folder: SurveyFolder) -> Plan:
    """The plan of a folder, if no other one was published from it."""
    plan = read_plan(folder.plan)
    if folder.published.exists():
        published = read_whole("published", folder.published).decode().strip()
        if published != plan.hash:
            rule = f"must be the one that was published from {folder.path}, {published}"
            raise InvalidInput("plan", rule, plan.hash, EDITED)
    return plan


def publish(folder: SurveyFolder, plan: Plan) -> None:
    """From now on no other plan is served from this folder."""
    if not folder.published.exists():
        with complete_file("published", folder.published, replace=False) as stream:
            stream.write(f"{plan.hash}\n".encode())


def route_of(folder: SurveyFolder, plan: Plan) -> Route | None:
    """Where each party is reached, as the organiser signed it; None where files are carried."""
    if not folder.route.exists():
        return None
    signed = parse_signed(Route, read_whole("route", folder.route), str(folder.route))
    check_route(plan, signed)
    return signed.record


def signatures_in(folder: SurveyFolder) -> list[PlanSignature]:
    """The signatures of the plan that lie in a survey's folder."""
    return [read_signature(path) for path in sorted(folder.signatures.glob("*.json"))]


def _survey_rules(site: Site, thorough: bool) -> Iterator[Broken]:
    ids: dict[str, int] = {}
    for index, survey in enumerate(site.surveys):
        where = ("survey", index)
        try:
            plan = published_plan(survey.folder)
            if thorough:
                check_promise(plan)
            check_collected(plan, plan.survey.first_round)
        except KrandError as error:
            yield _broken((*where, "folder"), error, survey)
            continue
        if plan.survey.id in ids:
            rule = f"must be another survey than that of survey[{ids[plan.survey.id]}]"
            hint = "two plans of one survey are two chances to keep the nicer result"
            yield Broken((*where, "folder"), rule, plan.survey.id, hint)
        ids[plan.survey.id] = index
        yield from (entry.under(where) for entry in _folder_rules(site, survey, plan, thorough))


def _folder_rules(site: Site, survey: SiteSurvey, plan: Plan, thorough: bool) -> Iterator[Broken]:
    folder = survey.folder
    needed = [folder.identity, folder.mixer_store] if COLLECTOR in survey.roles else []
    if COLLECTOR in survey.roles and plan.survey.invitations:
        needed.append(folder.invitations)
    needed += [folder.analyst_key] if ANALYST in survey.roles else []
    for path in needed:
        if not path.exists():
            rule = f"must have {path.relative_to(folder.path)}"
            yield Broken(("folder",), rule, str(folder.path), _maker(path, survey))
    if COLLECTOR in survey.roles:
        for check in (_check_signed, *((_check_store,) if thorough else ())):
            try:
                check(survey, plan)
            except KrandError as error:
                yield _broken(("folder",), error, survey)
    yield from _route_rules(site, survey, plan, thorough)


def _check_signed(survey: SiteSurvey, plan: Plan) -> None:
    check_signatures(plan, signatures_in(survey.folder))


def _check_store(survey: SiteSurvey, plan: Plan) -> None:
    """A store or anchor that does not fit would be found when people have answered."""
    if not survey.folder.mixer_store.exists():
        return
    with suppress(Unavailable), MixerStore(survey.folder.mixer_store, survey.anchor) as store:
        store.keys.hop_in(plan)


def _route_rules(site: Site, survey: SiteSurvey, plan: Plan, thorough: bool) -> Iterator[Broken]:
    """A route that leads here needs a receiver, with the identity that the route names."""
    try:
        route = route_of(survey.folder, plan)
        if route is None or ANALYST not in survey.roles or not route.station(0).url:
            return
        if site.receiver is None:
            rule = "must come with a [receiver], because its route leads here"
            yield Broken(("roles",), rule, list(survey.roles), "add [receiver] with listen")
        elif thorough:
            own, named = read_identity(site.receiver.identity).public, route.station(0).identity
            if own != named:
                rule = f"must be received with the identity that its route names, {named}"
                yield Broken(("folder",), rule, own, f"it is that in {site.receiver.identity}")
    except KrandError as error:
        yield _broken(("folder",), error, survey)


def _maker(path: Path, survey: SiteSurvey) -> str:
    """What writes a file that is missing."""
    if path != survey.folder.invitations:
        return "krand pair or krand run survey.toml makes the whole folder"
    url, links = survey.address or f"http://{survey.listen}/", path.with_suffix(".csv")
    local = "" if survey.address else " --local"
    return f"krand invite {survey.folder.plan} --count 100 --url {url}{local} -o {links}"


def _broken(where: tuple[str | int, ...], error: KrandError, survey: SiteSurvey) -> Broken:
    if isinstance(error, InvalidInput):
        hint = f"in {survey.folder.path}" + (f"; {error.hint}" if error.hint else "")
        return Broken(where, f"{error.field} {error.rule}", error.value, hint)
    hint = "try again when that has passed"
    return Broken(where, str(error), str(survey.folder.path), hint)
