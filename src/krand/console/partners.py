"""Partners by their addresses: who answers there, and how far pairing with them is."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from krand.collector.serving import LOOPBACK, listen
from krand.console.folder import Place
from krand.errors import InvalidInput
from krand.languages.speaking import marked
from krand.mixing.keys import read_descriptor
from krand.partners.identity import Address, checked_url, fingerprint, parse_address
from krand.partners.pairing import descriptor_path, earlier_request, who_answers

MOST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Who answers at an address."""

    address: Address
    name: str
    words: str
    """The fingerprint of the identity, to be compared."""
    is_sure: bool
    """Whether the organiser gave the identity, or has compared its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The partners that an organiser wants, in the order of the chain."""

    partners: tuple[Known, ...]
    address: str
    """Where partners reach this machine."""

    @property
    def is_confirmed(self) -> bool:
        """Whether nobody has to be compared any more."""
        return all(partner.is_sure for partner in self.partners)


def asked_for(form: Mapping[str, str]) -> Asked:
    """What the page's form asks for; whoever is named without an identity is asked for it."""
    lines = [line.strip() for line in form.get("addresses", "").splitlines() if line.strip()]
    if len(lines) > MOST:
        raise InvalidInput("addresses", f"must be at most {MOST}", len(lines))
    partners = tuple(
        _known(parse_address(line), form.get(f"same{number}", ""))
        for number, line in enumerate(lines, 1)
    )
    address = form.get("address", "").strip()
    if partners and not address:
        hint = "the last partner sends the mixed answers there: https://organiser.example:8443"
        raise InvalidInput("address", "must say where partners reach this machine", None, hint)
    address = checked_url("address", address) if address else ""
    return Asked(partners=partners, address=address)


def _known(address: Address, compared: str) -> Known:
    about = who_answers(address)
    if address.identity not in (None, about.identity):
        hint = "copy the whole link again; if it stays so, somebody else answers there"
        raise InvalidInput("addresses", "must be answered by its identity", str(address), hint)
    return Known(
        address=Address(address.url, about.identity),
        name=about.name,
        words=fingerprint(about.identity).words,
        is_sure=address.identity is not None or compared == about.identity,
    )


def pairing_words(place: Place, asked: Asked) -> tuple[str, ...]:
    """The command that pairs with them."""
    return _words(place, [str(one.address) for one in asked.partners], asked.address)


def pairing_again(place: Place) -> tuple[str, ...]:
    """The same command once more: it goes on where it was."""
    request = earlier_request(place.folder)
    if request is None:
        raise InvalidInput("survey", "must have been paired before", place.name)
    addresses = [str(Address(one.url, one.identity)) for one in request.partners]
    return _words(place, addresses, request.receiver.url)


def _words(place: Place, addresses: list[str], own: str) -> tuple[str, ...]:
    with closing(listen(LOOPBACK, 0)) as free:  # a port that stays the same: people have it
        form = f"{LOOPBACK}:{free.getsockname()[1]}"
    named = (word for address in addresses for word in ("--mixer", address))
    return ("pair", str(place.file), *named, "--address", own, "--form-at", form, "--no-anchor")


@dataclass(frozen=True, slots=True)
class PartnerState:
    """How far a partner is."""

    name: str
    url: str
    state: str
    is_done: bool


def partner_states(place: Place) -> list[PartnerState]:
    """Every partner that was asked, by the files that pairing leaves."""
    folder = place.folder
    request = earlier_request(folder) if folder.path.exists() else None
    states = []
    for partner in () if request is None else request.partners:
        described, name = descriptor_path(folder, partner.hop), ""
        if described.exists():
            name = read_descriptor(described).name
        signed = folder.signature(partner.hop).exists()
        state = marked("has given its keys") if name else marked("was asked")
        state = marked("has signed the plan") if signed else state
        states.append(PartnerState(name or partner.url, partner.url, state, signed))
    return states
