"""The survey as a form on a real collector, and people who fill it in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from collecting import serving
from krand import generate_private_key, generate_signing_key, make_plan, parse_survey
from krand.collector.opening import open_spool
from krand.collector.settings import Settings, receipt_of
from krand.collector.store import Store
from krand.survey.plan import Plan
from krand.web.form.site import site_of
from krand.wire.plan_signatures import PlanSignature

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["CITIES", "EVERY_KIND", "PEOPLE", "FormSite", "every_kind_plan", "form_site", "reported"]

CITIES = [f"{name} {number}" for number in range(1, 11) for name in ("Aachen", "Köln", "Ulm")]
EVERY_KIND = f"""id = "town-2026"
title = "Life in our town"
organiser = "City of Examples"
contact = "survey@example.org"
introduction = "A few questions about <b>living</b> here."
thanks = "We will publish the results in May."
language = "{{language}}"

[policy]
epsilon = 40.0
delta = 0.01
minimum_crowd = {{crowd}}

[[question]]
name = "bicycle"
type = "yes_no"
text = "Do you own a bicycle?"

[[question]]
name = "way"
type = "choice"
text = "How do you get to work?"
help = "The way that you use most."
choices = ["on foot", "by bicycle", "by car"]
required = true

[[question]]
name = "city"
type = "choice"
text = "Where did you live before?"
choices = {CITIES}

[[question]]
name = "shops"
type = "pick_any"
text = "Which shops do you miss?"
choices = ["baker", "books", "tools", "shoes"]
at_most = 2

[[question]]
name = "rent"
type = "number"
text = "How large is your home?"
unit = "m²"
edges = [0, 50.5, 100, 200]

[[question]]
name = "mood"
type = "scale"
text = "How much do you like living here?"
lowest = 1
highest = 5
labels = ["not at all", "very much"]

[[question]]
name = "wish"
type = "words"
text = "What should be built next?"
positions = 16
hashes = 1
"""
PEOPLE: tuple[dict[str, Any], ...] = (
    {"bicycle": "Yes", "way": "on foot", "city": "koln 7", "shops": ["baker"], "rent": "50,5"},
    {
        "bicycle": "No",
        "way": "by car",
        "city": "Ulm 10",
        "shops": ["books", "shoes"],
        "rent": "99",
        "wish": "A library",
    },
    {"way": "by bicycle", "shops": [], "rent": "", "wish": "Park"},
)
"""Answers as people give them; whoever leaves a question out goes on without an answer."""


def every_kind_plan(key: X25519PrivateKey, crowd: int = 6, language: str = "en") -> Plan:
    """Each kind of question; six people hide each other badly, and that is what is promised."""
    survey = parse_survey(EVERY_KIND.format(crowd=crowd, language=language))
    return make_plan(survey).sealed_for(key.public_key())


@dataclass(frozen=True, slots=True, kw_only=True)
class FormSite:
    """Where the form is, and who holds which key."""

    url: str
    plan: Plan
    key: X25519PrivateKey
    signer: Ed25519PrivateKey
    store: Store
    folder: Path
    signatures: Sequence[PlanSignature] = field(default=())

    @property
    def people(self) -> int:
        """How many submissions the collector has."""
        return sum(batch.people for batch in self.store.batches())


@contextmanager
def form_site(folder: Path, **changes: Any) -> Iterator[FormSite]:
    """`krand serve --form` in this process, with receipts."""
    key, signer = generate_private_key(), generate_signing_key()
    plan = every_kind_plan(key, **changes)
    settings = Settings(plan=plan, receipt=receipt_of(plan, 1, signer))
    site = site_of(plan)
    pages = {"/": site["index.html"], **{f"/{name}": page for name, page in site.items()}}
    store = open_spool(plan, folder / "spool", id_key=folder / "id.key")
    with serving(store, settings, pages) as port:
        url = f"http://127.0.0.1:{port}/"
        yield FormSite(url=url, plan=plan, key=key, signer=signer, store=store, folder=folder)


def reported(page: Page) -> list[int]:
    """The positions that "Show me" says are sent."""
    found: list[int] = page.eval_on_selector_all(
        ".reported li:is(.kept, .added)", "all => all.map(e => Number(e.dataset.position))"
    )
    return found
