"""The method in 30 seconds: its noise is what krand plans, its laws and estimates are Python's."""

from __future__ import annotations

import gzip
import math
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from docs.pages import script
from js_client.javascript import STATIC, asked
from krand.accounting.dummy_sums import sum_law
from krand.analysis.mechanisms.devices import NoiseModel, net_flips
from krand.analysis.mechanisms.mixers import DummyModel
from krand.promise import NOISE_GRID, Z95, DummyLaw
from krand.wording.promises import right_in

LARGEST = 12_000
"""Bytes of the script as it is transferred."""
DRAWS = 4_000
SETTINGS = [
    *product(
        ("devices", "mixers"),
        range(5),
        range(5),
        ((0.0, True), (0.3, False), (0.38, True), (1.0, False)),
    ),
]
Noise = dict[str, Any]


@pytest.fixture(scope="module")
def planned() -> SimpleNamespace:
    """The script that writes the table."""
    return script("write_method_noise.py")


@pytest.fixture(scope="module")
def noise(internals: Path) -> Noise:
    """The table that the script in the browser has."""
    table: Noise = asked([{"ask": "methodNoise"}])[0]
    return table


def model_of(noise: Noise, who: str, people: int, epsilon: int) -> NoiseModel | DummyModel:
    """Python's model of the count at one setting."""
    crowd = noise["people"][people]
    if who == "mixers":
        law = DummyLaw(tuple(map(int, noise["dummies"][epsilon])))
        return DummyModel(people=crowd, law=law, mixes=1)
    flips = noise["flips"][people][epsilon] / NOISE_GRID
    return NoiseModel(people=crowd, responses=crowd, noise=flips)


def law_of(model: NoiseModel | DummyModel, yes: int, length: int) -> NDArray[np.float64]:
    """The probabilities of the counts 0, 1, … if so many say yes, by Python."""
    found = np.zeros(length)
    if isinstance(model, DummyModel):
        _, masses = sum_law(model.law, 1)
        found[yes : yes + len(masses)] = masses
        return found
    masses, first = net_flips(model, np.array([yes]))
    for place, mass in enumerate(masses[0], start=yes + int(first[0])):
        if 0 <= place < length:
            found[place] = mass
    return found


def test_laws_and_estimates_are_those_of_python(noise: Noise) -> None:
    """In 200 settings: who adds the noise, people, ε, how the others answer, and how you do."""
    assert len(SETTINGS) == 200
    asking = []
    for who, people, epsilon, (share, mine) in SETTINGS:
        crowd = noise["people"][people]
        asking.append(
            {
                **{"ask": "method", "who": who, "people": people, "epsilon": epsilon},
                **{"others": round(share * (crowd - 1)), "mine": mine},
                "counts": [0, crowd // 3, crowd],
            }
        )
    for (who, people, epsilon, _), given, told in zip(SETTINGS, asking, asked(asking), strict=True):
        model = model_of(noise, who, people, epsilon)
        law = np.array(told["law"])
        assert law.sum() == pytest.approx(1, abs=1e-12)
        expected = law_of(model, given["others"] + given["mine"], len(law))
        assert np.abs(law - expected).sum() < 1e-9
        assert told["estimates"] == pytest.approx(list(model.estimate(given["counts"])), abs=1e-9)
        assert told["margin"] == pytest.approx(Z95 * model.sigma, rel=1e-9)
        right = right_in(noise["epsilons"][epsilon], noise["delta"])
        assert (told["chance"]["right"], told["chance"]["of"]) == right


@pytest.mark.parametrize("who", ["devices", "mixers"])
def test_pictures_are_drawn_by_these_laws(noise: Noise, who: str) -> None:
    """The mean of many estimates is the truth, and they vary as the margin says."""
    request = {"ask": "methodDraws", "who": who, "people": 0, "epsilon": 2, "mine": True}
    told = asked([{**request, "draws": DRAWS}])[0]
    model = model_of(noise, who, 0, 2)
    estimates = model.estimate(np.array(told["counts"]))
    error = model.sigma / math.sqrt(DRAWS)
    assert abs(estimates.mean() - told["others"] - 1) < 6 * error
    assert estimates.std() == pytest.approx(model.sigma, rel=0.2)


def test_the_first_picture_has_the_noise_that_krand_plans(
    noise: Noise, planned: SimpleNamespace
) -> None:
    """200 people and ε = 1; `make check` plans all of it."""
    people, epsilon = noise["people"].index(200), noise["epsilons"].index(1)
    flips = planned.devices_plan(200, 1.0).blocks[0].numerator
    assert noise["flips"][people][epsilon] == pytest.approx(flips, rel=1e-3)


@pytest.mark.check
def test_the_table_has_the_noise_that_krand_plans(noise: Noise, planned: SimpleNamespace) -> None:
    """At every position of the sliders; docs/write_method_noise.py brings it up to date."""
    made = planned.table()
    for name in ("people", "epsilons"):
        assert noise[name] == list(made[name])
    assert noise["delta"] == made["delta"]
    assert np.allclose(noise["flips"], made["flips"], rtol=1e-3)
    for kept, weights in zip(noise["dummies"], made["dummies"], strict=True):
        assert np.allclose([int(each) for each in kept], [int(each) for each in weights], rtol=1e-3)


def test_the_script_is_small_and_alone() -> None:
    """One file, which loads nothing and sends nothing."""
    content = (STATIC / "method.js").read_bytes()
    assert len(gzip.compress(content, mtime=0)) <= LARGEST
    for word in (b"import(", b"fetch(", b"XMLHttp", b"http:", b"https:", b"eval(", b"localStorage"):
        assert word not in content.replace(b"http://www.w3.org/2000/svg", b""), word
