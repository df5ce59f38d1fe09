"""Write clients/js/src/trust/example.ts: `.venv/bin/python docs/write_trust_example.py`.

What remains in the threat model's example when others work with the analyst, row by row as plans
show it. `tests/js_client/test_trust.py` computes it again; `make js` puts it into the script.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from krand import make_plan
from krand.survey.plan import Plan
from krand.survey.reading import parse_survey
from krand.web.trust import trust_map, trust_texts

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


def example() -> dict[str, Any]:
    """What the script shows where a page gives it nothing else."""
    return {
        "texts": trust_texts(),
        "maps": {noise: trust_map(planned(noise)) for noise in MIXERS},
    }


if __name__ == "__main__":
    text = json.dumps(example(), ensure_ascii=False)
    head = "/** What remains in the example; written by docs/write_trust_example.py. */"
    OUT.write_text(f"{head}\nexport const EXAMPLE = {text};\n", encoding="utf-8")
    print(f"wrote {OUT.name}")
