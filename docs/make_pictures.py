"""Make the pictures of the documentation: a report, the form, the planner.

    python docs/make_pictures.py            # all of them; `make pictures` does the same
    python docs/make_pictures.py form.webp  # these alone

It needs chromium, and krand with the extra `browser`. People are simulated, and their noise has a
seed, so that a picture changes only if a page does.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image
    from playwright.sync_api import Browser

HERE = Path(__file__).resolve().parent
STATIC = HERE / "static"
SURVEYS = HERE / "pictures"
PEOPLE = {"joint": 50_000, "staff": 2_000}
"""The surveys whose reports are shown, with their simulated crowds."""
LARGEST = 75_000
"""The most bytes that a picture may have."""


@dataclass(frozen=True, slots=True)
class Studio:
    """A browser, and a folder for what it shows."""

    browser: Browser
    folder: Path


# --- reports -------------------------------------------------------------------------------------


def report_page(survey: str, language: str, studio: Studio) -> Path:
    """The report of a survey with simulated people."""
    from pictures.simulated import simulated_results

    from krand.report import save_report

    results = simulated_results(SURVEYS / f"{survey}.{language}.toml", PEOPLE[survey])
    path = studio.folder / f"{survey}-{language}.html"
    save_report(results, path, language=language)
    return path


def report(studio: Studio) -> Image:
    """The top of a report with its first answers."""
    from pictures.shooting import Look, opened, shot

    address = report_page("joint", "en", studio).as_uri()
    with opened(studio.browser, address, Look(width=960, height=1200, scale=0.75)) as page:
        return shot(page)


# --- other pages ---------------------------------------------------------------------------------


def form(studio: Studio) -> Image:
    """The form on a phone: its first page, and its first question."""
    from pictures.shooting import Look, opened, sheet, shot

    with _served(_form_site(studio)) as address:
        look = Look(width=390, height=640, scale=1)
        with opened(studio.browser, address, look) as page:
            first = shot(page)
            page.get_by_role("button", name="Start").click()
            page.get_by_text("Question 1 of").first.wait_for()
            return sheet([[first, shot(page)]])


def _form_site(studio: Studio) -> Path:
    """The form of the survey with two questions."""
    from krand import make_plan, read_survey, save_form
    from krand.testing import FakeChain

    chain = FakeChain(make_plan(read_survey(SURVEYS / "joint.en.toml")))
    save_form(chain.plan, studio.folder / "site", chain.signatures, overwrite=True)
    return studio.folder / "site"


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """The address of a folder of files; a form works only where a server gives it out."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def planner(studio: Studio) -> Image:
    """The page of the promise in `krand run`, of the survey of the other pictures."""
    from pictures.shooting import Look, opened, shot

    with (
        console(studio.folder / "surveys") as address,
        opened(studio.browser, address, Look(width=1120, height=840, scale=0.85)) as page,
    ):
        page.goto(f"{address.partition('?')[0]}surveys/work/promise")
        page.wait_for_selector("#coalitions")
        return shot(page)


@contextmanager
def console(folder: Path) -> Iterator[str]:
    """The address of the console with one survey, which runs until it is no longer needed."""
    (folder / "work").mkdir(parents=True)
    shutil.copy(SURVEYS / "sixty.en.toml", folder / "work" / "survey.toml")
    with running(folder, until="console") as event:
        yield event["url"]


@contextmanager
def running(*words: str | Path, until: str) -> Iterator[dict[str, Any]]:
    """`krand run`, and what it says of this; it ends when it is no longer needed."""
    command = [sys.executable, "-m", "krand", "run", *words, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        events = map(json.loads, process.stdout)
        try:
            yield next(event for event in events if event["event"] == until)
        finally:
            process.terminate()


# --- all of them ---------------------------------------------------------------------------------

SHOTS: dict[str, Callable[[Studio], Image]] = {
    "pictures/report.webp": report,
    "pictures/form.webp": form,
    "pictures/planner.webp": planner,
}
"""Every picture, by its path in docs/static."""


def main(wanted: Sequence[str]) -> None:
    """Make the pictures whose names end with one of those wanted, or all of them."""
    from pictures.shooting import browsing, save

    names = [name for name in SHOTS if not wanted or name.endswith(tuple(wanted))]
    with TemporaryDirectory() as place, browsing() as browser:
        for name in names:
            save(SHOTS[name](Studio(browser, Path(place))), STATIC / name, LARGEST)
    sizes = {name: (STATIC / name).stat().st_size for name in names}
    for name, size in sizes.items():
        print(f"{size:>8,} {name}")
    too_large = [name for name, size in sizes.items() if size > LARGEST]
    if too_large or not names:
        sys.exit(f"too large: {', '.join(too_large)}" if names else "no picture has this name")


if __name__ == "__main__":
    main(sys.argv[1:])
