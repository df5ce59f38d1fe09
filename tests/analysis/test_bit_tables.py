"""Patterns of bits of whole records: taken back exactly, with the variance they really have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.simulated_surveys import noisy_tables, plan_of, record_tallies, tally_of
from krand.analysis.joint.bit_tables import counts_of_bits, inverted, product_variance
from krand.analysis.joint.tables import joint_table
from krand.analysis.mechanisms.devices import bit_variance
from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.plan import Plan
from krand.survey.questions import YesNo

PATTERNS = np.array([500, 0, 300, 200, 0, 700, 0, 300])
PEOPLE = int(PATTERNS.sum())


def _plan(noise: float = 0.2, copies: int = 2) -> Plan:
    questions = [YesNo(name=name) for name in "abc"]
    return plan_of(questions, noise, PEOPLE, linkage=Linkage.RECORD, copies=copies)


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
    plan = _plan()
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
    assert all(table.consistent.sum() == pytest.approx(PEOPLE) for table in tables)


def test_counts_of_different_bits_of_a_record_are_uncorrelated() -> None:
    """Given the answers, flips of one report have nothing to do with each other."""
    plan = _plan(copies=1)
    tables = noisy_tables(plan, PATTERNS, 20_000, np.random.default_rng(42))
    ones = np.array([[p >> 2 & 1, p >> 1 & 1, p & 1] for p in range(8)])
    correlation = np.corrcoef((tables @ ones).T)
    assert np.abs(correlation - np.eye(3)).max() < 4 / 20_000**0.5


def test_any_table_that_holds_the_bits_will_do() -> None:
    """From the full table, from a table of more bits in another order, or of these bits."""
    plan = _plan()
    (tally,) = record_tallies(plan, PATTERNS, 1, seed=43)
    assert tally.table is not None
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
    tally = tally_of(_plan(), PEOPLE, np.array([900, 900, 900]), joint={(0, 1): np.ones(4, int)})
    with pytest.raises(InvalidInput, match="tally the responses again"):
        counts_of_bits(tally, (1, 2))
    with pytest.raises(InvalidInput, match="different"):
        counts_of_bits(tally, (1, 1))
    with pytest.raises(InvalidInput, match="from 0 to 2"):
        counts_of_bits(tally, (0, 3))
