"""Where the analysts of a site receive batches of partners; it has no key that opens anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krand.site.site_file import Receiver
from krand.survey.survey_folder import SurveyFolder

if TYPE_CHECKING:
    import ssl

    from krand.partners.identity import Identity
    from krand.partners.uploads import Uploads
    from krand.site.part import Say


@dataclass(frozen=True, slots=True)
class Receiving:
    """The receiver of a site, in its own process, for these surveys."""

    of: Receiver
    name: str
    folders: tuple[SurveyFolder, ...]
    awaited: tuple[SurveyFolder, ...] = ()
    kind = "receiver"
    survey = ""

    def run(self, say: Say) -> None:
        """Serve until the process is told to end."""
        from krand.collector.serving import listen, serve, url_of
        from krand.partners.addresses import Address
        from krand.partners.analysts import Awaited
        from krand.partners.http import Operators, PartnerService, Ways
        from krand.partners.identity import read_identity
        from krand.partners.serving import SOCKET_BYTES, make_partner_server
        from krand.partners.ways import batch_ways

        identity = read_identity(self.of.identity)
        arriving = Arriving(self.folders, identity)
        awaited = Awaited((*self.folders, *self.awaited), identity)
        batches = batch_ways(arriving, lambda: say("received"))
        plans = awaited.ways(lambda folder: say("planned", survey=folder))
        app = PartnerService(identity, self.name, Ways(signed=(*batches, *plans)))
        listener = listen(self.of.listen.host, self.of.listen.port, SOCKET_BYTES)
        operators, told = None, {}
        if self.of.metrics is not None:
            own = listen(self.of.metrics.host, self.of.metrics.port)
            operators = Operators(lambda: True, arriving.metrics), own
            told["metrics"] = f"{url_of(own)}/metrics"
        server = make_partner_server(app, self._tls(identity), operators)
        scheme = "http" if self.of.behind_proxy else "https"
        url = self.of.address or f"{scheme}{url_of(listener).removeprefix('http')}"
        say("receiving", url=url, identity=identity.public, **told)
        for folder, link in awaited.links(Address(url, identity.public)).items():
            say("awaited", survey=folder, link=str(link))
        serve(server, listener, quiet=True)

    def _tls(self, identity: Identity) -> ssl.SSLContext | None:
        from krand.partners.serving import files_context, identity_context

        if self.of.behind_proxy:
            return None
        if self.of.tls_cert is not None:
            return files_context(self.of.tls_cert, self.of.tls_key)
        return identity_context(identity, self.of.folder / "tls.pem")


class Arriving:
    """What arrives for each plan of the site."""

    def __init__(self, folders: tuple[SurveyFolder, ...], identity: Identity) -> None:
        from krand.partners.uploads import Uploads
        from krand.site.checks import published_plan

        self._uploads: dict[str, Uploads] = {}
        self._folders = folders
        for folder in folders:
            plan = published_plan(folder)
            if plan.survey.trust.chain:
                self._uploads[plan.hash] = Uploads(folder.incoming, plan, 0, identity)

    def uploads(self, plan: str) -> Uploads:
        """What has arrived for a plan."""
        from krand.partners.requests import NotFound

        if plan not in self._uploads:
            hint = "the analyst adds the survey to the site file"
            raise NotFound("plan", "must be one that is received here", plan, hint)
        return self._uploads[plan]

    def metrics(self) -> str:
        """For the operator: how many batches are complete."""
        count = sum(len(list(folder.incoming.glob("*.chain.json"))) for folder in self._folders)
        name = "krand_received_batches"
        return f"# HELP {name} Complete batches.\n# TYPE {name} gauge\n{name} {count}\n"
