"""What must be promised: a table of the survey, and a value that planning takes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

from pydantic import ConfigDict, Field

from krand.mistakes import Broken
from krand.models import Model
from krand.promise import BOUND_DIGITS, MAX_CROWD
from krand.showing import Shown, rounded_down


class Policy(Model, Shown):
    """What must be promised: ε with η or δ, to a member of a crowd of at least `minimum_crowd`.

    >>> from krand import Policy
    >>> Policy(epsilon=1, delta=1e-4, minimum_crowd=10_000, colluding=500).honest
    9500
    """

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": [key]} for key in ("delta", "eta")]}
    )

    epsilon: Annotated[float, Field(gt=0, le=100, examples=[1.0])]
    """ε: how much one person's answers may change the odds of any outcome, as a power of e."""
    minimum_crowd: Annotated[int, Field(ge=2, le=MAX_CROWD, examples=[100_000])]
    """The crowd that hides each person: nothing is released below it. A file may leave it out where
    mixers add the noise: their promise needs no crowd, and 2 asks for none."""
    delta: Annotated[float | None, Field(gt=0, lt=1, examples=[1e-6])] = None
    """δ of (ε, δ)-differential privacy. Give either delta or eta."""
    eta: Annotated[float | None, Field(gt=0, lt=1, examples=[0.001])] = None
    """η: the probability of an outcome that changes the odds by more than ε."""
    colluding: Annotated[int, Field(ge=0, le=MAX_CROWD, examples=[100])] = 0
    """How many members of the crowd may hide nobody, because they show their responses to the
    analyst or added no noise. If a file leaves it out: one in a hundred, and at least one; none
    where mixers add the noise, whose promise holds however many collude."""
    max_local_epsilon: Annotated[float | None, Field(gt=0, le=1e6, examples=[20])] = None
    """A cap on ε₀, what one response may reveal if collector and analyst collude."""

    def _rules(self) -> Iterator[Broken]:
        if self.delta is None and self.eta is None:
            yield Broken(("delta",), "delta or eta must be given", None, "add delta = 1e-6")
        if self.delta is not None and self.eta is not None:
            hint = "keep the one that was agreed on"
            yield Broken(("eta",), "must not be given beside delta", self.eta, hint)
        if self.colluding > self.minimum_crowd - 2:
            rule = f"must leave at least 2 of the crowd of {self.minimum_crowd:,} honest"
            hint = f"at most {self.minimum_crowd - 2:,}"
            yield Broken(("colluding",), rule, self.colluding, hint)

    def __repr__(self) -> str:
        given = {
            name: value
            for name, value in self
            if name in ("epsilon", "minimum_crowd") or value not in (None, 0)
        }
        shown = (f"{name}={value!r}".removesuffix(".0") for name, value in given.items())
        return f"Policy({', '.join(shown)})"

    @property
    def asked(self) -> float:
        """δ or η, whichever is given."""
        asked = self.delta if self.eta is None else self.eta
        assert asked is not None
        return asked

    @property
    def limit(self) -> float:
        """The largest δ or η that may be stated, in the digits that people read."""
        return rounded_down(self.asked, BOUND_DIGITS)

    @property
    def local_limit(self) -> float:
        """The largest ε₀ that may be stated; infinite without a cap."""
        cap = self.max_local_epsilon
        return math.inf if cap is None else rounded_down(cap, BOUND_DIGITS)

    @property
    def honest(self) -> int:
        """The crowd that really hides a user: colluders know their own reports."""
        return self.minimum_crowd - self.colluding
