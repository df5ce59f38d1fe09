"""The numbers of 000 §0–1 and 003 §4–5: one bit, N = 1000, λ = 2."""

from __future__ import annotations

from math import log

from krand.accounting.ratio import RatioLaw
from krand_lab import formulas as drafts
from krand_lab.reproduction.digits import digits
from krand_lab.reproduction.entries import Number, Section

__all__ = ["intervals", "single_bit_000", "single_bit_003"]

N, LAMBDA, COPIES = 1000, 2.0, 16


def single_bit_000() -> tuple[Number, ...]:
    """000 §0.1 and §1: noise from 1/R, and its deviation with one copy and with sixteen."""
    noise, local = (
        drafts.single_bit_noise_000_0_19(N, LAMBDA),
        drafts.local_noise_001_4_2(LAMBDA, 1),
    )
    sigma, sigma_local = drafts.sigma_001_4(N, noise), drafts.sigma_001_4(N, local)
    noise_k = drafts.single_bit_copies_noise_000_1_23(N, LAMBDA, COPIES)
    sigma_k = drafts.sigma_001_4(N, noise_k, COPIES)
    of_counts = (N * noise * (1 - noise)) ** 0.5
    eta = RatioLaw(noise, 1, N).eta(log(LAMBDA))
    kept = 100 * (1 - max(eta.forward.value, eta.reverse.value))
    setting = "$N=1000$, $\\lambda=2$"
    return (
        _number("000-0.19", "000 (0.19)", f"noise $q$ of one bit, {setting}", "0.032527", noise),
        _number("000-0.21", "000 (0.21)", "noise of local privacy, $\\lambda=2$", "0.333", local),
        _number(
            "000-noise-ratio",
            "000 §0.1",
            "how many times less noise than local privacy",
            "10",
            local / noise,
        ),
        _number(
            "000-sigma-local",
            "000 §0.1",
            "deviation $\\sigma(\\bar T)$ under local privacy",
            "44.7",
            sigma_local,
        ),
        _number(
            "000-sigma",
            "000 §0.1",
            f"deviation $\\sigma(\\bar T)$ of the estimate, {setting}",
            "5.6",
            sigma,
            f"{digits(of_counts)} is the deviation $\\sqrt{{Npq}}$ of the observed count. That of"
            " the estimate is larger by $1/(p-q)$: by (0.16) it is $3/(1-1/\\lambda)=6$, and §1"
            " of the same draft says 6.",
        ),
        _number(
            "000-precision-gain",
            "000 §0.1",
            "how many times more precise than local privacy",
            "8",
            sigma_local / sigma,
        ),
        _number(
            "000-kept",
            "000 §0.1",
            "outcomes whose ratio stays below $\\lambda$, per cent",
            "99.98",
            kept,
            "Three deviations hold 99.73 % of a normal law and 99.87 % of it on one side; the"
            " exact binomial figure for the direction that (0.19) is made for is given here.",
            exposes=True,
        ),
        _number("000-1-noise", "000 §1", f"the same noise, repeated, {setting}", "0.0325", noise),
        _number("000-1-sigma", "000 §1", "its deviation, repeated", "6", sigma),
        _number("000-1-error", "000 §1", "three deviations, in people", "18", 3 * sigma),
        _number("000-1.23", "000 (1.23)", f"noise with $k=16$, {setting}", "0.1668", noise_k),
        _number("000-1.24", "000 (1.24)", "its deviation $\\sigma(\\bar T)$", "4.42", sigma_k),
        _number(
            "000-1.24-gain",
            "000 §1.3",
            "what sixteen copies gain, per cent of $\\sigma$",
            "25",
            100 * (1 - sigma_k / sigma),
            "From 6 to 4.42 the deviation falls by 26 %. But (1.23) counts on a bound that points"
            " the wrong way, see the statements about (1.12) and (1.20).",
        ),
    )


def single_bit_003() -> tuple[Number, ...]:
    """003 §4.3 and §5: noise from R, and its deviation."""
    noise, local = (
        drafts.single_bit_noise_003_4_45(N, LAMBDA),
        drafts.local_noise_001_4_2(LAMBDA, 1),
    )
    sigma, sigma_local = drafts.sigma_001_4(N, noise), drafts.sigma_001_4(N, local)
    eta = RatioLaw(noise, 1, N).eta(log(LAMBDA))
    forward, reverse = (100 * (1 - side.value) for side in (eta.forward, eta.reverse))
    setting = "$N=1000$, $\\lambda=2$"
    return (
        _number("003-q-100", "003 §4.3", "$q^{100}$ at $q=0.3$", "5e-53", 0.3**100),
        _number("003-4.45", "003 (4.45)", f"noise $q$ of one bit, {setting}", "0.009", noise),
        _number("003-4.47", "003 (4.47)", "noise of local privacy, $\\lambda=2$", "0.333", local),
        _number(
            "003-noise-ratio",
            "003 §4.3",
            "how many times less noise than local privacy",
            "37",
            local / noise,
            "Harmless: 37 is the ratio of the rounded values .333 and .009.",
        ),
        _number(
            "003-sigma-local",
            "003 §4.3",
            "deviation $\\sigma(\\bar T)$ under local privacy",
            "44.7",
            sigma_local,
        ),
        _number("003-sigma", "003 §4.3", f"deviation of the estimate, {setting}", "3", sigma),
        _number(
            "003-precision-gain",
            "003 §4.3",
            "how many times more precise than local privacy",
            "10",
            sigma_local / sigma,
            "44.7 against 3 is nearly 15 fold, not 10.",
        ),
        _number(
            "003-kept",
            "003 §4.3",
            "outcomes whose ratio stays below $\\lambda$, per cent",
            "99.98",
            forward,
            "The exact binomial figure in the draft's own direction. In the other direction, which"
            f" (4.45) does not look at, only {digits(reverse)} % of the outcomes stay below.",
            exposes=True,
        ),
        _number("003-5-noise", "003 §5", f"the same noise, repeated, {setting}", "0.009", noise),
        _number("003-5-sigma", "003 §5", "its deviation, repeated", "3", sigma),
        _number("003-5-error", "003 §5", "three deviations, in people", "9", 3 * sigma),
    )


def intervals() -> tuple[Number, ...]:
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
        *_interval("000-0.26", "000 (0.26)", "S", ("198.9", "467.1"), (0, third), wrong_sigma),
        *_interval("000-0.27", "000 (0.27)", "S_m", ("198.6", "467.8"), (1, third), wrong_sigma),
        *_interval("000-0.28", "000 (0.28)", "S", ("16.05", "49.94"), (0, 0.033), ""),
        *_interval("000-0.29", "000 (0.29)", "S_m", ("17.02", "50.91"), (1, 0.033), one_too_many),
        *_interval("003-4.52", "003 (4.52)", "S", ("621.98", "711.42"), (N, third), rounded_mean),
        *_interval(
            "003-4.53", "003 (4.53)", "S_m", ("621.65", "711.09"), (N - 1, third), rounded_mean
        ),
        *_interval("003-4.54", "003 (4.54)", "S", ("982.04", "999.96"), (N, 0.009), ""),
        *_interval("003-4.55", "003 (4.55)", "S_m", ("981.06", "998.98"), (N - 1, 0.009), ""),
    )


def _interval(
    key: str,
    source: str,
    variable: str,
    printed: tuple[str, str],
    setting: tuple[int, float],
    why: str,
) -> tuple[Number, Number]:
    """Both ends of one interval; the setting is the number of true ones and the noise."""
    true_ones, noise = setting
    computed = drafts.observed_interval_000_0_28(N, true_ones, noise)
    ends = zip(("low", "high"), ("lower", "upper"), printed, computed, strict=True)
    low, high = (
        _number(
            f"{key}-{short}",
            source,
            f"{end} end of the interval of ${variable}$, true ones: {true_ones}, $q={noise:.4g}$",
            text,
            value,
            why,
        )
        for short, end, text, value in ends
    )
    return low, high


def _number(
    key: str,
    source: str,
    what: str,
    printed: str,
    computed: float,
    why: str = "",
    exposes: bool = False,
) -> Number:
    return Number(
        key=key,
        section=Section.SINGLE_BIT,
        source=source,
        what=what,
        printed=printed,
        computed=computed,
        why=why,
        exposes=exposes,
    )
