"""Where the analysts of a site receive batches of partners; it has no key that opens anything."""

from __future__ import annotations

from krand.collector.serving import listen, serve, url_of
from krand.partners.clock import Clock
from krand.partners.endpoints import batch_endpoints
from krand.partners.http import Endpoints, PartnerService
from krand.partners.identity import Address, Identity, read_identity
from krand.partners.joining import Awaited
from krand.partners.requests import NotFound
from krand.partners.serving import make_partner_server, tls_context
from krand.partners.uploads import Uploads
from krand.site.checks import published_plan
from krand.site.part import Receiving, Say
from krand.survey.survey_folder import SurveyFolder


def run(of: Receiving, say: Say, _: Clock) -> None:
    """Serve until the process is told to end."""
    receiver = of.receiver
    identity = read_identity(receiver.identity)
    arriving = Arriving(of.folders, identity)
    awaited = Awaited((*of.folders, *of.awaited), identity)
    batches = batch_endpoints(arriving, lambda: say("received"))
    plans = awaited.endpoints(lambda folder: say("planned", survey=folder))
    app = PartnerService(identity, of.name, Endpoints(signed=(*batches, *plans)))
    listener = listen(*receiver.listen)
    own, given = receiver.folder / "tls.pem", (receiver.tls_cert, receiver.tls_key)
    tls = tls_context(identity, own, *given, receiver.behind_proxy)
    server = make_partner_server(app, tls)
    scheme = "http" if receiver.behind_proxy else "https"
    url = receiver.address or f"{scheme}{url_of(listener).removeprefix('http')}"
    say("receiving", url=url, identity=identity.public)
    for folder, link in awaited.links(Address(url, identity.public)).items():
        say("awaited", survey=folder, link=str(link))
    serve(server, listener, quiet=True)


class Arriving:
    """What arrives for each plan of the site."""

    def __init__(self, folders: tuple[SurveyFolder, ...], identity: Identity) -> None:
        self._uploads: dict[str, Uploads] = {}
        for folder in folders:
            plan = published_plan(folder)
            self._uploads[plan.hash] = Uploads(folder.incoming, plan, 0, identity)

    def uploads(self, plan: str) -> Uploads:
        """What has arrived for a plan."""
        if plan not in self._uploads:
            hint = "the analyst adds the survey to the site file"
            raise NotFound("plan", "must be one that is received here", plan, hint)
        return self._uploads[plan]
