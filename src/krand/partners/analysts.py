"""An analyst elsewhere: whoever has the link gets the analyst's key, and hands over a plan.

The analyst's site waits for a survey, and shows a link with a code. The organiser pairs with that
link: its program asks for the public key, and sends the plan and the route when all mixers have
signed. A code is good for one plan.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

from krand.errors import InvalidInput
from krand.files import OWNER_FOLDER, ensure_directory, read_whole, write_atomically
from krand.partners.addresses import Address, JoinLink
from krand.partners.documents import Route, check_route
from krand.partners.requests import NotAdmitted
from krand.partners.signing import PAIR_AGAIN
from krand.partners.talking import Answer
from krand.survey.plain_values import Malformed, part
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
    from krand.partners.http import Asking, Endpoint
    from krand.partners.identity import Identity
    from krand.partners.talking import Talks
    from krand.survey.plan import Plan

KEY, PLAN = "/v1/analyst/key", "/v1/analyst/plan"


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
        if identity != plan.mixing.mixers[0].identity:
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
