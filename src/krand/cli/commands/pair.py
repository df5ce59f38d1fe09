"""`krand pair`: an organiser and its partners become one survey."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.options import FILE, FOLDER, output_options
from krand.errors import InvalidInput, Unavailable
from krand.mistakes import visible
from krand.terminal.output import Output
from krand.terminal.overwriting import PlaceOrFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

    from krand.partners.documents import Station
    from krand.partners.identity import Address, Identity
    from krand.partners.joining import Invited
    from krand.partners.pairing import Pairing, Partner
    from krand.survey.plan import Plan
    from krand.survey.survey import Survey
    from krand.survey.survey_folder import SurveyFolder
    from krand.terminal.places import Place

FORM = "127.0.0.1:8080"
STATUS_FURTHER_ON = 10
NO_ADDRESS = (
    "the last mixer has no address to deliver its batches to, so they have to be carried as files."
    " Name where partners reach this machine, --address https://organiser.example:8443, or the link"
    " of another analyst, --analyst"
)


@click.command(short_help="Pair with the mixers of a survey.")
@click.argument("survey", type=FILE)
@click.option(
    "--mixer",
    "mixers",
    type=PlaceOrFile(),
    multiple=True,
    metavar="ADDRESS",
    help="A partner's mixer, https://host/#IDENTITY; once for each, in the order of the chain. Or a"
    " file of krand mix keygen.",
)
@click.option(
    "--invite",
    "invited",
    multiple=True,
    metavar="NAME",
    help="Make a link for a partner who has no service yet; needs --address.",
)
@click.option(
    "-o",
    "--output",
    type=FOLDER,
    help="The survey's folder; by default survey.krand beside survey.toml.",
)
@click.option(
    "--address",
    metavar="URL",
    help="Where partners reach this machine: invited ones now, batches for the analyst later.",
)
@click.option(
    "--form-at",
    metavar="HOST:PORT",
    default=FORM,
    show_default=True,
    help="Where the form is served; the status page is ten ports further on, on this machine.",
)
@click.option(
    "--identity",
    "identity_file",
    type=FILE,
    help="The organiser's identity, of an earlier survey; by default a new one is made.",
)
@click.option(
    "--anchor",
    type=FILE,
    help="A file on another disk, for the collector's store: an older copy of it is useless.",
)
@click.option("--no-anchor", is_flag=True, help="Do without one; never restore the store.")
@click.option(
    "--public-key",
    type=FILE,
    help="The public key of another analyst, who gets batches as files; otherwise one is made.",
)
@click.option(
    "--analyst",
    metavar="LINK",
    help="The link of another analyst, which krand run shows there.",
)
@click.option("--yes", is_flag=True, help="Accept fingerprints without a question.")
@click.option("--no-wait", is_flag=True, help="End where a partner has to do something first.")
@output_options
def pair(out: Output, survey: Path, output: Path | None, **options: Any) -> None:
    """Get keys from every mixer, make the plan, have it signed by all, and write a site file.

    The collector, which is the organiser's, is the first mixer. A partner's service gives keys for
    this survey alone, recomputes the plan's promise and signs it. Where an operator has to accept
    first, the command waits. It can be interrupted at any time: the same command goes on.

    An address without #IDENTITY is asked who it is. Compare the ten words of its fingerprint with
    those that its operator reads out before you confirm them.

    \b
    Examples:
      krand pair survey.toml --mixer https://mix.university.example/#3f0c… --no-anchor
          --address https://organiser.example:8443
      krand pair survey.toml --invite university --invite union
          --address https://organiser.example:8443 --anchor /mnt/b/anchor
    """
    from krand.collector.serving import check_installed
    from krand.survey.reading import read_survey
    from krand.survey.survey_folder import SurveyFolder, folder_beside

    check_installed("mnemonic")
    asked = read_survey(survey)
    folder = folder_beside(survey) if output is None else SurveyFolder(output)
    _check(asked, folder, options)
    pairing = _begun(asked, folder, options, out)
    plan = _paired(pairing, out)
    _hand_over(pairing, plan, options["analyst"])
    _write_site(pairing, options)
    _tell(pairing, plan, out)


def _check(asked: Survey, folder: SurveyFolder, options: Mapping[str, Any]) -> None:
    """All that can be wrong before anybody is asked."""
    from krand.mixing.keys import check_name
    from krand.partners.identity import checked_url, parse_join_link
    from krand.partners.pairing import check_survey
    from krand.partners.service_folder import check_anchors
    from krand.site.making import first_mixer_name

    anchor = options["anchor"]
    if options["no_anchor"] == (anchor is not None):
        rule, hint = "must be given, or --no-anchor, and not both", "a file on another disk"
        raise InvalidInput("anchor", rule, None if anchor is None else str(anchor), hint)
    if anchor is not None:
        check_anchors(anchor.absolute().parent, folder.mixer_store)
    check_survey(asked, len(options["mixers"]) + len(options["invited"]))
    check_name(first_mixer_name(asked), "organiser")
    for name in options["invited"]:
        check_name(name, "invite")
    if options["invited"] and options["address"] is None:
        hint = (
            "invited partners have to reach this machine: --address https://organiser.example:8443"
        )
        raise InvalidInput("address", "must be given with --invite", None, hint)
    if options["address"] is not None:
        checked_url("address", options["address"])
    _places(options)
    if options["analyst"] is not None:
        parse_join_link(options["analyst"])
        if options["public_key"] is not None:
            rule, hint = "must not be given with --analyst", "the analyst's site gives its own"
            raise InvalidInput("public_key", rule, str(options["public_key"]), hint)


def _places(options: Mapping[str, Any]) -> tuple[Place, Place]:
    """Where the form and the status page are served; any port for both if the form's is 0."""
    from krand.terminal.places import Place, place_in

    form = place_in("form_at", options["form_at"])
    status = Place("127.0.0.1", form.port and form.port + STATUS_FURTHER_ON)
    if status.port >= 2**16:
        hint = f"the status page is {STATUS_FURTHER_ON} ports further on"
        raise InvalidInput("form_at", "must have a smaller port", options["form_at"], hint)
    return form, status


def _begun(asked: Survey, folder: SurveyFolder, options: Mapping[str, Any], out: Output) -> Pairing:
    """The request, once everybody who is asked is known; recorded in the survey's folder."""
    from krand.mixing.keys import read_descriptor
    from krand.partners.identity import Address
    from krand.partners.pairing import (
        Pairing,
        PairingRequest,
        earlier_request,
        keep_descriptor,
        survey_hash,
    )
    from krand.partners.talking import Conversation
    from krand.site.making import first_mixer_name, own_identity
    from krand.survey.document import survey_text

    folder.make("output", folder.partners)
    identity = own_identity(folder, options["identity_file"])
    if _is_analyst(options):
        asked = asked.changed(trust=asked.trust.with_analyst_as_collector())
    name = options.get("name") or first_mixer_name(asked)
    text, earlier = survey_text(asked), earlier_request(folder)
    request = PairingRequest(
        pairing=os.urandom(16).hex() if earlier is None else earlier.pairing,
        survey=survey_hash(text),
        organiser=name,
        identity=identity.public,
        analyst_key=_analyst_key(folder, identity, options).public_bytes_raw().hex(),
        partners=_partners(folder, identity, name, options, out),
        receiver=_receiver(folder, name, options),
    )
    if not request.receiver.url:
        out.warn(NO_ADDRESS)
    pairing = Pairing(
        folder=folder,
        survey=asked,
        text=text,
        request=request,
        identity=identity,
        converse=lambda partner: Conversation(identity, Address(partner.url, partner.identity)),
        tell=lambda line: out.lines(line, stderr=True),
        wait=time.sleep,
        patient=not options["no_wait"],
        anchor=options["anchor"],
    )
    pairing.begin()
    for hop, text in enumerate(options["mixers"], 2):
        if "://" not in text:
            keep_descriptor(folder, hop, read_descriptor(text))
    return pairing


def _is_analyst(options: Mapping[str, Any]) -> bool:
    """Whether the organiser is the analyst."""
    return options["public_key"] is None and options["analyst"] is None


def _analyst_key(
    folder: SurveyFolder, identity: Identity, options: Mapping[str, Any]
) -> X25519PublicKey:
    """The public key that a file has, that the analyst's site gives, or a new one."""
    from krand.partners.identity import parse_join_link
    from krand.partners.joining import analyst_key, ask_key
    from krand.partners.talking import Conversation
    from krand.wire.keys import read_public_key, sealing_key

    if options["public_key"] is not None:
        return read_public_key(options["public_key"])
    if options["analyst"] is None:
        return analyst_key(folder)
    link = parse_join_link(options["analyst"])
    with Conversation(identity, link.address) as talk:
        return sealing_key(ask_key(talk, link), "analyst", link.address.url)


def _partners(
    folder: SurveyFolder, identity: Identity, name: str, options: Mapping[str, Any], out: Output
) -> tuple[Partner, ...]:
    """Everybody who is asked, in the order of the chain; invited ones have joined."""
    from krand.mixing.keys import read_descriptor
    from krand.partners.identity import parse_address
    from krand.partners.pairing import Partner

    partners: list[Partner] = []
    for hop, text in enumerate(options["mixers"], 2):
        if "://" in text:
            known = _known(folder, parse_address(text), options["yes"], out)
            partners.append(Partner(hop=hop, identity=known.identity or "", url=known.url))
        else:
            mixer = read_descriptor(text)
            partners.append(Partner(hop=hop, identity=mixer.identity, url=""))
    joined = _joined(folder, identity, name, options, out)
    for hop, one in enumerate(joined, 2 + len(partners)):
        partners.append(Partner(hop=hop, identity=one.identity, url=one.url))
    everybody = [identity.public, *(partner.identity for partner in partners)]
    for partner in partners:
        if everybody.count(partner.identity) > 1:
            hint = "one party in two places would count as two that must be honest"
            raise InvalidInput("mixer", "must all be different parties", partner.url, hint)
    return tuple(partners)


def _known(folder: SurveyFolder, address: Address, yes: bool, out: Output) -> Address:
    """The address with an identity, which people have compared if it was not given."""
    from krand.partners.identity import fingerprint
    from krand.partners.pairing import earlier_request, who_answers

    if address.identity is not None:
        return address
    earlier = earlier_request(folder)
    for partner in () if earlier is None else earlier.partners:
        if partner.url == address.url:
            return replace(address, identity=partner.identity)
    about = who_answers(address)
    shown = fingerprint(about.identity)
    out.lines(
        f"{address.url} says that it is {visible(about.name)}.",
        f"  in words:  {shown.words}",
        f"  in digits: {shown.digits}",
        "Compare this with what its operator reads out to you, on the telephone or in person.",
        stderr=True,
    )
    if not yes and not sys.stdin.isatty():
        rule, hint = "must name the identity behind #, or --yes must be given", f"{address.url}/#…"
        raise InvalidInput("mixer", rule, address.url, hint)
    if not yes and not click.confirm("Is it the same?", err=True):
        rule = "must be confirmed by its operator"
        raise InvalidInput("mixer", rule, shown.words, "nothing was paired with it")
    return replace(address, identity=about.identity)


def _joined(
    folder: SurveyFolder, identity: Identity, name: str, options: Mapping[str, Any], out: Output
) -> tuple[Invited, ...]:
    """Everybody who was invited, once all have joined; until then it listens."""
    from krand.partners.identity import Address
    from krand.partners.joining import Invitations, wait_for_all

    if not options["invited"]:
        return ()
    invitations = Invitations(folder.path / "invited.json", options["invited"])
    address = Address(options["address"], identity.public)
    links = invitations.links(address)
    if links and options["no_wait"]:
        raise Unavailable(f"nobody has opened the link of {', '.join(links)} yet")
    for invited, link in links.items():
        out.lines(f"Send this link to {invited}, and to nobody else:", f"  {link}", stderr=True)
    if links:
        out.lines(
            "Each of them runs: krand mix serve --join LINK --address https://…",
            "Waiting for them. Ctrl-C ends; the same command goes on later.",
            stderr=True,
        )
        wait_for_all(
            invitations,
            identity,
            name,
            _listening(address.url),
            lambda one: out.lines(*_joined_lines(one), stderr=True),
        )
    return invitations.invited


def _listening(url: str) -> Place:
    """Where to listen so that others reach this URL: on its port."""
    from urllib.parse import urlsplit

    from krand.client.transport import is_loopback
    from krand.terminal.places import Place

    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    own = parts.hostname if is_loopback(parts.hostname) else None
    return Place(own or "0.0.0.0", port)


def _joined_lines(one: Invited) -> tuple[str, ...]:
    from krand.partners.identity import fingerprint

    return (
        f"{one.name} has joined from {one.url}. Ask for its fingerprint on the telephone:",
        f"  {fingerprint(one.identity).words}",
    )


def _receiver(folder: SurveyFolder, name: str, options: Mapping[str, Any]) -> Station:
    """Where the analyst receives batches: elsewhere, on this site, or nowhere."""
    from krand.partners.documents import Station
    from krand.partners.identity import checked_url, ensure_identity, parse_join_link

    if options["analyst"] is not None:
        address = parse_join_link(options["analyst"]).address
        return Station(hop=0, name="analyst", identity=address.identity or "", url=address.url)
    own = ensure_identity(folder.path / "receiver" / "identity.pem")
    is_here = options["address"] is not None and _is_analyst(options)
    url = checked_url("address", options["address"]) if is_here else ""
    return Station(hop=0, name=name, identity=own.public, url=url)


def _paired(pairing: Pairing, out: Output) -> Plan:
    """Step by step; each of them is kept."""
    from krand.wire.keys import sealing_key

    key = sealing_key(bytes.fromhex(pairing.request.analyst_key), "public_key", "")
    with out.progress("getting keys"):
        mixers = pairing.gather_keys()
    with out.progress("planning"):
        plan = pairing.make_plan(mixers, key)
    with out.progress("getting signatures"):
        pairing.gather_signatures(plan)
    with out.progress("asking every mixer for its keys"):
        pairing.check_heartbeats(plan)
    return plan


def _hand_over(pairing: Pairing, plan: Plan, link: str | None) -> None:
    """An analyst elsewhere needs the plan, and has to know who sends batches."""
    from krand.partners.identity import parse_join_link
    from krand.partners.joining import hand_over
    from krand.partners.talking import Conversation

    if link is not None:
        analyst = parse_join_link(link)
        with Conversation(pairing.identity, analyst.address) as talk:
            hand_over(talk, analyst, plan, pairing.route(plan))


def _write_site(pairing: Pairing, options: Mapping[str, Any]) -> None:
    """The site file of this survey, unless there is one: it is the organiser's from then on."""
    from krand.site.making import write_site
    from krand.site.site_file import (
        ANALYST,
        COLLECTOR,
        Receiver,
        SiteSurvey,
    )

    folder, here = pairing.folder, _is_analyst(options)
    if folder.site_file.exists():
        return
    (form, status), receiver = _places(options), None
    if options["address"] is not None and here:
        listen = _listening(options["address"])
        receiver = Receiver(listen=listen, folder=folder.path / "receiver")
    survey = SiteSurvey(
        folder=folder,
        roles=(COLLECTOR, ANALYST) if here else (COLLECTOR,),
        listen=form,
        anchor=pairing.anchor,
    )
    write_site(survey, pairing.request.organiser, status, receiver)


def _tell(pairing: Pairing, plan: Plan, out: Output) -> None:
    """What each partner promised, and what to run now."""
    from krand.partners.identity import fingerprint

    until, folder = plan.survey.keys_until, pairing.folder
    promised = [
        {
            "name": plan.mixers[partner.hop - 1].name,
            "hop": partner.hop,
            "url": partner.url,
            "identity": partner.identity,
            "fingerprint": fingerprint(partner.identity).words,
            "keys_until": until.isoformat() if partner.url and until else None,
        }
        for partner in pairing.request.partners
    ]
    lines = []
    for each in promised:
        lines += [
            f"{each['name']}, mixer {each['hop']} of {plan.survey.trust.mixers}, has promised:",
            f"  It is {each['fingerprint']}.",
            "  It computed the plan's promise itself and signed this plan, with keys that are in no"
            " other one.",
            f"  It erases its keys with the last batch, at the latest on {each['keys_until']}."
            if each["keys_until"]
            else "  It works with files, and erases its keys when it closes a round.",
            "  It sees how many sealed messages pass and when, and nobody's answers or address.",
        ]
    out.tell(
        {"plan": plan.hash, "folder": str(folder.path), "mixers": promised},
        *lines,
        "Every mixer is needed: if one disappears, batches that have not passed it are lost.",
        f"Plan {plan.hash}",
        f"Open the survey: krand run {folder.site_file}",
    )
