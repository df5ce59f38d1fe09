"""Every number that the drafts print, or that their sentences imply, computed.

The words are in `texts/numbers.toml`, by section and key, or by what several numbers have in
common. Where the drafts print no digits they say that one thing is as safe as another: the number
is the other thing's, computed, and is held against what the first thing really gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import exp, log
from typing import Any

from krand_lab import formulas as drafts
from krand_lab.exact.attack import Attack
from krand_lab.exact.backgrounds import Pattern
from krand_lab.exact.bounds import TwoWay
from krand_lab.exact.counts import one_bit_delta
from krand_lab.exact.ratio import RatioLaw, two_way_eta
from krand_lab.reproduction.entries import Number, Section, digits
from krand_lab.reproduction.pictures_ratio import SETTINGS
from krand_lab.simulation import simulate
from krand_lab.texts import filled_in, tables

Numbers = tuple[Number, ...]

N, LAMBDA, COPIES = 1000, 2.0, 16
"""One bit: 000 §0–1 and 003 §4–5."""
BITS, LONG, MANY, E2 = 5, 40, 10_000_000, exp(2)
"""Vectors: 001 §3.3, and the large example of §4 and §6.1, at λ = e²."""
SEED, SAMPLES = 20170209, 20_000
"""For the ratio of several copies, which is simulated."""


def _number(
    section: Section,
    key: str,
    computed: float,
    words: str = "",
    fields: Mapping[str, Any] | None = None,
    **names: Any,
) -> Number:
    """A number with its words; `fields` are what else is said of it."""
    row = tables(__package__)["numbers"][section][words or key]
    texts = zip(("source", "what", "printed", "why", "note"), row, strict=False)
    said = {name: filled_in(text, names, key) for name, text in texts}
    as_written, _, printed = said["printed"].rpartition(" = ")  # 200K = 2e5
    said |= {"printed": printed, "as_written": as_written}
    return Number(key=key, section=section, computed=computed, **{**said, **(fields or {})})


def _numbers(
    section: Section, values: Mapping[str, float], exposing: str = "", **names: Any
) -> Numbers:
    """Numbers of one section, of which one may expose people."""
    return tuple(
        _number(section, key, computed, fields={"exposes": key == exposing}, **names)
        for key, computed in values.items()
    )


def _implied(value: float) -> str:
    """Two digits: a sentence does not imply more."""
    return f"{value:.2g}"


def _worse(value: TwoWay) -> float:
    return max(value.forward.value, value.reverse.value)


# --- one bit: 000 §0–1, 003 §4–5 ----------------------------------------------------------------


def single_bit_000() -> Numbers:
    """000 §0.1 and §1: noise from 1/R, and its deviation with one copy and with sixteen."""
    noise = drafts.single_bit_noise_000_0_19(N, LAMBDA)
    local = drafts.local_noise_001_4_2(LAMBDA, 1)
    sigma, sigma_local = drafts.sigma_001_4(N, noise), drafts.sigma_001_4(N, local)
    noise_k = drafts.single_bit_copies_noise_000_1_23(N, LAMBDA, COPIES)
    sigma_k = drafts.sigma_001_4(N, noise_k, COPIES)
    eta = RatioLaw(noise, 1, N).eta(log(LAMBDA))
    values = {
        "000-0.19": noise,
        "000-0.21": local,
        "000-noise-ratio": local / noise,
        "000-sigma-local": sigma_local,
        "000-sigma": sigma,
        "000-precision-gain": sigma_local / sigma,
        "000-kept": 100 * (1 - _worse(eta)),
        "000-1-noise": noise,
        "000-1-sigma": sigma,
        "000-1-error": 3 * sigma,
        "000-1.23": noise_k,
        "000-1.24": sigma_k,
        "000-1.24-gain": 100 * (1 - sigma_k / sigma),
    }
    of_counts = digits((N * noise * (1 - noise)) ** 0.5)
    return _numbers(Section.SINGLE_BIT, values, "000-kept", of_counts=of_counts)


def single_bit_003() -> Numbers:
    """003 §4.3 and §5: noise from R, and its deviation."""
    noise = drafts.single_bit_noise_003_4_45(N, LAMBDA)
    local = drafts.local_noise_001_4_2(LAMBDA, 1)
    sigma, sigma_local = drafts.sigma_001_4(N, noise), drafts.sigma_001_4(N, local)
    eta = RatioLaw(noise, 1, N).eta(log(LAMBDA))
    forward, reverse = (100 * (1 - side.value) for side in (eta.forward, eta.reverse))
    values = {
        "003-q-100": 0.3**100,
        "003-4.45": noise,
        "003-4.47": local,
        "003-noise-ratio": local / noise,
        "003-sigma-local": sigma_local,
        "003-sigma": sigma,
        "003-precision-gain": sigma_local / sigma,
        "003-kept": forward,
        "003-5-noise": noise,
        "003-5-sigma": sigma,
        "003-5-error": 3 * sigma,
    }
    return _numbers(Section.SINGLE_BIT, values, "003-kept", reverse=digits(reverse))


def intervals() -> Numbers:
    """The 3σ intervals of the observed count: 000 (0.26)–(0.29) and 003 (4.52)–(4.55)."""
    wrong_sigma = (
        "The draft takes three deviations of the estimate (44.7) where those of the observed"
        " count (14.9) are meant."
    )
    one_too_many = (
        "Harmless: (0.24) reads $q\\cdot 1000+p$ where $q\\cdot 999+p$ is meant: 999 zeros"
        " and one set bit."
    )
    rounded_mean = "Harmless: the mean is that of $p=0.6667$, rounded too early."
    third = 1 / 3
    return (
        *_interval("000 (0.26)", "S", ("198.9", "467.1"), (0, third), wrong_sigma),
        *_interval("000 (0.27)", "S_m", ("198.6", "467.8"), (1, third), wrong_sigma),
        *_interval("000 (0.28)", "S", ("16.05", "49.94"), (0, 0.033), ""),
        *_interval("000 (0.29)", "S_m", ("17.02", "50.91"), (1, 0.033), one_too_many),
        *_interval("003 (4.52)", "S", ("621.98", "711.42"), (N, third), rounded_mean),
        *_interval("003 (4.53)", "S_m", ("621.65", "711.09"), (N - 1, third), rounded_mean),
        *_interval("003 (4.54)", "S", ("982.04", "999.96"), (N, 0.009), ""),
        *_interval("003 (4.55)", "S_m", ("981.06", "998.98"), (N - 1, 0.009), ""),
    )


def _interval(
    place: str, variable: str, printed: tuple[str, str], setting: tuple[int, float], reason: str
) -> Numbers:
    """Both ends of one interval; the setting is the number of true ones and the noise."""
    true_ones, noise = setting
    computed = drafts.observed_interval_000_0_28(N, true_ones, noise)
    key = place.replace(" (", "-").rstrip(")")
    ends = zip(("low", "high"), ("lower", "upper"), printed, computed, strict=True)
    return tuple(
        _number(
            Section.SINGLE_BIT,
            f"{key}-{short}",
            value,
            "interval",
            end=end,
            digits=text,
            noise=f"{noise:.4g}",
            place=place,
            variable=variable,
            reason=reason,
            true_ones=true_ones,
        )
        for short, end, text, value in ends
    )


# --- vectors and their tails: 001 §3.3–3.4 ------------------------------------------------------

TABLE = tuple((row.symbol, row.lam, row.crowd, f"{row.noise:.4f}", row.tail) for row in SETTINGS)
"""001 §3.3: λ, N, printed noise, printed tail."""
BOUNDS = {1000: "0.052", 3000: "0.057", 5000: "0.062"}
"""001 §3.4: the printed values of (3.17)."""


def ratio_table() -> Numbers:
    """001 §3.3: the noise of (3.12) and the tail that it leaves, by the exact law."""
    first = _number(Section.RATIO, "001-3.3-lambda", exp(0.693))
    return (first, *(entry for row in TABLE for entry in _table_row(*row)))


def _table_row(letter: str, lam: float, crowd: int, noise: str, tail: str) -> Numbers:
    right = drafts.planner_001_3_12(crowd, BITS, lam)
    law = RatioLaw(float(noise), BITS, crowd)
    eta, delta = law.eta(log(lam)), law.delta(log(lam))
    forward = eta.forward.value
    exposes = {"noise": True, "tail": forward > float(tail)}
    return tuple(
        _number(
            Section.RATIO,
            f"001-3.3-{letter.replace('^', '')}-{crowd}-{what}",
            computed,
            f"table-{what}",
            {"exposes": exposes[what]},
            setting=f"$L=5$, $\\lambda={letter}$, $N={crowd}$",
            noise=noise,
            tail=tail,
            at_right=digits(RatioLaw(right, BITS, crowd).eta(log(lam)).forward.value),
            forward=digits(forward),
            times=f"{forward / float(tail):.1f}",
            reverse=digits(eta.reverse.value),
            delta=digits(delta.forward.value),
            delta_reverse=digits(delta.reverse.value),
        )
        for what, computed in (("noise", right), ("tail", forward))
    )


def tail_bounds() -> Numbers:
    """001 §3.4: the table that is labelled λ = 2, (3.17), and the choice of β."""
    rows = (entry for row in TABLE[3:] for entry in _bound_row(*row[1:]))
    return (*rows, *_choice_of_beta())


def _bound_row(lam: float, crowd: int, noise: str, tail: str) -> Numbers:
    q = float(noise)
    law = RatioLaw(q, BITS, crowd)
    names: dict[str, Any] = {
        "crowd": crowd,
        "noise": noise,
        "tail": tail,
        "exact": digits(law.eta(log(lam)).forward.value),
        "bound": BOUNDS[crowd],
        "before": digits(drafts.tail_bound_001_3_17_unreduced(crowd, BITS, q, 3)),
    }
    labelled = law.eta(log(2)).forward.value
    bound, exposes = drafts.tail_bound_001_3_17(crowd, BITS, q, 3), {"exposes": True}
    key = f"001-3.4-tail-{crowd}"
    return (
        _number(Section.TAIL, key, labelled, "labelled-tail", exposes, **names),
        _number(Section.TAIL, f"001-3.4-bound-{crowd}", bound, "bound", **names),
    )


def _choice_of_beta() -> Numbers:
    """L = 40, N = 10M: what β = 3.05 and 3.5 give and cost."""
    noises = {beta: drafts.planner_001_3_15(MANY, LONG, E2, beta) for beta in (3.0, 3.05, 3.5)}
    bounds = {b: drafts.tail_bound_001_3_17(MANY, LONG, q, b) for b, q in noises.items()}
    exact = {b: digits(RatioLaw(q, LONG, MANY).eta(2.0).forward.value) for b, q in noises.items()}
    values = {
        "001-3.4-beta-3.05": bounds[3.05],
        "001-3.4-beta-3.5": bounds[3.5],
        "001-3.4-beta-cost": noises[3.5] - noises[3.0],
    }
    return _numbers(Section.TAIL, values, exact_3_05=exact[3.05], exact_3_5=exact[3.5])


# --- precision: 001 §4 --------------------------------------------------------------------------


def precision() -> Numbers:
    """001 §4: what the noise costs, against local privacy; L = 5, N = 5000, λ = 2, then the large
    example.
    """
    local, noise = drafts.local_noise_001_4_2(2, BITS), drafts.planner_001_3_12(5000, BITS, 2)
    long_local = drafts.local_noise_001_4_2(E2, LONG)
    long_noise = drafts.planner_001_3_15(MANY, LONG, E2)
    three_sigma = 3 * drafts.sigma_001_4(MANY, long_noise)
    values = {
        "001-4.3": local,
        "001-4-local-sigma": drafts.sigma_001_4(1, local),
        "001-4-noise": noise,
        "001-4-sigma": drafts.sigma_001_4(1, noise),
        "001-4-gain": drafts.sigma_001_4(1, local) / drafts.sigma_001_4(1, noise),
        "001-4-long-local": long_local,
        "001-4-long-local-sigma": drafts.sigma_001_4(1, long_local),
        "001-4-long-local-error": 3 * drafts.sigma_001_4(MANY, long_local),
        "001-4-long-noise": long_noise,
        "001-4-long-sigma": drafts.sigma_001_4(1, long_noise),
        "001-4-long-gain": drafts.sigma_001_4(1, long_local) / drafts.sigma_001_4(1, long_noise),
        "001-4-long-error": three_sigma,
        "001-4-long-relative": 100 * three_sigma / (0.01 * MANY),
    }
    eta = digits(RatioLaw(long_noise, LONG, MANY).eta(2.0).forward.value)
    rounded = digits(drafts.sigma_001_4(1, 0.465))
    return _numbers(Section.PRECISION, values, "001-4-noise", rounded=rounded, eta=eta)


# --- what is implied: 001 §1.2, §5 and §6 -------------------------------------------------------


def sparse() -> Numbers:
    """001 §5: m set bits with the noise of 2m free bits, N = 1000, λ = 2."""
    return tuple(_sparse(set_bits) for set_bits in (1, 2, 3))


def _sparse(set_bits: int) -> Number:
    crowd, lam, m = 1000, 2.0, set_bits
    bits = drafts.sparse_bits_001_5(m)
    noise = drafts.planner_001_3_12(crowd, bits, lam)
    free = RatioLaw(noise, bits, crowd).eta(log(lam))
    third = _worse(two_way_eta(Pattern(m, m, m).law(noise), crowd, log(lam)))
    return _number(
        Section.SPARSE,
        f"001-5-set-bits-{m}",
        third,
        "set-bits",
        _implies(f"as for {bits} free bits", third > free.forward.value),
        bits_set="one set bit" if m == 1 else f"{m} set bits",
        bits=bits,
        noise=f"{noise:.4f}",
        free=_implied(free.forward.value),
        reverse=digits(free.reverse.value),
    )


def _implies(as_written: str, exposes: bool) -> dict[str, Any]:
    return {"as_written": as_written, "implied": True, "exposes": exposes}


def copies() -> Numbers:
    """001 §6.1: the large example with several copies."""
    one = drafts.planner_001_3_15(MANY, LONG, E2)
    delta = RatioLaw(one, LONG, MANY).delta(2.0)
    four = Attack(bits=LONG, copies=4, crowd=MANY, epsilon=2.0).least_noise(delta.upper, start=one)
    values = {
        "001-6.1-noise-1": drafts.planner_copies_001_6_3(MANY, LONG, E2, 1),
        "001-6.1-one-copy": 100 * 3 * drafts.sigma_001_4(MANY, one) / (0.01 * MANY),
        "001-6.1-four-copies": drafts.sigma_001_4(MANY, four, 4) / drafts.sigma_001_4(MANY, one),
    }
    printed_noise = digits(drafts.planner_copies_001_6_3(MANY, LONG, E2, 4))
    noise = digits(four)
    return _numbers(Section.COPIES, values, noise=noise, printed_noise=printed_noise)


def failure_rates() -> Numbers:
    """001 (6.3): how often the ratio exceeds λ at the noise that it gives."""
    one_copy = RatioLaw(drafts.planner_001_3_15(MANY, LONG, E2), LONG, MANY).eta(2.0).forward.value
    return tuple(_failure_rate(k, one_copy) for k in (4, 16, 50, 200))


def _failure_rate(copies: int, one_copy: float) -> Number:
    noise = drafts.planner_copies_001_6_3(MANY, LONG, E2, copies)
    eta = simulate(
        bits=LONG, noise=noise, crowd=MANY, epsilon=2.0, copies=copies, samples=SAMPLES, seed=SEED
    ).eta_forward
    return _number(
        Section.COPIES,
        f"001-6.3-failure-{copies}",
        eta.value,
        "failure",
        {**_implies("as with one copy", eta.low > one_copy), "seed": SEED},
        copies=copies,
        noise=f"{noise:.4f}",
        one_copy=_implied(one_copy),
        low=digits(eta.low),
        high=digits(eta.high),
    )


def collections() -> Numbers:
    """001 §1.2: no background is worse than the outlier pair's, for one bit and for five."""
    return (_one_bit_background(), _agreeing_pair())


def _one_bit_background() -> Number:
    crowd, noise, epsilon = 100, 0.05, 1.5
    deltas = [one_bit_delta(noise, ones, crowd - 1 - ones, epsilon) for ones in range(crowd // 2)]
    worst = max(range(len(deltas)), key=deltas.__getitem__)
    return _number(
        Section.COLLECTIONS,
        "001-1.2-one-bit",
        deltas[worst],
        fields=_implies("at most the outlier pair's", deltas[worst] > deltas[0]),
        outlier=f"{deltas[0]:.3g}",
        worst=worst,
    )


def _agreeing_pair() -> Number:
    crowd, noise, lam = 300, 0.2, 8.0
    pairs = [Pattern(a, b, 5 - a - b) for a in range(1, 6) for b in range(min(a, 5 - a) + 1)]
    eta = {f: _worse(two_way_eta(f.law(noise), crowd, log(lam))) for f in pairs}
    worst = max(eta, key=eta.__getitem__)
    outlier = eta[Pattern(5)]
    return _number(
        Section.COLLECTIONS,
        "001-1.2-five-bits",
        eta[worst],
        fields=_implies("at most the outlier pair's", eta[worst] > outlier),
        outlier=_implied(outlier),
        common=worst.common,
    )


NUMBERS_OF: dict[Section, tuple[Callable[[], Numbers], ...]] = {
    Section.SINGLE_BIT: (single_bit_000, single_bit_003, intervals),
    Section.RATIO: (ratio_table,),
    Section.TAIL: (tail_bounds,),
    Section.PRECISION: (precision,),
    Section.SPARSE: (sparse,),
    Section.COPIES: (copies, failure_rates),
    Section.COLLECTIONS: (collections,),
}
