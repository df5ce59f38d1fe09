"""The commands answer in JSON for programs and in text for people, with the same numbers."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from components import require
from krand import __version__
from krand.cli.main import krand
from krand.cli.menu import all_names
from krand.showing import at_most

CROWD = ["--crowd", "10M", "--bits", "40", "--epsilon", "2"]
SMALL = ["--crowd", "1000", "--bits", "5", "--epsilon", "0.6931471805599453"]


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(krand, list(arguments))
    assert result.exit_code == 0, result.output
    return result


def answer(*arguments: str) -> dict[str, Any]:
    """The single JSON object on stdout."""
    value = json.loads(run(*arguments, "--json").stdout)
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("command", all_names())
def test_help_has_an_example_that_parses(command: str) -> None:
    """Every command's help shows an example, and its options exist."""
    text = run(command, "--help").stdout
    assert "Example" in text
    lines = text[text.index("Example") : text.index("Options:")].replace("\\\n", " ").splitlines()
    examples = [line.split()[1:] for line in lines if line.strip().startswith("krand ")]
    assert examples
    for example in examples:
        assert example[0] == command
        krand.commands[command].make_context(command, example[1:])


def test_krand_says_its_version() -> None:
    """As Python knows it."""
    assert run("--version").stdout.split()[-1] == __version__


def test_noise_for_the_record_with_outlier_assurance() -> None:
    """One record: q = .3448 at η = .003, or a little above for the proven η."""
    plan = answer(
        *("noise", *CROWD, "--eta", "0.003", "--linkage", "record", "--assurance", "outlier")
    )
    assert 0.3448 <= plan["noise"] <= 0.3455
    assert plan["eta"] <= 0.003
    assert plan["assurance"] == "outlier"


def test_noise_for_the_record_certified() -> None:
    """Between the conjecture's .3741 and the plain blanket's .3817."""
    plan = answer("noise", *CROWD, "--delta", "1e-6", "--linkage", "record")
    assert 0.3741 < plan["noise"] <= 0.3817
    assert plan["sigma"] <= 6500


def test_noise_for_bits_certified_is_near_the_trusted_curator() -> None:
    """Within 4 % of a trusted curator's Gaussian noise, with every key in place."""
    plan = answer("noise", *CROWD, "--delta", "1e-6")
    assert 1.94e-5 <= plan["noise"] <= 2.10e-5
    assert plan["sigma"] <= 14.5
    assert plan["curator_sigma"] == pytest.approx(14.11, abs=0.01)
    assert plan["curator_noise"] == "Gaussian"
    assert plan["noise_numerator"] / 2**32 == plan["noise"]
    assert plan["half_width_95"] == pytest.approx(1.96 * plan["sigma"], rel=1e-3)
    assert plan["half_width_percent"] == pytest.approx(100 * plan["half_width_95"] / 1e7)
    assert plan["delta"] <= 1e-6
    assert plan["delta"] == max(
        plan["guarantee"]["delta"][way]["upper"] for way in ("forward", "reverse")
    )
    assert plan["local_epsilon"] == pytest.approx(
        40 * math.log((1 - plan["noise"]) / plan["noise"])
    )
    settings = {"epsilon": 2.0, "crowd": 10**7, "bits": 40, "copies": 1, "rounds": 1}
    settings |= {"linkage": "bit", "assurance": "certified", "colluding": 0, "max_set_bits": None}
    assert settings.items() <= plan.items()
    assert plan["method"]
    assert plan["guarantee"]["assumptions"]


@pytest.mark.check
def test_noise_in_words_has_the_numbers_of_the_json() -> None:
    """People read the same noise, precision and limit as programs do."""
    command = ("noise", *CROWD, "--delta", "1e-6")
    plan, text = answer(*command), run(*command, "--no-color").stdout
    assert f"{plan['noise_numerator']:,} / 2^32" in text
    assert f"± {plan['half_width_95']:,.0f} people" in text
    assert "proven" in text
    assert "ε₀" in text
    assert "trusted curator" in text
    assert "\x1b[" not in text


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
    crowd = ("--crowd", "100k", "--bits", bits, "--epsilon", "1", "--delta", "1e-6")
    text = " ".join(run("noise", *crowd, "--no-color").stdout.replace("│", " ").split())
    assert said in text
    rows = answer("frontier", *crowd, "--copies-list", "1")["rows"]
    assert rows[-1]["sigma"] == answer("noise", *crowd)["curator_sigma"]


@pytest.mark.check
def test_collusion_leaves_nothing_and_the_command_says_so() -> None:
    """ε₀ = 431 is called no protection by the commands that print it; programs get the number."""
    noise = ("noise", *CROWD, "--delta", "1e-6")
    privacy = ("privacy", *CROWD, "--noise", "2.1e-5")
    for command in (noise, privacy):
        local = answer(*command)["local_epsilon"]
        text = " ".join(run(*command, "--no-color").stdout.replace("│", " ").split())
        assert f"there is no protection (ε₀ = {at_most(local)})" in text


def test_a_hopeless_request_is_answered_with_what_would_work() -> None:
    """40 linked bits among 100 people at ε = 0.1: exit code 3, a crowd, and no ε above 10."""
    command = ["noise", "--crowd", "100", "--bits", "40", "--epsilon", "0.1"]
    command += ["--delta", "1e-6", "--linkage", "record"]
    result = CliRunner().invoke(krand, [*command, "--json"])
    assert result.exit_code == 3
    error = json.loads(result.stdout)["error"]
    assert error["reason"]
    assert error["nearest"] == ["crowd 2,200 at epsilon 0.1"]


def test_privacy_of_the_drafts_example() -> None:
    """N=10⁷, L=40, q=.350914, λ=e² gives η .0013411 and δ .0006106."""
    found = answer(
        *("privacy", *CROWD, "--noise", "0.350914", "--linkage", "record"),
        *("--assurance", "outlier"),
    )
    assert 0.001341 <= found["eta"]["forward"]["upper"] <= 0.00137
    assert 0.0006100 <= found["delta"]["forward"]["upper"] <= 0.0006170
    for name in ("eta", "delta"):
        for way in ("forward", "reverse"):
            bounds = found[name][way]
            assert bounds["lower"] <= bounds["value"] <= bounds["upper"]
    assert found["local_epsilon"] == pytest.approx(40 * math.log(0.649086 / 0.350914))
    for key in ("method", "assumptions", "sigma", "half_width_95", "assurance", "linkage"):
        assert found[key]


def test_privacy_in_words_shows_both_directions() -> None:
    """The table for people has the two directions and the assumptions."""
    text = run("privacy", *SMALL, "--noise", "0.2446", "--linkage", "record").stdout
    for part in ("forward", "reverse", "δ", "η", "1,000 people", "record linkage", "assumptions"):
        assert part in text


@pytest.mark.check
def test_frontier_rows_and_stars() -> None:
    """krand's rows, local differential privacy and the curator, with the best rows marked."""
    command = ["frontier", *SMALL, "--delta", "1e-4", "--copies-list", "1,4"]
    found = answer(*command)
    rows = found["rows"]
    assert {row["linkage"] for row in rows} == {"bit", "record", None}
    assert {row["copies"] for row in rows if row["linkage"] == "record"} == {1, 4}
    assert {"local", "trusted curator"} <= {row["guarantee"] for row in rows}
    assert any(row["best"] for row in rows)
    assert found["delta"] == 1e-4
    text = run(*command).stdout
    assert text.count("★") == 1 + sum(row["best"] for row in rows)  # one in the title


@pytest.mark.parametrize("command", ["noise", "frontier"])
def test_the_drafts_are_no_assurance(command: str) -> None:
    """They give no guarantee."""
    words = [command, *SMALL, "--delta", "1e-4", "--assurance", "draft", "--json"]
    result = CliRunner().invoke(krand, words)
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["field"] == "assurance"


@pytest.mark.check
def test_frontier_draws_a_figure(tmp_path: Path) -> None:
    """--plot writes an SVG file and nothing else."""
    require("matplotlib")
    figure = tmp_path / "frontier.svg"
    command = ("frontier", *SMALL, "--delta", "1e-4", "--copies-list", "1")
    assert answer(*command, "--plot", str(figure))["plot"] == str(figure)
    assert "<svg" in figure.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [figure]


def test_a_figure_is_an_svg_file() -> None:
    """Another ending is refused before anything is computed."""
    command = ["frontier", *SMALL, "--delta", "1e-4", "--plot", "frontier.png", "--json"]
    result = CliRunner().invoke(krand, command)
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["field"] == "plot"
