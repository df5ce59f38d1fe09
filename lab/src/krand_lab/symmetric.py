"""Elementary symmetric polynomials of millions of variables that take few distinct values.

With T_l variables equal to w_l, e_k = [t^k] Π_l (1 + w_l t)^{T_l}. On the circle |t| = r put
u_l = w_l r/(1 + w_l r); then

    e_k = r^-k · Π (1 + w_l r)^{T_l} · P[X = k],     X = Σ_l Bin(T_l, u_l),

for every r. At the saddle point E[X] = k, so k is the mode of X and nothing cancels. P[X = k] is
a trapezoid sum of the characteristic function over M angles. It is exact up to the aliases
k ± M, k ± 2M …, whose mass Bernstein's inequality puts below e^-34 once M is a small multiple
of the deviation √V of X; and of those M angles only the few with |angle| ≲ 9/√V matter.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from krand.errors import InternalError, InvalidInput

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CELLS_AT_ONCE = 2**16
_ALIAS_EXPONENT = 34.0
_DECAY_EXPONENT = 38.0
_SADDLE_TOLERANCE = 1e-6
_SADDLE_STEPS = 400


def log_choose(n: int, k: int) -> float:
    """log C(n, k), term by term: no cancellation, whatever n."""
    if not 0 <= k <= n:
        return -math.inf
    i = np.arange(min(k, n - k), dtype=np.float64)
    return float(np.sum(np.log((n - i) / (i + 1.0))))


def log_elementary_symmetric(histograms: Ints, log_w: Floats, order: int) -> Floats:
    """log e_order of T_l variables equal to exp(log_w[l]), for every histogram T (last axis)."""
    if order < 0:
        raise InvalidInput("order", "must be a whole number, at least 0", order)
    counts = np.asarray(histograms)
    rows = counts.reshape(-1, counts.shape[-1])
    step = max(1, _CELLS_AT_ONCE // max(1, rows.shape[1]))
    parts = [
        _block(rows[start : start + step].astype(np.float64), log_w, order)
        for start in range(0, len(rows), step)
    ]
    joined = np.concatenate(parts) if parts else np.zeros(0)
    return joined.reshape(counts.shape[:-1])


def _block(counts: Floats, log_w: Floats, k: int) -> Floats:
    """A few rows at once: nothing to choose, everything to choose, or the contour."""
    if k == 0:
        return np.zeros(len(counts))
    totals = counts.sum(axis=1)
    result = np.where(totals == k, counts @ log_w, -np.inf)
    inner = totals > k
    if inner.any():
        result[inner] = _contour(counts[inner], log_w, k)
    return result


def _contour(counts: Floats, log_w: Floats, k: int) -> Floats:
    log_r = _saddle(counts, log_w, k)
    z = log_w + log_r[:, None]
    growth = np.einsum("ij,ij->i", counts, np.logaddexp(0.0, z))
    result: Floats = growth - k * log_r + np.log(_probability(counts, z, k))
    return result


def _saddle(counts: Floats, log_w: Floats, k: int) -> Floats:
    """log r with Σ T_l w_l r/(1 + w_l r) = k: Newton on the logarithm inside a shrinking bracket.

    The identity holds for every r, so the saddle only has to be good enough for the aliasing.
    """
    totals = counts.sum(axis=1)
    even = math.log(k) - np.log(totals - k)
    low, high = even - log_w.max(), even - log_w.min()
    x: Floats = np.clip(math.log(k) - logsumexp(log_w, b=counts, axis=1), low, high)
    for step in range(_SADDLE_STEPS):
        mean, variance = _moments(counts, log_w + x[:, None])
        wrong = np.abs(mean - k) > _SADDLE_TOLERANCE
        if not wrong.any():
            return x
        low, high = np.where(mean < k, x, low), np.where(mean < k, high, x)
        closer = _next(x, low, high, k, mean=mean, variance=variance, step=step)
        x = np.where(wrong, closer, x)
    raise InternalError("the saddle point of an elementary symmetric polynomial was not found")


def _next(
    x: Floats, low: Floats, high: Floats, k: int, *, mean: Floats, variance: Floats, step: int
) -> Floats:
    """A Newton step where it stays inside the bracket; bisection elsewhere and now and then."""
    middle = (low + high) / 2
    if step % 6 == 5:
        return middle
    with np.errstate(divide="ignore", invalid="ignore"):
        newton = x + (math.log(k) - np.log(mean)) * mean / variance
    return np.where((newton > low) & (newton < high), newton, middle)


def _moments(counts: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of X = Σ Bin(T_l, u_l), u = 1/(1+e^-z)."""
    expected = counts * expit(z)
    return expected.sum(axis=1), np.einsum("ij,ij->i", expected, expit(-z))


def _probability(counts: Floats, z: Floats, k: int) -> Floats:
    """P[X = k] by the trapezoid rule over an odd number of angles, conjugates paired."""
    u = expit(z)
    spread = 4.0 * u * expit(-z)
    variance = np.einsum("ij,ij->i", counts, spread) / 4
    points = _points(float(variance.max()))
    total = np.ones(len(counts))
    for j in range(1, points // 2 + 1):
        angle = 2 * math.pi * j / points
        half = math.sin(angle / 2) ** 2
        if 2 * half * float(variance.min()) > _DECAY_EXPONENT:
            break
        log_size = np.einsum("ij,ij->i", counts, np.log1p(-half * spread)) / 2
        turn = np.arctan2(u * math.sin(angle), 1.0 - 2.0 * half * u)
        phase = np.einsum("ij,ij->i", counts, turn) - k * angle
        total += 2.0 * np.exp(log_size) * np.cos(phase)
    return total / points


def _points(variance: float) -> int:
    """An odd M with exp(-M²/(2(V + M/3))) ≤ e^-34: Bernstein's bound on either alias."""
    a = _ALIAS_EXPONENT
    return 2 * math.ceil((a / 3 + math.sqrt(a * a / 9 + 2 * a * variance)) / 2) + 1
