"""The whole way, from a survey's file to a verified report: every answer arrives, once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import krand
import steps
import world
from chaos import Fate, FlakyNetwork
from command_line import done, told
from effort import EFFORT
from krand.testing import FakeChain, FakeCollector, unsafe_exact_plan
from rounds import Round

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

CROWD, CAME = 12, 47


@contextmanager
def breaking(url: str) -> Iterator[tuple[str, FlakyNetwork]]:
    """The same collector behind a network that lets some answers and some questions vanish."""
    fates = [Fate(answered=0), Fate(), Fate(asked=200), Fate(), Fate(answered=20)]
    with FlakyNetwork(urlsplit(url).port or 0, *fates) as network:
        yield f"http://127.0.0.1:{network.port}", network


def test_everybody_is_counted_once_and_a_crowd_is_needed(tmp_path: Path) -> None:
    """However the network breaks; one person too few releases nothing, one too late is told so."""
    round, people = Round.begun(tmp_path), world.people("tiny", CAME + 1)

    def answer(url: str, person: Mapping[str, object]) -> None:
        round.chain.device(url).submit(dict(person))

    with (
        round.served() as collector,
        ThreadPoolExecutor(4) as pool,
        breaking(collector.url) as (flaky, network),
    ):
        list(pool.map(partial(answer, flaky), people[: CROWD - 1]))
        assert network.connections > CROWD, "some came twice"
        with pytest.raises(krand.InvalidInput, match="people: must be at least"):
            round.close()
        assert not round.released()
        for person in people[CROWD - 1 : CAME]:
            answer(collector.url, person)
        assert round.close()["people"] == CAME
        with pytest.raises(krand.InvalidInput, match="must not be closed"):
            answer(collector.url, people[CAME])
    batch = tmp_path / "round.batch"
    for ending, content in zip((".batch", ".chain.json"), round.released().values(), strict=True):
        batch.with_suffix(ending).write_bytes(content)
    key = krand.read_private_key(round.chain.analyst.folder.analyst_key)
    results = krand.make_results(round.plan, krand.tally_batches(round.plan, [batch], key))
    assert results.people == CAME
    for question, label, found, true, error in compared(results, people[:CAME]):
        assert abs(found - true) <= 12 * error, f"{question}, {label}: {found}, of {true}"


class Recorder(FakeCollector):
    """Keeps what a device sends, byte for byte."""

    body = b""

    def post(self, url: str, body: bytes) -> object:
        self.body = body
        return super().post(url, body)


def test_rubbish_is_not_counted_and_weakens_the_promise(tmp_path: Path) -> None:
    """Four devices' messages do not open: their people hide nobody, and readers are told."""
    study = steps.published(tmp_path / "study", "tiny")
    people = world.people("tiny", CROWD)
    study.answer(people[4:])
    for person in people[:4]:
        recorder = Recorder(study.plan)
        study.client(url=recorder.url, transport=recorder).submit(person)
        body = bytearray(recorder.body)
        body[-1] ^= 1  # the last message does not open any more
        way_in = f"{recorder.url}/v1/plans/{study.plan.hash}/submissions"
        assert study.collector().post(way_in, bytes(body)).status == 202
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
    text = world.survey_file("tiny").read_text(encoding="utf-8")
    for epsilon in (100, 99):
        asked = text.replace("epsilon = 8", f"epsilon = {epsilon}")
        plan = krand.make_plan(krand.parse_survey(asked))
        collector = FakeCollector(steps.named(plan))
        steps.device(collector.plan, ledger, transport=collector).submit({"fair": True})
    assert (ledger.spent().epsilon, ledger.spent().surveys) == (199, 2)
