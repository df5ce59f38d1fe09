"""The status page of a site, in a process of its own: it has no key, and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from starlette.routing import Route

from krand.collector.serving import listen
from krand.partners.clock import Clock
from krand.site.checks import published_plan
from krand.site.part import Say
from krand.site.site_file import ANALYST, COLLECTOR, Site, SiteSurvey
from krand.survey.plan import Plan
from krand.web.access import Address, kept_token
from krand.web.app import make_site_app
from krand.web.serving import make_server, serve
from krand.web.site_page import PartState, SiteState, SurveyState
from krand.web.watching import Watched
from krand.wording.surveys import survey_name

Said = dict[str, dict[str, Any]]
"""What a part last said of each kind."""
Plans = dict[str, tuple[SiteSurvey, Plan]]


def run(site: Site, say: Say, _: Clock) -> None:
    """Serve until the process is told to end."""
    serve_pages(site, plans_of(site), say, "status")


def plans_of(site: Site) -> Plans:
    """The surveys of a site with their plans, by id."""
    surveys = [(survey, published_plan(survey.folder)) for survey in site.surveys]
    return {plan.survey.id: (survey, plan) for survey, plan in surveys}


def serve_pages(
    site: Site,
    plans: Plans,
    say: Say,
    event: str,
    own: Mapping[str, str] | None = None,
    more: Sequence[Route] = (),
) -> None:
    """Serve the status of a site, with other pages of some surveys; `event` tells the address."""
    listener = listen(*site.status)
    address = Address(site.status.host, listener.getsockname()[1], kept_token(site.token))
    watched = {name: _watched(*each) for name, each in plans.items()}
    state = partial(state_of, site, plans)
    server = make_server(lambda: make_site_app(address, watched, state, own, more))
    (only,) = own.values() if own and len(plans) == 1 else ("/collector",)
    say(event, url=f"{address.home}{only[1:]}?token={address.token}")
    serve(server, listener)


def _watched(survey: SiteSurvey, plan: Plan) -> Watched:
    folder = survey.folder
    return Watched(
        plan=plan,
        spool=folder.spool(survey.round) if COLLECTOR in survey.roles else None,
        round=survey.round,
        results=folder.analyst if ANALYST in survey.roles else None,
    )


def state_of(site: Site, plans: Plans) -> SiteState:
    """What the parts of a site said last."""
    told: dict[str, Any] = {}
    with suppress(OSError, ValueError):  # nothing yet
        told = json.loads(site.state.read_bytes())
    parts = told.get("parts", [])
    surveys = tuple(_survey_state(*each, parts) for each in plans.values())
    shared = tuple(_part_state(part["kind"], part["said"]) for part in parts if not part["survey"])
    mistakes = told.get("mistakes", "")
    return SiteState(name=site.name, surveys=surveys, parts=shared, mistakes=mistakes)


def _survey_state(survey: SiteSurvey, plan: Plan, parts: list[dict[str, Any]]) -> SurveyState:
    own = {
        part["kind"]: part["said"] for part in parts if part["survey"] == str(survey.folder.path)
    }
    serving = own.get("collector", {}).get("serving", {})
    return SurveyState(
        id=plan.survey.id,
        title=survey_name(plan.survey),
        form=serving.get("address", ""),
        parts=tuple(_part_state(kind, said) for kind, said in own.items()),
        lines=tuple(_lines(survey, plan, own)),
    )


def _part_state(kind: str, said: Said) -> PartState:
    if "died" in said:
        return PartState(kind, "starts again", said.get("failed", {}).get("what", ""))
    return PartState(kind, "running", said.get("trouble", {}).get("what", ""))


def _lines(survey: SiteSurvey, plan: Plan, own: dict[str, Said]) -> Iterator[str]:
    if report := own.get("analyst", {}).get("reported"):
        yield f"Report of {report['people']:,} people: {report['report']}"
    elif COLLECTOR in survey.roles:
        yield f"To end the survey and get its report: krand close {survey.folder.path}"
    for kind, said in own.get("passing on", {}).items():
        if kind.startswith("partner "):
            yield _partner_line(said)
        elif kind == "passed on":
            what = said["what"] or "it has the batch"
            yield f"Passed on to {said['to']}: {what}."
    if plan.survey.trust.chain > 1:
        yield (
            f"Each of the {plan.survey.trust.chain} mixers is needed: if one of them is lost, so"
            " are the answers that it has not passed on."
        )


def _partner_line(said: dict[str, Any]) -> str:
    if not said["answers"]:
        return f"{said['name']} does not answer: {said['what']}"
    rounds = ", ".join(f"{one['round']} ({one['reason']})" for one in said["erased"])
    erased = f" It has erased the keys of round {rounds}, and signed that." if rounds else ""
    keys = "no key" if not said["held"] else f"{said['held']:,} key{'s' * (said['held'] > 1)}"
    return f"{said['name']} answers, and has {keys}.{erased}"
