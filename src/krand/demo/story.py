"""The whole story, from a survey to its report: planned, answered, randomized, counted, compared.

Every step uses the part that a real survey uses, and leaves its file for whoever wants to look.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from krand.analysis.engines import Options
from krand.analysis.results import Results, ResultsOptions, make_results
from krand.analysis.results_file import write_results
from krand.analysis.tally import Tally
from krand.analysis.tally_file import write_tally
from krand.analysis.tallying import reports_in, tally_sources
from krand.demo.baselines import Way, all_ways
from krand.demo.devices import write_reports
from krand.demo.live import collected, for_a_crowd, for_a_small_crowd, new_keys
from krand.demo.people import Crowd, truth_of
from krand.demo.randomness import Chance
from krand.demo.truth import Answer, Held, answers_beside_truth, held
from krand.errors import InvalidInput
from krand.files import ensure_directory, keep_inputs, write_atomically
from krand.planning.making import make_plan
from krand.survey.plan import Plan
from krand.survey.reading import parse_survey, read_survey
from krand.survey.survey import Survey
from krand.terminal.output import Output
from krand.terminal.overwriting import files_named_in

__all__ = ["LIVE_PEOPLE", "Asked", "Demonstration", "demonstrate", "example_text"]

EXAMPLE = "browser.toml"
MARK = ".krand-demo"
MARK_TEXT = "krand demo made this folder, and replaces what is in it.\n"
WRITTEN = (
    *(MARK, "plan.json", "reports.parquet", "tally.json", "results.json", "report.html"),
    *("batch.parquet", "batch.manifest.json"),
    *("analyzer.pem", "analyzer.pub.pem", "collector.pem", "collector.pub.pem"),
)
"""Names in the folder under which something is written whatever the survey."""
LIVE_PEOPLE = 1_000
"""Each of them seals and sends: a crowd that is done in half a minute."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What to demonstrate."""

    folder: Path
    survey: Path | None = None
    """The example if not given."""
    population: int | None = None
    """As the survey says if not given; live, 1,000."""
    seed: int = 1
    live: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Demonstration:
    """All that there is to show."""

    asked: Asked
    results: Results
    answers: tuple[Answer, ...]
    held: Held
    ways: tuple[Way, ...]
    epsilon_asked: float
    """What the survey itself asks for; live it may be another one."""
    written: dict[str, Path]

    @property
    def plan(self) -> Plan:
        """The survey with its noise."""
        return self.results.plan

    @property
    def has_fresh_noise(self) -> bool:
        """Whether the noise is secret, as that of real devices is."""
        return self.asked.live or Chance(self.asked.seed).is_fresh


def example_text() -> str:
    """The example survey that comes with krand."""
    return resources.files("krand.demo").joinpath(EXAMPLE).read_text(encoding="utf-8")


def demonstrate(asked: Asked, out: Output) -> Demonstration:
    """Do everything, and write everything but the report."""
    _claim(asked.folder)
    chance = Chance(asked.seed)
    own = _own_survey(asked)
    _spare_inputs(asked)
    survey = _survey(asked, own)
    crowd = Crowd(survey, survey.policy.population, chance.people())
    keys = new_keys(asked.folder) if asked.live else None
    with out.progress("planning"):
        plan = make_plan(survey)
    plan = plan if keys is None else plan.sealed_for(keys.analyzer.public_key())
    written = _write_plan(asked, plan)
    with out.counting("answering", crowd.people, "people") as told:
        truth = truth_of(crowd, told)
    if keys is None:
        tally, files = _randomized(plan, crowd, chance, asked.folder, out)
    else:
        tally, files = collected(plan, crowd, keys, asked.folder, out)
    written |= files
    options = ResultsOptions(candidates={name: list(known) for name, known in truth.words.items()})
    with out.progress("estimating") as progress:
        results = make_results(plan, tally, options, progress)
    written |= _write_results(asked.folder, tally, results)
    ways = all_ways(plan, tally, crowd, truth.positions, chance, out)
    answers = answers_beside_truth(results, tally, truth)
    holding = held(answers, options.wanted.confidence)
    return Demonstration(asked, results, answers, holding, ways, own.policy.epsilon, written)


def _claim(folder: Path) -> None:
    """Take a folder that is empty, or was taken before: files of the same names get replaced."""
    ensure_directory("output", folder)
    mark = folder / MARK
    if not mark.exists() and any(folder.iterdir()):
        rule = "must be an empty folder, or one that krand demo made"
        raise InvalidInput("output", rule, str(folder), "name another one with --output")
    write_atomically("output", mark, MARK_TEXT)


def _own_survey(asked: Asked) -> Survey:
    if asked.survey is not None:
        return read_survey(asked.survey)
    return parse_survey(example_text(), source=EXAMPLE)


def _spare_inputs(asked: Asked) -> None:
    """The survey may lie in the folder, under a name that nothing gets written to."""
    if asked.survey is not None:
        inputs = [asked.survey, *files_named_in(asked.survey)]
        for name in WRITTEN:
            keep_inputs("output", asked.folder / name, inputs)


def _survey(asked: Asked, own: Survey) -> Survey:
    """The survey for the crowd that is asked for."""
    if asked.live:
        people = LIVE_PEOPLE if asked.population is None else asked.population
        return for_a_small_crowd(own, people)
    if asked.population is None:
        return own
    return for_a_crowd(own, asked.population)


def _write_plan(asked: Asked, plan: Plan) -> dict[str, Path]:
    """The plan, and the survey if it is the example: its policy as it was asked for."""
    path = asked.folder / "plan.json"
    write_atomically("output", path, plan.bytes.decode())
    if asked.survey is not None:
        return {"survey": asked.survey, "plan": path}
    survey, text = asked.folder / "survey.toml", example_text()
    policy = plan.survey.policy
    text = text.replace("population = 100_000 ", f"population = {policy.population:_} ")
    text = text.replace("epsilon = 1.0\n", f"epsilon = {policy.epsilon!r}\n")
    write_atomically("output", survey, text)
    return {"survey": survey, "plan": path}


def _randomized(
    plan: Plan, crowd: Crowd, chance: Chance, folder: Path, out: Output
) -> tuple[Tally, dict[str, Path]]:
    """Devices flip, the shuffler mixes, the analyzer counts."""
    reports = folder / "reports.parquet"
    with out.counting("randomizing", crowd.people, "people") as told:
        run = chance.noise("run").bytes(16).hex()
        write_reports(plan, crowd, chance.noise("devices"), reports, run, told)
    sources = reports_in(plan, [reports])
    with out.counting("counting", sources[0].rows, "reports") as told:
        tally = tally_sources(plan, sources, options=Options(progress=told))
    return tally, {"reports": reports}


def _write_results(folder: Path, tally: Tally, results: Results) -> dict[str, Path]:
    written = {"tally": folder / "tally.json", "results": folder / "results.json"}
    write_tally("output", written["tally"], tally)
    write_results("output", written["results"], results)
    return written
