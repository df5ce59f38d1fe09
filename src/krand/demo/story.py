"""The whole survey, from planning to the report: answered, randomized, counted, compared.

Each step uses the same code as a real survey, and writes its file.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from krand.analysis.engines import Options
from krand.analysis.results import Results, ResultsOptions, make_results
from krand.analysis.tally import Tally
from krand.analysis.tallying import responses_in, tally_sources
from krand.demo.baselines import Baseline, all_baselines
from krand.demo.devices import Chance, mixed_tally, write_responses
from krand.demo.truth import Answer, Held, answers_beside_truth, held
from krand.errors import InvalidInput
from krand.files import ensure_directory, keep_inputs, write_atomically
from krand.planning.making import make_plan
from krand.promise import check_crowd
from krand.simulation.crowd import Crowd, truth_of
from krand.survey.plan import Plan
from krand.survey.reading import parse_survey, read_survey
from krand.survey.survey import Survey
from krand.terminal.output import Output
from krand.terminal.overwriting import files_named_in

EXAMPLE = "browser.toml"
MARK = ".krand-demo"
MARK_TEXT = "krand demo created this folder and replaces the files in it.\n"
WRITTEN = (MARK, "plan.json", "responses.parquet", "tally.json", "results.json", "report.html")
"""File names that are written for every survey."""
STEPS = 5
"""Planning, answering, collecting, estimating, comparing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to demonstrate."""

    folder: Path
    survey: Path | None = None
    """The example by default."""
    crowd: int | None = None
    """The survey's own number by default."""
    seed: int = 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Demonstration:
    """Everything that the demonstration shows."""

    asked: Asked
    results: Results
    answers: tuple[Answer, ...]
    held: Held
    baselines: tuple[Baseline, ...]
    written: dict[str, Path]
    dummies: int
    """How many all mixers added."""

    @property
    def plan(self) -> Plan:
        """The survey with its noise."""
        return self.results.plan


def example_text() -> str:
    """The example survey that comes with krand."""
    return resources.files("krand.demo").joinpath(EXAMPLE).read_text(encoding="utf-8")


def demonstrate(asked: Asked, out: Output) -> Demonstration:
    """Run the survey and write all files except the report."""
    chance = Chance(asked.seed)
    if asked.survey is None:
        survey = parse_survey(example_text(), source=EXAMPLE)
    else:
        survey = read_survey(asked.survey)
        # It may be in the folder, but not under a name that will be written.
        inputs = [asked.survey, *files_named_in(asked.survey)]
        for name in WRITTEN:
            keep_inputs("output", asked.folder / name, inputs)
    if asked.crowd is not None:
        survey = _for_a_crowd(survey, asked.crowd)
    crowd = Crowd(survey, survey.policy.minimum_crowd, chance.people())
    _claim(asked.folder)
    step = itertools.count(1)
    out.begin(next(step), STEPS)
    with out.progress("planning"):
        plan = make_plan(survey)
    written = _write_plan(asked, plan)
    out.begin(next(step), STEPS)
    with out.counting("answering", crowd.people, "people") as told:
        truth = truth_of(crowd, told)
    out.begin(next(step), STEPS)
    if survey.trust.chain:
        tally = mixed_tally(plan, truth.positions, crowd.people, chance.noise("mixers"))
        sent = crowd.people * plan.messages
        dummies = int(tally.counts.sum()) + tally.nulls - sent
    else:
        written["responses"] = asked.folder / "responses.parquet"
        tally, dummies = _randomized(plan, crowd, chance, written["responses"], out), 0
    options = ResultsOptions(candidates={name: list(known) for name, known in truth.words.items()})
    out.begin(next(step), STEPS)
    with out.progress("estimating") as progress:
        results = make_results(plan, tally, options, progress)
    written |= {"tally": asked.folder / "tally.json", "results": asked.folder / "results.json"}
    tally.save(written["tally"])
    results.save(written["results"])
    out.begin(next(step), STEPS)
    with out.progress("comparing"):
        baselines = all_baselines(plan)
    answers = answers_beside_truth(results, tally, truth)
    return Demonstration(
        asked=asked,
        results=results,
        answers=answers,
        held=held(answers, options.estimate_options.confidence),
        baselines=baselines,
        written=written,
        dummies=dummies,
    )


def _claim(folder: Path) -> None:
    """Claim a folder that is empty or was claimed before; its files will be replaced."""
    ensure_directory("output", folder)
    mark = folder / MARK
    if not mark.exists() and any(folder.iterdir()):
        rule = "must be an empty folder, or one that krand demo created"
        raise InvalidInput("output", rule, str(folder), "name another folder with --output")
    write_atomically("output", mark, MARK_TEXT)


def _for_a_crowd(survey: Survey, crowd: int) -> Survey:
    """The survey for another crowd, with the same share of colluding participants."""
    check_crowd(crowd)
    policy = survey.policy
    share = -(-policy.colluding * crowd // policy.minimum_crowd)  # rounded up
    policy = policy.changed(minimum_crowd=crowd, colluding=min(share, crowd - 2))
    return survey.changed(policy=policy, expected=None)


def _write_plan(asked: Asked, plan: Plan) -> dict[str, Path]:
    """Write the plan, and the survey with the requested policy if it is the example."""
    path = asked.folder / "plan.json"
    write_atomically("output", path, plan.bytes)
    if asked.survey is not None:
        return {"survey": asked.survey, "plan": path}
    survey, text = asked.folder / "survey.toml", example_text()
    policy = plan.survey.policy
    text = text.replace("minimum_crowd = 100_000 ", f"minimum_crowd = {policy.minimum_crowd:_} ")
    write_atomically("output", survey, text)
    return {"survey": survey, "plan": path}


def _randomized(plan: Plan, crowd: Crowd, chance: Chance, responses: Path, out: Output) -> Tally:
    """Devices randomize, responses are shuffled, the analyst counts."""
    with out.counting("randomizing", crowd.people, "people") as told:
        run = chance.noise("run").bytes(16).hex()
        write_responses(plan, crowd, chance.noise("devices"), responses, run, told)
    sources = responses_in(plan, [responses])
    with out.counting("counting", sources[0].rows, "rows") as told:
        return tally_sources(plan, sources, options=Options(progress=told))
