"""`krand mix serve` and `krand mix accept`: a mixer as a service, and what its operator decides."""

from __future__ import annotations

import logging
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.exit_codes import until_stopped
from krand.cli.options import FILE, FOLDER, output_options
from krand.errors import InvalidInput, KrandError
from krand.mistakes import visible
from krand.showing import at_most
from krand.terminal.output import Output

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

    from krand.partners.identity import Address, Identity
    from krand.partners.records import PairingRecord, Records
    from krand.partners.service_folder import ServiceFile, ServiceFolder

log = logging.getLogger("krand.partners")

PORT = 8443
EVERYWHERE, LOOPBACK = "0.0.0.0", "127.0.0.1"
NO_ANCHOR = (
    "There is no anchor: if this store is ever restored from a copy, a batch could leave twice with"
    " different noise, and the difference shows more than the promise allows. Make no copies of it."
)


@click.command(short_help="Be a mixer for partners, as a service.")
@click.option(
    "--store",
    type=FOLDER,
    default="mixer",
    show_default=True,
    help="The service's private folder, made if missing.",
)
@click.option("--name", help="What the mixer is called in plans; needed for a new folder.")
@click.option(
    "--join", "link", metavar="LINK", help="Set up the mixer that an organiser asked for."
)
@click.option(
    "--address",
    metavar="URL",
    help="Where partners reach the service, as https://mix.example.org:8443.",
)
@click.option(
    "--anchor",
    type=FOLDER,
    help="A folder on another disk, for a new service: an older copy of the store is useless.",
)
@click.option("--no-anchor", is_flag=True, help="Do without one; the store is never restored.")
@click.option(
    "--policy",
    type=FILE,
    help="Whose plans are signed without asking you, and within which limits; by default"
    " policy.toml in the folder, or every request waits for krand mix accept.",
)
@click.option("--host", help="Address to listen on; by default all of this machine's.")
@click.option(
    "--port", type=int, default=PORT, show_default=True, help="Port to listen on; 0 for any."
)
@click.option("--tls-cert", type=FILE, help="A certificate for TLS, instead of the identity's own.")
@click.option("--tls-key", type=FILE, help="Its private key, if it is in another file.")
@click.option(
    "--behind-proxy",
    is_flag=True,
    help="Serve plain HTTP, on this machine unless --host says otherwise: a proxy has TLS.",
)
@click.option(
    "--clock-is-right", is_flag=True, help="Go on after the clock has moved by more than a day."
)
@output_options
def serve(out: Output, store: Path, host: str | None, port: int, **options: Any) -> None:
    """Give keys to organisers, check and sign their plans, mix batches and pass them on.

    Each survey has keys of its own, which are erased with the last batch that the plan allows, or
    30 days after the survey's last day. Who may have keys is in a policy; without one, every
    request waits until you accept it. The page at / tells everybody what the mixer promised.

    Partners know the service by its identity, so no certificate has to be bought: the printed link
    carries the identity. Read its ten words out to whoever wants to be sure.

    Ctrl-C or SIGTERM stops the service. It may be killed at any time: nothing is lost, and nothing
    leaves twice with other noise.

    \b
    Examples:
      krand mix serve --name university --anchor /mnt/b/anchors
          --address https://mix.university.example:8443
      krand mix serve --join LINK --address https://mix.union.example:8443
      krand mix serve --behind-proxy
    """
    from krand.collector.serving import check_installed, listen
    from krand.partners.service_folder import DECIDED, identity_in, service_in

    check_installed("mnemonic")
    _check(options)
    host = host or (LOOPBACK if options["behind_proxy"] else EVERYWHERE)
    anchors = None if (store / DECIDED).exists() else _anchors(store, options)
    identity = identity_in(store)
    listener = listen(host, port)
    decided = _decided(store, identity, anchors, options, out)
    _run(service_in(store, decided, options["policy"]), listener, options, out)


def _check(options: Mapping[str, Any]) -> None:
    """What can be wrong with the options alone."""
    from krand.mixing.keys import check_name
    from krand.partners.identity import checked_url, parse_join_link

    if options["name"] is not None:
        check_name(options["name"], "name")
    if options["link"] is not None:
        parse_join_link(options["link"])
        if options["address"] is None:
            hint = "--address https://mix.example.org:8443"
            raise InvalidInput("address", "must be given with --join", None, hint)
    if options["address"] is not None:
        checked_url("address", options["address"])
    if options["tls_key"] is not None and options["tls_cert"] is None:
        rule, hint = "must be given with --tls-cert", "name the certificate of this key"
        raise InvalidInput("tls_key", rule, str(options["tls_key"]), hint)
    if options["tls_cert"] is not None and options["behind_proxy"]:
        rule, hint = "must not be given with --behind-proxy", "give the certificate to the proxy"
        raise InvalidInput("tls_cert", rule, str(options["tls_cert"]), hint)


def _anchors(store: Path, options: Mapping[str, Any]) -> Path | None:
    """Where the anchors of a new service lie: told, asked for, or explicitly nowhere."""
    from krand.partners.service_folder import check_anchors

    anchor: Path | None = options["anchor"]
    if options["no_anchor"] and anchor is not None:
        rule, hint = "must not be given with --no-anchor", "leave one of them out"
        raise InvalidInput("anchor", rule, str(anchor), hint)
    if options["no_anchor"]:
        return None
    if anchor is None and sys.stdin.isatty():
        asked = "Folder on another disk for the anchor, which makes old copies of the store useless"
        anchor = Path(click.prompt(asked, err=True))
    if anchor is None:
        hint = "name a folder on another disk with --anchor"
        raise InvalidInput("anchor", "must be given, or --no-anchor, for a new service", None, hint)
    check_anchors(anchor.absolute(), store)
    return anchor.absolute()


def _decided(
    store: Path,
    identity: Identity,
    anchors: Path | None,
    options: Mapping[str, Any],
    out: Output,
) -> ServiceFile:
    """What the operator decided when the folder was made, or decides now."""
    from krand.partners.identity import checked_url, parse_join_link
    from krand.partners.joining import join
    from krand.partners.service_folder import ServiceFile, decided_in, write_decided

    link = None if options["link"] is None else parse_join_link(options["link"])
    decided = decided_in(store)
    if decided is not None:
        if options["name"] not in (None, decided.name):
            rule = f"must be {decided.name}, as when the folder was made"
            raise InvalidInput("name", rule, options["name"], "leave --name out")
        if link is not None and decided.organiser != link.address.identity:
            rule = "must be of the organiser that this service was set up for"
            hint = "use another --store, or send the organiser this service's address"
            raise InvalidInput("link", rule, link.address.url, hint)
        return decided
    name, organiser = options["name"], ""
    if link is not None:
        joined = join(link, identity, checked_url("address", options["address"]))
        name, organiser = name or joined.name, link.address.identity or ""
        out.lines(f"{visible(joined.organiser)} has been told the address.", stderr=True)
    if name is None:
        raise InvalidInput("name", "must be given for a new service", None, "--name university")
    decided = ServiceFile(
        name=name, anchors="" if anchors is None else str(anchors), organiser=organiser
    )
    write_decided(store, decided)
    if anchors is None:
        out.warn(NO_ANCHOR)
    return decided


def _run(
    folder: ServiceFolder, listener: socket.socket, options: Mapping[str, Any], out: Output
) -> None:
    from krand.collector.serving import serve as run
    from krand.partners.clock import ClockJumped
    from krand.partners.endpoints import mixer_endpoints
    from krand.partners.http import PartnerService
    from krand.partners.mixer_service import MixerService, overview_of
    from krand.partners.serving import Worker, make_partner_server, tls_context
    from krand.web.mixer_page import mixer_page

    service = MixerService(folder, clock_is_right=options["clock_is_right"], report=log.info)
    leaving = threading.Thread(target=service.deliveries.run, name="deliveries")
    failed: list[KrandError] = []

    def ended(error: KrandError) -> None:
        failed.append(error)
        server.should_exit = True

    def stop() -> None:
        server.should_exit = True
        worker.stop()
        service.stop()

    worker = Worker(service.work, ended, fatal=ClockJumped)
    endpoints = mixer_endpoints(
        service,
        worker.wake,
        page=lambda language: mixer_page(overview_of(folder, service.records), language),
        start=worker.start,
        stop=stop,
    )
    app = PartnerService(folder.identity, folder.name, endpoints)
    given = (options[name] for name in ("tls_cert", "tls_key", "behind_proxy"))
    tls = tls_context(folder.identity, folder.path / "tls.pem", *given)
    server = make_partner_server(app, tls)
    address = _address(listener, folder.identity, options)
    leaving.start()
    try:
        with until_stopped(stop):  # uvicorn raises a signal again when it has ended
            _tell(folder.name, address, out)
            run(server, listener, quiet=out.quiet)
    finally:
        stop()
        worker.join()
        leaving.join()
        service.close()
    if failed:
        raise failed[0]


def _address(listener: socket.socket, identity: Identity, options: Mapping[str, Any]) -> Address:
    """As partners write it; this machine's own where nothing was told."""
    from krand.partners.identity import Address

    if options["address"] is not None:
        return Address(options["address"], identity.public)
    scheme, port = "http" if options["behind_proxy"] else "https", listener.getsockname()[1]
    return Address(f"{scheme}://127.0.0.1:{port}", identity.public)


def _tell(name: str, address: Address, out: Output) -> None:
    from krand.partners.identity import fingerprint

    shown = fingerprint(address.identity or "")
    values = {
        "name": name,
        "address": str(address),
        "identity": address.identity,
        "words": shown.words,
        "digits": shown.digits,
    }
    if out.as_json:
        out.json(values)
        return
    out.lines(
        f"The mixer {visible(name)} serves at {address.url}/",
        f"Organisers pair with: {address}",
        "Its fingerprint, to be read out on the telephone:",
        f"  in words:  {shown.words}",
        f"  in digits: {shown.digits}",
        stderr=True,
    )


@click.command(short_help="Accept or refuse organisers' requests.")
@click.argument("number", type=int, required=False)
@click.option(
    "--store",
    type=FOLDER,
    default="mixer",
    show_default=True,
    help="The service's private folder.",
)
@click.option("--refuse", metavar="REASON", help="Refuse the request; the organiser is told why.")
@output_options
def accept(out: Output, number: int | None, store: Path, refuse: str | None) -> None:
    """List the requests that wait for you, or accept or refuse one by its number.

    Anybody can call themselves anything: what counts is the fingerprint. Compare its ten words with
    those that the organiser reads out to you before you accept. The service may run meanwhile.

    \b
    Examples:
      krand mix accept
      krand mix accept 3
      krand mix accept 3 --refuse "we do not know you"
    """
    from contextlib import closing

    from krand.partners.mixer_service import accept as accepted
    from krand.partners.mixer_service import refuse as refused
    from krand.partners.records import Records, Stage
    from krand.partners.service_folder import decided_in, service_in

    decided = decided_in(store)
    if decided is None:
        hint = "krand mix serve makes it"
        raise InvalidInput("store", "must be the folder of a mixer's service", str(store), hint)
    if number is None and refuse is not None:
        rule = "must be given with --refuse"
        raise InvalidInput("number", rule, None, "krand mix accept lists all that wait")
    with closing(Records(store, service_in(store, decided).anchor)) as records:
        waiting = records.in_stage(Stage.WAITING, Stage.SECOND)
        if number is None:
            _list(waiting, records, out)
            return
        pairing = next((each for each in waiting if each.number == number), None)
        if pairing is None:
            rule, hint = "must be that of a request that waits", "krand mix accept lists them"
            raise InvalidInput("number", rule, number, hint)
        done = accepted(records, pairing) if refuse is None else refused(records, pairing, refuse)
    said = "accepted" if refuse is None else "refused"
    out.tell(
        {"number": number, "stage": done.stage.value},
        f"Request {number} for the survey {visible(pairing.survey_id)} is {said}.",
    )


def _list(waiting: list[PairingRecord], records: Records, out: Output) -> None:
    values = [_waiting_values(each, records) for each in waiting]
    lines = [line for each in values for line in _waiting_lines(each)]
    out.tell({"waiting": values}, *(lines or ["Nobody waits."]))


def _waiting_values(pairing: PairingRecord, records: Records) -> dict[str, Any]:
    from krand.partners.identity import fingerprint
    from krand.partners.records import Stage
    from krand.partners.signing import survey_in

    survey, shown = survey_in(pairing.survey), fingerprint(pairing.organiser)
    same = [each for each in records.in_stage(*Stage) if _plain(each.name) == _plain(pairing.name)]
    others = {each.organiser for each in same} - {pairing.organiser}
    return {
        "number": pairing.number,
        "organiser": visible(pairing.name),
        "words": shown.words,
        "digits": shown.digits,
        "same_name": [fingerprint(each).words for each in sorted(others)],
        "survey": pairing.survey_id,
        "second_plan": pairing.stage is Stage.SECOND,
        "epsilon": survey.policy.epsilon,
        "delta": survey.policy.delta,
        "mixers": survey.trust.mixers,
        "closes": None if survey.closes is None else survey.closes.isoformat(),
    }


def _plain(name: str) -> str:
    """A name as people would read it out."""
    return " ".join(name.casefold().split())


def _waiting_lines(waits: Mapping[str, Any]) -> list[str]:
    what = "another plan for" if waits["second_plan"] else "keys for"
    delta = "" if waits["delta"] is None else f", δ = {at_most(waits['delta'])}"
    lines = [
        f"{waits['number']}: {waits['organiser']} asks for {what} the survey"
        f" {visible(waits['survey'])}: ε = {at_most(waits['epsilon'])}{delta},"
        f" {waits['mixers']} mixers,"
        f" until {waits['closes']}",
        f"   in words:  {waits['words']}",
        f"   in digits: {waits['digits']}",
    ]
    lines += [
        f"   Careful: somebody else called {waits['organiser']} has the fingerprint {other}"
        for other in waits["same_name"]
    ]
    if waits["second_plan"]:
        lines.append(
            "   You have signed a plan for this survey. Whoever gets two can keep the nicer result;"
            " both are in your public list."
        )
    return lines
