"""The demonstration: what it prints, what it writes, and that its numbers are what it says."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from command_line import done, refused
from krand.analysis.estimates.counted import block_counts
from krand.analysis.tally import Tally, read_tally
from krand.batches.responses import header_of
from krand.cli.result_tables import remarks
from krand.demo import baselines
from krand.demo.devices import Chance
from krand.demo.output import demonstration_values, opening_lines, people, show, write_report
from krand.demo.story import Asked, Demonstration, demonstrate, example_text
from krand.demo.truth import Answer, held
from krand.errors import CannotMeet, InvalidInput
from krand.planning.making import make_plan
from krand.promise import PRECISION_DIGITS
from krand.randomness.generator import secure_random
from krand.showing import unbroken
from krand.simulation.crowd import Crowd, truth_of
from krand.simulation.population import plain_answers
from krand.survey import mechanisms
from krand.survey.plan import Plan
from krand.survey.reading import parse_survey
from krand.survey.survey import Trust
from krand.tables import randomizing
from krand.terminal.output import Output
from krand.terminal.plain_console import PlainConsole
from survey_texts import question_text, survey_text

ROOT = Path(__file__).parents[2]
PEOPLE = 5_000

# Many positions, so that a root mean square over them says much about σ; one weight for each bit
# that can change, so that all have one noise, and planning is quick.
SURVEY = survey_text(
    "small",
    question_text("page", "choice", choices=[f"page {n}" for n in range(300)]),
    question_text("color", "choice", choices=["red", "green"]),
    question_text("left_handed", "yes_no"),
    question_text("smokes", "yes_no", weight=0.5),
    question_text("pets", "pick_any", choices=["cat", "dog", "fish"], weight=1.5),
    question_text("tags", "words", positions=1024, hashes=2, weight=2),
    together=["color", "left_handed"],
    epsilon=4.0,
    delta=0.0001,
    minimum_crowd=5_000,
)
MIXED = SURVEY + '\n[trust]\nnoise = "mixers"\nmixers = 2\n'
RECORDS = survey_text(
    "records",
    question_text("color", "choice", choices=["red", "green", "blue"]),
    linkage="record",
    copies=16,
    epsilon=2.0,
    delta=0.0001,
    minimum_crowd=3_000,
)
TINY = survey_text(
    "tiny",
    question_text("color", "choice", choices=["red", "green", "blue"]),
    epsilon=2.0,
    delta=0.0001,
    minimum_crowd=100,
)


@dataclass
class Bars(Output):
    """Remembers what progress bars were shown instead of showing them."""

    bars: list[tuple[str, int | None, list[int]]] = field(default_factory=list)
    steps: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(as_json=True, no_color=True)

    def begin(self, step: int, of: int) -> None:
        self.steps.append((step, of))

    @contextmanager
    def counting(self, title: str, total: int | None, unit: str) -> Iterator[Any]:
        done: list[int] = []
        self.bars.append((title, total, done))
        yield done.append


@dataclass(frozen=True)
class Small:
    """A demonstration of the small survey, and the bars it showed."""

    shown: Demonstration
    file: Path
    bars: list[tuple[str, int | None, list[int]]]
    steps: list[tuple[int, int]]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    folder = tmp_path_factory.mktemp("small")
    file = folder / "own.toml"
    file.write_text(SURVEY, encoding="utf-8")
    out = Bars()
    shown = demonstrate(Asked(folder=folder / "output", survey=file), out)
    return Small(shown, file, out.bars, out.steps)


# --- what everybody sees -------------------------------------------------------------------------


def test_the_screen_fits_80_columns(small: Small) -> None:
    """Without a heading that is cut off."""
    stream = StringIO()
    show(small.shown, Path("report.html"), PlainConsole(file=stream, width=80))
    assert max(map(len, stream.getvalue().splitlines())) <= 80
    assert "…" not in stream.getvalue()


def test_it_says_which_step_of_how_many_it_is_in(small: Small) -> None:
    """One after the other, up to the last."""
    most = len(small.steps)
    assert most > 1
    assert small.steps == [(step, most) for step in range(1, most + 1)]


def test_a_bar_names_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """In front of what it shows, within the width of a terminal."""
    stream = StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("COLUMNS", "80")
    out = Output(as_json=False, no_color=False)
    out.begin(2, 5)
    with out.counting("answering", 100_000, "people") as told:
        told(100_000)
    lines = re.split(r"[\r\n]", re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", stream.getvalue()))
    assert any(line.startswith("step 2 of 5, answering ") for line in lines)
    assert max(map(len, lines)) <= 80


def test_the_example_that_is_installed_is_the_example() -> None:
    """A wheel has no folder of examples, so the demonstration brings its own copy."""
    assert example_text() == (ROOT / "examples" / "browser.toml").read_text(encoding="utf-8")


def test_everything_is_one_object_for_programs(small: Small) -> None:
    """Each answer with its truth, each way with its error, each file, the report among them."""
    values = demonstration_values(small.shown, Path("report.html"))
    assert json.loads(json.dumps(values)) == values
    assert (values["people"], values["seed"]) == (PEOPLE, 1)
    assert values["simulated"] is True
    assert [a["truth"] for a in values["answers"]] == [a.truth for a in small.shown.answers]
    assert [way["sigma"] for way in values["baselines"]] == [
        way.sigma for way in small.shown.baselines
    ]
    assert values["intervals"]["hold"] == small.shown.held.hold
    assert values["written"]["survey"] == str(small.file)
    assert values["written"]["report"] == "report.html"


@pytest.mark.check
def test_nothing_but_the_object_is_printed(tmp_path: Path) -> None:
    """--json prints JSON alone; --crowd stands above the survey's own, --seed 0 for none."""
    (tmp_path / "own.toml").write_text(TINY, encoding="utf-8")
    line = "demo --survey own.toml --crowd 2k --seed 0 -o output --json"
    values = json.loads(done(line, at=tmp_path).output)
    assert values["people"] == 2_000
    assert all((tmp_path / path).exists() for path in values["written"].values())


def test_the_report_says_first_that_nobody_was_asked(small: Small) -> None:
    """The note stands before any result; truth and baselines are sections of the page."""
    page = write_report(small.shown).read_text(encoding="utf-8")
    text = re.sub(r"<[^>]+>", " ", page.partition("<body>")[2])
    assert text.index(unbroken("5,000 people are simulated")) < 200
    assert "Estimates and truth" in text
    for way in small.shown.baselines:
        assert unbroken(way.name) in text
        assert people(way.sigma) in text
    first = small.shown.answers[0]
    assert re.search(rf"{first.answer}\s+{first.truth:,}\s+{first.estimate:,.0f}\s", text)
    assert "and 281 more" in text  # of 300 pages and silence


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    """Files have names like plan.json: somebody's own plan of that name must survive."""
    own = tmp_path / "plan.json"
    own.write_text("mine", encoding="utf-8")
    assert "must be an empty folder" in refused("demo -o", tmp_path)["rule"]
    assert own.read_text(encoding="utf-8") == "mine"


def test_files_and_sentences_say_that_it_is_a_simulation(small: Small) -> None:
    """The reports, the tally and the results by a code; the page and the terminal in words."""
    written = small.shown.written
    responses = written["responses"]
    assert header_of(pq.ParquetFile(responses), responses).provenance == "simulation"
    for name in ("tally", "results"):
        assert json.loads(written[name].read_bytes())["provenance"] == "simulation"
    page = write_report(small.shown).read_text(encoding="utf-8")
    assert "Nobody was asked: the people and their answers are simulated." in page
    assert "on the device it came from" not in page
    assert any("Nobody was asked" in line for line in remarks(small.shown.results))


def test_progress_bars_have_honest_totals(small: Small) -> None:
    """Every bar that names a total reaches it, and passes no other number."""
    titles = [title for title, _, _ in small.bars]
    assert {"answering", "randomizing", "counting"} <= set(titles)
    for title, total, steps in small.bars:
        assert sum(steps) == total, title


# --- its numbers ---------------------------------------------------------------------------------


def test_truth_is_what_people_say(small: Small) -> None:
    """Counted person by person from the plain answers, by nothing that the analyst uses."""
    shown = small.shown
    crowd = Crowd(shown.plan.survey, PEOPLE, shown.asked.seed)
    found: Counter[tuple[str, str]] = Counter()
    for columns in crowd.answers():
        for name, column in columns.items():
            for given in plain_answers(column):
                several = given if isinstance(given, list) else [given]
                found.update((name, _label(answer)) for answer in several)
    for answer in shown.answers:
        assert answer.truth == found[answer.question, answer.answer], answer
    assert {answer.question for answer in shown.answers} == set(columns)


def _label(answer: object) -> str:
    plain = {None: "unanswered", True: "yes", False: "no"}
    return plain[answer] if answer is None or isinstance(answer, bool) else str(answer)


def test_methods_are_compared_by_their_expected_errors(small: Small) -> None:
    """krand's are those of its plans; a chain of mixers costs the root of their number."""
    shown = small.shown
    survey, sigmas = shown.plan.survey, {way.name: way.sigma for way in shown.baselines}
    assert list(sigmas) == [
        "krand, devices",
        "krand, 1 mixer",
        "krand, 3 mixers",
        "RAPPOR",
        "trusted curator",
    ]
    plans = {"krand, devices": shown.plan}
    for name, mixers in (("krand, 1 mixer", 1), ("krand, 3 mixers", 3)):
        trust = Trust(noise=mechanisms.MIXERS, mixers=mixers)
        plans[name] = make_plan(replace(survey, trust=trust))
    for name, plan in plans.items():
        squares = [block.positions * block.precision.sigma**2 for block in plan.blocks]
        expected = (sum(squares) / plan.layout.positions) ** 0.5
        assert sigmas[name] == pytest.approx(expected, rel=10.0 ** (1 - PRECISION_DIGITS)), name
    curator = sigmas["trusted curator"]
    assert sigmas["krand, 1 mixer"] <= 1.001 * curator
    assert sigmas["RAPPOR"] > 10 * sigmas["krand, devices"] > curator
    for way in shown.baselines:
        assert way.times_curator == pytest.approx(way.sigma / curator)


def test_the_error_is_what_was_planned(small: Small) -> None:
    """Over some 1,300 positions the root mean square is within a sixth of the planned σ."""
    plan = small.shown.plan
    truth = truth_of(Crowd(plan.survey, PEOPLE, 1)).positions
    assert _error(plan, read_tally(small.shown.written["tally"]), truth) == pytest.approx(
        1, abs=0.16
    )


def test_mixers_are_demonstrated_too(small: Small) -> None:
    """Nothing is flipped; the dummies of all mixers are the noise."""
    folder = small.file.parent
    (folder / "mixed.toml").write_text(MIXED, encoding="utf-8")
    asked = Asked(folder=folder / "mixed", survey=folder / "mixed.toml")
    shown = demonstrate(asked, Output(True, True))
    tally = read_tally(shown.written["tally"])
    truth = truth_of(Crowd(shown.plan.survey, PEOPLE, 1)).positions
    assert _error(shown.plan, tally, truth) == pytest.approx(1, abs=0.16)
    assert int(tally.counts.sum()) + tally.nulls == PEOPLE * shown.plan.messages + shown.dummies
    assert "responses" not in shown.written
    _, said = opening_lines(shown)
    assert f"{shown.dummies:,} dummies were added by 2 mixers" in said
    assert "flipped" not in said
    names = [way.name for way in shown.baselines]
    assert names[:4] == ["krand, 2 mixers", "krand, devices", "krand, 1 mixer", "krand, 3 mixers"]
    assert unbroken(said) in unescape(write_report(shown).read_text(encoding="utf-8"))


def _error(plan: Plan, tally: Tally, truth: Any) -> float:
    """The root mean square of the counts' errors, each divided by what was planned."""
    found = np.concatenate([p.law.estimate(p.ones) for p in block_counts(plan, tally)])
    sigmas = np.repeat(
        [block.precision.sigma for block in plan.blocks], [b.positions for b in plan.blocks]
    )
    return float(np.sqrt(np.mean(((found - truth) / sigmas) ** 2)))


def test_what_cannot_be_compared_is_left_out(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where mixers' noise keeps no such promise, their rows are missing."""

    def refuse(_: object) -> None:
        raise CannotMeet("an estimate could be anything", ("a larger epsilon",))

    monkeypatch.setattr(baselines, "make_plan", refuse)
    names = [method.name for method in baselines.all_baselines(small.shown.plan)]
    assert names == ["krand, devices", "RAPPOR", "trusted curator"]


def test_intervals_hold_about_as_often_as_they_say(small: Small) -> None:
    """Of some 300 at 95 % nine in ten must hold, and the sentence counts those that do."""
    found = small.shown.held
    asked = [answer for answer in small.shown.answers if not answer.word]
    assert found.intervals == len(asked)
    assert found.hold == sum(a.low <= a.truth <= a.high for a in asked)
    assert found.hold > 0.9 * found.intervals


def test_words_are_found_but_not_counted_among_intervals(small: Small) -> None:
    """What stands out was chosen for standing out: its intervals promise less."""
    words = [answer for answer in small.shown.answers if answer.word]
    assert words
    sure = Answer(question="q", answer="a", truth=5, estimate=5.0, low=4.0, high=6.0)
    assert held([sure, replace(sure, truth=9), *words], 0.95).intervals == 2


# --- chance --------------------------------------------------------------------------------------


def test_a_seed_fixes_the_noise_and_no_seed_does_not() -> None:
    """The same name and seed are the same stream; another name, another seed or 0 are not."""
    first = Chance(1).noise("devices").bytes(64)
    assert Chance(1).noise("devices").bytes(64) == first
    others = [Chance(2).noise("devices"), Chance(1).noise("RAPPOR"), Chance(0).noise("devices")]
    assert len({first, *(other.bytes(64) for other in others)}) == 4
    assert Chance(0).noise("devices").bytes(64) != Chance(0).noise("devices").bytes(64)
    assert Chance(1).people() == 1
    assert Chance(0).people() != Chance(0).people()


def test_a_stream_is_the_same_in_pieces() -> None:
    """How much is drawn at once does not matter: no number comes twice, none is skipped."""
    whole, parts = Chance(7).noise("x"), Chance(7).noise("x")
    assert whole.bytes(5000) == b"".join(parts.bytes(size) for size in (1, 0, 999, 4000))


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_that_is_none_is_refused(seed: int, tmp_path: Path) -> None:
    """With the name of the option."""
    assert refused(f"demo --seed {seed} -o", tmp_path)["field"] == "seed"


# --- memory --------------------------------------------------------------------------------------


def test_people_come_in_chunks_and_are_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crowd is never in memory at once, and every chunk is other people."""
    monkeypatch.setattr("krand.simulation.crowd.CHUNK", 100)
    crowd = Crowd(parse_survey(SURVEY), 250, 3)
    first, again = ([e.positions.tolist() for e, _ in crowd.encoded()] for _ in range(2))
    assert first == again
    assert len(first) == 3
    assert first[0] != first[1]
    assert [height for _, height in crowd.encoded()] == [100, 100, 50]
    assert truth_of(crowd).positions.sum() == sum(map(len, first))


def test_noisy_records_are_never_in_memory_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever their number of copies; and in pieces everybody sets what they set before."""
    monkeypatch.setattr(randomizing, "BITS_AT_A_TIME", 2**12)
    monkeypatch.setattr(randomizing, "flip_packed", lambda rows, *_, **__: rows)
    plan = make_plan(parse_survey(RECORDS))
    ((encoded, people),) = Crowd(plan.survey, 3_000, 1).encoded()
    pieces = list(randomizing.noisy_rows(plan, [(encoded, people)], secure_random()))
    assert max(map(len, pieces)) * plan.layout.positions <= 2**12
    whole = randomizing.reported_rows(plan, encoded, people, secure_random())
    assert len(whole) == 3_000 * 16
    assert (np.concatenate(pieces) == whole).all()


# --- what cannot be had --------------------------------------------------------------------------


def test_a_crowd_of_nobody_is_refused() -> None:
    """And so is one that no simulation could meet."""
    with pytest.raises(InvalidInput, match="crowd"):
        Crowd(parse_survey(SURVEY), 0, 1)
    with pytest.raises(InvalidInput, match="crowd"):
        Crowd(parse_survey(SURVEY), 10**12, 1)
