"""The collector of a survey: form, submissions, invitations, receipts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krand.site.site_file import SiteSurvey

if TYPE_CHECKING:
    from krand.collector.settings import Settings
    from krand.site.part import Say
    from krand.survey.plan import Plan


@dataclass(frozen=True, slots=True)
class Collecting:
    """A collector, in its own process."""

    of: SiteSurvey
    kind = "collector"

    @property
    def survey(self) -> str:
        """The survey's folder."""
        return str(self.of.folder.path)

    def run(self, say: Say) -> None:
        """Serve until the process is told to end."""
        from krand.collector.opening import open_spool
        from krand.collector.serving import listen, make_server, serve, url_of
        from krand.site.checks import published_plan
        from krand.web.form.site import form_pages

        survey, folder = self.of, self.of.folder
        assert survey.listen is not None
        plan = published_plan(folder)
        settings = _settings(plan, survey)
        listener = listen(survey.listen.host, survey.listen.port)
        place = survey.metrics
        metrics = None if place is None else listen(place.host, place.port)
        store = open_spool(plan, folder.spool(survey.round), survey.round)
        pages = form_pages(plan, settings.signatures)
        server = make_server(store, settings, pages=pages, metrics=metrics)
        told = {} if metrics is None else {"metrics": f"{url_of(metrics)}/metrics"}
        address = survey.address or f"{url_of(listener)}/"
        say("serving", url=url_of(listener), address=address, **told)
        serve(server, listener, quiet=True)


def _settings(plan: Plan, survey: SiteSurvey) -> Settings:
    from krand.collector.invitations import check_invitations
    from krand.collector.settings import Settings, receipt_of, served_signatures
    from krand.site.checks import signatures_in
    from krand.wire.keys import read_signing_key

    folder = survey.folder
    invitations = folder.invitations if plan.survey.invitations else None
    return Settings(
        plan=plan,
        origins=survey.origins,
        signatures=served_signatures(plan, signatures_in(folder)),
        receipt=receipt_of(plan, survey.round, read_signing_key(folder.identity)),
        invitations=check_invitations(plan, invitations, survey.round),
        is_over=plan.survey.about.is_over,
    )
