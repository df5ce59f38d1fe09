"""Links that ask somebody to be a mixer: each works once, for one identity.

`krand pair --invite` listens until everybody has joined. A link has the organiser's address and
identity, and a code. Whoever opens it first, with a signed request, has joined: the code counts for
that identity alone from then on. Whoever opens it second is told by whose fingerprint it was used.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from krand.errors import InvalidInput, Unavailable
from krand.files import read_whole
from krand.partners.addresses import Address, JoinLink, checked_url
from krand.partners.documents import Line
from krand.partners.identity import Identity, fingerprint
from krand.partners.talking import Answer, Conversation
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import Digits, as_file, plain, typed, values_in
from krand.wire.keys import write_private

if TYPE_CHECKING:
    from krand.partners.http import Asking, Endpoints

FORMAT = "krand-invited-1"
CODE_BYTES = 16
PATH = "/v1/join"
HINT = "krand pair --invite writes it"
ENDED = (
    "The pairing may have ended, because everybody has joined, or it waits for its organiser to go"
    " on: ask whoever sent you the link"
)
Code = Annotated[str, Digits(2 * CODE_BYTES)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Invited:
    """Somebody who was asked to be a mixer, and who it turned out to be."""

    name: Line
    code: Code
    identity: Annotated[str, Digits(64, may_be_empty=True)] = ""
    """Of whoever opened the link; empty before that."""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    invited: tuple[Invited, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """What somebody who opens a link says."""

    code: Code
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """What the organiser answers."""

    organiser: Line
    name: Line
    """What the organiser calls the one who has joined."""


class Invitations:
    """All links of one pairing, in a file that only the organiser reads."""

    def __init__(self, path: Path, names: tuple[str, ...]) -> None:
        self._path = path
        if path.exists():
            self.invited = _read(path)
            found = tuple(one.name for one in self.invited)
            if found != names:
                rule = f"must be the same as before: {', '.join(found)}"
                raise InvalidInput("invite", rule, ", ".join(names), "or name another folder")
            return
        if len(set(names)) < len(names):
            hint = "give each partner a name of its own"
            raise InvalidInput("invite", "must all be different", ", ".join(names), hint)
        self._keep(tuple(Invited(name=name, code=secrets.token_hex(CODE_BYTES)) for name in names))

    def links(self, address: Address) -> dict[str, JoinLink]:
        """The link of everybody who has not joined yet."""
        return {one.name: JoinLink(address, one.code) for one in self.invited if not one.identity}

    def join(self, identity: str, said: Joining) -> Invited:
        """Somebody opens a link; the same one may say another address later."""
        place = next(
            (
                i
                for i, one in enumerate(self.invited)
                if secrets.compare_digest(one.code, said.code)
            ),
            None,
        )
        if place is None:
            rule = "must be a link of this survey"
            raise InvalidInput("link", rule, None, "ask the organiser for the link again")
        before = self.invited[place]
        if before.identity not in ("", identity):
            words = fingerprint(before.identity).words
            rule = f"must not have been used before: it was, by the fingerprint {words}"
            hint = "if that was not you, tell the organiser: another link is needed"
            raise InvalidInput("link", rule, fingerprint(identity).words, hint)
        others = [one for one in self.invited if one is not before]
        if any(one.identity == identity for one in others):
            rule = "must be used by somebody who has not joined with another link"
            hint = "each link is for another organisation, with a --store of its own"
            raise InvalidInput("link", rule, fingerprint(identity).words, hint)
        joined = replace(before, identity=identity, url=checked_url("url", said.url))
        self._keep((*self.invited[:place], joined, *self.invited[place + 1 :]))
        return joined

    @property
    def are_complete(self) -> bool:
        """Whether everybody has joined."""
        return all(one.identity for one in self.invited)

    def _keep(self, invited: tuple[Invited, ...]) -> None:
        content = canonical_json({"format": FORMAT, **plain(_File(invited=invited))})
        write_private("invite", self._path, content, overwrite=True)
        self.invited = invited


def join_endpoints(
    invitations: Invitations, answer: dict[str, Any], joined: Callable[[Invited], None]
) -> Endpoints:
    """What a pairing that waits for others answers: `answer`, and the invited one's name."""
    from krand.partners.http import Endpoint, Endpoints

    def join(asking: Asking) -> Answer:
        found = invitations.join(asking.identity, asking.read(Joining))
        joined(found)
        return Answer({**answer, "name": found.name})

    endpoint = Endpoint(path=PATH, admit=lambda *_: False, answer=join)
    return Endpoints(signed=(endpoint,))


def wait_for_all(
    invitations: Invitations,
    identity: Identity,
    name: str,
    place: tuple[str, int],
    joined: Callable[[Invited], None],
) -> None:
    """Listen until everybody has opened their link."""
    from krand.collector.serving import listen
    from krand.partners.http import PartnerService
    from krand.partners.serving import identity_context, make_partner_server

    def tell(one: Invited) -> None:
        joined(one)
        server.should_exit = invitations.are_complete

    endpoints = join_endpoints(invitations, {"organiser": name}, tell)
    app = PartnerService(identity, name, endpoints)
    with tempfile.TemporaryDirectory() as folder:
        context = identity_context(identity, Path(folder) / "tls.pem")
        server = make_partner_server(app, context)
        with closing(listen(*place)) as listener:
            server.run(sockets=[listener])
    if not invitations.are_complete:
        left = ", ".join(one.name for one in invitations.invited if not one.identity)
        raise Unavailable(f"{left} has not joined yet; the same command goes on")


def join(link: JoinLink, identity: Identity, url: str) -> Joined:
    """Open a link: tell the organiser where this service is reached."""
    with Conversation(identity, link.address) as conversation:
        try:
            answer = conversation.post(PATH, plain(Joining(code=link.code, url=url)))
        except Unavailable as error:
            raise Unavailable(f"{error}. {ENDED}") from None
    with as_file("link", "krand-joined-1", link.address.url, "is it an organiser's link?"):
        found: Joined = typed(Joined, answer.values)
        return found


def _read(path: Path) -> tuple[Invited, ...]:
    values = values_in(read_whole("invite", path), "invite", FORMAT, str(path), HINT)
    with as_file("invite", FORMAT, str(path), HINT):
        found: _File = typed(_File, values)
        return found.invited
