"""`krand-lab simulate`: the exact guarantee, drawn."""

from __future__ import annotations

from asking import SMALL, answer, run
from krand_lab.exact.ratio import RatioLaw


def test_simulation_agrees_with_the_exact_law() -> None:
    """Monte Carlo lies within five standard errors of the proven bounds, and "agree" is honest.

    All four 95 % intervals meet the bounds for only about 87 % of seeds, so that is not asked.
    """
    found = answer("simulate", *SMALL, "--noise", "0.2446", "--samples", "50k", "--seed", "1")
    exact = RatioLaw(0.2446, 5, 1000).delta(0.6931471805599453)
    assert found["delta_forward"]["exact"]["upper"] == exact.forward.upper
    agreed = []
    for key in ("delta_forward", "delta_reverse", "eta_forward", "eta_reverse"):
        simulated, bounds = found[key]["simulated"], found[key]["exact"]
        assert simulated["low"] <= simulated["value"] <= simulated["high"]
        far = 5 * (simulated["high"] - simulated["low"]) / (2 * 1.96)
        assert far < 0.1 * simulated["value"]  # five standard errors still mean something
        assert bounds["lower"] - far <= simulated["value"] <= bounds["upper"] + far
        agreed.append(simulated["low"] <= bounds["upper"] and simulated["high"] >= bounds["lower"])
        assert found[key]["agree"] is agreed[-1]
    assert found["agree"] is all(agreed)


def test_a_seed_repeats_a_simulation() -> None:
    """The same seed gives the same numbers, another seed others; the text names the seed."""
    command = ("simulate", *SMALL, "--noise", "0.2446", "--samples", "2000")
    first, again = answer(*command, "--seed", "7"), answer(*command, "--seed", "7")
    assert first == again
    assert first["delta_forward"] != answer(*command, "--seed", "8")["delta_forward"]
    assert "simulation with seed 7" in run(*command, "--seed", "7").stdout


def test_several_copies_are_compared_with_a_bound() -> None:
    """With k copies the composed law bounds the mixed batch, and the output says so."""
    command = ("simulate", *SMALL, "--noise", "0.3", "--copies", "4", "--samples", "2000")
    found = answer(*command, "--seed", "5")
    assert found["exact_is_upper_bound"] is True
    for key in ("delta_forward", "delta_reverse"):
        assert found[key]["simulated"]["low"] <= found[key]["exact"]["upper"]
        assert found[key]["agree"] is True
    assert "upper bound" in run(*command, "--seed", "5").stdout
