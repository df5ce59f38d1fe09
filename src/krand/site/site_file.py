"""The site file: what runs here, for which surveys. Everything wrong with it is told at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from krand.client.transport import is_loopback
from krand.collector.public import check_origins
from krand.errors import InvalidInput
from krand.mistakes import Broken
from krand.mistakes import Path as Steps
from krand.mixing.keys import LONGEST_NAME
from krand.models import Model, checked, wrong
from krand.partners.identity import checked_url
from krand.survey.reading import TomlFile, read_toml
from krand.survey.rules import Line
from krand.survey.survey_folder import SurveyFolder
from krand.terminal.places import Place, place_in

COLLECTOR, ANALYST = "collector", "analyst"
STATUS = "127.0.0.1:8090"


def _place(given: Any, info: ValidationInfo) -> Any:
    """HOST:PORT."""
    if not isinstance(given, str):
        return given
    try:
        return place_in(str(info.field_name), given)
    except InvalidInput as error:
        raise wrong([Broken((), error.rule, given, error.hint)]) from None


Listen = Annotated[Place, BeforeValidator(_place)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """Where an analyst receives batches of partners."""

    listen: Place
    folder: Path
    tls_cert: Path | None = None
    tls_key: Path | None = None
    behind_proxy: bool = False
    address: str = ""

    @property
    def identity(self) -> Path:
        """The private key of its identity."""
        return self.folder / "identity.pem"


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSurvey:
    """One survey, and what this site is for it."""

    folder: SurveyFolder
    roles: tuple[str, ...]
    listen: Place | None = None
    address: str = ""
    origins: tuple[str, ...] = ()
    anchor: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What one organisation runs on one machine."""

    name: str
    folder: Path
    status: Place
    surveys: tuple[SiteSurvey, ...]
    receiver: Receiver | None = None
    awaited: tuple[SurveyFolder, ...] = ()
    """Folders of surveys whose plans their organisers have yet to hand over."""

    @property
    def state(self) -> Path:
        """What each part last said, for the status page."""
        return self.folder / "status.json"

    @property
    def token(self) -> Path:
        """The token of the status page."""
        return self.folder / "token"


class SiteTable(Model):
    """Who runs the site."""

    name: Annotated[
        Line, Field(min_length=1, max_length=LONGEST_NAME, examples=["The works council"])
    ]
    status: Annotated[Listen, Field(examples=[STATUS])] = place_in("status", STATUS)
    folder: Annotated[str, Field(min_length=1, examples=["state"])] = "state"


class ReceiverTable(Model):
    """Where batches of partners arrive."""

    listen: Annotated[Listen, Field(examples=["0.0.0.0:8443"])]
    folder: Annotated[str, Field(min_length=1, examples=["receiver"])] = "receiver"
    tls_cert: Annotated[str | None, Field(min_length=1, examples=["tls.pem"])] = None
    tls_key: Annotated[str | None, Field(min_length=1, examples=["tls.key"])] = None
    behind_proxy: Annotated[bool, Field(examples=[True])] = False
    address: Annotated[
        str,
        checked(partial(checked_url, "address")),
        Field(examples=["https://analyst.example:8443"]),
    ] = ""

    def _rules(self) -> Iterator[Broken]:
        for key, other in (("tls_cert", "tls_key"), ("tls_key", "tls_cert")):
            if getattr(self, key) is not None and getattr(self, other) is None:
                rule, hint = f"must be given together with {other}", f"add {other}, or leave both"
                yield Broken((key,), rule, getattr(self, key), f"{hint} out")
        if self.behind_proxy and not is_loopback(self.listen.host):
            rule = "must be on this machine alone, such as 127.0.0.1, behind a proxy"
            hint = "without TLS everybody on the way can hold back or replace what partners send"
            yield Broken(("listen",), rule, str(self.listen), hint)


class SurveyTable(Model):
    """One survey."""

    folder: Annotated[str, Field(min_length=1, examples=["team.krand"])]
    roles: Annotated[
        tuple[Literal["collector", "analyst"], ...],
        Field(strict=False, min_length=1, examples=[[COLLECTOR, ANALYST]]),
    ]
    listen: Annotated[Listen | None, Field(examples=["127.0.0.1:8080"])] = None
    address: Annotated[Line, Field(examples=["https://survey.example/"])] = ""
    origins: Annotated[
        tuple[str, ...],
        checked(check_origins),
        Field(strict=False, examples=[["https://form.example"]]),
    ] = ()
    anchor: Annotated[str | None, Field(min_length=1, examples=["/mnt/b/team.anchor"])] = None

    def _rules(self) -> Iterator[Broken]:
        if len(set(self.roles)) < len(self.roles):
            rule = "must name each role once"
            yield Broken(("roles",), rule, list(self.roles), "leave the second out")
        if COLLECTOR in self.roles and self.listen is None:
            hint = 'for example listen = "127.0.0.1:8080"'
            yield Broken(("listen",), "must be given for a collector", None, hint)


class SiteFile(Model):
    """The whole file."""

    hints = {"survey": "write [[survey]] with two brackets"}  # noqa: RUF012

    site: SiteTable
    receiver: ReceiverTable | None = None
    survey: Annotated[tuple[SurveyTable, ...], Field(strict=False)] = ()

    @model_validator(mode="after")
    def _each_once(self, info: ValidationInfo) -> Self:
        """Two tables of one folder would be two collectors in one spool."""
        broken, places = [], list[Path]()
        directory: Path = (info.context or {})["directory"]
        for index, each in enumerate(self.survey):
            place = (directory / each.folder).resolve()
            if place in places:
                rule = "must not be that of another survey"
                broken.append(
                    Broken(("survey", index, "folder"), rule, each.folder, "leave one of them out")
                )
            places.append(place)
        listening: list[tuple[Steps, Place | None]] = [(("site", "status"), self.site.status)]
        listening += [(("receiver", "listen"), self.receiver.listen)] if self.receiver else []
        listening += [(("survey", i, "listen"), each.listen) for i, each in enumerate(self.survey)]
        seen: set[str] = set()
        for where, at in listening:
            if str(at) in seen and at is not None and not str(at).endswith(":0"):
                rule = "must not be listened on twice"
                broken.append(Broken(where, rule, str(at), "take another"))
            seen.add(str(at))
        if broken:
            raise wrong(broken)
        return self


def read_site(path: Path) -> Site:
    """The site that a file describes; SurveyErrors has every mistake of the file."""
    return site_in(read_toml("site", path), path.parent)


def site_in(file: TomlFile, directory: Path) -> Site:
    """The site that a TOML text describes; its paths are relative to the directory."""
    found = file.read(SiteFile, directory=directory)
    return Site(
        name=found.site.name,
        status=found.site.status,
        folder=directory / found.site.folder,
        surveys=tuple(_survey(each, directory) for each in found.survey),
        receiver=None if found.receiver is None else _receiver(found.receiver, directory),
    )


def _receiver(found: ReceiverTable, directory: Path) -> Receiver:
    return Receiver(
        listen=found.listen,
        folder=directory / found.folder,
        tls_cert=None if found.tls_cert is None else directory / found.tls_cert,
        tls_key=None if found.tls_key is None else directory / found.tls_key,
        behind_proxy=found.behind_proxy,
        address=found.address,
    )


def _survey(found: SurveyTable, directory: Path) -> SiteSurvey:
    return SiteSurvey(
        folder=SurveyFolder(directory / found.folder),
        roles=found.roles,
        listen=found.listen,
        address=found.address,
        origins=found.origins,
        anchor=None if found.anchor is None else directory / found.anchor,
    )


def site_text(site: Site, directory: Path) -> str:
    """A site as a file in this directory says it; what has its default is left out."""
    tables: list[tuple[str, Any]] = [("[site]", site), ("[receiver]", site.receiver)]
    tables += [("[[survey]]", survey) for survey in site.surveys]
    lines = (line for title, value in tables if value for line in _lines(title, value, directory))
    return "\n".join(lines).lstrip("\n") + "\n"


def _lines(title: str, value: Site | Receiver | SiteSurvey, directory: Path) -> Iterable[str]:
    yield from ("", title)
    for field in fields(value):
        given = getattr(value, field.name)
        if field.name in ("surveys", "receiver") or given in (field.default, None):
            continue
        yield f"{field.name} = {json.dumps(_plain(given, directory), ensure_ascii=False)}"


def _plain(given: Any, directory: Path) -> Any:
    """As TOML has it: paths relative to the file, places as text."""
    if isinstance(given, SurveyFolder):
        given = given.path
    if isinstance(given, Path):
        inside = given.is_relative_to(directory)
        return str(given.relative_to(directory)) if inside else str(given.absolute())
    return str(given) if isinstance(given, Place) else given
