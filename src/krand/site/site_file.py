"""The site file: what runs here, for which surveys. Everything wrong with it is told at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from krand.client.transport import is_loopback
from krand.collector.settings import check_origins
from krand.errors import InvalidInput
from krand.mixing.keys import LONGEST_NAME
from krand.partners.identity import checked_url
from krand.survey.complaints import check_table, unknown_key
from krand.survey.models import ABSENT, Line, Table
from krand.survey.rules import Broken
from krand.survey.survey_folder import SurveyFolder
from krand.survey.toml_file import TomlFile, read_toml
from krand.terminal.places import Place, place_in

COLLECTOR, ANALYST = "collector", "analyst"
STATUS = "127.0.0.1:8090"
LISTENING = {"status", "listen"}


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


class SiteTable(Table):
    """Who runs the site."""

    name: Annotated[
        Line, Field(min_length=1, max_length=LONGEST_NAME, examples=["The works council"])
    ]
    status: Annotated[str, Field(examples=[STATUS])] = STATUS
    folder: Annotated[str, Field(min_length=1, examples=["state"])] = "state"


class ReceiverTable(Table):
    """Where batches of partners arrive."""

    listen: Annotated[str, Field(examples=["0.0.0.0:8443"])]
    folder: Annotated[str, Field(min_length=1, examples=["receiver"])] = "receiver"
    tls_cert: Annotated[str, Field(min_length=1, examples=["tls.pem"])] = ABSENT
    tls_key: Annotated[str, Field(min_length=1, examples=["tls.key"])] = ABSENT
    behind_proxy: Annotated[bool, Field(examples=[True])] = ABSENT
    address: Annotated[str, Field(examples=["https://analyst.example:8443"])] = ABSENT


class SurveyTable(Table):
    """One survey."""

    folder: Annotated[str, Field(min_length=1, examples=["team.krand"])]
    roles: Annotated[
        list[Literal["collector", "analyst"]],
        Field(min_length=1, examples=[[COLLECTOR, ANALYST]]),
    ]
    listen: Annotated[str, Field(examples=["127.0.0.1:8080"])] = ABSENT
    address: Annotated[Line, Field(examples=["https://survey.example/"])] = ABSENT
    origins: Annotated[list[str], Field(examples=[["https://form.example"]])] = ABSENT
    anchor: Annotated[str, Field(min_length=1, examples=["/mnt/b/team.anchor"])] = ABSENT


TABLES = ("site", "receiver", "survey")


def read_site(path: Path) -> Site:
    """The site that a file describes; SurveyErrors has every mistake of the file."""
    return site_in(read_toml("site", path), path.parent)


def site_in(file: TomlFile, directory: Path) -> Site:
    """The site that a TOML text describes; its paths are relative to the directory."""
    document, broken = file.document, list[Broken]()
    broken += [unknown_key(key, document[key], TABLES) for key in document if key not in TABLES]
    tables = document.get("survey", [])
    if not isinstance(tables, list):
        hint = "write [[survey]] with two brackets"
        broken.append(Broken(("survey",), "must be an array of tables", tables, hint))
        tables = []
    site, wrong = _checked(SiteTable, document.get("site", {}), ("site",))
    broken += wrong
    receiver, wrong = _checked(ReceiverTable, document.get("receiver", {}), ("receiver",))
    broken += [*wrong, *_receiver_rules(receiver)] if "receiver" in document else []
    surveys = []
    for index, raw in enumerate(tables):
        found, wrong = _checked(SurveyTable, raw, ("survey", index))
        surveys.append(found)
        broken += [*wrong, *(rule.under(("survey", index)) for rule in _survey_rules(raw, found))]
    broken += _once(surveys, directory)
    broken += _places_once(document)
    if broken:
        raise file.errors(broken)
    return Site(
        name=site["name"],
        status=place_in("status", site.get("status", STATUS)),
        folder=directory / site.get("folder", "state"),
        surveys=tuple(_survey(found, directory) for found in surveys),
        receiver=_receiver(receiver, directory) if "receiver" in document else None,
    )


def _checked(
    model: type[Table], raw: object, where: tuple[str | int, ...]
) -> tuple[dict[str, Any], list[Broken]]:
    """What is right in a table, and what is wrong in it, places to listen on included."""
    found, broken = check_table(model, raw)
    for key in LISTENING & found.keys():
        try:
            place_in(key, found[key])
        except InvalidInput as error:
            broken.append(Broken((key,), error.rule, found[key], error.hint))
    return found, [entry.under(where) for entry in broken]


def _receiver_rules(receiver: dict[str, Any]) -> Iterator[Broken]:
    if "address" in receiver:
        try:
            checked_url("address", receiver["address"])
        except InvalidInput as error:
            yield Broken(("receiver", "address"), error.rule, error.value, error.hint)
    for key, other in (("tls_cert", "tls_key"), ("tls_key", "tls_cert")):
        if key in receiver and other not in receiver:
            rule = f"must be given together with {other}"
            yield Broken(("receiver", key), rule, receiver[key], f"add {other}, or leave both out")
    host = str(receiver.get("listen", "")).rpartition(":")[0].strip("[]")
    if receiver.get("behind_proxy") and "listen" in receiver and not is_loopback(host):
        rule = "must be on this machine alone, such as 127.0.0.1, behind a proxy"
        hint = "without TLS everybody on the way can hold back or replace what partners send"
        yield Broken(("receiver", "listen"), rule, receiver["listen"], hint)


def _survey_rules(raw: object, found: dict[str, Any]) -> Iterator[Broken]:
    roles = found.get("roles", ())
    if len(set(roles)) < len(roles):
        yield Broken(("roles",), "must name each role once", roles, "leave the second out")
    given = raw if isinstance(raw, dict) else {}
    if COLLECTOR in roles and "listen" not in given:
        hint = 'for example listen = "127.0.0.1:8080"'
        yield Broken(("listen",), "must be given for a collector", None, hint)
    try:
        check_origins(found.get("origins", ()))
    except InvalidInput as error:
        yield Broken(("origins",), error.rule, error.value, error.hint)


def _once(surveys: list[dict[str, Any]], directory: Path) -> Iterator[Broken]:
    """Two tables of one folder would be two collectors in one spool."""
    names = [found.get("folder") for found in surveys]
    places = [None if name is None else (directory / name).resolve() for name in names]
    for index, place in enumerate(places):
        if place is not None and place in places[:index]:
            rule = "must not be that of another survey"
            yield Broken(("survey", index, "folder"), rule, names[index], "leave one of them out")


def _places_once(document: dict[str, Any]) -> Iterator[Broken]:
    """Every port is listened on once."""
    tables: list[tuple[tuple[str | int, ...], Any]] = [
        ((name,), document.get(name)) for name in ("site", "receiver")
    ]
    surveys = document.get("survey")
    if isinstance(surveys, list):
        tables += [(("survey", index), raw) for index, raw in enumerate(surveys)]
    seen: set[str] = set()
    for where, raw in tables:
        for key in sorted(LISTENING & raw.keys()) if isinstance(raw, dict) else ():
            text = str(raw[key])
            if text in seen and not text.endswith(":0"):
                yield Broken((*where, key), "must not be listened on twice", text, "take another")
            seen.add(text)


def _receiver(found: dict[str, Any], directory: Path) -> Receiver:
    paths = {key: directory / found[key] for key in ("tls_cert", "tls_key") if key in found}
    return Receiver(
        listen=place_in("listen", found["listen"]),
        folder=directory / found.get("folder", "receiver"),
        behind_proxy=found.get("behind_proxy", False),
        address=found.get("address", ""),
        **paths,
    )


def _survey(found: dict[str, Any], directory: Path) -> SiteSurvey:
    return SiteSurvey(
        folder=SurveyFolder(directory / found["folder"]),
        roles=tuple(found["roles"]),
        listen=_place(found, "listen"),
        address=found.get("address", ""),
        origins=check_origins(found.get("origins", ())),
        anchor=directory / found["anchor"] if "anchor" in found else None,
    )


def _place(found: dict[str, Any], key: str) -> Place | None:
    return place_in(key, found[key]) if key in found else None


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
