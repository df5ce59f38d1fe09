"""How the ones of a row come about, whoever adds the noise."""

from __future__ import annotations

from krand.analysis.estimates.both import BothModel
from krand.analysis.estimates.dummies import DummyModel
from krand.analysis.estimates.inversion import NoiseModel

__all__ = ["CountModel"]

CountModel = NoiseModel | DummyModel | BothModel
"""Flips of devices, dummies of mixers, or both."""
