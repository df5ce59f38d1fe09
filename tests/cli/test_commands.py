"""The commands answer in JSON for programs and in text for people, with the same numbers."""

from __future__ import annotations

import math

import pytest

from command_line import done, refused, run, told
from krand import __version__
from krand.showing import at_most

CROWD = "--crowd 10M --bits 40 --epsilon 2"
SMALL = "--crowd 1000 --bits 5 --epsilon 0.6931471805599453"
NOISE = f"noise {CROWD} --delta 1e-6"


def plain(*words: object) -> str:
    """What a command prints, without line breaks and frames."""
    return " ".join(done(*words, "--no-color").stdout.replace("│", " ").split())


def test_krand_says_its_version() -> None:
    """As Python knows it."""
    assert done("--version").stdout.split()[-1] == __version__


def test_noise_for_bits_is_near_the_trusted_curator() -> None:
    """Within 4 % of a trusted curator's Gaussian noise, with every key in place."""
    plan = told(NOISE)
    assert 1.94e-5 <= plan["noise"] <= 2.10e-5
    assert plan["sigma"] <= 14.5
    assert plan["curator_sigma"] == pytest.approx(14.11, abs=0.01)
    assert plan["curator_noise"] == "Gaussian"
    assert plan["noise_numerator"] / 2**32 == plan["noise"]
    assert plan["half_width_95"] == pytest.approx(1.96 * plan["sigma"], rel=1e-3)
    assert plan["half_width_percent"] == pytest.approx(100 * plan["half_width_95"] / 1e7)
    assert plan["delta"] <= 1e-6
    assert plan["local_epsilon"] == pytest.approx(
        40 * math.log((1 - plan["noise"]) / plan["noise"])
    )
    settings = {"epsilon": 2.0, "crowd": 10**7, "bits": 40, "copies": 1, "rounds": 1}
    settings |= {"linkage": "bit", "max_set_bits": None}
    assert settings.items() <= plan.items()
    assert plan["method"]
    assert plan["assumptions"]


@pytest.mark.check
@pytest.mark.parametrize(
    ("bits", "said"),
    [
        ("1", "a trusted curator (geometric noise) would reach σ = 1.357; krand's σ is 4."),
        ("40", "a trusted curator (Gaussian noise) would reach σ = 26.72; krand's σ is 1"),
    ],
)
def test_the_curator_is_the_better_of_two_mechanisms(bits: str, said: str) -> None:
    """Geometric noise for one question, Gaussian noise for many; the ratio is krand's."""
    crowd = f"--crowd 100k --bits {bits} --epsilon 1 --delta 1e-6"
    assert said in plain("noise", crowd)


@pytest.mark.check
def test_collusion_leaves_nothing_and_the_command_says_so() -> None:
    """ε₀ = 431 is called no protection by the commands that print it; programs get the number."""
    for command in (NOISE, f"privacy {CROWD} --noise 2.1e-5"):
        local = told(command)["local_epsilon"]
        assert f"there is no protection (ε₀ = {at_most(local)})" in plain(command)


@pytest.mark.check
def test_a_hopeless_request_is_answered_with_what_would_work() -> None:
    """40 linked bits among 100 people at ε = 0.1: exit code 3, a crowd, and no ε above 10."""
    request = "--crowd 100 --bits 40 --epsilon 0.1 --delta 1e-6 --linkage record"
    error = refused("noise", request, code=3)
    assert (error["kind"], error["nearest"]) == ("cannot_meet", ["crowd 2,200 at epsilon 0.1"])
    told_people = run("noise", request).stderr
    for part in (error["reason"], "similar requests", "• crowd 2,200 at epsilon 0.1"):
        assert part in told_people


def test_privacy_of_a_noise_is_what_its_plan_promises() -> None:
    """The same numbers, with every key in place; programs and people read them."""
    request = f"{SMALL} --linkage record"
    plan = told(f"noise {request} --delta 1e-4")
    found = told(f"privacy {request} --noise {plan['noise']!r}")
    for key in ("delta", "eta", "local_epsilon", "method", "assumptions", "sigma", "linkage"):
        assert found[key] == plan[key]
    text = done(f"privacy {request} --noise {plan['noise']!r}").stdout
    for part in ("δ, η at most", "proven", "1,000 people", "record linkage", "assumptions"):
        assert part in text


def test_several_numbers_of_copies_are_compared() -> None:
    """More data sent, more noise in each copy, and a smaller margin: a row each."""
    request = f"noise {SMALL} --delta 1e-4 --linkage record --copies"
    rows = told(request, "1,4")["rows"]
    assert [row["copies"] for row in rows] == [1, 4]
    single = told(request, "4")
    assert (rows[1]["noise"], rows[1]["sigma"]) == (single["noise"], single["sigma"])
    assert rows[0]["bytes_per_user"] * 4 == rows[1]["bytes_per_user"]
    text = done(request, "1,4").stdout
    assert all(part in text for part in ("± 95 %", "messages", "bytes"))


def test_copies_that_cannot_keep_the_promise_have_no_row() -> None:
    """If none can, the command ends as for one number."""
    request = "noise --crowd 100 --bits 40 --epsilon 0.5 --delta 1e-9 --linkage record --copies"
    assert run(*f"{request} 1,2".split()).exit_code == 3
