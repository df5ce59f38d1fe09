"""The collector of a survey: form, submissions, invitations."""

from __future__ import annotations

from krand.collector.invitations import check_invitations
from krand.collector.opening import open_spool
from krand.collector.serving import listen, make_server, serve, url_of
from krand.collector.settings import Settings, served_signatures
from krand.collector.store import Store
from krand.partners.clock import Clock
from krand.site.checks import published_plan, signatures_in
from krand.site.part import Say
from krand.site.rounds import SiteClock, is_over, round_to_serve
from krand.site.site_file import SiteSurvey
from krand.survey.plan import Plan
from krand.web.form.site import form_pages


def run(survey: SiteSurvey, say: Say, clock: Clock) -> None:
    """Serve until the process is told to end."""
    plan, own = published_plan(survey.folder), SiteClock(clock, survey.folder.clock)
    assert survey.listen is not None
    number = round_to_serve(survey, plan, own)
    settings = _settings(survey, plan, number, own)
    listener = listen(*survey.listen)
    store = open_spool(plan, survey.folder.spool(number), number)
    pages = form_pages(plan, settings.signatures)

    def following(now: int) -> tuple[Store, Settings] | None:
        """The round after the one that is served now, as soon as it is open."""
        following = round_to_serve(survey, plan, own)
        if following == now:
            return None
        opened = open_spool(plan, survey.folder.spool(following), following)
        say("opened", round=following)
        return opened, _settings(survey, plan, following, own)

    turns = None if plan.survey.schedule is None else following
    server = make_server(store, settings, pages=pages, following=turns)
    address = survey.address or f"{url_of(listener)}/"
    say("serving", url=url_of(listener), address=address)
    serve(server, listener, quiet=True)


def _settings(survey: SiteSurvey, plan: Plan, number: int, clock: SiteClock) -> Settings:
    folder = survey.folder
    invitations = folder.invitations if plan.survey.invitations else None
    return Settings(
        plan=plan,
        origins=survey.origins,
        signatures=served_signatures(plan, signatures_in(folder)),
        invitations=check_invitations(plan, invitations, number),
        is_over=lambda: is_over(plan, number, clock),
    )
