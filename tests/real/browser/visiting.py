"""Visits of a page: on a device, in light or dark, with everything watched that the page does.

A visit fails if the page asked another host for anything, failed, or complained on the console.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request


SCREENSHOTS = Path(__file__).parents[3] / "build" / "screenshots"
PATIENCE = 300_000
"""Milliseconds until something counts as never happening; no test measures time."""
STATUS = re.compile(r"Failed to load resource: the server responded with a status of (\d+)")
OWN = ("file:", "data:", "about:")
AXE = """axe.run({preload: false})
    .then(r => r.violations.map(v => [v.id, v.nodes[0].html.slice(0, 200)]))"""
SMALL = """() => [...document.querySelectorAll(
        "main:has(> form, .option, #review) :is(button, .option, .found li)")]
    .filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 44)
    .map(e => e.outerHTML.slice(0, 80))"""


@dataclass(frozen=True, slots=True)
class Device:
    """A screen, and how it is used."""

    name: str
    width: int
    height: int
    scale: float = 1
    touch: bool = False


DESKTOP = Device("desktop", 1280, 900)
PHONE = Device("phone", 360, 740, 2, touch=True)
DEVICES = (DESKTOP, PHONE)


@dataclass(slots=True)
class Visit:
    """One visitor: a page in a browser that has never been anywhere before."""

    page: Page
    device: Device
    home: str
    """Where requests may go; files need nobody."""
    statuses: set[int] = field(default_factory=set)
    """Refusals that the test asks for; browsers complain about each on the console."""
    expected: list[str] = field(default_factory=list)
    """Other complaints that the test provokes, as patterns."""
    axe: Callable[[], str] = str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def watch(self, context: BrowserContext) -> None:
        """Write down what every page of the context does."""
        # Functions, not methods: playwright would write into the object behind a method.
        context.on("request", lambda request: self.requests.append(request.url))
        context.on("console", lambda message: self._told(message))
        context.on("weberror", lambda error: self.complaints.append(f"script: {error.error}"))
        context.on("requestfailed", lambda request: self._failed(request))

    def check(self) -> None:
        """Nothing left the host, and nothing went wrong that the test did not ask for."""
        foreign = [url for url in self.requests if not url.startswith((self.home, *OWN))]
        assert foreign == [], f"the page asked another host: {foreign}"
        unexpected = [text for text in self.complaints if not self._is_expected(text)]
        assert unexpected == [], unexpected[:5]

    def fits(self) -> None:
        """The page as a whole never scrolls sideways; only parts of it may, by themselves."""
        needed, there = self.page.evaluate(
            "[document.scrollingElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert needed <= there, f"{needed} px wide on {there} px: {self._widest(there)}"

    def is_for_everybody(self, name: str) -> None:
        """Fits, fingers hit every control, axe-core has nothing to say, in light and dark."""
        page = self.page
        self.fits()
        assert page.evaluate(SMALL) == [], f"{name}: too small for a finger"
        if not page.evaluate("'axe' in window"):
            page.evaluate(f"(() => {{ {self.axe()} }})()")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = page.evaluate(AXE)
            assert found == [], f"{name}, {scheme}: {found}"
        self.keep(name)

    def keep(self, name: str) -> None:
        """A picture of the whole page, for people to look at who set KRAND_SCREENSHOTS=1."""
        if os.environ.get("KRAND_SCREENSHOTS") != "1":
            return
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}-{self.device.name}.png"
        self.page.screenshot(path=path, full_page=True, scale="css", animations="disabled")

    def _widest(self, there: int) -> Any:
        return self.page.evaluate(
            """there => [...document.querySelectorAll("body *")]
                .filter(e => e.getBoundingClientRect().right > there + 1 && !e.closest(".wide *"))
                .map(e => e.outerHTML.slice(0, 80)).slice(0, 5)""",
            there,
        )

    def _told(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            self.complaints.append(message.text)

    def _failed(self, request: Request) -> None:
        # What the page gives up itself is no failure: it does so whenever something newer comes.
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"{request.url}: {request.failure}")

    def _is_expected(self, text: str) -> bool:
        refused = STATUS.match(text)
        if refused and int(refused[1]) in self.statuses:
            return True
        return any(re.search(pattern, text) for pattern in self.expected)


@contextmanager
def visiting(
    browser: Browser,
    axe: Callable[[], str],
    home: str,
    device: Device = DESKTOP,
    *,
    dark: bool = False,
    script: bool = True,
    locale: str = "en-GB",
) -> Iterator[Visit]:
    """A visit, checked at its end."""
    context = browser.new_context(
        viewport={"width": device.width, "height": device.height},
        device_scale_factor=device.scale,
        has_touch=device.touch,
        is_mobile=device.touch,
        color_scheme="dark" if dark else "light",
        java_script_enabled=script,
        reduced_motion="reduce",
        locale=locale,
    )
    context.set_default_timeout(PATIENCE)
    try:
        visit = Visit(context.new_page(), device, home, axe=axe)
        visit.watch(context)
        yield visit
        visit.check()
    finally:
        context.close()
