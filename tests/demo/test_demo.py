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
from krand.batches.responses import header_of
from krand.cli.result_tables import remarks
from krand.demo import baselines as baselines
from krand.demo import devices, methods
from krand.demo.dots import dot_chart
from krand.demo.methods import Baseline
from krand.demo.randomness import Chance, simulated_random
from krand.demo.report import baseline_dots, write_report
from krand.demo.screen import promise_lines, show
from krand.demo.story import Asked, Demonstration, demonstrate, example_text
from krand.demo.truth import Answer, held
from krand.demo.values import demonstration_values
from krand.errors import CannotMeet, InvalidInput
from krand.planning.making import make_plan
from krand.promise import PRECISION_DIGITS
from krand.showing import unbroken
from krand.simulation.crowd import Crowd, pieces, truth_of
from krand.simulation.population import plain_answers
from krand.survey import mechanisms
from krand.survey.layout import layout_of
from krand.survey.reading import parse_survey
from krand.survey.survey import Trust
from krand.tables.columns import encode_columns
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
    assert (values["people"], values["seed"], values["live"]) == (PEOPLE, 1, False)
    assert values["simulated"] is True
    assert [a["truth"] for a in values["answers"]] == [a.truth for a in small.shown.answers]
    assert [way["error"] for way in values["baselines"]] == [
        way.error for way in small.shown.baselines
    ]
    assert [way["half_widths_95"] for way in values["baselines"]] == [
        way.half_widths_95 for way in small.shown.baselines
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
    assert values["fresh_noise"] is True
    assert all((tmp_path / path).exists() for path in values["written"].values())


def test_the_report_says_first_that_nobody_was_asked(small: Small) -> None:
    """The note stands before any result; truth and baselines are sections of the page."""
    page = write_report(small.shown).read_text(encoding="utf-8")
    text = re.sub(r"<[^>]+>", " ", page.partition("<body>")[2])
    assert text.index(unbroken("5,000 people are simulated")) < 200
    assert "Estimates and truth" in text
    for way in small.shown.baselines:
        assert way.name in text
        assert f"{way.error:,.1f}" in text
    first = small.shown.answers[0]
    assert re.search(rf"{first.answer}\s+{first.truth:,}\s+{first.estimate:,.0f}\s", text)
    assert "and 281 more" in text  # of 300 pages and silence


def test_the_report_compares_methods_in_one_chart(small: Small) -> None:
    """Sorted by the median of their margins; all tables of both sections are folded."""
    page = unescape(write_report(small.shown).read_text(encoding="utf-8"))
    chart = re.search(r'<svg role="img" aria-label="typical margin of error([^"]+)"', page)
    ways = {way.name: way for way in small.shown.baselines}
    medians = {name: np.median([*way.half_widths_95.values()]) for name, way in ways.items()}
    said = [f"{name} (trusted: {ways[name].trusted}): ± " for name in ways]
    places = {name: chart[1].index(words) for name, words in zip(ways, said, strict=True)}
    assert sorted(places, key=places.__getitem__) == sorted(medians, key=medians.__getitem__)
    for title in ("Estimates and truth</h2>", "Comparison with baselines</h2>"):
        section = page.partition(title)[2].partition("</section>")[0]
        assert "<table>" in section.partition("<details>")[2]
        assert "<table>" not in section.partition("<details>")[0]
    held = small.shown.held
    assert f"<strong>{held.hold:,} of {held.intervals:,} intervals contain the truth" in page


def test_a_method_that_was_not_run_is_a_row_without_a_dot() -> None:
    """Its reason stands below the chart, where there is room for it."""
    run = Baseline(name="krand, devices", trusted="collector", half_widths_95={"a": 2.0, "b": 4.0})
    not_run = Baseline(name="RAPPOR", trusted="nobody", note="not run: too many bits")
    first, last = baseline_dots([run, not_run])
    assert (first.name, first.value, first.strong) == ("krand, devices", 3.0, True)
    assert (last.value, last.label) == (None, "not run: the reason is below")
    assert dot_chart([first, last], "axis").count("<circle") == 1


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
    assert {"answering", "randomizing", "counting", "RAPPOR"} <= set(titles)
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


def test_errors_are_what_was_planned(small: Small) -> None:
    """Over some 1,300 positions the root mean square is within a sixth of the planned σ."""
    names = [way.name for way in small.shown.baselines]
    assert names == [
        "krand, devices",
        "krand, 1 mixer",
        "krand, 3 mixers",
        "drafts: records, k = 1",
        "drafts: records, k = 16",
        "RAPPOR",
        "trusted curator",
    ]
    for way in small.shown.baselines:
        assert way.error / way.sigma == pytest.approx(1, abs=0.16), way
    krand_way, _, _, *others, curator = small.shown.baselines
    assert curator.times_curator == 1
    assert krand_way.times_curator == pytest.approx(krand_way.sigma / curator.sigma)
    assert all(way.error > krand_way.error for way in others if way.error and krand_way.error)


def test_margins_of_error_are_those_of_the_plans(small: Small) -> None:
    """With devices' noise and with each chain of mixers, question by question."""
    own = small.shown.plan
    plans = {"krand, devices": own}
    for name, mixers in (("krand, 1 mixer", 1), ("krand, 3 mixers", 3)):
        trust = Trust(noise=mechanisms.MIXERS, mixers=mixers)
        plans[name] = make_plan(replace(own.survey, trust=trust))
    ways = {way.name: way for way in small.shown.baselines}
    for name, plan in plans.items():
        for question, width in ways[name].half_widths_95.items():
            expected = plan.precision_of(question).half_width_95
            assert width == pytest.approx(expected, rel=10.0 ** (1 - PRECISION_DIGITS)), (
                name,
                question,
            )
    asked = [question.name for question in own.survey.questions]
    for way in small.shown.baselines:
        assert sorted(way.half_widths_95) == sorted(asked)


def test_one_mixer_is_as_precise_as_a_curator_and_three_cost_their_root(small: Small) -> None:
    """The curator is trusted with raw answers; a mixer sees sealed messages alone."""
    ways = {way.name: way for way in small.shown.baselines}
    one, three, curator = (
        ways[name].sigma for name in ("krand, 1 mixer", "krand, 3 mixers", "trusted curator")
    )
    assert one <= 1.001 * curator
    assert three == pytest.approx(3**0.5 * one)


def test_what_collusion_leaves_names_mixers(small: Small) -> None:
    """On the terminal and in the report, with the margins of error that they would have."""
    promise, instead = promise_lines(small.shown)
    assert "If collector and analyst collude, there is no protection" in promise
    widths = small.shown.baselines[2].half_widths_95.values()
    assert "with 3 of them the same promise holds as long as one is honest" in instead
    assert f"± {min(widths):,.0f} to {max(widths):,.0f} people (95 %) instead of ±" in instead
    page = unescape(write_report(small.shown).read_text(encoding="utf-8"))
    assert unbroken(instead) in page


def test_the_report_has_the_margins_of_every_method(small: Small) -> None:
    """One row for each question."""
    page = write_report(small.shown).read_text(encoding="utf-8")
    text = re.sub(r"<[^>]+>", " ", page.partition(unbroken("± people (95 %)") + "</th>")[2])
    for question in small.shown.plan.survey.questions:
        widths = [way.half_widths_95[question.name] for way in small.shown.baselines]
        row = r"\s+".join(f"{width:,.0f}" for width in widths)
        assert re.search(rf"{question.name}\s+{row}\s", text), question.name


@pytest.mark.parametrize(
    ("trust", "options", "said"),
    [
        ('[trust]\nnoise = "mixers"\nmixers = 2\n', "", "add --live"),
        ("", "--noise-of mixers", "must be given with --live only"),
    ],
)
def test_mixers_are_demonstrated_live_only(
    trust: str, options: str, said: str, tmp_path: Path
) -> None:
    """Without their processes, mixers are a row of the comparison."""
    (tmp_path / "own.toml").write_text(TINY + trust, encoding="utf-8")
    error = refused("demo --survey own.toml -o output", options, at=tmp_path)
    assert said in error["message"]


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
    first = simulated_random(1, "devices").bytes(64)
    assert Chance(1).noise("devices").bytes(64) == first
    others = [Chance(2).noise("devices"), Chance(1).noise("RAPPOR"), Chance(0).noise("devices")]
    assert len({first, *(other.bytes(64) for other in others)}) == 4
    assert Chance(0).noise("devices").bytes(64) != Chance(0).noise("devices").bytes(64)
    draws = [Chance(seed).numbers("RAPPOR").random() for seed in (1, 1, 2, 0, 0)]
    assert draws[0] == draws[1]
    assert len(set(draws)) == 4
    assert Chance(1).people() == 1
    assert Chance(0).people() != Chance(0).people()


def test_a_stream_is_the_same_in_pieces() -> None:
    """How much is drawn at once does not matter: no number comes twice, none is skipped."""
    whole, parts = simulated_random(7, "x"), simulated_random(7, "x")
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


def test_pieces_are_the_same_people() -> None:
    """Cut into pieces, everybody sets what they set before."""
    survey = parse_survey(SURVEY)
    (columns,) = Crowd(survey, 100, 3).answers()
    encoded = encode_columns(layout_of(survey), columns)
    cut = list(pieces(encoded, 100, 30))
    assert [height for _, height in cut] == [30, 30, 30, 10]
    rows = np.concatenate([part.rows + 30 * n for n, (part, _) in enumerate(cut)])
    assert rows.tolist() == encoded.rows.tolist()
    assert np.concatenate([p.positions for p, _ in cut]).tolist() == encoded.positions.tolist()


def test_no_comparison_holds_all_bits_at_once(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither random numbers for RAPPOR nor noisy records exceed their bound."""
    monkeypatch.setattr(baselines, "NUMBERS_AT_A_TIME", 2**17)
    monkeypatch.setattr(devices, "BITS_AT_A_TIME", 2**17)
    plan, chance = small.shown.plan, Chance(1)
    crowd, positions = Crowd(plan.survey, 300, 1), plan.layout.positions
    drawn: list[int] = []

    class Watched:
        def random(self, shape: tuple[int, ...]) -> Any:
            drawn.append(int(np.prod(shape)))
            return chance.numbers("x").random(shape)

    baselines._flipped(crowd, 0.25, Watched(), lambda _: None)  # type: ignore[arg-type]
    assert sum(drawn) == 300 * positions
    assert max(drawn) <= 2**17
    linked = replace(plan, survey=baselines.linked(plan.survey, 16))
    rows = [len(part) for part in devices.noisy_rows(linked, crowd, chance.noise("x"))]
    assert sum(rows) == 300 * 16
    assert max(rows) * positions <= 2**17


# --- what cannot be had --------------------------------------------------------------------------


def test_what_is_too_much_is_not_run_and_says_so(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A comparison of minutes is left out; its row tells how much it would have been."""
    monkeypatch.setattr(baselines, "MOST_BITS", 1000)
    *_, one, sixteen, rappor, curator = _baselines(small)
    assert one.error is None
    assert "bits would have to be flipped" in one.note
    assert "bits would have to be flipped" in sixteen.note
    assert rappor.error is None
    assert rappor.sigma is not None
    assert curator.error is not None


def test_records_that_drown_say_so(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no noise keeps the promise usefully, the row carries the planner's own words."""

    def refuse(_: object) -> None:
        raise CannotMeet("an estimate could be anything", ("a larger epsilon",))

    for module in (baselines, methods):
        monkeypatch.setattr(module, "make_plan", refuse)
    _, *planned, _, _ = _baselines(small)
    assert [way.error for way in planned] == [None] * 4  # two chains of mixers, two of records
    assert all("an estimate could be anything" in way.note for way in planned)


def _baselines(small: Small) -> tuple[Baseline, ...]:
    from krand.analysis.tally_file import read_tally

    shown = small.shown
    crowd = Crowd(shown.plan.survey, PEOPLE, 1)
    tally = read_tally(shown.written["tally"])
    truth = truth_of(crowd).positions
    return baselines.all_baselines(shown.plan, tally, crowd, truth, Chance(1), Output(True, True))


def test_a_crowd_of_nobody_is_refused() -> None:
    """And so is one that no simulation could meet."""
    with pytest.raises(InvalidInput, match="crowd"):
        Crowd(parse_survey(SURVEY), 0, 1)
    with pytest.raises(InvalidInput, match="crowd"):
        Crowd(parse_survey(SURVEY), 10**12, 1)
