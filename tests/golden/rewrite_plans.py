"""Plans in which nobody had an address and the analyst was a key, rewritten: a new hash.

    PYTHONPATH=.:tests python tests/golden/rewrite_plans.py FILE…
    python -m reference.vectors > tests/vectors.json

Files are plans or reference/cases.json. The noise and all keys are those of before; mixers get
addresses where there are several, and the analyst the identity of the reference.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from forge import canonical
from reference.message import ANALYST
from reference.vectors import identity, public


def rewritten(old: dict[str, Any]) -> dict[str, Any]:
    """The plan of today with the noise, the keys and the parties of an older one."""
    if "analyst_key" not in old:
        return old
    new = {name: value for name, value in old.items() if name != "analyst_key"}
    new["analyst"] = {"key": old["analyst_key"], "identity": public(identity(ANALYST))}
    several = len(old["mixers"]) > 1
    new["mixers"] = [
        {**mixer, "url": f"https://mixer-{place}.example" if several else ""}
        for place, mixer in enumerate(old["mixers"], 1)
    ]
    return new


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        content = path.read_text(encoding="utf-8")
        values = json.loads(content)
        for text in values["plans"].values() if "plans" in values else ():
            new = canonical(rewritten(json.loads(text))).decode()
            for ascii_only in (True, False):
                quoted = (json.dumps(each, ensure_ascii=ascii_only) for each in (text, new))
                content = content.replace(*quoted)
        plan = {} if "plans" in values else rewritten(values)
        path.write_text(canonical(plan).decode() if plan else content, encoding="utf-8")
