"""Identities, what they sign, and where they are reached."""

from __future__ import annotations

import hashlib
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from mnemonic import Mnemonic

from krand.errors import InvalidInput
from krand.files import Exists
from krand.mixing.keys import EraseReason
from krand.partners.documents import (
    DOCUMENTS,
    BatchReceipt,
    Erasure,
    Heartbeat,
    NotReceived,
    PlanEntry,
    PlanState,
    Route,
    Station,
)
from krand.partners.identity import (
    Address,
    Identity,
    fingerprint,
    make_identity,
    parse_address,
    parse_join_link,
    read_identity,
)
from krand.wire import purposes
from krand.wire.keys import generate_signing_key
from krand.wire.signed import parse_signed

SHA, ID = "5a" * 32, "3b" * 16
PUBLIC = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
"""Of the first test vector in RFC 8032."""
URL = "https://mix.example.org:8443"
ENTRY = PlanEntry(
    number=1,
    plan=SHA,
    survey="team",
    organiser=PUBLIC,
    epsilon=1.0,
    delta=1e-6,
    closes="2027-01-31",
    state=PlanState.SIGNED,
    previous="",
)
STATIONS = tuple(
    Station(hop=hop, name=f"party {hop}", identity=PUBLIC, url=URL if hop else "")
    for hop in range(4)
)
ROUTE = Route(plan=SHA, number=1, stations=STATIONS)
RECORDS = (
    ENTRY,
    ROUTE,
    BatchReceipt(plan=SHA, round=1, batch_id=ID, sha256=SHA, hop=0, receiver=PUBLIC),
    NotReceived(plan=SHA, batch_id=ID, receiver=PUBLIC, nonce=ID),
    Erasure(plan=SHA, round=1, mixer=PUBLIC, reason=EraseReason.DATE, batches=2),
    Heartbeat(plan=SHA, mixer=PUBLIC, nonce=ID, keys=SHA),
)


def test_an_identity_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    """A second one in the same place would be another party."""
    path = tmp_path / "identity.pem"
    made = make_identity(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_identity(path).public == made.public
    with pytest.raises(Exists, match="must not exist yet"):
        make_identity(path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert read_identity(path).public == made.public
    path.chmod(0o640)
    with pytest.raises(InvalidInput, match="owner alone"):
        read_identity(path)


def test_a_private_key_is_not_shown(tmp_path: Path) -> None:
    """An identity appears in errors and logs as nothing but its type."""
    assert repr(make_identity(tmp_path / "identity.pem")) == "Identity()"


def test_a_fingerprint_is_ten_words_and_28_digits_of_one_hash() -> None:
    """110 bits in words, computed from the published list; 112 in digits."""
    digest = hashlib.sha256(b"krand identity\0" + bytes.fromhex(PUBLIC)).digest()
    bits = "".join(f"{byte:08b}" for byte in digest)[:110]
    listed = Mnemonic("english").wordlist
    found = fingerprint(PUBLIC)
    assert found.words.split() == [listed[int(bits[i : i + 11], 2)] for i in range(0, 110, 11)]
    assert found.digits.replace(" ", "") == digest.hex()[:28]
    assert [len(group) for group in found.digits.split()] == [4] * 7
    assert len(listed) == len(set(listed)) == 2**11


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_every_document_comes_back_signed(record: PlanEntry) -> None:
    """With its own format and a purpose from the list."""
    signed = Identity(generate_signing_key()).sign(record)
    assert parse_signed(type(record), signed.content, "document") == signed
    assert record.purpose in purposes.ALL


def test_no_two_documents_share_a_format_or_a_purpose() -> None:
    """A receipt cannot be read as an erasure."""
    assert {type(record) for record in RECORDS} == set(DOCUMENTS)
    assert len({kind.form for kind in DOCUMENTS}) == len(DOCUMENTS)
    assert len({kind.purpose for kind in DOCUMENTS}) == len(DOCUMENTS)


@pytest.mark.parametrize(
    ("record", "change", "problem"),
    [
        (ENTRY, {"closes": "2027-1-31"}, "closes: should be a day"),
        (ENTRY, {"closes": "20270131"}, "closes: should be a day"),
        (ENTRY, {"survey": "a\nb"}, "survey: should be 1 to 100 printable"),
        (ENTRY, {"number": 0}, "number: should be a whole number"),
        (ENTRY, {"epsilon": -1.0}, "epsilon: should be a number, 0 or above"),
        (RECORDS[2], {"batch_id": "x"}, "batch_id: should be 32"),
        (RECORDS[3], {"nonce": ""}, "nonce: should be 32"),
    ],
)
def test_a_document_with_a_strange_value_is_refused(
    record: PlanEntry, change: dict[str, object], problem: str
) -> None:
    """Also if it is signed."""
    signed = Identity(generate_signing_key()).sign(replace(record, **change))
    with pytest.raises(InvalidInput, match=problem):
        parse_signed(type(record), signed.content, "document")


def test_a_route_leads_from_each_mixer_to_the_next_and_to_the_analyst() -> None:
    """The analyst, hop 0, comes after the last mixer."""
    assert [ROUTE.after(hop).hop for hop in (1, 2, 3)] == [2, 3, 0]
    assert [ROUTE.before(hop).hop for hop in (2, 3, 0)] == [1, 2, 3]
    for stations in (STATIONS[1:], (*STATIONS[:2], STATIONS[1])):
        with pytest.raises(InvalidInput, match="one station for the analyst"):
            Route(plan=SHA, number=1, stations=stations)
    with pytest.raises(InvalidInput, match="from 0 to 3"):
        ROUTE.station(4)


@pytest.mark.parametrize("text", [URL, f"{URL}/#{PUBLIC}", "http://127.0.0.1:8000/mixer"])
def test_an_address_comes_back_from_its_text(text: str) -> None:
    """With or without an identity, also where a proxy gives it a path."""
    address = parse_address(text)
    assert parse_address(str(address)) == address
    assert str(address) == text
    assert (address.identity is None) == ("#" not in text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("http://mix.example.org", "must begin with https://"),
        ("http://10.0.0.1:8000", "must begin with https://"),
        ("ftp://mix.example.org", "must be an address"),
        ("https://mix.example.org/?a=1", "no query"),
        ("https://somebody@mix.example.org/", "no user name"),
        (f"https://mix.example.org/#{PUBLIC[:-1]}", "64 hexadecimal digits"),
        (f"https://mix.example.org/#{PUBLIC.upper()}", "64 hexadecimal digits"),
        (f"https://mix.example.org/{'a' * 500}", "at most 500"),
    ],
)
def test_an_address_that_is_not_safe_or_not_whole_is_refused(text: str, problem: str) -> None:
    """Plain HTTP is for this machine alone."""
    with pytest.raises(InvalidInput, match=problem):
        parse_address(text)
    if "64" not in problem:
        with pytest.raises(InvalidInput, match=problem):
            Station(hop=1, name="x", identity=PUBLIC, url=text)


def test_a_link_to_join_has_an_identity_and_a_code() -> None:
    """And comes back from its text; half of one is refused."""
    text = f"{URL}/#{PUBLIC}-{ID}"
    link = parse_join_link(text)
    assert (link.address, link.code) == (Address(URL, PUBLIC), ID)
    assert str(link) == text
    for half in (text[:-1], f"{URL}/#{PUBLIC}", f"{URL}/#{ID}", URL, f"https://a-b/#{PUBLIC}", ""):
        with pytest.raises(InvalidInput):
            parse_join_link(half)
