"""The status page of a site, in a process of its own: it has no key, and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from markupsafe import Markup
from starlette.routing import Route

from krand.collector.serving import listen
from krand.languages.speaking import gettext, marked, ngettext, text_of
from krand.partners.clock import Clock
from krand.report.pages import told
from krand.site.checks import published_plan
from krand.site.part import Say
from krand.site.site_file import COLLECTOR, Site, SiteSurvey
from krand.survey.plan import Plan
from krand.web.access import Address, kept_token, page_server, serve
from krand.web.app import make_site_app
from krand.web.site_page import PartState, SiteState, SurveyState
from krand.wording.phrases import whole
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
    state = partial(state_of, site, plans)
    server = page_server(make_site_app(address, state, own, more))
    (only,) = own.values() if own and len(plans) == 1 else ("/",)
    say(event, url=f"{address.home}{only[1:]}?token={address.token}")
    serve(server, listener)


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
        lines=tuple(_lines(plan, own)),
        ending=_ending(survey, own),
    )


def _part_state(kind: str, said: Said) -> PartState:
    if "died" in said:
        return PartState(kind, marked("starts again"), said.get("failed", {}).get("what", ""))
    return PartState(kind, marked("running"), said.get("trouble", {}).get("what", ""))


def _ending(survey: SiteSurvey, own: dict[str, Said]) -> str:
    if COLLECTOR not in survey.roles or "reported" in own.get("analyst", {}):
        return ""
    close = f"krand close {survey.folder.path}"
    return gettext("To end the survey and get its report: %(command)s", command=close)


def _lines(plan: Plan, own: dict[str, Said]) -> Iterator[str]:
    if report := own.get("analyst", {}).get("reported"):
        people = whole(report["people"])
        yield gettext("Report of %(people)s people: %(file)s", people=people, file=report["report"])
    for kind, said in own.get("passing on", {}).items():
        if kind.startswith("partner "):
            yield _partner_line(said)
        elif kind == "passed on":
            what = told(said["what"]) if said["what"] else gettext("it has the batch")
            line = text_of(marked("Passed on to %(name)s: %(what)s."))
            yield Markup(line) % {"name": said["to"], "what": what}
    if len(plan.mixers) > 1:
        yield gettext(
            "Each of the %(number)s mixers is needed: if one of them is lost, so are the answers"
            " that it has not passed on.",
            number=len(plan.mixers),
        )


def _partner_line(said: dict[str, Any]) -> str:
    if not said["answers"]:
        line = text_of(marked("%(name)s does not answer: %(what)s"))
        return Markup(line) % {"name": said["name"], "what": told(said["what"])}
    name, held = said["name"], said["held"]
    line = ngettext(
        "%(name)s answers, and has %(number)s key.",
        "%(name)s answers, and has %(number)s keys.",
        held,
        name=name,
        number=whole(held),
    )
    if not held:
        line = gettext("%(name)s answers, and has no key.", name=name)
    rounds = ", ".join(f"{one['round']} ({one['reason']})" for one in said["erased"])
    erased = gettext("It has erased the keys of round %(rounds)s, and signed that.", rounds=rounds)
    return f"{line} {erased}" if rounds else line
