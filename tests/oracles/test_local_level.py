"""Smoothing over rounds by statsmodels: the same filter and smoother for every drift."""

from __future__ import annotations

import numpy as np
import pytest

from components import require
from krand.analysis.trends import local_level

structural = require("statsmodels.tsa.statespace.structural")


@pytest.mark.parametrize("drift", [0.03, 0.3, 1.0, 5.0])
def test_filter_smoother_and_likelihood_agree(
    drift: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one drift alone; theirs knows nothing of the level before the first round either."""
    monkeypatch.setattr(local_level, "DRIFTS", np.array([drift]))
    monkeypatch.setattr(local_level, "_prior", lambda: np.ones(1))
    values = 200 + np.cumsum(np.random.default_rng(1).standard_normal(52)) * 3
    values += np.random.default_rng(2).standard_normal(52)
    ours = local_level.levels(values[None], np.ones((1, 52)), np.arange(1.0, 53), 0.95)
    model = structural.UnobservedComponents(values, "local level", use_exact_diffuse=True)
    theirs = model.smooth([1.0, drift**2])
    z = 1.9599639845
    assert ours.filtered[0] == pytest.approx(theirs.filtered_state[0], abs=1e-8)
    assert ours.smoothed[0] == pytest.approx(theirs.smoothed_state[0], abs=1e-8)
    spread = np.sqrt(theirs.smoothed_state_cov[0, 0])
    assert ours.smoothed_half[0] == pytest.approx(z * spread, rel=1e-7)
