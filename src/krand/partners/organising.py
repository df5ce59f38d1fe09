"""The organiser's side: one way in which a survey is published, alone or with partners.

Keys are asked of every partner, the plan is made of them, and every partner signs it. Each step is
recorded. So `publish` can be called at any time, as often as somebody likes, and goes on where it
was; whoever has to do something first is in its answer.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from krand.errors import InvalidInput
from krand.partners.documents import Keys, KeysRequest
from krand.partners.fetching import NoAnswer, Partner, Refused, Rules
from krand.partners.identity import (
    Identity,
    Link,
    analyst_line,
    ensure_identity,
    parse_analyst,
    parse_link,
)
from krand.planning.making import make_plan
from krand.sqlite_files import transaction
from krand.survey.canonical import canonical_json, sha256_of
from krand.survey.plan import Analyst, Mixer, Plan
from krand.survey.plan_file import parse_plan
from krand.survey.survey import Survey
from krand.wire.keys import (
    generate_private_key,
    private_key_pem,
    public_hex,
    read_private_key,
    write_private,
)
from krand.wire.mixers import check_mixers
from krand.wire.plan_signatures import (
    PlanSignature,
    check_signatures,
    parse_signature,
    sign_plan,
    signature_bytes,
)
from krand.wire.signed import parse_signed

if TYPE_CHECKING:
    from krand.site.folder import Folder, Settings
    from krand.site.state import State
    from krand.site.worker import Worker

OPEN_DAYS = 14
"""How long a survey is open that does not say."""
EDITED = "a published survey cannot be edited: give the changed one an id of its own"
WAITS = {"keys": "its operator has to accept it", "signature": "it is computing the promise"}
TABLES = """
CREATE TABLE organised (
    survey TEXT PRIMARY KEY, sha256 TEXT NOT NULL, content BLOB NOT NULL, pairing TEXT NOT NULL,
    name TEXT NOT NULL, url TEXT NOT NULL, analyst TEXT NOT NULL, plan BLOB
) WITHOUT ROWID;
CREATE TABLE asked (
    survey TEXT, place INTEGER, link TEXT NOT NULL, name TEXT NOT NULL DEFAULT '', keys BLOB,
    signature BLOB, PRIMARY KEY (survey, place)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Later:
    """A partner of whom something has to come first."""

    link: str
    name: str
    """What it calls itself, or its address as long as that is not known."""
    why: str


class Organised(NamedTuple):
    """A survey on its way to a plan."""

    survey: str
    """Its id."""
    sha256: str
    """Of the survey as it was given."""
    content: bytes
    """The survey as it will stand in the plan."""
    pairing: str
    """Drawn once: partners make other keys for another one."""
    name: str
    url: str
    """What partners were told of this party."""
    analyst: str
    """The line of an analyst elsewhere, or empty."""
    plan: bytes | None


class Asked(NamedTuple):
    """A partner, and what has come of it."""

    survey: str
    place: int
    link: str
    name: str
    keys: bytes | None
    signature: bytes | None


async def publish(
    state: State,
    folder: Folder,
    settings: Settings,
    survey: Survey,
    links: Sequence[Link] = (),
    analyst: Analyst | None = None,
) -> Plan | tuple[Later, ...]:
    """The plan of a survey, signed by all of its mixers; or who has to do something before.

    This party is the first mixer, and the partners of the links follow. It is the analyst too,
    unless another one is named. Without links, what was begun with some goes on.
    """
    identity = ensure_identity(folder.identity)
    begun = _begun(state, identity, settings, survey, links, analyst)
    rules = Rules(settings.addresses, settings.local)
    wanted = Survey.read(json.loads(begun.content), "survey")

    def keys(partner: Partner, place: int) -> bytes | None:
        request = KeysRequest(
            pairing=begun.pairing,
            organiser=begun.name,
            url=begun.url,
            place=place,
            survey=wanted.values(),
        )
        found = partner.ask_keys(request)
        return None if found is None else found.content

    if later := await _ask(state, identity, rules, survey.id, "keys", keys):
        return later
    plan = await _plan(state, folder, identity, begun, wanted)

    def signature(partner: Partner, _: int) -> bytes | None:
        found = partner.send_plan(plan)
        return None if found is None else signature_bytes(found)

    if later := await _ask(state, identity, rules, survey.id, "signature", signature):
        return later
    others = [parse_signature(each.signature or b"") for each in _all(state, survey.id)]
    signatures = (sign_plan(plan, identity.key), *others)
    check_signatures(plan, signatures)
    state.add_plan(plan, signatures)
    return plan


async def pair(
    worker: Worker, survey: dict[str, Any], links: Sequence[str] = (), analyst: str = ""
) -> dict[str, Any]:
    """The same for a command that asks the worker to do it."""
    local = worker.settings.local
    found = await publish(
        worker.state,
        worker.folder,
        worker.settings,
        Survey.read(survey, "survey"),
        [parse_link(each, local=local) for each in links],
        parse_analyst(analyst) if analyst else None,
    )
    if isinstance(found, Plan):
        worker.add(found)
        return {"plan": found.hash}
    return {"later": [[each.link, each.name, each.why] for each in found]}


def ensure_analyst(folder: Folder) -> Analyst:
    """This party as the analyst of surveys, with a key that is made once."""
    if not folder.analyst_key.exists():
        write_private("analyst", folder.analyst_key, private_key_pem(generate_private_key()))
    key = read_private_key(folder.analyst_key)
    return Analyst(key=public_hex(key), identity=ensure_identity(folder.identity).public)


def progress(state: State, survey_id: str) -> list[dict[str, str]]:
    """How far each partner of a survey is: `waiting`, `keys` or `signed`."""
    return [
        {
            "link": each.link,
            "name": each.name or each.link.partition("#")[0],
            "state": "signed" if each.signature else "keys" if each.keys else "waiting",
        }
        for each in _all(state, survey_id)
    ]


def fetch_plan(
    settings: Settings, own: Identity, link: str
) -> tuple[Plan, tuple[PlanSignature, ...]]:
    """A published plan and its signatures, by its link: `https://host/HASH/`."""
    url, _, plan_hash = link.rstrip("/").rpartition("/")
    if len(plan_hash) != 64 or set(plan_hash) - set("0123456789abcdef"):
        rule = "must be the link of a survey, which ends with its plan's hash"
        raise InvalidInput("surveys", rule, link, "copy it from the organiser's message")
    collector = Partner(own, "", url, Rules(settings.addresses, settings.local))
    plan, signatures = collector.plan(plan_hash), collector.signatures(plan_hash)
    check_signatures(plan, signatures)
    return plan, signatures


# --- steps --------------------------------------------------------------------------------------


def _begun(
    state: State,
    identity: Identity,
    settings: Settings,
    survey: Survey,
    links: Sequence[Link],
    analyst: Analyst | None,
) -> Organised:
    """What was begun of this survey, or a new beginning with keys of its own."""
    query = "SELECT * FROM organised WHERE survey = ?"
    row = state.database.execute(query, (survey.id,)).fetchone()
    line, told = analyst_line(analyst) if analyst else "", [str(link) for link in links]
    if row is not None:
        found, known = Organised._make(row), [each.link for each in _all(state, survey.id)]
        same = found.sha256 == sha256_of(survey.values()) and line in ("", found.analyst)
        if same and (not told or (told == known and settings.url in ("", found.url))):
            return found
        if found.plan and state.signatures(parse_plan(found.plan).hash):
            raise InvalidInput("survey", "must be as it was published", survey.id, EDITED)
        if known and not told:
            hint = "ask them again: krand pair survey.toml LINK…"
            raise InvalidInput("survey", "must be as its partners know it", survey.id, hint)
    settled = _settled(identity, settings, survey, links, analyst)
    new = Organised(
        survey=survey.id,
        sha256=sha256_of(survey.values()),
        content=canonical_json(settled.values()),
        pairing=secrets.token_hex(32),
        name=settings.name,
        url=settings.url,
        analyst=line,
        plan=None,
    )
    with transaction(state.database):
        state.database.execute("DELETE FROM asked WHERE survey = ?", (survey.id,))
        state.database.execute("REPLACE INTO organised VALUES (?, ?, ?, ?, ?, ?, ?, ?)", new)
        for place, link in enumerate(told, 2):
            add = "INSERT INTO asked (survey, place, link) VALUES (?, ?, ?)"
            state.database.execute(add, (survey.id, place, link))
    return new


def _settled(
    identity: Identity,
    settings: Settings,
    survey: Survey,
    links: Sequence[Link],
    analyst: Analyst | None,
) -> Survey:
    """The survey with what follows from who takes part, and with a last day."""
    parties, trust = [identity.public, *(link.identity for link in links)], survey.trust
    if links and not trust.chain:
        hint = "devices add the noise of this survey: partners are not needed"
        raise InvalidInput("trust.noise", 'must be "mixers" with partners', trust.noise, hint)
    if trust.mixers not in (1, len(parties)):
        rule = f"must be {len(parties)}: this organisation, and one for each link"
        hint = "name the partners: krand pair survey.toml LINK…"
        raise InvalidInput("trust.mixers", rule, trust.mixers, hint)
    if len(set(parties)) < len(parties):
        hint = "one party in two places would count as two that must be honest"
        raise InvalidInput("link", "must all be of different parties", None, hint)
    if links and not settings.url:
        hint = "partners fetch from there: --url https://survey.example.org"
        raise InvalidInput("url", "must be given with partners", None, hint)
    counting = analyst.identity if analyst else identity.public
    runs = {place for place, each in enumerate(parties, 1) if each == counting}
    trust = trust.changed(
        mixers=len(parties), analyst_runs=tuple(sorted(runs | set(trust.analyst_runs)))
    )
    closes = survey.closes or datetime.now(UTC).date() + timedelta(days=OPEN_DAYS)
    return survey.changed(trust=trust, **({} if survey.schedule else {"closes": closes}))


async def _ask(
    state: State,
    identity: Identity,
    rules: Rules,
    survey: str,
    what: str,
    ask: Callable[[Partner, int], bytes | None],
) -> tuple[Later, ...]:
    """Ask all partners of whom it has not come, at once; who still has to do something."""

    def record(asked: Asked, column: str, value: bytes | str) -> None:
        with transaction(state.database):
            change = f"UPDATE asked SET {column} = ? WHERE survey = ? AND place = ?"
            state.database.execute(change, (value, survey, asked.place))

    async def one(asked: Asked) -> Later | None:
        link = parse_link(asked.link, local=rules.local)
        partner, name = Partner(identity, link.identity, link.url, rules), asked.name
        try:
            if not name:
                name = (await asyncio.to_thread(partner.identified)).name
                record(asked, "name", name)
            found = await asyncio.to_thread(ask, partner, asked.place)
        except NoAnswer as error:
            return Later(asked.link, name or link.url, str(error))
        except Refused as error:  # the next call begins anew, with other keys
            with transaction(state.database):
                state.database.execute("DELETE FROM organised WHERE survey = ?", (survey,))
            field = f"{name or link.url}, {error.field}"
            raise InvalidInput(field, error.rule, error.value, error.hint) from None
        if found is None:
            return Later(asked.link, name, WAITS[what])
        record(asked, what, found)
        return None

    missing = [each for each in _all(state, survey) if getattr(each, what) is None]
    found = await asyncio.gather(*map(one, missing))
    return tuple(filter(None, found))


async def _plan(
    state: State, folder: Folder, identity: Identity, begun: Organised, survey: Survey
) -> Plan:
    """The plan, made once."""
    if begun.plan is not None:
        return parse_plan(begun.plan)
    own = Mixer(name=begun.name, identity=identity.public, url=begun.url)
    others = [
        parse_signed(Keys, each.keys or b"", "keys").record.mixer
        for each in _all(state, begun.survey)
    ]
    analyst = parse_analyst(begun.analyst) if begun.analyst else ensure_analyst(folder)
    made = await asyncio.to_thread(make_plan, survey)
    plan = made.with_parties((own, *others), analyst)
    check_mixers(plan)
    with transaction(state.database):
        change = "UPDATE organised SET plan = ? WHERE survey = ?"
        state.database.execute(change, (plan.bytes, begun.survey))
    return plan


def _all(state: State, survey: str) -> list[Asked]:
    query = "SELECT * FROM asked WHERE survey = ? ORDER BY place"
    return list(map(Asked._make, state.database.execute(query, (survey,))))
