"""Watches a page of the planner: no moment may show numbers of other values as current."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page


EVERY = 20
"""Milliseconds between two looks at the page."""

WATCH = """every => {
    const form = document.querySelector("form[data-live]");
    const plain = text => text.replaceAll("\\r\\n", "\\n");
    const values = () => [...new FormData(form)].map(([name, text]) => [name, plain(text)]);
    const belongs = answer => {
        const request = new URLSearchParams(answer.dataset.request);
        return values().every(([name, text]) => plain(request.get(name) ?? "") === text);
    };
    const faint = part => [...part.children].every(e => getComputedStyle(e).opacity < 0.6);
    const seen = window.seen = {looks: 0, faults: [], asked: 0, first: null, exact: null};
    const look = () => {
        seen.looks += 1;
        for (const part of document.querySelectorAll("[data-part]"))
            for (const answer of part.querySelectorAll("[data-request]"))
                if (!belongs(answer) && !(part.classList.contains("stale") && faint(part)))
                    seen.faults.push(`${part.id}: ${answer.dataset.request}`);
    };
    const result = document.getElementById("result");
    const note = () => {
        const answer = result.querySelector("[data-request]");
        if (!answer || result.classList.contains("stale") || !belongs(answer)) return;
        const after = performance.now() - seen.asked;
        seen.first ??= after;
        if (result.getAttribute("aria-busy") !== "true") seen.exact ??= after;
    };
    // Before the page's own handler: a change is timed from its first moment.
    window.addEventListener("input", () =>
        Object.assign(seen, {asked: performance.now(), first: null, exact: null}), true);
    // After it: whatever is shown now must already be faint.
    window.addEventListener("input", look);
    new MutationObserver(() => { look(); note(); })
        .observe(result, {attributes: true, childList: true});
    setInterval(look, every);
}"""
"""`seen.first` and `seen.exact`: milliseconds from a change to the first right numbers, and to the
plan; `seen.faults`: what was shown as current and was not."""

CHANGE = """([name, value]) => {
    const field = document.querySelector("form[data-live]").elements.namedItem(name)
        ?? document.getElementById(name);
    if (field instanceof RadioNodeList) {
        const radio = [...field].find(one => one.value === value);
        radio.checked = true;
        radio.dispatchEvent(new Event("input", {bubbles: true}));
        return;
    }
    field.value = value;
    field.dispatchEvent(new Event("input", {bubbles: true}));
}"""
"""Change a field by its name, or a slider by its id, as a browser does when somebody types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What was seen since the watch began; times are of the last change, in milliseconds."""

    looks: int
    faults: list[str]
    first: float | None
    exact: float | None


def watch(page: Page) -> None:
    """Begin to watch."""
    page.evaluate(WATCH, EVERY)


def seen(page: Page) -> Watch:
    """What was seen so far."""
    found: dict[str, Any] = page.evaluate("window.seen")
    names = ("looks", "faults", "first", "exact")
    return Watch(**{name: found[name] for name in names})
