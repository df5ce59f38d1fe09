"""What the listener knows of a plan: the file about.json beside it, which holds nothing that is not
public."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from krand.files import read_whole

ABOUT, PLANS = "about.json", "plans.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What the listener knows of a plan: nothing that is not public."""

    place: int
    """Of this party: of the mixers from 1 on, and behind them the analyst."""
    parties: tuple[str, ...]
    """The identities of the mixers, then the analyst's."""
    length: int
    """Of a submission, in bytes; 0 where none are taken."""
    invitations: bool
    open: bool = False
    round: int = 0
    """The one that is open, or was last; 0 before the first."""
    origins: tuple[str, ...] = ()
    """Whose pages may ask from a browser."""
    pages: Mapping[str, Mapping[str, str]]
    """The files of the form, with the headers that each is served with."""
    listed: Mapping[str, str]
    """What plans.json says of it: plan, survey, organiser, day on which it was published, state."""


def read_about(public: Path, plan_hash: str) -> About | None:
    """What the listener knows of a plan; None if it is not published."""
    path = public / plan_hash / ABOUT
    return about_in(read_whole("public", path)) if path.exists() else None


def about_in(content: bytes) -> About:
    """What an about.json says."""
    values = json.loads(content)
    lists = {name: tuple(values[name]) for name in ("parties", "origins")}
    return About(**{**values, **lists})
