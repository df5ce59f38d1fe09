"""Joint tables hold the truth, and are taken back exactly; what was never linked is refused."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.simulated_surveys import (
    noisy_counts,
    noisy_tables,
    plan_of,
    randomized_tally,
    record_tallies,
    simulated_tallies,
    tally_of,
    true_counts,
)
from krand.analysis.estimates.counted import block_counts
from krand.analysis.estimates.questions import estimate_question
from krand.analysis.joint.records import (
    axes_of,
    bits_needed,
    counts_of_bits,
    inverted,
    product_variance,
)
from krand.analysis.joint.table_noise import LinkedCells, factor_covariance
from krand.analysis.joint.tables import JointTable, joint_table
from krand.analysis.mechanisms.devices import bit_variance
from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.choices import Choices
from krand.survey.encoding import encode
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Number, PickAny, YesNo

ENGINE = Choice(name="engine", choices=Choices(["a", "b", "c"]))
BLOCKER = YesNo(name="blocker")
AGE = Number(name="age", edges=(0, 50, 100))
SPORTS = PickAny(name="sports", choices=Choices(["run", "swim"]))
PEOPLE = 12_000
# engine (a, b, c, silent) down, age (young, old, silent) across
CELLS = np.array([[3_000, 1_000, 500], [500, 2_000, 0], [0, 1_500, 500], [1_000, 0, 2_000]])
Floats = NDArray[np.float64]


def _crowd() -> dict[tuple[tuple[str, object], ...], int]:
    engines, ages = ("a", "b", "c", None), (25.0, 75.0, None)
    return {
        tuple((n, v) for n, v in (("engine", e), ("age", a)) if v is not None): int(CELLS[i, j])
        for i, e in enumerate(engines)
        for j, a in enumerate(ages)
    }


def _check(tables: list[JointTable], truth: NDArray[np.int64], sigma: Floats) -> None:
    """Unbiased, with this deviation, and covered alone and together."""
    counts = np.array([table.counts for table in tables])
    off = (counts - truth) / sigma
    assert np.abs(off.mean(axis=0)).max() < 3.2 / len(tables) ** 0.5
    assert (off**2).mean() ** 0.5 == pytest.approx(1, rel=0.02)
    said = np.array([table.standard_errors for table in tables]).mean(axis=0)
    np.testing.assert_allclose(said, sigma, rtol=0.01)
    for name, least, most in (("interval", 0.94, 0.96), ("simultaneous", 0.935, 0.985)):
        low = np.array([getattr(table, name).low for table in tables])
        high = np.array([getattr(table, name).high for table in tables])
        covered = (low <= truth) & (high >= truth)
        if name == "interval":
            assert least <= covered[:, truth > 100].mean() <= most
        else:
            assert least <= covered.all(axis=(1, 2)).mean() <= most
    for table in tables:
        assert table.consistent.min() >= 0
        assert table.consistent.sum() == pytest.approx(PEOPLE)


@pytest.fixture(scope="module")
def grouped() -> Plan:
    return plan_of([ENGINE, BLOCKER, AGE], [0.03, 0.01], PEOPLE, [["engine", "age"]])


@pytest.mark.check
def test_declared_questions_have_a_table(grouped: Plan) -> None:
    """A thousand surveys of the cells of a group; silence is a row and a column."""
    true = true_counts(grouped, _crowd())
    tallies = simulated_tallies(grouped, true, PEOPLE, 1_000, seed=51)
    tables = [joint_table(grouped, tally, ["engine", "age"]) for tally in tallies]
    one = grouped.blocks[0].precision.sigma
    sigma = np.full((4, 3), one)
    sigma[-1, -1] = one * 11**0.5
    _check(tables, CELLS, sigma)
    assert tables[0].labels[0] == ("a", "b", "c", "unanswered")
    assert tables[0].labels[1] == ("0 to under 50", "50 to under 100", "unanswered")


def test_a_plan_says_how_precise_each_question_of_a_group_will_be(grouped: Plan) -> None:
    """By the estimator's own law, and in a thousand surveys: an answer is a sum over cells."""
    true = true_counts(grouped, _crowd())
    counts = noisy_counts(grouped, true, PEOPLE, 1_000, np.random.default_rng(57))
    (block, *_) = block_counts(grouped, tally_of(grouped, PEOPLE, counts[0]))
    for place, (margin, cells) in enumerate(zip(grouped.blocks[0].margins, (3, 4), strict=True)):
        assert margin.cells == cells
        assert margin.precision == grouped.precision_of(margin.question)
        assert margin.precision.sigma == pytest.approx(block.margin_law(place).sigma)
        assert margin.precision.sigma == pytest.approx(
            grouped.blocks[0].precision.sigma * cells**0.5
        )
        sums = [block.margin(np.append(0, ones[: len(block.ones)]), place)[1:] for ones in counts]
        spread = block.margin_law(place).estimate(np.array(sums)).std(axis=0)
        assert spread == pytest.approx(np.full(len(spread), margin.precision.sigma), rel=0.08)
    assert grouped.blocks[1].margins == ()
    assert grouped.precision_of("blocker") == grouped.blocks[1].precision


def test_the_order_of_questions_turns_the_table(grouped: Plan) -> None:
    """And its margins are the estimates of the questions."""
    (tally,) = simulated_tallies(grouped, true_counts(grouped, _crowd()), PEOPLE, 1, seed=52)
    table = joint_table(grouped, tally, ["engine", "age"])
    turned = joint_table(grouped, tally, ["age", "engine"])
    np.testing.assert_allclose(turned.counts, table.counts.T)
    np.testing.assert_allclose(turned.consistent, table.consistent.T)
    engine = estimate_question(grouped, tally, "engine")
    margin = table.counts.sum(axis=1)
    assert margin[:3] == pytest.approx([row.count for row in engine.rows])
    assert margin[3] == pytest.approx(engine.unanswered.count)
    fitted = table.consistent.sum(axis=1)[:3]
    assert fitted == pytest.approx([row.consistent for row in engine.rows])


@pytest.mark.check
def test_two_questions_of_a_larger_group_add_the_others_up() -> None:
    """Three together: the table of two of them has the deviation of sums over the third."""
    plan = plan_of([AGE, BLOCKER, ENGINE], 0.02, PEOPLE, [["age", "blocker", "engine"]])
    crowd = {(*key, ("blocker", True)): people for key, people in _crowd().items()}
    true = true_counts(plan, crowd)
    random = np.random.default_rng(53)
    counts = noisy_counts(plan, true, PEOPLE, 1_000, random)
    tables = [joint_table(plan, tally_of(plan, PEOPLE, c), ["engine", "age"]) for c in counts]
    sigma = np.full((4, 3), plan.blocks[0].precision.sigma * 3**0.5)
    sigma[-1, -1] *= 11**0.5
    _check(tables, CELLS, sigma)
    whole = joint_table(plan, tally_of(plan, PEOPLE, counts[0]), ["engine", "blocker", "age"])
    assert whole.counts.shape == (4, 3, 3)
    assert whole.noise is not None
    np.testing.assert_allclose(whole.counts.sum(axis=1), tables[0].counts)


@pytest.mark.parametrize(
    "names", [["engine", "blocker"], ["engine", "age", "blocker"], ["engine", "engine"], ["engine"]]
)
def test_an_undeclared_pair_is_refused_with_the_reason(grouped: Plan, names: list[str]) -> None:
    """What was reported apart cannot be linked again; the mend is for the next survey."""
    tally = tally_of(grouped, PEOPLE, np.full(grouped.layout.positions, 500))
    with pytest.raises(InvalidInput, match="cannot be linked again") as error:
        joint_table(grouped, tally, names)
    assert "[[together]]" in str(error.value)
    assert 'linkage = "record"' in str(error.value)


def test_an_unknown_question_is_refused_by_name(grouped: Plan) -> None:
    """As everywhere."""
    tally = tally_of(grouped, PEOPLE, np.full(grouped.layout.positions, 500))
    with pytest.raises(InvalidInput, match="the questions are engine, age, blocker"):
        joint_table(grouped, tally, ["engine", "shoe"])


@pytest.fixture(scope="module")
def linked() -> Plan:
    return plan_of([ENGINE, AGE], 0.15, PEOPLE, linkage=Linkage.RECORD, copies=2)


def _patterns(plan: Plan, crowd: dict[tuple[tuple[str, object], ...], int]) -> NDArray[np.int64]:
    bits = plan.layout.positions
    patterns = np.zeros(2**bits, dtype=np.int64)
    for answers, people in crowd.items():
        ones = encode(plan.layout, dict(answers))
        patterns[sum(1 << (bits - 1 - bit) for bit in ones)] += people
    return patterns


@pytest.fixture(scope="module")
def record_tables(linked: Plan) -> list[JointTable]:
    tallies = record_tallies(linked, _patterns(linked, _crowd()), 1_500, seed=54)
    return [joint_table(linked, tally, ["engine", "age"]) for tally in tallies]


def test_whole_records_have_any_table(linked: Plan, record_tables: list[JointTable]) -> None:
    """With the exact variance at the true counts."""
    v = bit_variance(linked.blocks[0].noise)
    spreads = [np.diag(factor_covariance(bits, v)) for bits in (3, 2)]
    sigma = np.sqrt(product_variance(CELLS.astype(float), spreads) / 2)
    _check(record_tables, CELLS, sigma)


def test_cells_of_records_vary_together_as_computed(
    linked: Plan, record_tables: list[JointTable]
) -> None:
    """The whole covariance matrix, silence included, against the simulated one."""
    v = bit_variance(linked.blocks[0].noise)
    factors = (factor_covariance(3, v), factor_covariance(2, v))
    linked_cells = LinkedCells(CELLS.astype(float), factors, 2)
    said = linked_cells.of_cells([0, 1, 2, 3], [0, 1, 2])
    seen = np.cov(np.array([table.counts.ravel() for table in record_tables]).T)
    scale = np.sqrt(np.outer(np.diag(said), np.diag(said)))
    np.testing.assert_allclose(np.diag(seen) / np.diag(said), 1, atol=0.12)
    assert np.abs((seen - said) / scale).max() < 4.5 / 1_500**0.5 * 1.5
    variance = product_variance(CELLS.astype(float), [np.diag(f) for f in factors]) / 2
    np.testing.assert_allclose(np.diag(said), variance.ravel())


def test_cells_of_three_questions_vary_together_as_every_flip_says() -> None:
    """Exactly: the sum over people of the covariance over all flips of one response's bits."""
    q, axes = 0.1, [[0, 1], [2, 3], [4]]
    v, flips = bit_variance(q), np.array(list(itertools.product((0, 1), repeat=5)))
    chances = np.prod(np.where(flips == 1, q, 1 - q), axis=1)
    people = np.random.default_rng(5).integers(0, 40, (3, 3, 2)).astype(float)
    exact = np.zeros((18, 18))
    for place in np.ndindex(people.shape):
        true = np.array(
            [place[axis] == i for axis, bits in enumerate(axes) for i in range(len(bits))]
        )
        factors = ((flips ^ true) - q) / (1 - 2 * q)
        sides = [np.column_stack([f, 1 - f.sum(axis=1)]) for f in (factors[:, b] for b in axes)]
        cells = np.einsum("na,nb,nc->nabc", *sides).reshape(len(flips), -1)
        mean = chances @ cells
        exact += people[place] * ((cells * chances[:, None]).T @ cells - np.outer(mean, mean))
    noise = LinkedCells(people, tuple(factor_covariance(len(bits), v) for bits in axes), 1.0)
    whole = noise.of_cells([0, 1, 2], [0, 1, 2], [0, 1])
    np.testing.assert_allclose(whole, exact, atol=1e-9)
    some = np.arange(18).reshape(3, 3, 2)[np.ix_([0, 2], [1], [0, 1])].ravel()
    np.testing.assert_allclose(
        noise.of_cells([0, 2], [1], [0, 1]), exact[np.ix_(some, some)], atol=1e-9
    )


def test_records_and_groups_agree_without_noise() -> None:
    """The same crowd, person by person through the randomizer, with all but no flips."""
    tiny = {key: people // 100 for key, people in _crowd().items()}
    for linkage, groups in ((Linkage.RECORD, []), (Linkage.BIT, [["engine", "age"]])):
        plan = plan_of([ENGINE, AGE], 1e-9, 120, groups, linkage)
        crowd = [encode(plan.layout, dict(a)) for a, people in tiny.items() for _ in range(people)]
        table = joint_table(plan, randomized_tally(plan, crowd), ["engine", "age"])
        np.testing.assert_allclose(table.counts, CELLS // 100, atol=1e-4)


def test_items_and_single_answers_can_be_sides() -> None:
    """`question=answer` is one answer against all others; three sides are a cube."""
    plan = plan_of([ENGINE, SPORTS, BLOCKER], 1e-9, 100, linkage=Linkage.RECORD)
    people = [
        {"engine": "a", "sports": ["run"], "blocker": True},
        {"engine": "b", "sports": ["run", "swim"]},
        {"sports": ["swim"], "blocker": False},
    ]
    crowd = [encode(plan.layout, answers) for answers in people for _ in range(10)]
    tally = randomized_tally(plan, crowd)
    sports = joint_table(plan, tally, ["sports=run", "sports=swim"])
    np.testing.assert_allclose(sports.counts, [[10, 10], [10, 0]], atol=1e-4)
    assert sports.labels == (("run", "not run"), ("swim", "not swim"))
    assert sports.answers == (2, 2)
    cube = joint_table(plan, tally, ["engine", "sports=run", "blocker"])
    assert cube.counts.shape == (4, 2, 2)
    assert cube.answers == (3, 2, 2)
    assert cube.counts[0, 0, 0] == pytest.approx(10, abs=1e-4)
    assert cube.counts[3, 1, 1] == pytest.approx(10, abs=1e-4)
    with pytest.raises(InvalidInput, match="sports=…"):
        joint_table(plan, tally, ["engine", "sports"])
    with pytest.raises(InvalidInput, match="all different"):
        joint_table(plan, tally, ["engine", "engine=a"])


def test_long_records_say_which_bits_they_need() -> None:
    """All bits of both questions if their table is small, else pairs; and then the table works."""
    many = Choice(name="many", choices=Choices([str(n) for n in range(15)]))
    plan = plan_of([ENGINE, AGE, many], 0.1, 1_000, linkage=Linkage.RECORD)
    assert bits_needed(plan, ["engine", "age"]) == ((0, 1, 2, 3, 4),)
    pairs = bits_needed(plan, ["age", "many"])
    assert len(pairs) == 30
    assert pairs[0] == (3, 5)
    assert {axis.name for axis in axes_of(plan, ["age", "many"])} == {"age", "many"}
    joint = {pair: np.array([700, 100, 100, 100]) for pair in pairs}
    tally = tally_of(plan, 1_000, np.full(20, 200), joint=joint)
    table = joint_table(plan, tally, ["age", "many"])
    u = np.array([-0.125, 1.125])
    expected = 700 * u[0] ** 2 + 200 * u[0] * u[1] + 100 * u[1] ** 2
    np.testing.assert_allclose(table.counts[:2, :15], expected, rtol=1e-6)
    with pytest.raises(InvalidInput, match="tally the responses again"):
        joint_table(plan, tally, ["engine", "many"])
    short = plan_of([ENGINE, AGE], 0.1, 1_000, linkage=Linkage.RECORD)
    assert bits_needed(short, ["engine", "age"]) == ()


PATTERNS = np.array([500, 0, 300, 200, 0, 700, 0, 300])
COUNTED = int(PATTERNS.sum())


def three_bits(noise: float = 0.2, copies: int = 2) -> Plan:
    questions = [YesNo(name=name) for name in "abc"]
    return plan_of(questions, noise, COUNTED, linkage=Linkage.RECORD, copies=copies)


def test_the_butterfly_is_the_inverse_matrix() -> None:
    """Of [[p,q],[q,p]] taken as often as there are bits, by numpy."""
    flip = np.array([[0.8, 0.2], [0.2, 0.8]])
    matrix = np.kron(np.kron(flip, flip), flip)
    values = np.random.default_rng(1).normal(size=8)
    expected = np.linalg.solve(matrix, values)
    np.testing.assert_allclose(inverted(values.reshape(2, 2, 2), 0.2).ravel(), expected)


def test_the_variance_is_that_of_all_reports_written_out() -> None:
    """Each person's report is a multinomial: inverse · (diag - outer) · inverse, summed."""
    flip = np.array([[0.8, 0.2], [0.2, 0.8]])
    channel = np.kron(np.kron(flip, flip), flip)
    back = np.linalg.inv(channel)
    whole = sum(
        people * back @ (np.diag(column) - np.outer(column, column)) @ back.T
        for people, column in zip(PATTERNS, channel.T, strict=True)
    )
    spreads = [np.full(2, bit_variance(0.2))] * 3
    found = product_variance(PATTERNS.reshape(2, 2, 2).astype(float), spreads)
    np.testing.assert_allclose(found.ravel(), np.diag(whole))


def test_patterns_are_unbiased_as_precise_as_said_and_covered() -> None:
    """In 1,500 simulated surveys with two copies each; a table has "yes" before "no"."""
    plan = three_bits()
    tallies = record_tallies(plan, PATTERNS, 1_500, seed=41)
    tables = [joint_table(plan, tally, ["a", "b", "c"]) for tally in tallies]
    counts = np.array([table.counts.ravel()[::-1] for table in tables])
    errors = np.array([table.standard_errors.ravel()[::-1] for table in tables])
    spreads = [np.full(2, bit_variance(plan.blocks[0].noise))] * 3
    truth = PATTERNS.reshape(2, 2, 2).astype(float)
    sigma = np.sqrt(product_variance(truth, spreads).ravel() / 2)
    off = (counts - PATTERNS) / sigma
    assert np.abs(off.mean(axis=0)).max() < 3 / 1_500**0.5
    assert (off**2).mean() ** 0.5 == pytest.approx(1, rel=0.02)
    np.testing.assert_allclose(errors.mean(axis=0), sigma, rtol=0.01)
    low = np.array([table.interval.low.ravel()[::-1] for table in tables])
    high = np.array([table.interval.high.ravel()[::-1] for table in tables])
    given = PATTERNS > 0
    assert 0.94 <= ((low <= PATTERNS) & (high >= PATTERNS))[:, given].mean() <= 0.96
    low = np.array([table.simultaneous.low.ravel()[::-1] for table in tables])
    high = np.array([table.simultaneous.high.ravel()[::-1] for table in tables])
    assert 0.94 <= ((low <= PATTERNS) & (high >= PATTERNS)).all(axis=1).mean() <= 0.98
    assert all(table.consistent.sum() == pytest.approx(COUNTED) for table in tables)


def test_counts_of_different_bits_of_a_record_are_uncorrelated() -> None:
    """Given the answers, flips of one report have nothing to do with each other."""
    plan = three_bits(copies=1)
    tables = noisy_tables(plan, PATTERNS, 20_000, np.random.default_rng(42))
    ones = np.array([[p >> 2 & 1, p >> 1 & 1, p & 1] for p in range(8)])
    correlation = np.corrcoef((tables @ ones).T)
    assert np.abs(correlation - np.eye(3)).max() < 4 / 20_000**0.5


def test_any_table_that_holds_the_bits_will_do() -> None:
    """From the full table, from a table of more bits in another order, or of these bits."""
    plan = three_bits()
    (tally,) = record_tallies(plan, PATTERNS, 1, seed=43)
    cube = tally.table.reshape(2, 2, 2)
    turned = {(2, 0, 1): np.transpose(cube, (2, 0, 1)).ravel()}
    long = replace(tally, table=None, joint=turned)
    for bits, axis in (((0, 2), 1), ((0, 1), 2), ((1, 2), 0)):
        expected = cube.sum(axis=axis)
        np.testing.assert_array_equal(counts_of_bits(tally, bits), expected)
        np.testing.assert_array_equal(counts_of_bits(long, bits), expected)
        np.testing.assert_array_equal(counts_of_bits(long, bits[::-1]), expected.T)
    np.testing.assert_array_equal(counts_of_bits(long, (1,)), cube.sum(axis=(0, 2)))


def test_bits_that_were_not_counted_jointly_are_refused() -> None:
    """With what to do; bits twice and bits that do not exist as well."""
    tally = tally_of(
        three_bits(), COUNTED, np.array([900, 900, 900]), joint={(0, 1): np.ones(4, int)}
    )
    with pytest.raises(InvalidInput, match="tally the responses again"):
        counts_of_bits(tally, (1, 2))
    with pytest.raises(InvalidInput, match="different"):
        counts_of_bits(tally, (1, 1))
    with pytest.raises(InvalidInput, match="from 0 to 2"):
        counts_of_bits(tally, (0, 3))
