"""Every field of every file is changed; the reference says which check catches it, or why none can.

The table of docs/reference/verification.md is what is tested here. A field that is in no row of it
fails, so that nobody adds one without saying what protects it.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from command_line import done, told
from krand import (
    Client,
    generate_private_key,
    make_plan,
    make_results,
    parse_survey,
    randomize_table,
    tally_batches,
    tally_responses,
)
from krand.analysis.checks import State
from krand.analysis.results import Results, ResultsOptions
from krand.analysis.results_file import read_results
from krand.analysis.tally import Tally, read_tally
from krand.analysis.verification.files import Verified, verify_files
from krand.analysis.verification.results import tally_agrees
from krand.analysis.words.decoding import words_question
from krand.batches.chain import Manifest, manifest_bytes, manifest_in
from krand.batches.provenance import Provenance
from krand.errors import InvalidInput, KrandError
from krand.report import report_page
from krand.survey.canonical import canonical_json
from krand.survey.kinds.words import plain_positions
from krand.survey.plan import Plan
from krand.testing import (
    FakeChain,
    FakeCollector,
    UnsafeMemoryLedger,
    simulated_people,
    simulated_table,
    small_plan,
)
from krand.wire.keys import generate_signing_key, public_key_pem, write_key_pair
from sealed_tallies import in_lanes
from survey_texts import question_text, survey_text

pytestmark = pytest.mark.usefixtures("remembered")
ROOT = Path(__file__).parents[2]

SURVEY = survey_text(
    "forged",
    question_text("fair", "yes_no"),
    question_text("lunch", "choice", choices=["soup", "salad", "none"]),
    question_text("age", "number", edges=[0, 20, 40, 60]),
    question_text("content", "scale", lowest=1, highest=3),
    question_text("pets", "pick_any", choices=["cat", "dog"]),
    question_text("tag", "words", positions=16, hashes=2),
    epsilon=8.0,
    delta=0.01,
    trust={"noise": "mixers", "mixers": 2},
    together=["fair", "lunch"],
)
RECORDS = survey_text(
    "records",
    question_text("fair", "yes_no"),
    question_text("lunch", "choice", choices=["soup", "salad", "none"]),
    linkage="record",
    epsilon=4.0,
    eta=0.01,
    minimum_crowd=1000,
)


@dataclass(frozen=True, kw_only=True)
class World:
    """Real files of one survey, and the keys with which they are verified."""

    plan: Plan
    tally: Tally
    results: Results
    folder: Path
    collector: Ed25519PublicKey | None = None

    @property
    def files(self) -> dict[str, Path]:
        """By kind; the batch lies beside its manifest or chain."""
        kinds = ("plan", "tally", "results", "manifest", "chain")
        found = {kind: self.folder / f"{kind}.json" for kind in kinds[:3]}
        found |= {kind: path for kind in kinds[3:] for path in self.folder.glob(f"b*.{kind}.json")}
        return found

    def verify(self, kind: str = "", instead: Path | None = None) -> tuple[Verified, ...]:
        """All files together, with the collector's key; one of them may be replaced."""
        files = self.files if instead is None else {**self.files, kind: instead}
        return verify_files(tuple(files.values()), self.plan, self.collector)

    def alone(self, kind: str, path: Path) -> tuple[Verified, ...]:
        """A file with nothing but its plan."""
        return verify_files([path], None if kind == "plan" else self.plan)


def world(plan: Plan, tally: Tally, folder: Path, **more: Any) -> World:
    """Everything written down."""
    results = make_results(plan, tally, more.pop("options", None))
    (folder / "plan.json").write_bytes(plan.bytes)
    tally.save(folder / "tally.json")
    results.save(folder / "results.json")
    return World(plan=plan, tally=tally, results=results, folder=folder, **more)


def folder() -> Path:
    return Path(mkdtemp(prefix="forged-"))


@cache
def mixers() -> World:
    """Every kind of question, the noise of two mixers, 24 people on their devices."""
    chain, at = FakeChain(make_plan(parse_survey(SURVEY))), folder()
    for answers in simulated_people(chain.plan.survey, 24, seed=1):
        chain.client().submit(chain.url, answers)
    tally = tally_batches(chain.plan, [chain.release(at)], chain.key)
    options = ResultsOptions(candidates={"tag": ["jazz", "rock"]}, sample_of=1000)
    return world(chain.plan, tally, at, options=options)


def collected(at: Path, seed: int) -> tuple[FakeCollector, X25519PrivateKey, Path]:
    """A hundred people sent to a collector: it, the key that opens, and the batch."""
    key = generate_private_key()
    plan = small_plan().sealed_for(key.public_key())
    collector = FakeCollector(plan)
    for answers in simulated_people(plan.survey, 100, seed=seed):
        client = Client(plan, UnsafeMemoryLedger(), expected_hash=plan.hash, transport=collector)
        client.submit(collector.url, answers)
    return collector, key, collector.release(at)


@cache
def devices() -> World:
    """The noise of devices, through a collector."""
    at = folder()
    collector, key, batch = collected(at, 1)
    tally = tally_batches(collector.plan, [batch], key, collector.public_key)
    return world(collector.plan, tally, at, collector=collector.public_key)


@cache
def records() -> World:
    """Whole records, of a data holder's table."""
    plan, at = make_plan(parse_survey(RECORDS)), folder()
    table = simulated_table(plan.survey, 1000, seed=1)
    randomize_table(plan, table, at / "responses.parquet", again=True)
    tally = tally_responses(plan, [at / "responses.parquet"])
    return world(plan, tally, at, options=ResultsOptions(joint=(("fair", "lunch"),)))


WORLDS = {"mixers": mixers, "devices": devices, "records": records}

Path_ = tuple[str | int, ...]
OTHER = {"devices": "table", "table": "simulation", "bit": "record"}
OTHER |= {"exact": "normal", "normal": "exact", "promise": "local", "mixers": "devices"}
"""Another word that is possible at the same place."""


def places(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every value in a file, with the way to it."""
    if path:
        yield path, value
    if isinstance(value, dict):
        for name, entry in value.items():
            yield from places(entry, (*path, name))
    elif isinstance(value, list):
        for place, entry in enumerate(value):
            yield from places(entry, (*path, place))


def field_of(path: Path_) -> str:
    """`questions[].rows[].count`: the same for all questions and rows."""
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def changes(value: Any) -> list[Any]:
    """What somebody might write instead."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        step = 1 + value // 50
        return [value + step, *([value - step] if value >= step else [])]
    if isinstance(value, float):
        step = 0.01 * abs(value) + 0.01
        return [value + step, value - step]
    if isinstance(value, str):
        if value in OTHER:
            return [OTHER[value]]
        return [value[:-1] + ("0" if value[-1:] != "0" else "1")]
    if isinstance(value, list):
        return [value[:-1] if value else ["x"]]
    if isinstance(value, dict):
        return [{**value, "more": 1}, *([dict(list(value.items())[1:])] if value else [])]
    return [1, "analyst"]


def forgeries(kind: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Each field of a file with another value: the first of all that have this field and type."""
    values, seen = json.loads(content), set()
    for path, value in places(values):
        field = field_of(path)
        if (field, type(value)) in seen:
            continue
        seen.add((field, type(value)))
        for change in changes(value):
            forged = deepcopy(values)
            holder = forged
            for step in path[:-1]:
                holder = holder[step]
            holder[path[-1]] = change
            yield field, canonical_json(forged)


# --- the table of the reference ----------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """One line of the table: some fields of a file, and what catches a change of them."""

    kind: str
    fields: tuple[str, ...]
    alone: frozenset[str]
    together: frozenset[str]

    def fits(self, kind: str, field: str) -> bool:
        """Whether the line is about this field; `[]` stands for itself."""
        patterns = (pattern.replace("[]", "[[]]") for pattern in self.fields)
        return kind == self.kind and any(fnmatchcase(field, pattern) for pattern in patterns)


@cache
def lines() -> tuple[Line, ...]:
    """The table, as the page has it."""
    page = (ROOT / "docs" / "reference" / "verification.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (plan|tally|results|manifest|chain) \|(.*)\|(.*)\|(.*)\|$", page, re.M)
    return tuple(
        Line(kind, tuple(re.findall("`(.*?)`", fields)), _names(alone), _names(together))
        for kind, fields, alone, together in rows
    )


def _names(cell: str) -> frozenset[str]:
    """The checks in a cell; "–" says that some changes are not caught."""
    return frozenset(re.findall(r"\w+|–", cell))


def line_of(kind: str, field: str) -> Line:
    found = next((line for line in lines() if line.fits(kind, field)), None)
    assert found is not None, f"docs/reference/verification.md does not say what protects {field}"
    return found


def failing(verify: Callable[[Path], tuple[Verified, ...]], path: Path) -> set[str]:
    """The checks that fail, in whichever file; "refused" if a file is not even read."""
    try:
        found = verify(path)
    except KrandError:
        return {"refused"}
    return {e.name for file in found for e in file.checks if e.state is State.FAILED}


def forged_beside(path: Path, kind: str) -> Path:
    """Where to write the forged file: with the same batch beside it."""
    batch = path.with_name(path.name.replace(f".{kind}.json", ".parquet"))
    if batch.exists():
        shutil.copy(batch, path.with_name("forged.parquet"))
    return path.with_name(f"forged.{kind}.json")


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def bare(kind: str, content: bytes) -> bytes:
    """As a forger leaves it who has no key: manifests signed anew."""
    if kind != "manifest":
        return content
    try:
        forged = manifest_in(content).record
    except InvalidInput:  # nobody signs what is no manifest
        return content
    return manifest_bytes(forged, generate_signing_key())


FILES = [(name, kind) for name in WORLDS for kind in ("plan", "tally", "results")]
FILES += [("devices", "manifest"), ("mixers", "chain")]


@pytest.mark.check
@pytest.mark.parametrize(("name", "kind"), FILES)
def test_every_field_of_every_file_is_in_the_table(name: str, kind: str) -> None:
    """A change of it is caught by a check that the reference names, or it says that none can."""
    found = WORLDS[name]()
    content, wrong = found.files[kind].read_bytes(), []
    for field, forged in forgeries(kind, content):
        line = line_of(kind, field)
        place = forged_beside(found.files[kind], kind)
        alone = failing(partial(found.alone, kind), written(place, bare(kind, forged)))
        together = failing(partial(found.verify, kind), written(place, forged))
        for caught, named in ((alone, line.alone), (together, line.together)):
            if not ((caught or {"–"}) & named):
                wrong.append(f"{field}: {sorted(caught)} instead of {sorted(named)}")
    assert wrong == [], "\n".join(wrong)


# --- forgeries that follow throughout ----------------------------------------------------------


def moved(tally: Tally, people: int = 2) -> Tally:
    """So many people moved from one answer of a question to another: every sum is the same."""
    counts = tally.counts.copy()
    counts[1:3] += -people, people
    return replace(tally, counts=counts)


def states(found: tuple[Verified, ...], kind: str) -> dict[str, str]:
    """The checks of the file of one kind."""
    (file,) = (file for file in found if file.kind == kind)
    return {entry.name: entry.state.value for entry in file.checks}


@pytest.mark.check
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"batches": ("cd" * 32,)},
        {"ids": ("ab" * 16,)},
        {"round": 2},
        {"tally_sha256": "ab" * 32},
    ],
    ids=["as they are", "batch", "id", "round", "tally"],
)
@pytest.mark.parametrize("name", ["devices", "mixers"])
def test_results_of_moved_counts_fail_beside_the_true_files(
    name: str, change: dict[str, Any]
) -> None:
    """Whatever else is written into them: they are of no tally that was given, or of another."""
    found = WORLDS[name]()
    forged = make_results(found.plan, moved(found.tally))
    place = forged_beside(found.files["results"], "results")
    replace(forged, **change).save(place)
    assert states(found.verify("results", place), "results")["from_tally"] == "failed"


@pytest.mark.check
def test_files_of_another_survey_fail_wherever_they_are() -> None:
    """A tally beside other results, a batch that was not counted, another plan."""
    mixed, table = mixers(), records()
    plan = verify_files([mixed.files["plan"], table.files["plan"]])
    assert [file.state for file in plan] == [State.PASSED, State.FAILED]
    for kind, name in (("tally", "results"), ("results", "from_tally"), ("plan", "same_plan")):
        found = states(mixed.verify(kind, table.files[kind]), kind)
        assert found[name] == "failed"
    given = [mixed.files["chain"], table.files["tally"], table.files["results"]]
    found = states(verify_files(given, mixed.plan), "chain")
    assert (found["in_tally"], found["in_results"]) == ("failed", "failed")


def test_the_people_of_results_are_those_that_were_signed() -> None:
    """Without the tally, manifests and chains of all batches show the number of people."""
    for found in (devices(), mixers()):
        kind = "chain" if found.collector is None else "manifest"
        given = [found.files[kind], found.files["results"]]
        assert states(verify_files(given, found.plan), "results")["signed_people"] == "passed"
        place = forged_beside(found.files["results"], "results")
        replace(found.results, people=found.results.people + 1).save(place)
        forged = verify_files([found.files[kind], place], found.plan)
        assert states(forged, "results")["signed_people"] == "failed"


def test_only_those_who_counted_catch_counts_that_were_moved(tmp_path: Path) -> None:
    """Tally and results agree, and nothing fails: whoever counts again finds it, which is said."""
    found = mixers()
    forged = moved(found.tally)
    forged.save(tmp_path / "tally.json")
    make_results(found.plan, forged).save(tmp_path / "results.json")
    given = [tmp_path / "tally.json", tmp_path / "results.json"]
    for file in verify_files(given, found.plan):
        missing = [entry.name for entry in file.checks if entry.state is not State.PASSED]
        assert missing == ["counted_again"]
        assert file.state is State.NOT_CHECKED


def test_invented_provenance_is_not_checked_or_fails(tmp_path: Path) -> None:
    """A table turned into batches of devices, signed with a throw-away key."""
    plan, true = small_plan(), devices()
    table = simulated_table(plan.survey, 100, seed=1)
    randomize_table(plan, table, tmp_path / "r.parquet", again=True)
    honest = tally_responses(plan, [tmp_path / "r.parquet"])
    claimed = in_lanes(plan, replace(honest, provenance=Provenance.DEVICES))
    signed = Manifest(
        plan=plan.hash,
        round=1,
        submissions=100,
        messages=100 * plan.messages,
        batch_sha256=honest.batches[0],
        batch_id=honest.ids[0],
    )
    text = manifest_bytes(signed, generate_signing_key()).decode()
    forged = replace(claimed, manifests=(text,))
    forged.save(tmp_path / "tally.json")
    make_results(plan, forged).save(tmp_path / "results.json")
    given = [tmp_path / "tally.json", tmp_path / "results.json"]
    for key, expected in ((None, "not_checked"), (true.collector, "failed")):
        found = verify_files(given, plan, key)
        assert states(found, "tally")["provenance"] == expected
        assert states(found, "tally")["manifests"] == expected
        assert states(found, "results")["provenance"] == expected


def test_another_word_passes_only_where_it_gives_the_same_numbers() -> None:
    """On the same positions it does; on others, that count otherwise, it does not."""
    found = mixers()
    question, block = (
        words_question(found.plan.layout, "tag"),
        found.plan.layout.first_block_of("tag"),
    )
    positions = partial(plain_positions, found.plan.survey.id, question)
    named, counts = positions("jazz"), found.tally.counts.copy()
    tags = counts[block.offset : block.offset + block.positions]
    others = [place for place in range(len(tags)) if place not in named]
    for number in range(20):  # the sum is signed by the mixers
        tags[others[np.argmax(tags[others])]] -= 1
        tags[named[number % 2]] += 1
    tally = replace(found.tally, counts=counts)
    options = ResultsOptions(candidates={"tag": ["jazz"]}, sample_of=1000)
    results = make_results(found.plan, tally, options)
    assert tally_agrees(results, found.plan, tally).holds
    (told,) = results.words
    words = [f"word {number}" for number in range(2000)]
    same = next(word for word in words if positions(word) == named)
    other = next(word for word in words if not set(positions(word)) & set(named))
    for word, passes in ((same, True), (other, False)):
        forged = replace(told, rows=(replace(told.rows[0], word=word),))
        seen = tally_agrees(replace(results, words=(forged,)), found.plan, tally)
        assert seen.holds is passes


@pytest.mark.parametrize("name", ["mixers", "records"])
def test_all_intervals_have_one_confidence(name: str) -> None:
    """Intervals of few people are alike for many confidences: only the others tell."""
    found = WORLDS[name]()
    results = found.results
    first, *others = results.questions
    place = forged_beside(found.files["results"], "results")
    changes: list[dict[str, Any]] = [
        {"questions": (replace(first, confidence=0.97), *others)},
        {"words": tuple(replace(words, confidence=0.97) for words in results.words)},
        {
            "joint": tuple(
                replace(j, table=replace(j.table, confidence=0.97)) for j in results.joint
            )
        },
    ]
    for change in changes:
        if any(change.values()):
            replace(results, **change).save(place)
            assert states(found.alone("results", place), "results")["questions"] == "failed"


# --- counting again ----------------------------------------------------------------------------


@pytest.mark.check
def test_whoever_counts_again_gets_the_same_tally(here: Path) -> None:
    """By its hash, which results and report name; from other counts it is another."""
    collector, key, batch = collected(here, 2)
    collector.plan.save("plan.json")
    write_key_pair(key, here / "key.pem", here / "key.pub.pem")
    (here / "c.pub.pem").write_bytes(public_key_pem(collector.public_key))
    opening = "--plan plan.json --key key.pem --collector-key c.pub.pem --workers 1"
    first, second = (told("tally", batch, opening, f"-o {name}.json") for name in "ab")
    assert first["sha256"] == second["sha256"]
    done("estimate a.json --plan plan.json -o results.json")
    results = read_results("results.json")
    assert results.tally_sha256 == second["sha256"]
    assert second["sha256"] in report_page(results)
    assert moved(read_tally("b.json")).sha256 != first["sha256"]
    (file,) = told("verify results.json --plan plan.json")["files"]
    again = next(entry for entry in file["checks"] if entry["name"] == "counted_again")
    assert again["state"] == "not_checked"
    assert first["sha256"] in again["says"]
