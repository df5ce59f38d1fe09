"""The collector of a survey: form, submissions, invitations."""

from __future__ import annotations

from krand.collector.intake import Intake, Serving
from krand.collector.invitations import check_invitations
from krand.collector.public import served_signatures
from krand.collector.serving import listen, make_server, serve, url_of
from krand.collector.spool import Spool
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
    listener = listen(*survey.listen)
    intake = _intake(survey, plan, round_to_serve(survey, plan, own), own)
    signatures = served_signatures(plan, signatures_in(survey.folder))

    def following(now: int) -> Intake | None:
        """The round after the one that is served now, as soon as it is open."""
        number = round_to_serve(survey, plan, own)
        if number == now:
            return None
        opened = _intake(survey, plan, number, own)
        say("opened", round=number)
        return opened

    serving = Serving(
        intake,
        signatures=signatures,
        origins=survey.origins,
        pages=form_pages(plan, signatures),
        following=None if plan.survey.schedule is None else following,
    )
    address = survey.address or f"{url_of(listener)}/"
    say("serving", url=url_of(listener), address=address)
    serve(make_server(serving.application), listener, quiet=True)


def _intake(survey: SiteSurvey, plan: Plan, number: int, clock: SiteClock) -> Intake:
    folder = survey.folder
    invited = check_invitations(
        plan, folder.invitations if plan.survey.invitations else None, number
    )
    spool = Spool(folder.collector, plan, number)
    return Intake(spool, invited, lambda: is_over(plan, number, clock))
