"""The collector of a survey: form, submissions, invitations, receipts."""

from __future__ import annotations

from krand.collector.invitations import check_invitations
from krand.collector.opening import open_spool
from krand.collector.serving import listen, make_server, serve, url_of
from krand.collector.settings import Settings, receipt_of, served_signatures
from krand.site.checks import published_plan, signatures_in
from krand.site.part import Say
from krand.site.site_file import SiteSurvey
from krand.web.form.site import form_pages
from krand.wire.keys import read_signing_key


def run(survey: SiteSurvey, say: Say) -> None:
    """Serve until the process is told to end."""
    folder, plan = survey.folder, published_plan(survey.folder)
    assert survey.listen is not None
    invitations = folder.invitations if plan.survey.invitations else None
    settings = Settings(
        plan=plan,
        origins=survey.origins,
        signatures=served_signatures(plan, signatures_in(folder)),
        receipt=receipt_of(plan, survey.round, read_signing_key(folder.identity)),
        invitations=check_invitations(plan, invitations, survey.round),
        is_over=plan.survey.about.is_over,
    )
    listener = listen(*survey.listen)
    metrics = None if survey.metrics is None else listen(*survey.metrics)
    store = open_spool(plan, folder.spool(survey.round), survey.round)
    pages = form_pages(plan, settings.signatures)
    server = make_server(store, settings, pages=pages, metrics=metrics)
    told = {} if metrics is None else {"metrics": f"{url_of(metrics)}/metrics"}
    address = survey.address or f"{url_of(listener)}/"
    say("serving", url=url_of(listener), address=address, **told)
    serve(server, listener, quiet=True)
