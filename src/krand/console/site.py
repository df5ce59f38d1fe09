"""The pages of `krand run`: share the form, watch, close, read results. For this machine alone."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from krand.console.folder import Place
from krand.console.mailing import Mailing
from krand.console.published import Published
from krand.console.running import Keeping
from krand.partners.clock import Clock
from krand.site.part import Say
from krand.site.site_file import ANALYST, COLLECTOR, Site, SiteSurvey
from krand.site.status import plans_of, serve_pages
from krand.survey.survey_folder import folder_beside
from krand.web.app import shared_with


def run(site: Site, say: Say, _: Clock) -> None:
    """Serve until the process is told to end."""
    plans = plans_of(site)
    found = {name: _place(name, survey, site) for name, (survey, _) in plans.items()}
    places = {name: place for name, place in found.items() if place is not None}
    closing = partial(say, "stays")
    keeping, shared = Keeping(), shared_with("krand run")
    pages = Published(places.get, keeping, shared, closing)
    mailing = Mailing(places.get, keeping, shared)
    own = {name: f"/surveys/{name}" for name in places}
    routes = (*pages.routes(whole=False), *mailing.routes())
    serve_pages(site, plans, say, "console", own, routes)


def _place(name: str, survey: SiteSurvey, site: Site) -> Place | None:
    """A survey of which everything is here; others have no pages of their own."""
    file = survey.folder.path.with_suffix(".toml")
    whole = {COLLECTOR, ANALYST} <= set(survey.roles)
    if not whole or folder_beside(file) != survey.folder or not file.is_file():
        return None
    root = file.parent if file.is_absolute() else Path()
    return Place(file, name, root, site)
