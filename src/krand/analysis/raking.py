"""Weighting to known margins: a joint table scaled until its sums are those of a population.

Iterative proportional fitting of the unbiased cells x to w·x: the weight w of a cell is a product
of one factor for each of its known answers (with one known question, what is known divided by what
was estimated). There are no individual data, so only questions that were declared together can be
weighted. A single cell may be negative and stays so, which keeps the sums unbiased; a group that
may be empty has no weight, and is refused.

Shares are smooth functions of the cells, so their errors are, to first order, sums of the cells'
errors: with m = w·x, the indicators D of known answers and H = DᵀmD,

    dm = (I - mDH⁺Dᵀ)w dx        d log w = -DH⁺Dᵀw dx

Cells of a group have independent noise, those of whole records the covariance of `table_noise`; a
sample adds cx. z is that of the exact law of sums, and half a one more. Where the size of a group
is itself uncertain, 1/(1-g) widens what its cells add, as Fieller's g = z²·Var/size² does for one
ratio; simulated, intervals then miss in fewer surveys than they say.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from krand.analysis.estimates.intervals import check_confidence, simultaneous_confidence
from krand.analysis.estimates.sampling import Sampling
from krand.analysis.estimates.simplex import nearest_possible
from krand.analysis.estimates.values import Interval
from krand.analysis.joint.independence import MAX_CELLS
from krand.analysis.joint.tables import JointTable
from krand.analysis.linked_tables import linked_table
from krand.analysis.mechanisms.models import Floats
from krand.analysis.results import Results
from krand.errors import InvalidInput
from krand.files import read_whole
from krand.promise import READABLE

Margins = Mapping[str, Mapping[str, float]]

COLUMNS = ["question", "answer", "people"]
ROUNDED = 1e-3
"""By so much the sums of two margins may differ: published ones are rounded."""
ROUNDS, CLOSE = 1_000, 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """What everybody with these answers counts; 1 on average."""

    answers: tuple[str, ...]
    """One to each question with a known margin."""
    weight: float
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedShare:
    """One answer, as a share of the weighted people who answered."""

    label: str
    unweighted: float
    """Before weighting, unbiased."""
    share: float
    """Unbiased to first order; may be negative or above 1."""
    consistent: float
    """The nearest shares that are possible: what tables show."""
    standard_error: float
    """Wider than to first order where the size of a group is uncertain."""
    interval: Interval
    """Contains `consistent`."""
    simultaneous: Interval
    """The same, but so that all answers hold together."""
    readable: bool
    """False where the margin of error is above 15 points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raked:
    """A question weighted to known margins, among those who answered all of these questions."""

    question: str
    margins: tuple[str, ...]
    """The questions whose margins are known."""
    confidence: float
    weights: tuple[Weight, ...]
    shares: tuple[WeightedShare, ...]


def rake(
    results: Results, question: str, margins: Margins | str | Path, confidence: float = 0.95
) -> Raked:
    """The shares of a question's answers, weighted to known margins of questions linked with it.

    `margins` are people, or shares, for each answer; or a CSV file of them with the columns
    question, answer and people.

    >>> import krand
    >>> from krand.testing import simulated_table, unsafe_exact_plan
    >>> together = '[[together]]\\nquestions = ["smokes", "pet"]\\n'
    >>> survey = krand.parse_survey(krand.testing.SMALL_SURVEY + together)
    >>> plan = unsafe_exact_plan(survey)  # without noise
    >>> _ = krand.randomize_table(plan, simulated_table(survey, 100, seed=1), "r.parquet")
    >>> results = krand.make_results(plan, krand.tally_responses(plan, ["r.parquet"]))
    >>> raked = krand.rake(results, "pet", {"smokes": {"yes": 20, "no": 80}})
    >>> for row in raked.shares:
    ...     print(row.label, round(row.unweighted, 2), round(row.share, 2))
    cat 0.49 0.44
    dog 0.35 0.37
    none 0.16 0.19
    """
    check_confidence(confidence)
    if not isinstance(margins, Mapping):
        margins = read_margins(margins)
    if not margins or question in margins:
        rule = "must be of other questions than the one that is weighted"
        hint = "give what is known of questions that were declared together with it"
        raise InvalidInput("margins", rule, ", ".join(margins) or "none", hint)
    table = linked_table(results, [*margins, question], confidence)
    targets = [_target(table, axis, known) for axis, known in enumerate(margins.values())]
    _check_sums(margins)
    return _raked(table, targets, results.sampling)


def read_margins(path: str | Path) -> dict[str, dict[str, float]]:
    """Known margins from a CSV file: question, answer, people."""
    try:
        text = read_whole("margins", path).decode("utf-8-sig")
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except (UnicodeDecodeError, csv.Error):
        rows = []
    if not rows or rows[0] != COLUMNS or any(len(row) != len(COLUMNS) for row in rows):
        rule = f"must be a CSV file with the columns {', '.join(COLUMNS)}"
        raise InvalidInput("margins", rule, str(path), "save it as CSV, in UTF-8, with commas")
    margins: dict[str, dict[str, float]] = {}
    for question, answer, people in rows[1:]:
        known = margins.setdefault(question, {})
        if answer in known:
            rule = "must have each answer once"
            raise InvalidInput("margins", rule, f"{question} = {answer}", "remove one of the rows")
        try:
            known[answer] = float(people)
        except ValueError:
            raise _no_number(f"{question} = {answer}: {people}") from None
    return margins


def _no_number(found: str) -> InvalidInput:
    rule = "must be numbers of people, 0 or more"
    return InvalidInput("margins", rule, found, "enter people or shares")


def _target(table: JointTable, axis: int, known: Mapping[str, float]) -> Floats:
    """The known shares of a question's answers, each of which must be named."""
    name, labels = table.questions[axis], table.labels[axis][: table.answers[axis]]
    strange, missing = [a for a in known if a not in labels], [a for a in labels if a not in known]
    if strange or missing:
        rule = f"must name the answers to {name}, each of them"
        found = f"unknown: {', '.join(strange)}" if strange else f"missing: {', '.join(missing)}"
        raise InvalidInput("margins", rule, found, f"its answers are {', '.join(labels)}")
    for label in labels:
        if not (math.isfinite(known[label]) and known[label] >= 0):
            raise _no_number(f"{name} = {label}: {known[label]}")
    values = np.array([known[label] for label in labels], dtype=np.float64)
    if not values.sum() > 0:
        rule, hint = "must have people", "give the people, or shares, of each answer"
        raise InvalidInput("margins", rule, f"{name}: none", hint)
    return np.asarray(values / values.sum())


def _check_sums(margins: Margins) -> None:
    sums = {name: sum(known.values()) for name, known in margins.items()}
    if max(sums.values()) > (1 + ROUNDED) * min(sums.values()):
        found = ", ".join(f"{name}: {total:,.10g}" for name, total in sums.items())
        hint = "they are about the same people; give all of them as people, or all as shares"
        raise InvalidInput("margins", "must have the same sum", found, hint)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Cells:
    """Cells of those who answered all questions, one after another."""

    counts: Floats
    noise: Floats
    """Their covariance by the noise."""
    drawn: Floats
    """Their variances by sampling."""
    groups: tuple[Floats, ...]
    """For each known question, which of its answers a cell has: cells by answers, 0 or 1."""
    answers: Floats
    """The same for the question that is weighted."""

    @property
    def every(self) -> Floats:
        """D: all groups side by side."""
        return np.hstack(self.groups)

    @property
    def sizes(self) -> tuple[Floats, Floats]:
        """The people in every group, and their standard errors by the noise."""
        variances = np.einsum("ca,cd,da->a", self.every, self.noise, self.every, optimize=True)
        return self.every.T @ self.counts, np.sqrt(variances)

    def among(self, possible: Sequence[NDArray[np.bool_]]) -> _Cells:
        """Without the groups that are empty."""
        pairs = list(zip(self.groups, possible, strict=True))
        kept = np.flatnonzero(np.all([group[:, some].any(axis=1) for group, some in pairs], axis=0))
        return _Cells(
            counts=self.counts[kept],
            noise=self.noise[np.ix_(kept, kept)],
            drawn=self.drawn[kept],
            groups=tuple(group[kept][:, some] for group, some in pairs),
            answers=self.answers[kept],
        )

    def errors(self, slopes: Floats, z: float) -> Floats:
        """Of functions of the cells with these slopes; wider where groups are uncertain."""
        sizes, errors = self.sizes
        g = np.max(self.every * (z * errors / sizes) ** 2, axis=1)
        if not (g < 1).all():
            return np.full(len(slopes), np.inf)
        wide = slopes / (1 - g)
        by_noise = np.einsum("ac,cd,ad->a", wide, self.noise, wide, optimize=True)
        return np.asarray(np.sqrt(np.maximum(by_noise, 0.0) + wide**2 @ self.drawn))


def _cells(table: JointTable, sampling: Sampling | None) -> _Cells:
    whole = tuple(slice(number) for number in table.answers)
    counts, fitted = (values[whole].ravel() for values in (table.counts, table.consistent))
    if len(counts) > MAX_CELLS:
        rule = f"must be of a table with at most {MAX_CELLS:,} cells"
        raise InvalidInput("margins", rule, len(counts), "weight to fewer margins")
    assert table.noise is not None
    places = np.indices(table.answers).reshape(len(table.answers), -1)
    has = [np.eye(number)[place] for number, place in zip(table.answers, places, strict=True)]
    return _Cells(
        counts=counts,
        noise=table.noise.of_cells(*(list(range(number)) for number in table.answers)),
        drawn=fitted * (0.0 if sampling is None else sampling.correction(table.people)),
        groups=tuple(has[:-1]),
        answers=has[-1],
    )


def _check_groups(table: JointTable, targets: Sequence[Floats], cells: _Cells, z: float) -> None:
    """Each group that is known to have people has some, and none has that is known to be empty."""
    named = [
        f"{name} = {label}"
        for name, labels, target in zip(table.questions, table.labels, targets, strict=False)
        for label in labels[: len(target)]
    ]
    rows = zip(named, np.concatenate(targets), *cells.sizes, strict=True)
    for name, target, size, error in rows:
        found = f"{name}: {size:,.0f} ± {z * error:,.0f} people"
        if target > 0 and size <= z * error:
            rule = "must be of groups that surely have people"
            hint = "join it with another answer in the next survey, or ask more people"
            raise InvalidInput("margins", rule, found, hint)
        if target == 0 and size > z * error:
            rule = "must not be 0 where people gave the answer"
            raise InvalidInput("margins", rule, found, "correct the margin")


def _factors(cells: _Cells, targets: Sequence[Floats]) -> Floats:
    """w, by iterative proportional fitting."""
    weights = np.ones(len(cells.counts))
    for _ in range(ROUNDS):
        off = 0.0
        for group, target in zip(cells.groups, targets, strict=True):
            sums = group.T @ (weights * cells.counts)
            if not (sums > 0).all():
                break
            off = max(off, float(np.abs(sums / target - 1).max()))
            weights = weights * (group @ (target / sums))
        else:
            if off < CLOSE:
                return weights
            continue
        break
    rule = "must be reached by weights; cells that are negative by noise leave none"
    raise InvalidInput("margins", rule, "no weights", "weight to fewer margins, or ask more people")


def _raked(table: JointTable, targets: Sequence[Floats], sampling: Sampling | None) -> Raked:
    assert table.noise is not None
    whole, z = _cells(table, sampling), table.noise.ratio_quantile(table.confidence)
    _check_groups(table, targets, whole, z)
    possible = [target > 0 for target in targets]
    cells = whole.among(possible)
    factors = _factors(cells, [target[target > 0] for target in targets])
    raked, every = factors * cells.counts, cells.every
    inverse = np.linalg.pinv(every.T @ (raked[:, None] * every), rcond=1e-10, hermitian=True)
    back = every @ inverse @ every.T
    people = cells.counts.sum()
    logs = z * cells.errors(1 / people - back * factors, z)
    apart = np.exp(np.minimum(logs, math.log(2 * table.people)))  # a group has somebody
    slopes = cells.answers.T @ (np.eye(len(raked)) - raked[:, None] * back) * factors
    return Raked(
        question=table.questions[-1],
        margins=table.questions[:-1],
        confidence=table.confidence,
        weights=_weights(table, cells, possible, factors * people, apart),
        shares=_shares(table, cells, raked, slopes),
    )


def _weights(
    table: JointTable,
    cells: _Cells,
    possible: Sequence[NDArray[np.bool_]],
    weights: Floats,
    apart: Floats,
) -> tuple[Weight, ...]:
    """One for each combination of known answers: the cells with the first answer, say."""
    named = list(zip(table.labels, possible, cells.groups, strict=False))
    return tuple(
        Weight(
            answers=tuple(
                labels[np.flatnonzero(some)[group[cell].argmax()]] for labels, some, group in named
            ),
            weight=float(weights[cell]),
            interval=Interval(
                float(weights[cell] / apart[cell]), float(weights[cell] * apart[cell])
            ),
        )
        for cell in np.flatnonzero(cells.answers[:, 0])
    )


def _shares(
    table: JointTable, cells: _Cells, raked: Floats, slopes: Floats
) -> tuple[WeightedShare, ...]:
    """The weighted answers; their errors by these slopes."""
    assert table.noise is not None
    levels = (table.confidence, simultaneous_confidence(table.confidence, table.answers[-1]))
    z, z_all = (table.noise.ratio_quantile(level) for level in levels)
    errors, errors_all = cells.errors(slopes, z), cells.errors(slopes, z_all)
    shares, people = cells.answers.T @ raked, cells.counts.sum()
    shown = nearest_possible(shares, 1.0, least=1.0)
    return tuple(
        WeightedShare(
            label=table.labels[-1][place],
            unweighted=float(cells.answers[:, place] @ cells.counts / people),
            share=float(shares[place]),
            consistent=float(shown[place]),
            standard_error=float(errors[place]),
            interval=_around(shares[place], z * errors[place], shown[place]),
            simultaneous=_around(shares[place], z_all * errors_all[place], shown[place]),
            readable=bool(z * errors[place] <= READABLE),
        )
        for place in range(table.answers[-1])
    )


def _around(share: float, half: float, shown: float) -> Interval:
    ends = Interval(float(share - half), float(share + half))
    return ends.within(0.0, 1.0).containing(float(shown))
