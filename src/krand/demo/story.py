"""The whole survey, from planning to the report: answered, randomized, counted, compared.

Each step uses the same code as a real survey, and writes its file.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from krand.analysis.checks import State
from krand.analysis.engines import Options
from krand.analysis.results import Results, ResultsOptions, make_results
from krand.analysis.tally import Tally
from krand.analysis.tallying import responses_in, tally_sources
from krand.analysis.verification.files import verify_files
from krand.demo.baselines import all_baselines
from krand.demo.chain import Chain, new_chain
from krand.demo.devices import write_responses
from krand.demo.live import Collected, Keys, for_a_crowd, for_a_small_crowd, new_keys
from krand.demo.methods import Baseline, by_mixers, is_mixable
from krand.demo.randomness import Chance
from krand.demo.truth import Answer, Held, answers_beside_truth, held
from krand.errors import InternalError, InvalidInput
from krand.files import ensure_directory, keep_inputs, write_atomically
from krand.planning.making import make_plan
from krand.planning.mechanisms.mixers import TYPICAL_CHAIN
from krand.simulation.crowd import Crowd, truth_of
from krand.survey import mechanisms
from krand.survey.plan import Plan
from krand.survey.reading import parse_survey, read_survey
from krand.survey.survey import Survey, Trust
from krand.terminal.output import Output
from krand.terminal.overwriting import files_named_in

EXAMPLE = "browser.toml"
MARK = ".krand-demo"
MARK_TEXT = "krand demo created this folder and replaces the files in it.\n"
WRITTEN = (
    *(MARK, "plan.json", "responses.parquet", "tally.json", "results.json", "report.html"),
    *("batch.parquet", "batch.manifest.json", "batch.chain.json"),
    *("analyst.pem", "analyst.pub.pem", "collector.pem", "collector.pub.pem"),
)
"""File names that are written for every survey."""
STEPS = 5
"""Planning, answering, collecting, estimating, comparing; live, verifying too."""
LIVE_PEOPLE = 1_000
"""Each of them seals and sends; this takes half a minute."""
CHECKED = ("plan", "tally", "results", "manifest", "chain")
"""Files of a live demonstration that are verified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to demonstrate."""

    folder: Path
    survey: Path | None = None
    """The example by default."""
    crowd: int | None = None
    """The survey's own number by default; live, 1,000."""
    seed: int = 1
    live: bool = False
    noise: mechanisms.Mechanism | None = None
    """Who adds the noise of a live demonstration; by default mixers, if the survey allows it."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Demonstration:
    """Everything that the demonstration shows."""

    asked: Asked
    results: Results
    answers: tuple[Answer, ...]
    held: Held
    baselines: tuple[Baseline, ...]
    epsilon_asked: float
    """The survey's own ε; a live demonstration may use a larger one."""
    written: dict[str, Path]
    dummies: tuple[int, ...] = ()
    """How many each mixer of a live demonstration added."""
    checks: int = 0
    """How many checks all files of a live demonstration have passed."""
    not_checked: int = 0
    """How many could not be made: nobody signs the counts of a demonstration."""

    @property
    def plan(self) -> Plan:
        """The survey with its noise."""
        return self.results.plan

    @property
    def has_fresh_noise(self) -> bool:
        """Whether the noise is secret, as on real devices."""
        return self.asked.live or Chance(self.asked.seed).is_fresh


def example_text() -> str:
    """The example survey that comes with krand."""
    return resources.files("krand.demo").joinpath(EXAMPLE).read_text(encoding="utf-8")


def demonstrate(asked: Asked, out: Output) -> Demonstration:
    """Run the survey and write all files except the report."""
    _claim(asked.folder)
    chance = Chance(asked.seed)
    own = _own_survey(asked)
    _spare_inputs(asked)
    survey = _survey(asked, own)
    crowd = Crowd(survey, survey.policy.minimum_crowd, chance.people())
    parties = _parties(asked, survey)
    step, steps = itertools.count(1), STEPS if parties is None else STEPS + 1
    out.begin(next(step), steps)
    with out.progress("planning"):
        plan = make_plan(survey)
    plan = plan if parties is None else parties.named_in(plan)
    written = _write_plan(asked, plan)
    out.begin(next(step), steps)
    with out.counting("answering", crowd.people, "people") as told:
        truth = truth_of(crowd, told)
    out.begin(next(step), steps)
    if parties is None:
        collected = _randomized(plan, crowd, chance, asked.folder, out)
    else:
        collected = parties.collected(plan, crowd, asked.folder, out)
    tally = collected.tally
    written |= collected.written
    options = ResultsOptions(candidates={name: list(known) for name, known in truth.words.items()})
    out.begin(next(step), steps)
    with out.progress("estimating") as progress:
        results = make_results(plan, tally, options, progress)
    written |= _write_results(asked.folder, tally, results)
    checks, missing = 0, 0
    if parties is not None:
        out.begin(next(step), steps)
        checks, missing = _verified(plan, parties, written, out)
    out.begin(next(step), steps)
    baselines = all_baselines(plan, tally, crowd, truth.positions, chance, out)
    answers = answers_beside_truth(results, tally, truth)
    holding = held(answers, options.estimate_options.confidence)
    return Demonstration(
        asked=asked,
        results=results,
        answers=answers,
        held=holding,
        baselines=baselines,
        epsilon_asked=own.policy.epsilon,
        written=written,
        dummies=collected.dummies,
        checks=checks,
        not_checked=missing,
    )


def _claim(folder: Path) -> None:
    """Claim a folder that is empty or was claimed before; its files will be replaced."""
    ensure_directory("output", folder)
    mark = folder / MARK
    if not mark.exists() and any(folder.iterdir()):
        rule = "must be an empty folder, or one that krand demo created"
        raise InvalidInput("output", rule, str(folder), "name another folder with --output")
    write_atomically("output", mark, MARK_TEXT)


def _own_survey(asked: Asked) -> Survey:
    if asked.survey is not None:
        return read_survey(asked.survey)
    return parse_survey(example_text(), source=EXAMPLE)


def _spare_inputs(asked: Asked) -> None:
    """The survey may be in the folder, but not under a name that will be written."""
    if asked.survey is not None:
        inputs = [asked.survey, *files_named_in(asked.survey)]
        for name in WRITTEN:
            keep_inputs("output", asked.folder / name, inputs)


def _survey(asked: Asked, own: Survey) -> Survey:
    """The survey for the requested crowd."""
    if asked.live:
        people = LIVE_PEOPLE if asked.crowd is None else asked.crowd
        return for_a_small_crowd(_with_noise(asked, own), people)
    _check_simulated(asked, own)
    if asked.crowd is None:
        return own
    return for_a_crowd(own, asked.crowd)


def _check_simulated(asked: Asked, own: Survey) -> None:
    """Only devices can be simulated without any of the processes."""
    if asked.noise is not None:
        rule = "must be given with --live only"
        hint = "without it, devices' and mixers' noise are both in the comparison"
        raise InvalidInput("noise", rule, asked.noise.code, hint)
    if own.trust.chain:
        rule = 'must be "devices" without --live'
        hint = "add --live: it starts the collector and the mixers on this machine"
        raise InvalidInput("trust.noise", rule, own.trust.noise.code, hint)


def _with_noise(asked: Asked, own: Survey) -> Survey:
    """The survey with the noise that was asked for, or its own mixers, or a typical chain."""
    if asked.noise is not None and not asked.noise.chain(1):
        return replace(own, trust=Trust(noise=asked.noise))
    if own.trust.chain and asked.noise in (None, own.trust.noise):
        return own
    alone = not is_mixable(own) or own.policy.max_local_epsilon is not None
    if asked.noise is None and alone:
        return own
    return by_mixers(own, TYPICAL_CHAIN)


def _parties(asked: Asked, survey: Survey) -> Keys | Chain | None:
    """Who takes part in a live demonstration."""
    if not asked.live:
        return None
    if survey.trust.chain:
        return new_chain(asked.folder, survey)
    return new_keys(asked.folder)


def _verified(
    plan: Plan, parties: Keys | Chain, written: dict[str, Path], out: Output
) -> tuple[int, int]:
    """How many checks all files pass, and how many cannot be made; one that fails is a bug."""
    key = parties.collector.public_key() if isinstance(parties, Keys) else None
    with out.progress("verifying") as progress:
        files = [written[kind] for kind in CHECKED if kind in written]
        checks = [
            check for file in verify_files(files, plan, key, progress) for check in file.checks
        ]
    failed = [f"{check.name}: {check.says}" for check in checks if check.state is State.FAILED]
    if failed:
        raise InternalError(f"files of the demonstration do not verify: {'; '.join(failed)}")
    passed = sum(check.holds for check in checks)
    return passed, len(checks) - passed


def _write_plan(asked: Asked, plan: Plan) -> dict[str, Path]:
    """Write the plan, and the survey with the requested policy if it is the example."""
    path = asked.folder / "plan.json"
    write_atomically("output", path, plan.bytes)
    if asked.survey is not None:
        return {"survey": asked.survey, "plan": path}
    survey, text = asked.folder / "survey.toml", example_text()
    policy = plan.survey.policy
    text = text.replace("minimum_crowd = 100_000 ", f"minimum_crowd = {policy.minimum_crowd:_} ")
    text = text.replace("epsilon = 1.0\n", f"epsilon = {policy.epsilon!r}\n")
    text += _trust_text(plan.survey.trust)
    write_atomically("output", survey, text)
    return {"survey": survey, "plan": path}


def _trust_text(trust: Trust) -> str:
    if not trust.chain:
        return ""
    return f'\n[trust]\nnoise = "{trust.noise.code}"\nmixers = {trust.mixers}\n'


def _randomized(plan: Plan, crowd: Crowd, chance: Chance, folder: Path, out: Output) -> Collected:
    """Devices randomize, responses are shuffled, the analyst counts."""
    responses = folder / "responses.parquet"
    with out.counting("randomizing", crowd.people, "people") as told:
        run = chance.noise("run").bytes(16).hex()
        write_responses(plan, crowd, chance.noise("devices"), responses, run, told)
    sources = responses_in(plan, [responses])
    with out.counting("counting", sources[0].rows, "rows") as told:
        tally = tally_sources(plan, sources, options=Options(progress=told))
    return Collected(tally=tally, written={"responses": responses})


def _write_results(folder: Path, tally: Tally, results: Results) -> dict[str, Path]:
    written = {"tally": folder / "tally.json", "results": folder / "results.json"}
    tally.save(written["tally"])
    results.save(written["results"])
    return written
