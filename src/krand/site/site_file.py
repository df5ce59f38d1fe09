"""A site file: what one organisation runs on one machine, in one folder, on one address.

Which part a party has in a survey follows from the survey's plan. The file says what it offers:
surveys of its own, mixing for others, counting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from krand.client.transport import collector_parts, is_loopback
from krand.collector.public import check_origins
from krand.errors import InvalidInput
from krand.mistakes import Broken
from krand.models import Model, checked, wrong
from krand.partners.identity import LONGEST_NAME, checked_url
from krand.partners.policy import AcceptPolicy
from krand.site.folder import Settings
from krand.survey.reading import read_toml
from krand.survey.rules import Line
from krand.terminal.places import Place, place_in

IDENTITY = re.compile("[0-9a-f]{64}")
LISTEN, CONSOLE = Place("127.0.0.1", 8080), Place("127.0.0.1", 8090)
NOT_ALONE = (
    "krand has no TLS of its own, and people and partners send to https alone: put nginx or Caddy"
    " in front of it (deploy/), then write behind_proxy = true"
)


def _place(given: Any, info: ValidationInfo) -> Any:
    """HOST:PORT."""
    if not isinstance(given, str):
        return given
    try:
        return place_in(str(info.field_name), given)
    except InvalidInput as error:
        raise wrong([Broken((), error.rule, given, error.hint)]) from None


Listen = Annotated[Place, BeforeValidator(_place)]
Role = Literal["collector", "mixer", "analyst"]


def _address(given: str, info: ValidationInfo) -> str:
    """Where others reach this party; with --local, this machine will do."""
    context: dict[str, Any] = info.context or {}
    try:
        return checked_url("address", given, local=context.get("local", False))
    except InvalidInput as error:
        raise wrong([Broken((), error.rule, given, error.hint)]) from None


def _reached(given: str) -> str:
    """Where the operator reaches a partner: any address that could be one."""
    parts = collector_parts("addresses", given)
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


Url = Annotated[str, AfterValidator(_address)]
Reached = Annotated[str, checked(_reached)]


class SiteFile(Model):
    """The whole file."""

    name: Annotated[
        Line, Field(min_length=1, max_length=LONGEST_NAME, examples=["The works council"])
    ]
    folder: Annotated[str, Field(min_length=1, examples=["council"])] = "krand"
    listen: Annotated[Listen, Field(examples=[str(LISTEN)])] = LISTEN
    address: Annotated[Url | None, Field(examples=["https://survey.example.org"])] = None
    behind_proxy: Annotated[bool, Field(examples=[True])] = False
    console: Annotated[Listen, Field(examples=[str(CONSOLE)])] = CONSOLE
    roles: Annotated[
        tuple[Role, ...],
        Field(strict=False, min_length=1, examples=[["collector", "analyst"]]),
    ] = ("collector", "analyst")
    surveys: Annotated[tuple[str, ...], Field(strict=False, examples=[["team.toml"]])] = ()
    origins: Annotated[
        tuple[str, ...],
        checked(check_origins),
        Field(strict=False, examples=[["https://intranet.example.org"]]),
    ] = ()
    addresses: Annotated[
        Mapping[str, Reached], Field(examples=[{"ab" * 32: "https://10.0.0.2:8080"}])
    ] = {}
    policy: AcceptPolicy | None = None

    def _rules(self) -> Iterator[Broken]:
        if len(set(self.roles)) < len(self.roles):
            yield Broken(("roles",), "must name each role once", list(self.roles))
        if not is_loopback(self.listen.host) and not self.behind_proxy:
            rule = f"must be on this machine alone, such as {LISTEN}, unless a proxy is in front"
            yield Broken(("listen",), rule, str(self.listen), NOT_ALONE)
        if self.behind_proxy and self.address is None:
            rule = "must be given with behind_proxy = true"
            hint = 'where the proxy is reached: address = "https://survey.example.org"'
            yield Broken(("address",), rule, None, hint)
        if not is_loopback(self.console.host):
            hint = "it shows and closes surveys; from elsewhere: ssh -L 8090:127.0.0.1:8090 server"
            yield Broken(("console",), "must be on this machine alone", str(self.console), hint)
        if self.console == self.listen and self.listen.port:
            yield Broken(("console",), "must be another port than listen", str(self.console))
        if self.policy is not None and "mixer" not in self.roles:
            hint = 'add "mixer" to roles, or leave [policy] out'
            yield Broken(("policy",), 'must come with the role "mixer"', None, hint)
        for index, survey in enumerate(self.surveys):
            role: Role = "analyst" if _is_link(survey) else "collector"
            if role not in self.roles:
                hint = f'add "{role}" to roles, or leave the survey out'
                yield Broken(("surveys", index), f'must come with the role "{role}"', survey, hint)
        for identity in self.addresses:
            if not IDENTITY.fullmatch(identity):
                rule, hint = "must be an identity of 64 digits", "it stands at the end of its link"
                yield Broken(("addresses", identity), rule, identity, hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What `krand run` runs."""

    folder: Path
    """The party's."""
    settings: Settings
    surveys: tuple[Path, ...] = ()
    """Survey files of its own."""
    links: tuple[str, ...] = ()
    """Surveys of others that are counted here."""
    console: Place = CONSOLE


def read_site(path: Path, *, local: bool = False) -> Site:
    """The site that a file describes; its paths are relative to the file."""
    file = read_toml("site", path).read(SiteFile, local=local)
    return Site(
        folder=path.parent / file.folder,
        settings=Settings(
            name=file.name,
            listen=None if file.roles == ("analyst",) else file.listen,
            url=file.address or "",
            origins=file.origins,
            addresses=file.addresses,
            local=local,
            policy=(file.policy or AcceptPolicy()) if "mixer" in file.roles else None,
            analyst="analyst" in file.roles,
        ),
        surveys=tuple(path.parent / each for each in file.surveys if not _is_link(each)),
        links=tuple(filter(_is_link, file.surveys)),
        console=file.console,
    )


def _is_link(survey: str) -> bool:
    return "://" in survey
