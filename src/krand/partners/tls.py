"""TLS without an authority: an identity signs its service's certificate.

The certificate has a key of its own, and the identity is its issuer. Whoever knows the identity
trusts it as the only authority for this one conversation, so OpenSSL itself refuses every other
certificate during the handshake, before anything is sent. Names of hosts play no role.
"""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from krand.partners.identity import Identity
from krand.wire.keys import write_private

VALID_DAYS, RENEWED_DAYS = 400, 200
"""How long a new certificate is valid, and the rest with which it is still used."""
CLOCKS_APART_DAYS = 2
"""It is valid from this long ago: the other side's clock may be wrong."""


def ensure_certificate(identity: Identity, path: Path, now: datetime | None = None) -> None:
    """A file with a certificate and its key, as servers read it; renewed in time.

    Call it whenever a service starts, and at least every few months.
    """
    now = now or datetime.now(UTC)
    if not _is_good(identity.public, path, now + timedelta(days=RENEWED_DAYS)):
        write_private("tls", path, certificate_pem(identity, now), overwrite=True)


def certificate_pem(identity: Identity, now: datetime, days: int = VALID_DAYS) -> bytes:
    """A new certificate, followed by its private key."""
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        _named(identity.public)
        .subject_name(_name("krand"))
        .public_key(key.public_key())
        .not_valid_before(now - timedelta(days=CLOCKS_APART_DAYS))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(identity.key, None)
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return certificate.public_bytes(Encoding.PEM) + private


def context_for(public: str) -> ssl.SSLContext:
    """Accepts a certificate that this identity signed, and no other."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.load_verify_locations(cadata=_authority(public))
    return context


def _authority(public: str) -> str:
    """The identity as a certificate of an authority, which is all that OpenSSL trusts.

    Its own signature means nothing, as with every authority that is trusted: nobody checks it.
    """
    certificate = (
        _named(public)
        .subject_name(_name(public))
        .public_key(Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)))
        .not_valid_before(datetime(2000, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(9999, 12, 31, tzinfo=UTC))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(Ed25519PrivateKey.generate(), None)
    )
    return certificate.public_bytes(Encoding.PEM).decode()


def _named(issuer: str) -> x509.CertificateBuilder:
    number = x509.random_serial_number()
    return x509.CertificateBuilder().issuer_name(_name(issuer)).serial_number(number)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def _is_good(public: str, path: Path, until: datetime) -> bool:
    """Whether the file has a certificate of this identity that is valid until then."""
    try:
        found = x509.load_pem_x509_certificate(path.read_bytes())
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(found.signature, found.tbs_certificate_bytes)
        return found.not_valid_after_utc > until
    except (OSError, ValueError, InvalidSignature):
        return False
