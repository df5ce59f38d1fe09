"""The planner's numbers page read back, beside what the Python API says to the same request."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from krand import Assurance, Linkage, Policy, ResponseFormat, plan_noise
from krand.accounting.baselines import rappor_sigma
from krand.accounting.curator import curator
from krand.accounting.frontier import message_size
from krand.errors import CannotMeet, InvalidInput
from krand.promise import NOISE_GRID, Z95, NoisePlan
from krand.web.numbers import width
from krand.wording.numbers import parse_count, parse_real
from krand.wording.phrases import at_most, number, people, percent
from krand.wording.promises import (
    assumption_texts,
    guess_sentence,
    how_known,
    method_text,
    promise,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route


CHEAP = {"epsilon": "1", "delta": "1e-5", "eta": "0.01", "crowd": "10k", "bits": "4"}
"""A request that is planned in a moment."""
TEXTS = ("epsilon", "delta", "eta", "crowd", "bits", "max_set_bits", "copies")
READ = """() => Object.fromEntries([...document.querySelectorAll("#result [id]:not(svg *)")]
    .map(e => [e.id, e.textContent.replace(/\\s+/g, " ").replaceAll("’", "'").trim()]))"""
VALUES = """() => Object.fromEntries([...document.querySelectorAll("#result [data-value]")]
    .map(e => [e.id || e.closest("[id]").id,
        [e.textContent.replace(/\\s+/g, " ").trim(), Number(e.dataset.value)]]))"""


@dataclass(slots=True)
class Expected:
    """Texts of elements; numbers as they are shown, and exactly."""

    texts: dict[str, str]
    values: dict[str, list[str | float]] = field(default_factory=dict)


def address(home: str, **changes: str) -> str:
    """The planner with a cheap request and some changes of it."""
    return f"{home}numbers?{urlencode({**CHEAP, **changes})}"


def settled(page: Page) -> None:
    """The page shows the answer to what its form says now."""
    page.wait_for_selector('#result:not([aria-busy="true"])')


def leave_out(page: Page, *parts: str) -> None:
    """Parts that take seconds, and that a test does not look at."""

    def answer(route: Route) -> None:
        route.fulfill(body="<p>Left out.</p>", content_type="text/html", headers={})

    for part in parts:
        page.route(f"**/part/{part}?*", answer)


def request_in(page: Page) -> dict[str, str]:
    """What the controls say."""
    found = {name: page.input_value(f"#{name}") for name in TEXTS}
    for name in ("promise", "linkage"):
        found[name] = page.input_value(f'input[name="{name}"]:checked')
    return {**found, "assurance": page.input_value("#assurance")}


def agrees(page: Page) -> None:
    """Everything that the page answers is what the API says to what its controls say."""
    expected = _expected(tuple(request_in(page).items()))
    texts, values = page.evaluate(READ), page.evaluate(VALUES)
    said = {name: text.replace("’", "'") for name, text in expected.texts.items()}
    assert {name: texts.get(name) for name in said} == said
    assert values == expected.values


@cache
def _expected(request: tuple[tuple[str, str], ...]) -> Expected:
    try:
        plan = _planned(dict(request))
    except CannotMeet as error:
        reason = f"{error.reason[:1].upper()}{error.reason[1:]}."
        return Expected({"refusal-reason": reason, "nearest": "".join(error.nearest)})
    except InvalidInput as error:
        found = "" if error.value is None else f", found {error.value!r}"
        return Expected({"refusal-reason": f"{error.field} {error.rule}{found}."})
    return Expected(_texts(plan), _numbers(plan))


def _planned(texts: dict[str, str]) -> NoisePlan:
    """Read as the command line reads it."""
    limit = texts["promise"]
    bound: dict[str, Any] = {limit: _real(texts, limit)}
    policy = Policy(
        epsilon=_real(texts, "epsilon"),
        minimum_crowd=_count(texts, "crowd"),
        **bound,
        assurance=Assurance(texts["assurance"]),
    )
    bits, copies = _count(texts, "bits"), _count(texts, "copies")
    most = _count(texts, "max_set_bits") if texts["max_set_bits"] else None
    return plan_noise(
        policy,
        ResponseFormat(bits, linkage=Linkage(texts["linkage"]), copies=copies, max_set_bits=most),
    )


def _real(texts: dict[str, str], name: str) -> float:
    return parse_real(name, texts[name])


def _count(texts: dict[str, str], name: str) -> int:
    return parse_count(name, texts[name])


def _texts(plan: NoisePlan) -> dict[str, str]:
    precision, promised = plan.precision, plan.promise
    messages, _ = message_size(plan)
    known = how_known(promised.assurance)
    texts = {
        "half-width-note": f"{percent(precision.half_width_percent)} of the crowd",
        "noise-note": f"{plan.noise * NOISE_GRID:,.0f} / 2^32",
        "bytes-note": f"in {messages:,} sealed message{'' if messages == 1 else 's'}",
        "delta-note": f"η = {at_most(promised.eta)}",
        "guess": guess_sentence(promised.epsilon, promised.delta),
        "promise-sentence": promise(plan.policy),
        "known": f"How we know: {known} ({method_text(promised.method)}).",
        "assumptions": "".join(assumption_texts(promised)),
    }
    return {name: text.replace("'", "’") for name, text in texts.items()}


def _numbers(plan: NoisePlan) -> dict[str, list[str | float]]:
    policy, reports, precision = plan.policy, plan.responses, plan.precision
    local, delta = plan.promise.local_epsilon, plan.promise.delta
    _, size = message_size(plan)
    rappor = Z95 * rappor_sigma(policy, reports)
    trusted = Z95 * curator(policy, reports).sigma
    return {
        "half-width-value": [people(precision), precision.half_width_95],
        "noise-value": [number(plan.noise, 6), plan.noise],
        "sigma-value": [number(precision.sigma), precision.sigma],
        "bytes-value": [f"{size:,} bytes", size],
        "local-epsilon-value": [f"ε₀ = {at_most(local)}", local],
        "delta-value": [at_most(delta), delta],
        "baseline-krand": [people(precision), precision.half_width_95],
        "baseline-rappor": [width(rappor), rappor],
        "baseline-curator": [width(trusted), trusted],
    }
