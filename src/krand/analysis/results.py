"""Results: estimates with the promise they were made under; one does not exist without it."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krand import __version__
from krand.analysis.actual_promise import actual_coalitions, actual_promise
from krand.analysis.estimates.asked import estimate_asked
from krand.analysis.estimates.counted import block_counts, question_law
from krand.analysis.estimates.intervals import Sampling, quantile_of
from krand.analysis.estimates.questions import estimate_questions
from krand.analysis.estimates.rows import QUARTILES, EstimateOptions
from krand.analysis.estimates.values import AskedEstimate, QuestionEstimate
from krand.analysis.joint.conditional import ConditionalTable, conditional_table
from krand.analysis.joint.independence import IndependenceTest, independence_test
from krand.analysis.joint.tables import JointTable, joint_table
from krand.analysis.mechanisms.models import CountModel
from krand.analysis.tally import Tally
from krand.analysis.tally_checks import check_tally
from krand.analysis.words.decoding import WordsEstimate, decode_words
from krand.batches.provenance import Provenance
from krand.errors import InvalidInput
from krand.files import write_atomically
from krand.planning.coalitions import Remainder
from krand.planning.promises import check_promise, keeps_policy
from krand.promise import Promise
from krand.showing import Shown, at_most, one_line, some
from krand.survey.plain_values import plain, written_names
from krand.survey.plan import Plan
from krand.survey.questions import Kind

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Names = tuple[str, ...]

FORMAT = "krand-results-1"
FORMS = ("json", "parquet", "csv", "xlsx")


EVERYBODY = "everybody"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsOptions:
    """How to estimate: the options of `krand estimate`, under the same names.

    >>> from krand import ResultsOptions
    >>> options = ResultsOptions(confidence=0.9, sample_of=80_000_000)
    >>> options.estimate_options.sampling
    Sampling(population=80000000)
    """

    confidence: float = 0.95
    """Of the intervals."""
    sample_of: int | str | None = None
    """The crowd is a random sample of so many people, or of "everybody", without limit."""
    quantiles: tuple[float, ...] = QUARTILES
    """Of `number` questions."""
    joint: tuple[Names, ...] = ()
    """Tables of questions; those of groups that were declared together are always made."""
    candidates: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Words to look for, for each `words` question."""

    def __post_init__(self) -> None:
        if isinstance(self.sample_of, str) and self.sample_of != EVERYBODY:
            rule = f"must be a number of people, or {EVERYBODY!r}"
            raise InvalidInput("sample_of", rule, self.sample_of)

    @property
    def estimate_options(self) -> EstimateOptions:
        """What concerns each question by itself."""
        return EstimateOptions(self.confidence, self._sampling(), self.quantiles)

    def _sampling(self) -> Sampling | None:
        if self.sample_of is None:
            return None
        return Sampling() if isinstance(self.sample_of, str) else Sampling(self.sample_of)


@dataclass(frozen=True, slots=True)
class JointResult:
    """How answers relate."""

    table: JointTable
    given: tuple[ConditionalTable, ...]
    """For two questions: each one's answers among those who gave an answer to the other."""
    independence: IndependenceTest | None
    """None for more than two questions, or where too little is left to test."""

    def __repr__(self) -> str:
        return one_line("JointResult", repr(self.table))


@dataclass(frozen=True, slots=True, kw_only=True)
class Results(Shown):
    """A survey's results, ready to be published.

    >>> from krand import make_results, randomize_table, tally_responses
    >>> from krand.testing import simulated_table, small_plan
    >>> plan = small_plan()
    >>> _ = randomize_table(plan, simulated_table(plan.survey, 100, seed=1), "responses.parquet")
    >>> results = make_results(plan, tally_responses(plan, ["responses.parquet"]))
    >>> results.kept, results.promise.epsilon
    (True, 2.0)
    """

    plan: Plan
    round: int
    people: int
    crowd: int
    promise: Promise
    """For the people who took part."""
    coalitions: tuple[Remainder, ...]
    """What remains for these people when others work together; nothing where a data holder
    randomized a table."""
    kept: bool
    """Whether it is as good as what the survey asked for."""
    questions: tuple[QuestionEstimate, ...]
    words: tuple[WordsEstimate, ...]
    joint: tuple[JointResult, ...]
    nulls: int
    rejected: Mapping[str, int]
    batches: tuple[str, ...]
    versions: Mapping[str, str]
    """What computed them; enough to compute them again."""
    ids: tuple[str, ...]
    provenance: Provenance
    """Where noise was added to answers, which decides what can be said about the results."""
    different_people: bool
    """Whether the analyst declared that files randomized apart are about different people."""
    tally_sha256: str
    """Of the tally that they were estimated from."""
    asked: tuple[AskedEstimate, ...] = ()
    """Questions with a condition, among those who were asked or who answered."""

    def __repr__(self) -> str:
        promise = self.promise
        kept = f"ε = {at_most(promise.epsilon)}, δ ≤ {at_most(promise.delta)}"
        asked = some(len(self.questions), "question")
        crowd = f"{self.people:,} people"
        name = f"Results of {self.plan.survey.id}"
        return one_line(name, crowd, f"round {self.round:,}", asked, kept)

    @property
    def sampling(self) -> Sampling | None:
        """What the people are a sample of; None where they are all that is asked about."""
        return self.questions[0].sampling if self.questions else None

    def values(self) -> dict[str, Any]:
        """Everything as plain data, with the whole plan; what is not a finite number is None."""
        names = (name for name in written_names(Results) if name != "plan")
        rest = {name: plain(getattr(self, name)) for name in names}
        return {"format": FORMAT, "plan_hash": self.plan.hash, "plan": self.plan.values(), **rest}

    def save(self, path: str | Path, form: str | None = None) -> None:
        """Write everything as JSON, or a flat table if the name ends in .csv, .parquet or .xlsx.

        `form` (json, parquet, csv, xlsx) decides where the name does not.

        >>> import json
        >>> from krand import make_results, randomize_table, tally_responses
        >>> from krand.testing import simulated_table, small_plan
        >>> plan = small_plan()
        >>> _ = randomize_table(plan, simulated_table(plan.survey, 100, seed=1), "r.parquet")
        >>> results = make_results(plan, tally_responses(plan, ["r.parquet"]))
        >>> results.save("results.json")
        >>> json.load(open("results.json"))["people"]
        100
        """
        form = form_of(path) if form is None else form
        if form not in FORMS:
            raise InvalidInput("format", f"must be one of {', '.join(FORMS)}", form)
        if form != "json":
            _write_flat(self, path, form)
            return
        text = json.dumps(self.values(), indent=1, ensure_ascii=False)
        write_atomically("output", Path(path), f"{text}\n")

    def to_arrow(
        self, joint: Sequence[str] | None = None, *, question: str | None = None
    ) -> pa.Table:
        """All estimates as one long Arrow table; the columns are described with the file formats.

        With `joint`: the cells of this joint table alone, with a column for each question. With
        `question`: the answers to this question alone, in the few columns that show them.

        >>> from krand import make_results, randomize_table, tally_responses
        >>> from krand.testing import simulated_table, small_plan
        >>> plan = small_plan()
        >>> _ = randomize_table(plan, simulated_table(plan.survey, 100, seed=1), "r.parquet")
        >>> results = make_results(plan, tally_responses(plan, ["r.parquet"]))
        >>> results.to_arrow().column_names[:5]
        ['question', 'kind', 'answer', 'count', 'consistent']
        >>> results.to_arrow(question="pet")["answer"].to_pylist()
        ['cat', 'dog', 'none', 'unanswered']
        """
        if question is None:
            return _tables().flat_table(self, joint)
        if joint is not None:
            rule, hint = "must not be given beside joint", "leave one of them out"
            raise InvalidInput("question", rule, question, hint)
        return _tables().question_table(self, question)

    def to_pandas(
        self, joint: Sequence[str] | None = None, *, question: str | None = None
    ) -> pd.DataFrame:
        """The same as a pandas data frame; needs krand[pandas]."""
        from krand.batches.frames import pandas_frame  # it needs pyarrow

        frame: pd.DataFrame = pandas_frame(self.to_arrow(joint, question=question))
        return frame

    def to_polars(
        self, joint: Sequence[str] | None = None, *, question: str | None = None
    ) -> pl.DataFrame:
        """The same as a polars data frame; needs krand[polars]."""
        from krand.batches.frames import polars_frame  # it needs pyarrow

        frame: pl.DataFrame = polars_frame(self.to_arrow(joint, question=question))
        return frame

    def to_csv(self, path: str | Path, joint: Sequence[str] | None = None) -> None:
        """The same as a CSV file, in which no text is a formula for a spreadsheet."""
        _write_flat(self, path, "csv", joint)

    def to_excel(self, path: str | Path, joint: Sequence[str] | None = None) -> None:
        """An Excel workbook: a sheet to read, one for each question, all numbers last.

        With `joint` it has this table alone. Needs krand[excel].
        """
        _write_flat(self, path, "xlsx", joint)


def _tables() -> Any:
    """Imported by name: it builds on this module."""
    return import_module("krand.analysis.results_table")


def _write_flat(
    results: Results, path: str | Path, form: str, joint: Sequence[str] | None = None
) -> None:
    from krand.analysis.results_sheets import write_table  # it needs pyarrow

    sheets = reading_sheets(results) if form == "xlsx" and joint is None else ()
    write_table(Path(path), results.to_arrow(joint), form, sheets)


def reading_sheets(results: Results, invited: int | None = None) -> Any:
    """What a workbook has for people; imported by name, because it is a higher layer."""
    return import_module("krand.report.workbook").sheets_of(results, invited)


def form_of(path: str | Path, field: str = "path") -> str:
    """The form of results that the ending of a name asks for; JSON if it has none."""
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending and ending not in FORMS:
        known = ", ".join(f".{form}" for form in FORMS)
        rule, hint = f"must end in {known}", "spreadsheets open .csv and .xlsx"
        raise InvalidInput(field, rule, str(path), hint)
    return ending or "json"


def make_results(
    plan: Plan,
    tally: Tally,
    options: ResultsOptions | None = None,
    progress: Callable[[str], None] | None = None,
) -> Results:
    """Estimate everything that a tally tells, with the promise for its own crowd.

    >>> from krand import make_results, randomize_table, tally_responses
    >>> from krand.testing import simulated_table, small_survey, unsafe_exact_plan
    >>> plan = unsafe_exact_plan(small_survey())  # without noise, to see what comes out
    >>> _ = randomize_table(plan, simulated_table(plan.survey, 100, seed=1), "responses.parquet")
    >>> results = make_results(plan, tally_responses(plan, ["responses.parquet"]))
    >>> for row in results.questions[1].rows:
    ...     print(row.label, round(row.consistent))
    cat 46
    dog 33
    none 15
    """
    options = ResultsOptions() if options is None else options
    told = progress or (lambda _: None)
    check_tally(plan, tally)
    check_promise(plan)
    _check_candidates(plan, options.candidates)
    told("promise")
    promise = actual_promise(plan, tally)
    told("questions")
    questions = estimate_questions(plan, tally, options.estimate_options)
    told("joint tables")
    declared = (group.questions for group in plan.survey.together)
    tables = (
        joint_table(plan, tally, names, options.confidence)
        for names in dict.fromkeys((*declared, *options.joint))
    )
    sampling = options.estimate_options.sampling
    joint = tuple(joint_result_of(table, sampling) for table in tables)
    told("words")
    packages = {name: version(name) for name in ("numpy", "scipy")}
    words = tuple(_words(plan, tally, name, options) for name in options.candidates)
    return Results(
        plan=plan,
        round=tally.round,
        people=tally.people,
        crowd=tally.crowd,
        promise=promise,
        coalitions=actual_coalitions(plan, tally),
        kept=keeps_policy(plan.survey.policy, promise),
        questions=questions,
        words=words,
        joint=joint,
        nulls=tally.nulls,
        rejected=dict(tally.rejected),
        batches=tally.batches,
        versions={"krand": __version__, "python": platform.python_version(), **packages},
        ids=tally.ids,
        provenance=tally.provenance,
        different_people=tally.different_people,
        tally_sha256=tally.sha256,
        asked=estimate_asked(plan, tally, options.estimate_options),
    )


def law_of(results: Results, question: str) -> CountModel:
    """The law of one answer to a question."""
    return question_law(results.plan, question, results.people, counted_responses(results))


def counted_responses(results: Results) -> int:
    """How many responses were counted; where some were refused, standard errors tell how many."""
    plan, people = results.plan, results.people
    if plan.token_lanes:
        return people  # also for those who sent nothing
    all_of_them = people * plan.survey.copies
    refused = sum(results.rejected.values())
    if not refused or not results.questions:
        return all_of_them
    noise, error = plan.blocks[0].noise, results.questions[0].rows[0].standard_error
    if error <= 0:
        return all_of_them
    found = round(noise * (1 - noise) * (people / (1 - 2 * noise) / error) ** 2)
    return found if all_of_them - refused <= found <= all_of_them else all_of_them


def joint_result_of(table: JointTable, sampling: Sampling | None) -> JointResult:
    """A table with what follows from it."""
    if len(table.questions) != 2:
        return JointResult(table, (), None)
    given = tuple(conditional_table(table, name, sampling) for name in table.questions)
    try:
        test = independence_test(table)
    except InvalidInput:  # too few answers, far too many cells, or mostly noise
        test = None
    return JointResult(table, given, test)


def _check_candidates(plan: Plan, candidates: Mapping[str, Sequence[str]]) -> None:
    for name in candidates:
        if plan.layout.first_block_of(name).kind is not Kind.WORDS:
            raise InvalidInput("candidates", "must be for a question of type words", name)


def _words(plan: Plan, tally: Tally, name: str, options: ResultsOptions) -> WordsEstimate:
    (counts,) = (c for c in block_counts(plan, tally) if c.block.name == name)
    confidence = options.estimate_options.confidence
    return decode_words(
        plan.layout,
        name,
        counts.law.estimate(counts.ones),
        counts.law.sigma,
        tally.people,
        options.candidates[name],
        confidence=confidence,
        z=quantile_of(counts.law, confidence),
    )
