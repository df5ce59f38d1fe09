"""People who answer a survey, as a program: python -m end_to_end.answering URL FOLDER CLIENTS TABS

Some use the client in Python, some a browser. What they answered is printed as JSON.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from shutil import which
from urllib.request import urlopen

import krand
from browser.forms import PEOPLE, filled, sent, started
from krand.site.checks import signatures_in
from krand.survey.plan_file import parse_plan
from krand.survey.survey_folder import SurveyFolder
from krand.testing import UnsafeMemoryLedger

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


def by_client(url: str, folder: SurveyFolder, count: int) -> Counter[str]:
    """The plan comes from the collector, as an app would get it."""
    plan, said = krand.read_plan(folder.plan), Counter[str]()
    with urlopen(f"{url}/v1/{plan.hash}/plan") as answer:
        assert parse_plan(answer.read()) == plan
    for number in range(count):
        way = ("on foot", "by bicycle", "by car")[number % 3]
        known = signatures_in(folder)
        client = krand.Client(plan, UnsafeMemoryLedger(), expected_hash=plan.hash, signatures=known)
        client.submit(url, {"bicycle": number % 4 == 0, "way": way})
        said.update({"bicycle": number % 4 == 0, way: 1})
    return said


def by_browser(url: str, count: int) -> Counter[str]:
    """On the form, by clicks."""
    from playwright.sync_api import sync_playwright

    said = Counter[str]()
    with sync_playwright() as playwright:
        program = which("chromium") or which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        for number in range(count):
            person = PEOPLE[number % len(PEOPLE)]
            context = browser.new_context()
            page = context.new_page()
            sent(filled(started(page, url), person))
            assert page.inner_text("#said").startswith("Your answers have been sent")
            said.update({"bicycle": person.get("bicycle") == "Yes", person["way"]: 1})
            context.close()
        browser.close()
    return said


if __name__ == "__main__":
    url, folder, clients, tabs = sys.argv[1:]
    found = by_client(url.rstrip("/"), SurveyFolder(Path(folder)), int(clients))
    print(json.dumps(found + by_browser(url, int(tabs))))
