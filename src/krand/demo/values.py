"""The demonstration as one JSON object."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krand.wording.plans import promise_sentence

if TYPE_CHECKING:
    from krand.demo.story import Demonstration


def demonstration_values(shown: Demonstration, report: Path) -> dict[str, Any]:
    """Each answer with its truth, the baselines, and the files written."""
    plan, held = shown.plan, shown.held
    return {
        "survey": plan.survey.id,
        "plan": plan.hash,
        "people": shown.results.people,
        "simulated": True,
        "seed": shown.asked.seed,
        "fresh_noise": shown.has_fresh_noise,
        "live": shown.asked.live,
        "noise": plan.survey.trust.noise.code,
        "mixers": plan.survey.trust.chain,
        "dummies": list(shown.dummies),
        "checks_passed": shown.checks,
        "positions": plan.layout.positions,
        "messages": plan.messages,
        "epsilon_asked": shown.epsilon_asked,
        "promise": plan.values()["promise"],
        "promise_sentence": promise_sentence(plan),
        "answers": [{**asdict(answer), "holds": answer.holds} for answer in shown.answers],
        "intervals": {**asdict(held), "expected": held.expected},
        "baselines": [asdict(method) for method in shown.baselines],
        "written": {kind: str(path) for kind, path in (shown.written | {"report": report}).items()},
    }
