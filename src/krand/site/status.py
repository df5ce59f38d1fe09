"""How far the surveys of a party are, for its operator.

Of an open round it tells in steps how many came. `status_in` looks at a folder in which no program
works, and changes nothing there.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krand.collector.progress import coarse, status_step
from krand.planning.margins import people_shown
from krand.site.about import About, read_about
from krand.site.folder import Folder
from krand.site.state import At, Part, State
from krand.survey.plan import Plan
from krand.wording.phrases import whole
from krand.wording.surveys import survey_name

if TYPE_CHECKING:
    from krand.site.worker import Worker

OVER = {Part.MIXER: (At.MISSED, At.EXPIRED), Part.ANALYST: (At.COUNTED, At.MISSED, At.EXPIRED)}


def status_of(worker: Worker) -> dict[str, Any]:
    """All surveys in which this party has a part."""
    return {"surveys": [survey_status(worker, plan) for plan in worker.plans.values()]}


def survey_status(worker: Worker, plan: Plan) -> dict[str, Any]:
    """One survey: this party's place in it, what is open, how many came, each round."""
    about = read_about(worker.folder.public, plan.hash)
    told = _recorded(plan, about, worker.state, worker.settings.url or worker.address)
    for each in told["rounds"]:
        key = plan.hash, each["round"]
        stages = {Part.MIXER: worker.rounds.get(key), Part.ANALYST: worker.counts.get(key)}
        each |= {part: stage.state for part, stage in stages.items() if stage is not None}
        each["over"] = all(stage.is_over for stage in stages.values() if stage is not None)
    if told["open"] and (found := worker.rounds.get((plan.hash, told["round"]))):
        told["people"] = None if found.spool is None else _steps(plan, found.spool.round().people)
    return told


def status_in(folder: Path) -> dict[str, Any]:
    """The same of a folder in which no program works, from a copy of its state."""
    if not (folder / "state.sqlite").exists():
        return {"surveys": []}
    with tempfile.TemporaryDirectory() as name:
        for path in folder.glob("state.sqlite*"):
            shutil.copy(path, name)
        state = State(Folder(Path(name)))
        try:
            found = ((plan, read_about(folder / "public", plan.hash)) for plan in state.plans())
            return {"surveys": [_recorded(plan, about, state, "") for plan, about in found]}
        finally:
            state.close()


def status_lines(status: dict[str, Any]) -> list[str]:
    """What a terminal shows."""
    lines = [line for survey in status["surveys"] for line in _lines(survey)]
    return lines or ["No survey is published here."]


def came_line(survey: dict[str, Any]) -> str:
    """How many came, in steps; empty where somebody else collects."""
    if (people := survey["people"]) is None:
        return ""
    step, at_least = whole(people["step"]), people["at_least"]
    came = f"At least {whole(at_least)}" if at_least else f"Fewer than {step}"
    return f"{came} people have come, told in steps of {step}."


def is_over(survey: dict[str, Any]) -> bool:
    """Whether nothing is left to do in any round."""
    return all(each["over"] for each in survey["rounds"])


def _recorded(plan: Plan, about: About | None, state: State, own: str) -> dict[str, Any]:
    """What the folder tells of a plan."""
    return {
        "plan": plan.hash,
        "survey": plan.survey.id,
        "title": survey_name(plan.survey),
        "place": about.place if about else 0,
        "form": plan.page_url or f"{own}/{plan.hash}/",
        "parties": [mixer.name for mixer in plan.mixers],
        "open": about is not None and about.open,
        "round": about.round if about else 0,
        "people": None,
        "crowd": plan.smallest_batch,
        "rounds": list(_rounds(plan, about, state)),
    }


def _rounds(plan: Plan, about: About | None, state: State) -> Iterator[dict[str, Any]]:
    """What is recorded of each round, by this party's part in it."""
    parts = []
    if about is not None:
        parts += [Part.MIXER] if about.place <= len(plan.mixers) else []
        parts += [Part.ANALYST] if about.parties[-1] == about.parties[about.place - 1] else []
    for number in range(plan.survey.first_round, plan.survey.rounds + 1):
        found = {str(part): state.row(plan.hash, number, part).state for part in parts}
        last = parts[-1] if parts else None  # where results are counted here, that is the end
        yield {"round": number, **found, "over": last is None or found[last] in OVER[last]}


def _steps(plan: Plan, came: int) -> dict[str, int]:
    """How many came, rounded down to steps: whoever watches learns that a few people came."""
    step = status_step(max(plan.smallest_batch, people_shown(plan.survey) or 0))
    return {"at_least": coarse(came, step), "step": step}


def _lines(survey: dict[str, Any]) -> Iterator[str]:
    title = survey["title"]
    if survey["open"]:
        yield f"{title}: round {survey['round']} is open, form at {survey['form']}"
    else:
        yield f"{title}: {'ended' if is_over(survey) else 'no round is open'}."
    if came := came_line(survey):
        yield f"  {came}"
    for each in survey["rounds"]:
        parts = [f"{part} {each[part].lower()}" for part in Part if part in each]
        yield f"  round {each['round']}: {', '.join(parts)}"
