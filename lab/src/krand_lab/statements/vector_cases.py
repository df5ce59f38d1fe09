"""Small cases of whole vectors: which ones, the laws of all their outcomes, and how to name them.

D is N vectors of zeros, D_m has one vector of ones instead, k copies each (001 §1.3 and §6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from itertools import product

from krand_lab.enumeration import Multiset, Vector
from krand_lab.statements.notation import tex
from krand_lab.statements.ranges import law, mean_and_variance, noises, vector_tex
from krand_lab.statements.verdict import Cases


@dataclass(frozen=True, slots=True)
class Setting:
    """One case: N users, L bits, k copies, noise q."""

    crowd: int
    bits: int
    q: Fraction
    copies: int = 1

    @property
    def zeros(self) -> Vector:
        """What all users hold in D."""
        return (0,) * self.bits

    @property
    def ones(self) -> Vector:
        """What the outlier holds."""
        return (1,) * self.bits

    @property
    def arguments(self) -> tuple[int, int, Fraction, int]:
        """In the order that the formulas for k copies take."""
        return self.crowd, self.bits, self.q, self.copies

    def __str__(self) -> str:
        """The case in words, with formulas."""
        copies = f"$k={self.copies}$, " if self.copies > 1 else ""
        return f"$N={self.crowd}$, $L={self.bits}$, {copies}$q={tex(self.q)}$"


@dataclass(frozen=True, slots=True)
class Range:
    """All settings within limits, in order of users, bits, copies, denominator of q."""

    populations: range
    bits: range
    largest_denominator: int
    copies: range = range(1, 2)
    most_reports: Mapping[int, int] | None = None
    """By number of bits: the largest kN, where the number of outcomes limits it."""

    def __iter__(self) -> Iterator[Setting]:
        """The settings, one after the other."""
        for n, bits, k in product(self.populations, self.bits, self.copies):
            if self.most_reports is None or n * k <= self.most_reports[bits]:
                for q in noises(self.largest_denominator):
                    yield Setting(n, bits, q, k)

    def __str__(self) -> str:
        """The limits in words, with formulas."""
        limits = [_between(self.populations, "N"), _between(self.bits, "L")]
        if len(self.copies) > 1:
            limits.append(_between(self.copies, "k"))
        if self.most_reports is not None:
            reports = "kN" if len(self.copies) > 1 else "N"
            limits += [
                rf"${reports} \le {self.most_reports[bits]}$ where $L = {bits}$"
                for bits in self.bits
                if self.most_reports[bits] < self.populations[-1] * self.copies[-1]
            ]
        return ", ".join(limits) + (
            rf", all fractions $0 < q < \frac{{1}}{{2}}$ "
            f"with denominators up to {self.largest_denominator}"
        )


def _between(values: range, letter: str) -> str:
    """A range of whole numbers in words."""
    return rf"all ${values[0]} \le {letter} \le {values[-1]}$"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A multiset of reports and its probability under D and under D_m."""

    reports: Multiset
    original: Fraction
    modified: Fraction

    @property
    def ratio(self) -> Fraction:
        """R(S)."""
        return self.modified / self.original

    @property
    def named(self) -> dict[str, object]:
        """By the names that formulas have."""
        return {
            "original": self.original,
            "ratio": self.ratio,
            "set_bits": self.set_bits,
            "repeats": tuple(Counter(self.reports).values()),
        }

    @property
    def set_bits(self) -> tuple[int, ...]:
        """The number of set bits of every report."""
        return tuple(map(sum, self.reports))


@cache
def outcomes(case: Setting) -> tuple[Outcome, ...]:
    """Every multiset of reports with both probabilities, fewest set bits first."""
    n, q, k = case.crowd, case.q, case.copies
    original = law((case.zeros,) * n, q, k)
    modified = law((case.zeros,) * (n - 1) + (case.ones,), q, k)
    return tuple(Outcome(s, original[s], modified[s]) for s in sorted(original))


@cache
def copies_moments(case: Setting) -> tuple[Fraction, Fraction]:
    """Mean and variance of R under D_m, from every multiset of reports."""
    return mean_and_variance((s.ratio, s.modified) for s in outcomes(case))


def reports_in_words(reports: Iterable[Vector]) -> str:
    """A multiset of reports as the drafts print vectors."""
    return "reports $" + ", ".join(map(vector_tex, reports)) + "$"


def settings(
    cases: Iterable[Setting], moments: Callable[[Setting], tuple[Fraction, Fraction]] | None = None
) -> Cases:
    """Every setting, and mean and variance of what the statement is about."""

    def named(case: Setting) -> dict[str, object]:
        mean, variance = moments(case) if moments else (None, None)
        return {**asdict(case), "mean": mean, "variance": variance}

    return Cases(lambda: ((case,) for case in cases), str, named)


def with_outcomes(cases: Range) -> Cases:
    """Every setting with every outcome."""
    return Cases(
        lambda: ((case, s) for case in cases for s in outcomes(case)),
        lambda case, s: f"{case}, {reports_in_words(s.reports)}",
        lambda case, s: {**asdict(case), **s.named},
    )


def exceeds(names: tuple[str, str], left: Fraction, right: Fraction) -> bool | str:
    """Whether left ≤ right, or what to say where it is not; names are formulas without dollars."""
    return left <= right or (
        f": ${names[0]} = {tex(left)}$, which is more than ${names[1]} = {tex(right)}$"
    )
