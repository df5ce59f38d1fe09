"""Other plans for the same survey, which the signed lists of its mixers show.

Whoever may have a survey signed twice could ask twice and publish the nicer results. Every mixer's
service signs a list of all plans that it signed, each entry with the hash of the one before. The
lists stand in one file, siblings.json; results name the plans that they show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krand.errors import InvalidInput
from krand.files import read_whole, write_atomically
from krand.partners.documents import Day, Line, PlanEntry, Public
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import (
    Amount,
    Malformed,
    Sha256,
    as_file,
    part,
    typed,
    values_in,
)
from krand.wire.signed import Signed, signed_in

if TYPE_CHECKING:
    from krand.partners.talking import Talks
    from krand.survey.plan import Plan

FORMAT = "krand-siblings-1"
HINT = "fetch the lists of all mixers again: GET /v1/plans of each"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanList:
    """What one mixer's service says that it signed; nothing is verified yet."""

    mixer: Public
    entries: tuple[Signed[PlanEntry], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sibling:
    """Another plan for a survey of the same id."""

    plan: Sha256
    organiser: Public
    epsilon: Amount
    delta: Amount
    closes: Day
    mixers: tuple[Line, ...]
    """The names of the mixers that signed it, as the plan at hand calls them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Siblings:
    """What the lists of a plan's mixers show."""

    lists: tuple[Line, ...]
    """The names of the mixers whose lists were read, in the order of the chain."""
    plans: tuple[Sibling, ...]
    """In the order of their hashes, without the plan at hand."""


def siblings_bytes(lists: Sequence[PlanList]) -> bytes:
    """The file with the lists of several mixers, as their services gave them."""
    values: list[Any] = [
        {"mixer": each.mixer, "entries": [entry.values for entry in each.entries]} for each in lists
    ]
    return canonical_json({"format": FORMAT, "lists": values})


def read_lists(path: str | Path) -> tuple[PlanList, ...]:
    """The lists in a file; nothing is verified yet."""
    values = values_in(read_whole("siblings", path), "siblings", FORMAT, str(path), HINT)
    with as_file("siblings", FORMAT, str(path), HINT):
        return tuple(_list_of(each) for each in part(tuple[Any, ...], values, "lists"))


def asked_list(talk: Talks, mixer: str, source: str) -> PlanList:
    """The list of a mixer's service, as it is now; nothing is verified yet."""
    with as_file("plans", PlanEntry.form, source, "the partner's service is wrong"):
        return PlanList(mixer=mixer, entries=_entries(talk.get("/v1/plans").values))


def keep_lists(path: Path, plan: Plan, lists: Sequence[PlanList]) -> Siblings:
    """Keep what services say now beside the lists of others that are kept.

    A list that does not go on where the kept one ended is refused.
    """
    kept = {each.mixer: each for each in read_lists(path)} if path.exists() else {}
    whole = tuple({**kept, **{each.mixer: each for each in lists}}.values())
    found = siblings_of(plan, whole)
    for each in whole:
        before = kept[each.mixer].entries if each.mixer in kept else ()
        if each.entries[: len(before)] != before:
            rule = "must go on where the list that is kept ended: nothing in it may change"
            hint = "ask that mixer; both lists are signed by it, and contradict each other"
            raise InvalidInput("siblings", rule, each.mixer, hint)
    write_atomically("siblings", path, siblings_bytes(whole))
    return found


def _list_of(values: Any) -> PlanList:
    listed = typed(Mapping[str, Any], values)
    if listed.keys() != {"mixer", "entries"}:
        raise Malformed("should have mixer and entries, and nothing else")
    return PlanList(mixer=part(Public, listed, "mixer"), entries=_entries(listed))


def _entries(values: Mapping[str, Any]) -> tuple[Signed[PlanEntry], ...]:
    listed = part(tuple[Any, ...], values, "entries")
    return tuple(signed_in(PlanEntry, each) for each in listed)


def siblings_of(plan: Plan, lists: Sequence[PlanList]) -> Siblings:
    """What the lists show, once each is known to be whole and signed by a mixer of the plan."""
    names = {mixer.identity: mixer.name for mixer in plan.mixers}
    found: dict[str, Sibling] = {}
    for each in lists:
        for fault in _faults(plan, each, names):
            raise InvalidInput("siblings", fault, names.get(each.mixer, each.mixer), HINT)
        for record in {entry.record.plan: entry.record for entry in each.entries}.values():
            if record.survey == plan.survey.id and record.plan != plan.hash:
                found[record.plan] = _joined(found.get(record.plan), record, names[each.mixer])
    if len({each.mixer for each in lists}) < len(lists):
        raise InvalidInput("siblings", "must hold each mixer's list once", len(lists), HINT)
    shown = {each.mixer for each in lists}
    return Siblings(
        lists=tuple(name for identity, name in names.items() if identity in shown),
        plans=tuple(found[name] for name in sorted(found)),
    )


def _faults(plan: Plan, listed: PlanList, names: dict[str, str]) -> Iterator[str]:
    """Why a list cannot be believed."""
    if listed.mixer not in names:
        yield "must be lists of mixers of the plan"
    previous = ""
    for number, entry in enumerate(listed.entries, 1):
        if not entry.is_by(listed.mixer):
            yield f"entry {number:,} must be signed by its mixer"
        if (entry.record.number, entry.record.previous) != (number, previous):
            yield f"entry {number:,} must follow the one before it, of which none may be missing"
        previous = entry.sha256
    if plan.hash not in {entry.record.plan for entry in listed.entries}:
        yield "must list the plan itself: this is an older list, or one of somebody else"


def _joined(known: Sibling | None, record: PlanEntry, mixer: str) -> Sibling:
    """A plan that a further mixer lists, of which all must say the same."""
    found = Sibling(
        plan=record.plan,
        organiser=record.organiser,
        epsilon=record.epsilon,
        delta=record.delta,
        closes=record.closes,
        mixers=(*(known.mixers if known else ()), mixer),
    )
    told = (found.organiser, found.epsilon, found.delta, found.closes)
    if known and told != (known.organiser, known.epsilon, known.delta, known.closes):
        rule = "must say the same about a plan in every mixer's list"
        raise InvalidInput("siblings", rule, record.plan, "ask these mixers which is true")
    return found
