"""Three organisations that share nothing but a network: a few commands, and no file by hand."""

from __future__ import annotations

import re
import signal
import sys
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import krand
import world
from chaos import until
from components import require
from real.namespaces.parties import Party, Service, parties, typed_service

for name in ("starlette", "uvicorn"):
    require(name)

PEOPLE = 6
ANSWERS = """
import sys, krand
from krand.testing import UnsafeMemoryLedger
url, _, name = sys.argv[1].rstrip("/").rpartition("/")
for number in range(int(sys.argv[2])):
    device = krand.Client.open(url, name, UnsafeMemoryLedger())
    device.submit({"fair": number % 2 == 0, "lunch": "soup"})
"""


def started(stack: ExitStack, partner: Party, more: str = "") -> Service:
    """A partner types one command."""
    return stack.enter_context(typed_service(partner, f"mix --local {more}"))


def test_three_organisations_and_no_file_carried_by_hand(tmp_path: Path) -> None:
    """Everybody is counted once, though one partner is killed, and one gets an older database."""
    with parties("organiser", "university", "union", "people") as everybody, ExitStack() as stack:
        organiser, university, union, people = everybody
        closes = datetime.now(UTC).date() + timedelta(days=10)
        text = world.survey_file("trio").read_text(encoding="utf-8")
        organiser.write("town.toml", f"closes = {closes}\n{text}")
        services, links = {}, []
        for partner in (university, union):
            made = f"--name {partner.name} --url {partner.url}"
            services[partner.name] = started(stack, partner, made)
            said = services[partner.name].waits_for("Ctrl-C")
            links += re.findall(rf"{partner.url}#[0-9a-f]{{64}}", said)
        pairing = f"pair town.toml {' '.join(links)} --url {organiser.url}"
        asking = stack.enter_context(typed_service(organiser, pairing))
        own = re.search(rf"{organiser.url}#\S+", asking.waits_for("union: its operator"))
        assert own is not None
        for partner in (university, union):
            assert own.group() in services[partner.name].waits_for("To accept")
            partner.krand("mix accept 1")
        asking.waits_for("All partners have signed")

        services["university"].process.send_signal(signal.SIGKILL)
        services["university"].process.wait(60)
        services["university"] = started(stack, university)
        services["union"].process.terminate()
        services["union"].process.wait(60)
        union.run("cp", "mixer/state.sqlite", "older.sqlite")
        services["union"] = started(stack, union)

        opening = "run town.toml --port 8080 --local --no-console"
        site = stack.enter_context(typed_service(organiser, opening))
        form = re.search(rf"form at ({university.url}/[0-9a-f]{{64}}/)", site.waits_for("is open"))
        assert form is not None
        page = f"mixer/public/{form.group(1).split('/')[-2]}/index.html"
        until(lambda: university.has(page), what="the page at the first partner")
        people.run(sys.executable, "-c", ANSWERS, form.group(1), PEOPLE)
        services["union"].process.terminate()
        services["union"].process.wait(60)
        union.run("cp", "older.sqlite", "mixer/state.sqlite")
        services["union"] = started(stack, union)
        organiser.krand("run town.toml --close --yes")
        report = "town.krand/results/trio/report.html"
        until(lambda: organiser.has(report), 600, what="a report")
        file = tmp_path / "results.json"
        file.write_text(organiser.read(report.replace("report.html", "results.json")), "utf-8")
        assert krand.read_results(file).people == PEOPLE
        assert not any(partner.has("town.krand") for partner in (university, union))
        assert not organiser.has("mixer")
