"""Write clients/js/src/trust/example.ts: `.venv/bin/python docs/write_trust_example.py`.

What remains in the threat model's example when others work with the analyst, row by row as plans
show it. `tests/js_client/test_trust.py` computes it again; `make js` puts it into the script.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from krand import make_plan
from krand.planning.coalitions import Coalition, Remainder, coalitions_of
from krand.report.trust_map import left_of
from krand.survey.plan import Plan
from krand.survey.reading import parse_survey
from krand.wording.coalitions import coalition_text, remains_text
from krand.wording.promises import right_in

OUT = Path(__file__).resolve().parents[1] / "clients" / "js" / "src" / "trust" / "example.ts"
QUESTIONS, PEOPLE = 20, 100_000
MIXERS = {"devices": 1, "mixers": 3, "both": 3}
POLICY = f"""\
id = "example"

[policy]
epsilon = 1
delta = 1e-6
minimum_crowd = {PEOPLE}
colluding = 0
"""
QUESTION = '\n[[question]]\nname = "q{number}"\ntype = "yes_no"\n'


def planned(noise: str) -> Plan:
    """The example with this noise."""
    asked = "".join(QUESTION.format(number=number) for number in range(QUESTIONS))
    mixed = f"mixers = {MIXERS[noise]}\n" if noise != "devices" else ""
    trust = f'\n[trust]\nnoise = "{noise}"\n{mixed}'
    return make_plan(parse_survey(POLICY + asked + trust))


def named_rows(plan: Plan) -> Iterator[tuple[str, Remainder]]:
    """The rows of the plan's table by what a reader can choose; fewer people are left out."""
    for row in coalitions_of(plan):
        if row.coalition is not Coalition.PEOPLE or row.people == PEOPLE // 2:
            yield row.coalition, row


def row_values(row: Remainder, plan: Plan) -> dict[str, Any]:
    """What is shown of one row."""
    right = None if row.epsilon is None else right_in(row.epsilon, row.delta or 0.0)
    return {
        "who": coalition_text(row, plan),
        "left": left_of(row, plan),
        "said": remains_text(row, plan),
        "right": right,
    }


def example(noise: str) -> dict[str, Any]:
    """One kind of noise: how many mixers there are, and what remains."""
    plan = planned(noise)
    rows = {name: row_values(row, plan) for name, row in named_rows(plan)}
    return {"mixers": MIXERS[noise], "rows": rows}


if __name__ == "__main__":
    found = {noise: example(noise) for noise in MIXERS}
    text = json.dumps(found, indent=2, ensure_ascii=False)
    head = "/** What remains in the example; written by docs/write_trust_example.py. */"
    OUT.write_text(f"{head}\nexport const EXAMPLE = {text};\n", encoding="utf-8")
    print(f"wrote {OUT.name}")
