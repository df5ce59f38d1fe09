"""Plans from before they held decisions alone, rewritten: the same noise as whole numbers, a new
hash.

    python tests/golden/rewrite_plans.py tests/golden/plans/*.json

What followed from the noise (precision, promise, overflow) is left out; lanes, which a plan did not
have, follow from its blocks. The golden results are those of the plans before.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import krand

sys.path.insert(0, str(Path(__file__).parents[1]))
from forge import canonical
from lanes import lanes_of

Values = dict[str, Any]


def rewritten(old: Values) -> Values:
    """The plan of today with the noise, the keys and the parties of an older one."""
    survey = krand.Survey.from_values(old["survey"])
    new = {key: old[key] for key in ("format", "survey", "analyst_key") if key in old}
    mixing = old.get("mixing")
    rooms = None if mixing else [block.get("messages", 0) for block in old["blocks"]]
    lanes = list(lanes_of(survey, old["blocks"], rooms))
    if mixing is None:
        noise: Values = {"numerators": [block["noise_numerator"] for block in old["blocks"]]}
    else:
        noise = {"laws": mixing["laws"]}
        pairs = zip(mixing["lane_laws"], mixing["paddings"], strict=True)
        lanes = [
            each | {"law": law, "padding": padding}
            for each, (law, padding) in zip(lanes, pairs, strict=True)
        ]
    return {**new, **noise, "mixers": (mixing or {"mixers": []})["mixers"], "lanes": lanes}


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        values = json.loads(path.read_bytes())
        if "blocks" in values:
            path.write_bytes(canonical(rewritten(values)))
            krand.read_plan(path)
