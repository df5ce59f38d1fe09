"""A survey of three organisations that share nothing but a network, from the first command on.

An organiser, who is the analyst as well, and two partners with a mixer each. 40 people answer;
`make long`: 500.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from browser.forms import QUESTIONS
from collecting import until
from components import require
from effort import LONG
from krand import read_results
from parties import Party, parties, typed_service
from survey_texts import survey_text

for name in ("starlette", "uvicorn", "mnemonic", "playwright"):
    require(name)

pytestmark = pytest.mark.check

CLIENTS, TABS = (480, 20) if LONG else (36, 4)
WAYS = ("on foot", "by bicycle", "by car")
TESTS = Path(__file__).parents[1]
POLICY = """\
accept = "everybody"

[limits]
largest_epsilon = 40.0
largest_delta = 1e-4
fewest_mixers = 3
most_positions = 1_000
most_rounds = 4
most_messages = 10_000_000
latest_closing = 60
"""


def text_of_the_survey() -> str:
    """So little noise that every count shows whether all messages arrived."""
    last_day = datetime.now(UTC).date() + timedelta(days=10)
    trust = {"noise": "mixers", "mixers": 3}
    about = {"title": "Life in our town", "organiser": "City of Examples", "closes": last_day}
    return survey_text("town", *QUESTIONS, trust=trust, epsilon=40.0, delta=1e-4, **about)


def served(stack: ExitStack, partner: Party) -> str:
    """A partner types one command; the link that it shows."""
    where = f"--address https://{partner.address}:8443 --anchor disk2"
    line = f"mix serve --store mixer --name {partner.name} {where} --policy policy.toml"
    said = stack.enter_context(typed_service(partner, line)).waits_for("in digits")
    found = re.search(r"https://\S+/#[0-9a-f]{64}", said)
    assert found is not None, said
    return found.group()


@pytest.mark.loop
def test_three_organisations_and_no_file_carried_by_hand(tmp_path: Path) -> None:
    """Five commands in all; every count is right within what the noise allows."""
    with parties("organiser", "university", "union") as everybody, ExitStack() as stack:
        organiser, *partners = everybody
        organiser.write("town.toml", text_of_the_survey())
        for partner in partners:
            partner.write("policy.toml", POLICY)
        mixers = " ".join(f"--mixer {served(stack, partner)}" for partner in partners)
        own = f"--address https://{organiser.address}:8443 --anchor disk2/anchor"
        organiser.krand(f"pair town.toml {mixers} {own}")
        site = stack.enter_context(typed_service(organiser, "run town.krand/site.toml"))
        form = re.search(r"form at (http://[0-9.:]+/)", site.waits_for("form at"))
        assert form is not None
        people = ("-m", "end_to_end.answering", form.group(1), "town.krand", CLIENTS, TABS)
        said = json.loads(organiser.run("env", f"PYTHONPATH={TESTS}", sys.executable, *people))
        organiser.krand("close town.toml --yes")
        until(lambda: organiser.has("town.krand/analyst/report.html"), 600)
        site.waits_for("report of")

        file = tmp_path / "results.json"
        file.write_text(organiser.read("town.krand/analyst/results.json"), encoding="utf-8")
        results = read_results(file)
        assert results.people == CLIENTS + TABS
        bicycle, way, *_ = results.questions
        rows = (bicycle.rows[0], *way.rows[:3])
        for row, name in zip(rows, ("bicycle", *WAYS), strict=True):
            assert abs(row.count - said[name]) <= 6 * row.standard_error, (row, said)
        assert not any(partner.has("town.krand") for partner in partners)
        typed = [f"{party.name}: {line}" for party in everybody for line in party.typed]
        print("\n" + "\n".join(typed))
        assert len(typed) == 5
