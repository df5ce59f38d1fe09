"""Every page in every state: on a phone and a desk, in light and dark, for everybody (axe-core).

KRAND_SCREENSHOTS=1 keeps pictures of all of them in build/screenshots.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from browser.sites import console, hosted
from browser.visiting import DEVICES, Device, Visit
from components import missing
from docs.conftest import built as built
from krand.report.trend_page import trend_page
from partners.processes import POLICY, mixer_serving
from report.examples import WHOLE
from report.test_trend import trend
from site_processes import paired, running

if TYPE_CHECKING:
    from playwright.sync_api import Page

Begin = Callable[..., Visit]
Source = Callable[[], str]
AXE = """async only =>
    (await axe.run(document, {...only, preload: false, resultTypes: ["violations"]})).violations
        .map(found =>
        `${found.impact} ${found.id}: ${found.help}: `
        + found.nodes.slice(0, 3).map(node => node.html.slice(0, 120)).join(" | "))"""
SCHEMES: dict[Literal["light", "dark"], dict[str, list[str]]] = {
    "light": {},
    "dark": {"runOnly": ["color-contrast"]},  # all that is different
}

pytestmark = pytest.mark.check


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
@pytest.mark.parametrize(("path", "status"), [("?token=wrong", 401), ("nowhere", 404)])
def test_a_page_of_krand_web_is_for_everybody(
    tmp_path: Path, visit: Begin, axe: Source, path: str, status: int, device: Device
) -> None:
    """Without the token, and where nothing is; test_console visits the others."""
    with console(tmp_path / "surveys") as address:
        home = address.partition("?")[0]
        begun = visit(home, device)
        begun.statuses.add(status)
        if status == 404:
            begun.page.goto(address)
        begun.page.goto(f"{home}{path}")
        is_for_everybody(begun, axe, f"krand-web-{status}")


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
@pytest.mark.parametrize("name", WHOLE)
def test_a_report_is_for_everybody(
    visit: Begin, axe: Source, reports: dict[str, Path], name: str, device: Device
) -> None:
    """The same for reports, with everything opened that can be."""
    begun = visit("file:", device)
    begun.page.goto(reports[name].as_uri())
    for fold in begun.page.locator("summary").all():
        fold.click()
    is_for_everybody(begun, axe, f"report-{name}")


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
@pytest.mark.parametrize("language", ["en", "de"])
def test_a_trend_is_for_everybody(
    visit: Begin, axe: Source, tmp_path: Path, language: str, device: Device
) -> None:
    """With a change, and everything opened that can be."""
    page, begun = tmp_path / "trend.html", visit("file:", device)
    page.write_text(trend_page(trend(), language), encoding="utf-8")
    begun.page.goto(page.as_uri())
    for fold in begun.page.locator("summary").all():
        fold.click()
    is_for_everybody(begun, axe, f"trend-{language}")


@pytest.fixture(scope="module")
def partners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The pages of a survey with a partner: the organiser's console, and the mixer's own."""
    place = tmp_path_factory.mktemp("partners")
    policy = place / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8")
    options = ("--name", "university", "--no-anchor", "--behind-proxy", "--policy", policy)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(place / "state"))
        with (
            mixer_serving(place / "mixer", *options) as mixer,
            running(paired(place, [mixer.address])) as site,
        ):
            site.wait("partner", answers=True)
            yield {"console": site.wait("console")["url"], "mixer": f"{mixer.url}/"}


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
@pytest.mark.parametrize("name", ["console", "mixer"])
def test_a_page_of_partners_is_for_everybody(
    visit: Begin, axe: Source, partners: dict[str, str], name: str, device: Device
) -> None:
    """With a survey that runs, and a partner who answers."""
    begun = visit("/".join(partners[name].split("/")[:3]), device)
    begun.page.goto(partners[name])
    begun.page.get_by_text("university").first.wait_for()
    is_for_everybody(begun, axe, f"partners-{name}")


DOCUMENTATION = [
    "index",
    "explanation/method",
    "explanation/threat-model",
    "explanation/faq",
    "explanation/compare",
    "lab/drafts",
]


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
@pytest.mark.parametrize("name", DOCUMENTATION)
def test_a_page_of_the_documentation_is_for_everybody(
    visit: Begin, axe: Source, built: Path, name: str, device: Device
) -> None:
    """The first page, and those that people read before they decide."""
    begun = visit("file:", device)
    begun.page.goto((built / "docs" / f"{name}.html").as_uri())
    is_for_everybody(begun, axe, f"documentation-{Path(name).name}")


def test_a_question_is_found_by_its_words(visit: Begin, built: Path) -> None:
    """The search has the answer first, not pages that happen to have all the words."""
    with hosted(built) as origin:
        begun = visit(origin)
        begun.statuses.add(404)  # there is no icon
        page = begun.page
        page.goto(f"{origin}/search.html?q=how+many+people+do+I+need")
        page.get_by_text("Search finished").wait_for()
        first = page.locator("#search-results li").first.inner_text()
        assert first.startswith("Questions and answers > How many people do I need?")
        page.wait_for_load_state("networkidle")  # excerpts of what was found


LOWERED = """() => {
    const [base, lower] = document.querySelector("main msub, article msub").children;
    return lower.getBoundingClientRect().bottom - base.getBoundingClientRect().bottom; }"""


def test_subscripts_are_lowered(visit: Begin, built: Path) -> None:
    """The page finds a font that knows how formulas are set."""
    fonts = subprocess.run(["fc-list", ":", "family"], capture_output=True, text=True, check=False)
    if "Math" not in fonts.stdout:
        missing("a font for formulas", "fonts-dejavu-extra, fonts-stix or the like")
    begun = visit("file:")
    begun.page.goto((built / "docs" / "lab" / "drafts.html").as_uri())
    assert begun.page.evaluate(LOWERED) > 1


def is_for_everybody(visit: Visit, axe: Source, name: str) -> None:
    """Fits, is kept as a picture, and passes axe-core: in light and in dark."""
    page: Page = visit.page
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        visit.fits()
        visit.keep(f"{name}-{scheme}")
    page.evaluate(f"{axe()}\n0")
    found: dict[str, list[str]] = {}
    for scheme, only in SCHEMES.items():
        page.emulate_media(color_scheme=scheme)
        found[scheme] = page.evaluate(AXE, only)
    assert found == {"light": [], "dark": []}
