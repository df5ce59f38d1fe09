"""The survey of the first page as a program: a script and a notebook that run it on a table."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from krand.errors import InvalidInput
from krand.survey.layout import layout_of
from krand.web.survey_form import SurveyForm
from krand.web.texts import TEXTS

OWN = TEXTS.recipes
IMPORTS = """\
from krand import (
    make_plan,
    make_results,
    parse_survey,
    randomize_table,
    save_report,
    tally_responses,
)
from krand.simulation import simulated_table
"""
PLAN = """\
plan = make_plan(parse_survey(SURVEY))
plan.save("plan.json", overwrite=True)
"""
ANSWERS = """\
simulated = ANSWERS is None
if simulated:
    ANSWERS = simulated_table(plan.survey, plan.promise.crowd, seed=1)
"""
RANDOMIZE = """\
randomize_table(plan, ANSWERS, "responses.parquet", overwrite=True, other_people=simulated)
"""
RESULTS = """\
results = make_results(plan, tally_responses(plan, ["responses.parquet"]))
results.save("results.json")
save_report(results, "report.html")
"""
FROM_ARGUMENTS = "ANSWERS = sys.argv[1] if len(sys.argv) > 1 else None\n"
FROM_CELL = "ANSWERS = None\n"


def script_of(form: SurveyForm) -> str:
    """A Python script: `python run_survey.py answers.csv`."""
    survey = _survey(form)
    head = f'"""{OWN.script.format(columns=_columns(form))}\n"""\n'
    parts = [head, f"import sys\n\n{IMPORTS}", survey, FROM_ARGUMENTS]
    steps = _steps()
    return "\n".join((*parts, *(f"# {comment}\n{code}" for comment, code in steps)))


def notebook_of(form: SurveyForm) -> str:
    """The same steps as a Jupyter notebook."""
    about = OWN.notebook.format(title=form.texts["topic"].strip(), columns=_columns(form))
    cells = [("markdown", about), ("code", f"{IMPORTS}\n{_survey(form)}"), ("code", FROM_CELL)]
    for comment, code in _steps():
        cells += [("markdown", comment), ("code", code)]
    cells.append(("code", "results\n"))
    return json.dumps(
        {
            "cells": [_cell(number, *cell) for number, cell in enumerate(cells)],
            "metadata": {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        },
        indent=1,
        ensure_ascii=False,
    )


def _steps() -> list[tuple[str, str]]:
    return [
        (OWN.plan, PLAN),
        (OWN.answers, ANSWERS),
        (OWN.randomize, RANDOMIZE),
        (OWN.results, RESULTS),
    ]


def _survey(form: SurveyForm) -> str:
    """The survey file as a constant; one with mixers' noise cannot be run on a table."""
    if form.noise.chain(1):
        raise InvalidInput("noise", OWN.devices_only, str(form.noise), OWN.devices_hint)
    lines = form.survey_text().splitlines(keepends=True)
    return "SURVEY = (\n" + "".join(f"    {line!r}\n" for line in lines) + ")\n"


def _columns(form: SurveyForm) -> str:
    return ", ".join(layout_of(form.survey()).question_names)


def _cell(number: int, kind: str, source: str) -> dict[str, Any]:
    name = hashlib.sha256(f"{number}{kind}".encode()).hexdigest()[:8]
    cell: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": {}}
    cell["source"] = source.rstrip("\n").splitlines(keepends=True)
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell
