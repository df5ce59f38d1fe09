"""Noise that is correlated over rounds: docs/explanation/proofs.md says what it could gain."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest


def answers(rounds: int, changes: int) -> list[Any]:
    """All answers of a person over rounds, with at most so many changes."""
    found = set()
    for count in range(changes + 1):
        for cuts in itertools.combinations(range(1, rounds), count):
            steps = np.zeros(rounds, int)
            steps[list(cuts)] = 1
            for first in (0, 1):
                found.add(tuple((first + np.cumsum(steps)) % 2))
    return [np.array(each) for each in found]


def differences(rounds: int, changes: int) -> Any:
    """What two people's answers can differ by; of opposite ones, one."""
    people = answers(rounds, changes)
    found = {tuple(one - other) for one in people for other in people}
    return np.array(sorted(d for d in found if next((v for v in d if v), 0) > 0), dtype=float)


def best_noise(distances: Any, steps: int = 3_000) -> tuple[float, float]:
    """The least mean variance with which no d'Σ⁻¹d exceeds 1: bounds from below and from above.

    With weights p on the differences and M = Σ p·dd', (tr √M)²/T is a lower bound for every p, and
    √M, scaled, is noise that is good enough (duality).
    """
    rounds, weights = distances.shape[1], np.full(len(distances), 1 / len(distances))
    for _ in range(steps):
        values, vectors = np.linalg.eigh((distances * weights[:, None]).T @ distances)
        roots = np.sqrt(np.maximum(values, 1e-12))
        loss = ((distances @ vectors) ** 2 / roots).sum(axis=1)
        if loss.max() <= roots.sum() * 1.001:
            break
        weights = weights * loss
        weights /= weights.sum()
    return roots.sum() ** 2 / rounds, loss.max() * roots.sum() / rounds


@pytest.mark.parametrize(
    ("rounds", "changes", "part"),
    [
        (12, 0, 0.289),
        (12, 1, 0.734),
        pytest.param(12, 2, 0.864, marks=pytest.mark.nightly),
        pytest.param(52, 1, 0.482, marks=pytest.mark.nightly),
        (6, 5, 1.0),
    ],
)
def test_what_correlation_gains(rounds: int, changes: int, part: float) -> None:
    """σ as a part of that of independent noise, by both bounds; nothing if any week may differ."""
    for variance in best_noise(differences(rounds, changes)):
        assert np.sqrt(variance / rounds) == pytest.approx(part, abs=0.001)


def test_an_absence_is_two_changes() -> None:
    """Somebody who always says yes and is missing once."""
    absent = np.ones(12, int)
    absent[5] = 0
    assert not any(np.array_equal(absent, each) for each in answers(12, 1))
    assert any(np.array_equal(absent, each) for each in answers(12, 2))


def test_no_correlated_noise_beats_independent_noise_of_the_same_variances() -> None:
    """For any covariance, some signs are at least as bad as all are for independent noise."""
    random = np.random.default_rng(1)
    signs = np.array(list(itertools.product((-1, 1), repeat=6)))
    for _ in range(200):
        root = random.standard_normal((6, 6)) @ np.diag(random.exponential(size=6) + 0.05)
        covariance = root @ root.T
        worst = np.einsum("ij,jk,ik->i", signs, np.linalg.inv(covariance), signs).max()
        assert worst >= (1 / np.diag(covariance)).sum() * (1 - 1e-9)
