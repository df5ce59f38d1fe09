"""A process that mixes with two others, prints their numbers, and waits to be killed."""

from __future__ import annotations

import sys
import time

import numpy as np

from krand.mixing.crew import WORTH_A_PROCESS, Crew, Layer
from mixing.chains import mixed_plan_for


def main() -> None:
    """Seal something, so that both processes are there."""
    party = mixed_plan_for(mixers=2)
    key = party.key_of(2).private_bytes_raw()
    layer = Layer(plan=party.plan, round_number=1, hop=2, key=key)
    with Crew(layer, WORTH_A_PROCESS, 2) as crew:
        list(crew.sealed(0, iter([np.array([0]), np.array([-1])])))
        assert crew._workers is not None
        sys.stdout.write(" ".join(map(str, crew._workers._pool._processes)) + "\n")
        sys.stdout.flush()
        time.sleep(600)


if __name__ == "__main__":
    main()
