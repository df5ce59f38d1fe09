"""Which results can be read: a count whose margin of error is too wide says nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from krand.promise import READABLE

__all__ = ["READABLE", "readable"]


def readable(errors: NDArray[np.float64], people: int, confidence: float) -> NDArray[np.bool_]:
    """Whether the margins of error of counts with these standard errors are narrow enough."""
    z = -float(ndtri((1 - confidence) / 2))
    return np.asarray(z * errors <= READABLE * people)
