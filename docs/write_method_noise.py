"""Write clients/js/src/method/noise.ts: `.venv/bin/python docs/write_method_noise.py`.

The noise behind every position of the sliders of "the method in 30 seconds". It is what krand plans
for one yes/no question, proven as every plan is. `tests/js_client/test_method.py` plans it again.
`make js` puts it into the script that is shipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from krand import make_plan
from krand.survey.plan import Plan
from krand.survey.reading import parse_survey

OUT = Path(__file__).resolve().parents[1] / "clients" / "js" / "src" / "method" / "noise.ts"
PEOPLE = (100, 200, 300, 500, 1000)
EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0)
DELTA = 1e-6
SURVEY = """\
id = "method"

[policy]
epsilon = {epsilon}
delta = {delta}
{crowd}

[[question]]
name = "answer"
type = "yes_no"
"""
TRUST = '\n[trust]\nnoise = "mixers"\n'


def devices_plan(people: int, epsilon: float) -> Plan:
    """One yes/no question to so many people, whose devices flip."""
    crowd = f"minimum_crowd = {people}"
    return make_plan(parse_survey(SURVEY.format(epsilon=epsilon, delta=DELTA, crowd=crowd)))


def mixer_plan(epsilon: float) -> Plan:
    """The same to any number of people, with one mixer that adds dummies."""
    return make_plan(parse_survey(SURVEY.format(epsilon=epsilon, delta=DELTA, crowd="") + TRUST))


def flips() -> Iterator[list[int]]:
    """For each number of people and each ε: q in units of 2^-32."""
    for people in PEOPLE:
        yield [devices_plan(people, epsilon).blocks[0].numerator for epsilon in EPSILONS]


def dummies() -> Iterator[list[str]]:
    """For each ε: the weights of R, R+1, …, 2R dummies in units of 2^-63, as plans write them."""
    for epsilon in EPSILONS:
        mixing = mixer_plan(epsilon).mixing
        assert mixing is not None
        yield [str(weight) for weight in mixing.laws[0].half]


def table() -> dict[str, Any]:
    """All of it."""
    given = {"people": PEOPLE, "epsilons": EPSILONS, "delta": DELTA}
    return {**given, "flips": list(flips()), "dummies": list(dummies())}


if __name__ == "__main__":
    lines = [f"  {name}: {json.dumps(value)}," for name, value in table().items()]
    head = (
        "/** The noise of every position of the sliders; written by docs/write_method_noise.py. */"
    )
    text = "\n".join([head, "export const NOISE = {", *lines, "};", ""])
    OUT.write_text(text, encoding="utf-8")
    print(f"wrote {OUT.name}")
