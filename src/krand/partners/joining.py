"""Links that ask somebody to take part, as a mixer or as the analyst.

`krand pair --invite` listens until everybody has joined. A link has the organiser's address and
identity, and a code. Whoever opens it first, with a signed request, has joined: the code counts for
that identity alone from then on. Whoever opens it second is told by whose fingerprint it was used.

An analyst's site waits for a survey, and shows a link with a code, too. The organiser's program
asks there for the public key, and hands over the plan and the route when all mixers have signed. A
code is good for one plan.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

from krand.errors import InvalidInput, Unavailable
from krand.files import OWNER_FOLDER, ensure_directory, read_whole, write_atomically
from krand.partners.documents import Line, Route, check_route
from krand.partners.identity import Address, Identity, JoinLink, checked_url, fingerprint
from krand.partners.requests import NotAdmitted
from krand.partners.signing import PAIR_AGAIN
from krand.partners.talking import Answer, Conversation
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import Malformed, as_file, digits, part, plain, typed, values_in
from krand.survey.plan_file import parse_plan
from krand.survey.survey_folder import SurveyFolder
from krand.wire.keys import (
    generate_private_key,
    read_private_key,
    read_public_key,
    write_key_pair,
    write_private,
)
from krand.wire.signed import Signed, signed_in

if TYPE_CHECKING:
    from krand.partners.http import Asking, Endpoint, Endpoints
    from krand.partners.talking import Talks
    from krand.survey.plan import Plan

FORMAT = "krand-invited-1"
CODE_BYTES = 16
PATH = "/v1/join"
HINT = "krand pair --invite writes it"
ENDED = (
    "The pairing may have ended, because everybody has joined, or it waits for its organiser to go"
    " on: ask whoever sent you the link"
)
Code = Annotated[str, digits(2 * CODE_BYTES)]
KEY, PLAN = "/v1/analyst/key", "/v1/analyst/plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invited:
    """Somebody who was asked to be a mixer, and who it turned out to be."""

    name: Line
    code: Code
    identity: Annotated[str, digits(64, may_be_empty=True)] = ""
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


def ask_key(talk: Talks, link: JoinLink) -> bytes:
    """The analyst's public key for the survey of a link."""
    values = talk.post(KEY, {"code": link.code}).values
    try:
        return bytes.fromhex(part(str, values, "public_key"))
    except (Malformed, ValueError):
        rule, hint = "must be given by the analyst's site", "is it the link of krand run?"
        raise InvalidInput("analyst", rule, link.address.url, hint) from None


def hand_over(talk: Talks, link: JoinLink, plan: Plan, route: Signed[Route]) -> None:
    """Give the analyst the plan; the same one again changes nothing."""
    talk.post(PLAN, {"code": link.code, "plan": plan.bytes.decode(), "route": route.values})


class Awaited:
    """Surveys of an analyst, each with the code of its link; most of them have their plan."""

    def __init__(self, folders: tuple[SurveyFolder, ...], identity: Identity) -> None:
        self._identity = identity
        self._folders = {
            read_whole("code", folder.code).decode().strip(): folder
            for folder in folders
            if folder.code.exists()
        }

    def links(self, address: Address) -> Mapping[str, JoinLink]:
        """What the organisers of surveys without a plan are given, by the survey's folder."""
        waiting = [each for each in self._folders.items() if not each[1].plan.exists()]
        return {str(folder.path): JoinLink(address, code) for code, folder in waiting}

    def endpoints(self, arrived: Callable[[str], None]) -> tuple[Endpoint, ...]:
        """What whoever has a link asks; `arrived` is told the folder of a plan that came."""
        from krand.partners.http import LEAST_BODY, PLAN_BODY, Endpoint

        def key(asking: Asking) -> Answer:
            folder = self._asked(asking)
            public = read_public_key(folder.analyst_public).public_bytes_raw()
            return Answer({"public_key": public.hex()})

        def take(asking: Asking) -> Answer:
            folder = self._asked(asking)
            with asking.values() as values:
                text, route = part(str, values, "plan"), signed_in(Route, values.get("route"))
            self._take(folder, asking.identity, text, route)
            arrived(str(folder.path))
            return Answer({})

        return tuple(
            Endpoint(path=path, admit=lambda *_: False, answer=answer, most=most)
            for path, answer, most in ((KEY, key, LEAST_BODY), (PLAN, take, PLAN_BODY))
        )

    def _asked(self, asking: Asking) -> SurveyFolder:
        with asking.values() as values:
            given = str(values.get("code")).encode()
        for code, folder in self._folders.items():
            if secrets.compare_digest(code.encode(), given):
                return folder
        raise NotAdmitted("link", "must be one of this site", None, "ask the analyst for the link")

    def _take(self, folder: SurveyFolder, identity: str, text: str, route: Signed[Route]) -> None:
        """Keep a plan that is for this analyst; it comes last, so that everything else is there."""
        plan = parse_plan(text.encode(), "plan")
        check_route(plan, route)
        own = read_public_key(folder.analyst_public).public_bytes_raw().hex()
        if plan.analyst_key != own or route.record.station(0).identity != self._identity.public:
            rule = "must be made with the key of this analyst, who is named in its route"
            raise InvalidInput("plan", rule, plan.hash, PAIR_AGAIN)
        if identity != plan.mixers[0].identity:
            rule = "must be the organiser of the plan"
            raise NotAdmitted("identity", rule, identity, "the first mixer sends it")
        if folder.plan.exists():
            if read_whole("plan", folder.plan) != plan.bytes:
                rule = "must be the one that came first with this link"
                hint = "another plan needs another folder and another link of the analyst"
                raise InvalidInput("plan", rule, plan.hash, hint)
            return
        for path, content in ((folder.route, route.content), (folder.plan, plan.bytes)):
            write_atomically("plan", path, content)


def analyst_key(folder: SurveyFolder) -> X25519PublicKey:
    """The public key of the analyst's pair in the survey's folder, which is made once."""
    if not folder.analyst_key.exists():
        key = generate_private_key()
        write_key_pair(key, folder.analyst_key, folder.analyst_public, overwrite=True)
    return read_private_key(folder.analyst_key).public_key()


def await_survey(folder: SurveyFolder) -> None:
    """Make what a survey needs at its analyst's before there is a plan: a key, and a code."""
    ensure_directory("folder", folder.analyst)
    for path in (folder.path, folder.analyst):
        path.chmod(OWNER_FOLDER)
    analyst_key(folder)
    if not folder.code.exists():
        write_private("code", folder.code, secrets.token_hex(16).encode())
