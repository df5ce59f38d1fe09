"""An organiser and two partners: processes that talk to each other, and nobody carries a file."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from collecting import WAIT_SECONDS, running, until
from command_line import run, told
from components import require
from krand.partners.deliveries import Deliveries
from krand.partners.documents import Route
from krand.partners.http import Ways
from krand.partners.identity import Identity, read_identity
from krand.partners.requests import NotFound
from krand.partners.serving import identity_context
from krand.partners.talking import Conversation
from krand.partners.uploads import Uploads
from krand.partners.ways import batch_ways
from krand.site.site_file import read_site
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan
from krand.survey.survey_folder import SurveyFolder
from krand.wire.signed import parse_signed
from partners.asking import partner_service
from partners.processes import POLICY, Served, free_ports, mixer_serving
from survey_texts import question_text, survey_text

require("uvicorn")
require("starlette")

pytestmark = pytest.mark.check

CLOSES = (datetime.now(UTC) + timedelta(days=30)).date()
ABOUT = f'title = "Team"\norganiser = "The council"\ncloses = {CLOSES}'
SURVEY = survey_text(
    "team",
    question_text("fair", "yes_no"),
    question_text("lunch", "choice", choices=["soup", "salad", "none"]),
    epsilon=2,
    delta=0.0001,
    trust={"noise": "mixers", "mixers": 3},
).replace('id = "team"', f'id = "team"\n{ABOUT}')
ANSWERS = [{"fair": True, "lunch": "soup"}] * 7 + [{"fair": False, "lunch": "salad"}] * 5


class Analyst:
    """The analyst's receiver, on the port that the route names."""

    def __init__(self, folder: SurveyFolder, plan: Plan) -> None:
        self.identity: Identity = read_identity(folder.path / "receiver" / "identity.pem")
        folder.incoming.mkdir(exist_ok=True)
        self.plan, self._uploads = plan, Uploads(folder.incoming, plan, 0, self.identity)

    def uploads(self, plan: str) -> Uploads:
        if plan != self.plan.hash:
            raise NotFound("plan", "must be received here", plan)
        return self._uploads


def survey_at(place: Path) -> SurveyFolder:
    (place / "survey.toml").write_text(SURVEY, encoding="utf-8")
    (place / "policy.toml").write_text(POLICY, encoding="utf-8")
    return SurveyFolder(place / "survey.krand")


def entries_of(service: Served, plan: str) -> list[dict[str, Any]]:
    """What the service's public list says about a plan."""
    import ssl

    context = ssl._create_unverified_context()
    with urlopen(f"{service.url}/v1/plans", context=context) as answer:
        found = json.loads(answer.read())["entries"]
    return [entry for entry in found if entry["plan"] == plan]


def test_batches_of_people_pass_through_two_services(tmp_path: Path) -> None:
    """From a survey file to a tally: keys, plan, signatures, batches, receipts and erasures."""
    folder = survey_at(tmp_path)
    given = ("--no-anchor", "--policy", tmp_path / "policy.toml", "--metrics", "127.0.0.1:0")
    with (
        free_ports(1) as (port,),
        mixer_serving(tmp_path / "university", "--name", "university", *given) as university,
        mixer_serving(tmp_path / "union", "--name", "union", *given) as union,
    ):
        mixers = f"--mixer {university.address} --mixer {union.address}"
        own = f"--no-anchor --address https://127.0.0.1:{port}"
        paired = told(f"pair survey.toml {mixers} {own}", at=tmp_path)
        assert [each["name"] for each in paired["mixers"]] == ["university", "union"]
        assert [each["fingerprint"] for each in paired["mixers"]] == [university.words, union.words]
        assert read_site(folder.site_file).surveys[0].folder.path.samefile(folder.path)
        plan = read_plan(folder.plan)
        assert plan.survey.trust.analyst_runs == (1,)
        analyst = Analyst(folder, plan)
        tls = identity_context(analyst.identity, tmp_path / "analyst.pem")
        ways = Ways(signed=batch_ways(analyst, lambda: None))
        with partner_service(analyst.identity, ways, tls, port):
            _answered(tmp_path, folder)
            _passed_on(tmp_path, folder)
            until(lambda: list(folder.incoming.glob("*.chain.json")))
        (batch,) = folder.incoming.glob("*.parquet")
        given = f"--plan {folder.plan} --key {folder.analyst_key} --workers 1 -o tally.json"
        counted = told(f"tally {batch} {given}", at=tmp_path)
        assert (counted["people"], counted["rejected"]) == (len(ANSWERS), {})
        for service in (university, union):
            until(lambda service=service: _is_erased(service, plan.hash))
            with urlopen(service.metrics) as answer:
                assert 'krand_mixer_rounds{state="closed"} 1' in answer.read().decode()
            with urlopen(service.metrics.replace("/metrics", "/healthz")) as answer:
                assert answer.read() == b"ok\n"


def _is_erased(service: Served, plan: str) -> bool:
    return [entry["state"] for entry in entries_of(service, plan)][-1] == "erased"


def _answered(place: Path, folder: SurveyFolder) -> None:
    """Everybody answers, on devices of their own, and the collector's batch is mixed."""
    spool, options = folder.spool(1), ["--id-key", str(place / "id.key")]
    signatures = sorted(folder.signatures.iterdir())
    given = " ".join(f"--signature {path}" for path in signatures)
    with running(folder.plan, spool, place / "collector.log", options=options) as collector:

        def submit(number: int) -> None:
            answers = place / f"answers-{number}.json"
            answers.write_text(json.dumps(ANSWERS[number]), encoding="utf-8")
            line = f"submit {answers} --plan {folder.plan} --trust-this-plan {given}"
            told(f"{line} --collector {collector.url} --ledger {place}/ledger-{number}")

        for number in range(len(ANSWERS)):
            submit(number)
    own = f"--mixer-store {folder.mixer_store} --close --yes -o {folder.batches(1)}"
    told(f"release --plan {folder.plan} --spool {spool} {own}")


def _passed_on(place: Path, folder: SurveyFolder) -> None:
    """As krand run does it: the organiser's own deliveries."""
    identity = read_identity(folder.identity)
    route = parse_signed(Route, folder.route.read_bytes(), "route").record
    deliveries = Deliveries(
        place / "deliveries.sqlite", lambda address: Conversation(identity, address)
    )
    (chain,) = folder.batches(1).glob("*.chain.json")
    data = chain.with_name(chain.name.replace(".chain.json", ".parquet"))
    deliveries.add(data, chain, route.after(1))
    deliveries.work()
    assert deliveries.waiting() == ()


def test_two_partners_join_by_links(tmp_path: Path) -> None:
    """One command of each: the organiser waits, prints a link for each, and goes on by itself."""
    folder = survey_at(tmp_path)
    with free_ports(3) as ports, ThreadPoolExecutor() as pool:
        words = "pair survey.toml --invite university --invite union --no-anchor --address"
        command = [*words.split(), f"https://127.0.0.1:{ports[0]}"]
        log = tmp_path / "pair.log"
        with log.open("w") as errors:
            pairing = subprocess.Popen(
                [sys.executable, "-m", "krand", *command, "--json"],
                cwd=tmp_path,
                stderr=errors,
                stdout=subprocess.PIPE,
                text=True,
            )
        try:
            until(lambda: log.read_text().count("#") == 2 or pairing.poll() is not None)
            links = [line.strip() for line in log.read_text().splitlines() if "#" in line]
            own = [(f"--address https://127.0.0.1:{port}", port) for port in ports[1:]]
            with (
                _joined(tmp_path / "university", links[0], *own[0]) as university,
                _joined(tmp_path / "union", links[1], *own[1]) as union,
            ):
                paired = json.loads(pairing.communicate(timeout=WAIT_SECONDS)[0])
                assert pairing.returncode == 0, paired
                found = [(each["name"], each["fingerprint"]) for each in paired["mixers"]]
                assert found == [("university", university.words), ("union", union.words)]
                assert university.words in log.read_text()
                second = pool.submit(run, *_stranger(tmp_path, links[0]), "--json").result()
                assert second.exit_code == 75, second.output  # nobody listens any more
                assert "The pairing may have ended" in second.output
        finally:
            pairing.kill()
            pairing.wait()
    assert read_plan(folder.plan).hash == paired["plan"]


def _joined(store: Path, link: str, address: str, port: int) -> Any:
    return mixer_serving(store, "--join", link, *address.split(), "--no-anchor", port=port)


def _stranger(place: Path, link: str) -> tuple[str, ...]:
    own = "--address https://127.0.0.1:9 --host 127.0.0.1 --port 0 --no-anchor"
    return "mix serve", f"--store {place / 'stranger'}", f"--join {link}", own
