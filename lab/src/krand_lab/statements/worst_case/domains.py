"""Vectors with few set bits (001 §5): what a user may answer, and which sizes are enumerated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from krand_lab.enumeration import Vector, vectors
from krand_lab.statements.ranges import noises
from krand_lab.statements.worst_case.comparison import neighbours, users_in_words
from krand_lab.statements.worst_case.profiles import Case

DENOMINATOR = 8
NOISES = noises(DENOMINATOR)


@dataclass(frozen=True, slots=True)
class Domain:
    """What a user may answer: so many set bits among so many options, exactly or at most."""

    set_bits: int
    options: int
    exactly: bool

    @property
    def answers(self) -> tuple[Vector, ...]:
        """All admissible vectors."""
        if self.exactly:
            return tuple(vectors(self.options, exactly=self.set_bits))
        return tuple(vectors(self.options, max_set_bits=self.set_bits))

    def cases(self, crowd: int, q: Fraction) -> Iterator[Case]:
        """Every background and every ordered pair of answers, up to the order of the options."""
        for background, y, y_prime in neighbours(crowd, self.answers, self.answers):
            yield Case(background, y, y_prime, q)

    def outlier(self, crowd: int, q: Fraction) -> Case:
        """(5.1)–(5.5): all hold the first m options, one changes to the next m."""
        y = self._block(0)
        return Case((y,) * (crowd - 1), y, self._block(1), q)

    def third(self, crowd: int, q: Fraction) -> Case:
        """The same change, but the others hold a third answer; it takes C ≥ 3m options."""
        return Case((self._block(2),) * (crowd - 1), self._block(0), self._block(1), q)

    def _block(self, number: int) -> Vector:
        """The answer that sets the m options of this block and no other."""
        start = number * self.set_bits
        return tuple(int(start <= i < start + self.set_bits) for i in range(self.options))


EXACTLY = {
    Domain(1, 2, True): 6,
    Domain(1, 3, True): 6,
    Domain(1, 4, True): 4,
    Domain(2, 4, True): 2,
    Domain(2, 5, True): 2,
    Domain(2, 6, True): 2,
}
"""Domains, each with the largest number of users."""
AT_MOST = {
    Domain(1, 2, False): 5,
    Domain(1, 3, False): 4,
    Domain(1, 4, False): 3,
    Domain(2, 4, False): 2,
    Domain(2, 5, False): 2,
    Domain(2, 6, False): 2,
}


def roomy(most_users: dict[Domain, int]) -> dict[Domain, int]:
    """The domains with options enough for a third answer."""
    return {d: users for d, users in most_users.items() if d.options >= 3 * d.set_bits}


def sizes(most_users: dict[Domain, int]) -> Iterator[tuple[int, Domain, Fraction]]:
    """(N, domain, q), fewest users first."""
    for crowd in range(2, max(most_users.values()) + 1):
        for domain, users in most_users.items():
            for q in NOISES if crowd <= users else ():
                yield crowd, domain, q


def range_of_users(most_users: Mapping[Domain, int]) -> str:
    """Which sizes are enumerated, in words."""
    return ", ".join(
        f"{users_in_words(users)} with $m = {domain.set_bits}$, $C = {domain.options}$"
        for domain, users in most_users.items()
    )
