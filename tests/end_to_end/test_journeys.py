"""The whole way, from a survey's file to a verified report: every answer arrives, once."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import krand
import steps
import world
from chaos import Fate, FlakyNetwork, files_in
from command_line import done, on_a_terminal, refused, told
from effort import EFFORT
from krand.testing import FakeChain, FakeCollector, unsafe_exact_plan

PLAIN = {"yes": True, "no": False}
DEVICES = [name for name in world.NAMES if name != "weeks"]


@pytest.mark.parametrize("name", steps.PEOPLE)
def test_a_study_is_verified(name: str) -> None:
    """Devices' noise, one mixer and three: all checks pass, and estimates are near the truth."""
    study = steps.example(name)
    chains = " ".join(str(path) for path in study.at.glob("mixed-*/*.chain.json"))
    files = f"plan.json tally-of-results.json results.json {chains}"
    checked = [e for f in told("verify", files, at=study.at)["files"] for e in f["checks"]]
    left = {entry["name"]: entry["state"] for entry in checked if entry["state"] != "passed"}
    assert left.keys() <= {"counted_again"}, left
    results = krand.read_results(study.at / "results.json")
    people = world.people(name, steps.PEOPLE[name])
    assert results.people == len(people)
    for question, label, found, true, error in compared(results, people):
        # Geometric noise has longer tails than the normal law.
        assert abs(found - true) <= 12 * error, f"{question}, {label}: {found}, of {true}"
    page = (study.at / "report.html").read_text(encoding="utf-8")
    assert study.plan.survey.title in page
    assert "Nobody was asked" not in page
    with pytest.raises(krand.InvalidInput, match="sealed for another key"):
        krand.tally_batches(study.plan, [study.batch()], krand.generate_private_key())


def compared(
    results: krand.Results, people: list[dict[str, object]]
) -> Iterator[tuple[str, str, float, int, float]]:
    """Every answer's question and label, its estimate, its truth and the standard error."""
    said = world.truth(people)
    for question in results.questions:
        given = said.get(question.name, Counter())
        for row in question.rows:
            true = sum(count for value, count in given.items() if is_in(row.label, value))
            yield question.name, row.label, row.count, true, row.standard_error


def is_in(label: str, value: object) -> bool:
    """Whether a row's label is about this answer: a word, a number with its name, or a range."""
    if isinstance(value, bool) or not isinstance(value, int):
        return PLAIN.get(label, label) == value
    found = re.fullmatch(r"(\d+)(?: (to under|to|or above) ?(\d*)| \(.*\))?", label)
    assert found is not None, label
    least, kind, most = int(found[1]), found[2], int(found[3] or 0)
    if kind is None:
        return value == least
    return least <= value and (kind == "or above" or value < most + (kind == "to"))


@pytest.mark.parametrize("name", DEVICES)
def test_every_answer_is_counted_where_it_belongs(name: str, tmp_path: Path) -> None:
    """Without noise the counts are those of the people, from their devices as from a table."""
    asked, crowd = world.survey(name), 30
    policy = asked.policy.changed(minimum_crowd=crowd, colluding=0)
    plan = unsafe_exact_plan(asked.changed(policy=policy, trust=krand.Trust(noise="devices")))
    for seed in range(1, 1 + EFFORT):
        people, chain = world.people(name, crowd, seed), FakeChain(plan)
        for person in people:
            chain.client().submit(person)
        batch = chain.release(tmp_path / str(seed))
        tally = krand.tally_batches(chain.plan, [batch], chain.key)
        table = tmp_path / f"{seed}.parquet"
        krand.randomize_table(plan, world.table(name, crowd, seed), table, again=True)
        counts = krand.tally_responses(plan, [table]).counts
        assert counts.tolist() == tally.counts.tolist(), "a table and devices differ"
        for question, label, found, true, _ in compared(
            krand.make_results(chain.plan, tally), people
        ):
            assert round(found) == true, f"{question}, {label}: {found}, of {true}"


# --- who comes, who does not, and who sends rubbish ----------------------------------------------

QUIET = (
    world.survey_file("tiny").read_text(encoding="utf-8").replace("epsilon = 8", "epsilon = 100")
)
"""So little noise that every count shows whether all messages arrived."""
CROWD, CAME = 12, 47


@contextmanager
def breaking(url: str) -> Iterator[tuple[str, FlakyNetwork]]:
    """The same collector behind a network that lets some answers and some questions vanish."""
    fates = [Fate(answered=0), Fate(), Fate(asked=200), Fate(), Fate(answered=20)]
    with FlakyNetwork(urlsplit(url).port or 0, *fates) as network:
        yield f"http://127.0.0.1:{network.port}", network


def test_everybody_is_counted_once_and_a_crowd_is_needed(tmp_path: Path) -> None:
    """However the network breaks; one person too few releases nothing, one too late is told so."""
    study = steps.published(tmp_path / "study", QUIET)
    people = world.people("tiny", CAME + 1)
    with study.collecting() as url, ThreadPoolExecutor(4) as pool, breaking(url) as (flaky, net):
        sent = list(pool.map(lambda one: study.answer(flaky, [one]), people[: CROWD - 1]))
        assert len(sent) == CROWD - 1
        assert net.connections > CROWD, "some came twice"
        before = files_in(study.at)
        error = refused(*study.release(), "--close --yes", at=study.at)
        assert error["field"] == "people", "one person is missing: nothing may be released"
        assert not {name for name in files_in(study.at).keys() - before.keys() if "batch" in name}
        study.answer(url, people[CROWD - 1 : CAME])
        ask_before_closing(study)
        results = study.finished()
        with pytest.raises(krand.InvalidInput, match="must not be closed"):
            study.answer(url, people[CAME:])
    assert results.people == CAME
    for question, label, found, true, _ in compared(results, people[:CAME]):
        assert round(found) == true, f"{question}, {label}: {found}, of {true}"


def ask_before_closing(study: steps.Study) -> None:
    """Closing cannot be undone: it says what it does, coarsely, and takes no silence for a yes."""
    error = refused(*study.release(), "--close", at=study.at)
    assert (error["field"], error["hint"]) == ("yes", "add --yes to close without asking")
    close = (*study.release(), "--close --no-color")
    code, said = on_a_terminal(*close, at=study.at, typed="n\n")
    assert code == 130
    said = " ".join(said.split())
    assert said.startswith("About 45 people have come (told in steps of 5)."), said
    assert "They are released as one batch, and the round is closed." in said, said
    assert said.endswith("Nothing was closed."), said
    shown = study.status("--invited 160")
    assert "open" in shown, shown
    assert "At least 45 of 160 invited people have answered (28 %)." in shown, shown
    assert f"{CAME}" not in shown, "the number of people is told in steps until the round is closed"


def test_a_round_that_is_too_small_ends_only_on_demand(tmp_path: Path) -> None:
    """Then nothing is released, and what people sent is nowhere."""
    study = steps.published(tmp_path / "study", "tiny")
    recorder = Recorder(study.plan)
    with study.collecting() as url:
        for person in world.people("tiny", CROWD - 1):
            study.client(url=recorder.url, transport=recorder).submit(person)
            assert posted(url, study, recorder.bodies[-1]) == 202
        found = told(*study.release(), "--close --yes --erase", at=study.at)
    assert found["released"] is None
    assert found["closed"] == {"people": CROWD - 1, "state": "erased"}
    left = b"".join(files_in(study.spool()).values())
    assert not any(body[-40:] in left for body in recorder.bodies)


class Recorder(FakeCollector):
    """Keeps what devices send, byte for byte."""

    def __init__(self, plan: krand.Plan) -> None:
        super().__init__(plan)
        self.bodies: list[bytes] = []

    def post(self, url: str, body: bytes) -> object:
        self.bodies.append(body)
        return super().post(url, body)


def posted(url: str, study: steps.Study, body: bytes) -> int:
    """The status that a collector answers to these bytes."""
    address = f"{url}/v1/plans/{study.plan.hash}/submissions"
    headers: Mapping[str, str] = {"Content-Type": "application/octet-stream"}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, body, dict(headers))) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_rubbish_is_not_counted_and_weakens_the_promise(tmp_path: Path) -> None:
    """Four devices' messages do not open: their people hide nobody, and readers are told."""
    study = steps.published(tmp_path / "study", "tiny")
    people, recorder = world.people("tiny", CROWD), Recorder(study.plan)
    with study.collecting() as url:
        study.answer(url, people[4:])
        for person in people[:4]:
            study.client(url=recorder.url, transport=recorder).submit(person)
            body = bytearray(recorder.bodies[-1])
            body[-1] ^= 1  # the last message does not open any more
            assert posted(url, study, bytes(body)) == 202
        results = study.finished()
    policy = study.plan.survey.policy
    assert (results.people, results.kept) == (CROWD, False)
    assert results.promise.colluding == policy.colluding + 4
    assert results.promise.delta > policy.delta
    assert "weaker than the survey's" in done("report results.json -o r.html", at=study.at).stderr
    page = (study.at / "r.html").read_text(encoding="utf-8")
    assert "The promise was not kept" in page
    text = " ".join(re.sub("<[^>]*>", " ", page).split())
    assert "4 messages were refused" in text, text[:3000]


def test_who_answers_two_plans_spends_both(tmp_path: Path) -> None:
    """Another plan of the same survey has noise of its own: the ledger adds up what is promised."""
    ledger = krand.Ledger(tmp_path / "ledger")
    for text in (QUIET, QUIET.replace("epsilon = 100", "epsilon = 99")):
        plan = krand.make_plan(krand.parse_survey(text))
        collector = FakeCollector(steps.named(plan))
        steps.device(collector.plan, ledger, transport=collector).submit({"fair": True})
    assert (ledger.spent().epsilon, ledger.spent().surveys) == (199, 2)
