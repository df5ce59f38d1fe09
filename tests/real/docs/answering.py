"""The browser of whoever reads a page: `python -m webbrowser LINK` on it runs this (BROWSER).

Opens a form in chromium, says yes to every question, and sends it.
"""

import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from playwright.sync_api import sync_playwright

from real.browser.forms import go_on, sent, started
from real.conftest import ARGUMENTS, PROGRAMS

QUESTION = re.compile(r"Question \d+ of (\d+)")


def main(url: str) -> None:
    program = next(filter(None, map(shutil.which, PROGRAMS)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        page = started(browser.new_page(), url)
        last = QUESTION.search(page.get_by_text(QUESTION).inner_text())
        assert last is not None
        for number in range(1, int(last[1]) + 1):
            page.get_by_text(f"Question {number} of {last[1]}").wait_for()
            page.get_by_role("radio", name="Yes", exact=True).check()
            go_on(page)
        sent(page)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
