"""What every browser test needs: a browser, the pages, and a way to visit them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser.visiting import Visit, visiting
from command_line import done
from components import missing, require
from report.examples import LAID_OUT, WHOLE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BUILD = Path(__file__).parents[2] / "build"
AXE = Path(os.environ.get("KRAND_AXE") or BUILD / "node_modules" / "axe-core" / "axe.min.js")
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",  # for machines where tests run as root; the pages are our own
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # whatever a page tries
]


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Debian's chromium, if playwright is there to drive it."""
    require("playwright")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        missing("chromium", f"none of {', '.join(PROGRAMS)} is installed")
    return program


@pytest.fixture(scope="session")
def fonts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One font for every text, so that pages are laid out alike on all machines.

    Its boxes are as wide as the Latin letters of DejaVu Sans, which are wider than most, and those
    of other alphabets 0.6 em. Pictures for people are drawn with the machine's own.
    """
    if os.environ.get("KRAND_SCREENSHOTS") == "1":
        return {}
    folder = tmp_path_factory.mktemp("fonts")
    shutil.copy(Path(__file__).with_name("boxes.ttf"), folder)
    config = folder / "fonts.conf"
    config.write_text(
        f"<fontconfig><dir>{folder}</dir><cachedir>{folder / 'cache'}</cachedir></fontconfig>"
    )
    return {"FONTCONFIG_FILE": str(config)}


@pytest.fixture(scope="module")
def browser(chromium: str, fonts: dict[str, str]) -> Iterator[Browser]:
    """A browser with a profile of its own.

    It ends with its module: while playwright runs, nothing else in this process can start an event
    loop, and other tests do.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=ARGUMENTS, env={**os.environ, **fonts}
        )
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Begins a visit; each is checked when the test is over."""
    with ExitStack() as visits:

        def begin(*place: Any, **options: Any) -> Visit:
            return visits.enter_context(visiting(browser, *place, **options))

        yield begin


class Reports(dict[str, Path]):
    """What `krand report` writes for each kind of results, made when it is asked for."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        super().__init__()
        self._folders = folders

    def __missing__(self, name: str) -> Path:
        folder = self._folders.mktemp(f"report-{name}")
        {**WHOLE, **LAID_OUT}[name]().write(folder)
        done("report results.json -o report.html", at=folder)
        self[name] = folder / "report.html"
        return self[name]


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """The reports of examples, by name."""
    return Reports(tmp_path_factory)


@pytest.fixture(scope="session")
def axe() -> Callable[[], str]:
    """Gives the source of axe-core, which is no part of krand; only then must it be there."""

    def source() -> str:
        if not AXE.is_file():
            missing("axe-core", "npm install --prefix build axe-core@4")
        return AXE.read_text(encoding="utf-8")

    return source
