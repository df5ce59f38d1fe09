"""Three organisations that share nothing but a network: five commands, and no file by hand."""

from __future__ import annotations

import re
import sys
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import krand
import world
from chaos import until
from components import require
from real.namespaces.parties import Party, parties, typed_service
from real.processes.organisations import POLICY

for name in ("starlette", "uvicorn", "mnemonic"):
    require(name)

PEOPLE = 6
ANSWERS = """
import pathlib, sys, krand
from krand.testing import UnsafeMemoryLedger
plan = krand.read_plan("town.krand/plan.json")
signed = [krand.read_signature(path) for path in pathlib.Path("town.krand").rglob("*.sig.json")]
for number in range(int(sys.argv[2])):
    given = {"expected_hash": plan.hash, "url": sys.argv[1], "signatures": signed}
    device = krand.Client(plan, UnsafeMemoryLedger(), **given)
    device.submit({"fair": number % 2 == 0, "lunch": "soup"})
"""


def served(stack: ExitStack, partner: Party) -> str:
    """A partner types one command; the link that it shows."""
    where = f"--address https://{partner.address}:8443 --anchor disk2"
    line = f"mix serve --store mixer --name {partner.name} {where} --policy policy.toml"
    said = stack.enter_context(typed_service(partner, line)).waits_for("in digits")
    found = re.search(r"https://\S+/#[0-9a-f]{64}", said)
    assert found is not None, said
    return found.group()


def test_three_organisations_and_no_file_carried_by_hand(tmp_path: Path) -> None:
    """Everybody is counted once; nobody has a file of anybody else."""
    with parties("organiser", "university", "union") as everybody, ExitStack() as stack:
        organiser, *partners = everybody
        closes = datetime.now(UTC).date() + timedelta(days=10)
        text = world.survey_file("trio").read_text(encoding="utf-8")
        organiser.write("town.toml", f"closes = {closes}\n{text}")
        for partner in partners:
            partner.write("policy.toml", POLICY)
        mixers = " ".join(f"--mixer {served(stack, partner)}" for partner in partners)
        own = f"--address https://{organiser.address}:8443 --anchor disk2/anchor"
        organiser.krand(f"pair town.toml {mixers} {own}")
        site = stack.enter_context(typed_service(organiser, "run town.krand/site.toml"))
        form = re.search(r"form at (http://[0-9.:]+)/", site.waits_for("form at"))
        assert form is not None
        organiser.run(sys.executable, "-c", ANSWERS, form.group(1), PEOPLE)
        organiser.krand("close town.toml --yes")
        until(lambda: organiser.has("town.krand/analyst/report.html"), 600, what="a report")
        file = tmp_path / "results.json"
        file.write_text(organiser.read("town.krand/analyst/results.json"), encoding="utf-8")
        assert krand.read_results(file).people == PEOPLE
        assert not any(partner.has("town.krand") for partner in partners)
        assert not organiser.has("mixer")
