"""A data holder's table in one call, whatever it comes as."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from krand.client.answers import answers_in, open_answers
from krand.client.batch import Randomized, randomize
from krand.client.table_ledger import TableLedger, declaration
from krand.survey.plan import Plan

__all__ = ["randomize_table"]


def randomize_table(
    plan: Plan,
    answers: Any,
    output: str | Path,
    *,
    round_number: int = 1,
    skip_bad_rows: bool = False,
    other_people: bool = False,
    discarded: bool = False,
    ledger: str | Path | None = None,
) -> Randomized:
    """Write the noisy reports of everybody in a table, one row for each person, without order.

    `answers` is the path of a Parquet or CSV file, or anything that speaks Arrow, such as a data
    frame of pandas or Polars.

    A second randomization of the same answers reveals more. So a ledger, in the user's folder for
    state unless another file is named, notes every run, and a second one for the same plan and
    round is refused. `other_people` declares that nobody in the table is in that of an earlier run,
    `discarded` that the earlier file was deleted before anybody saw it.

    >>> from krand import randomize_table
    >>> from krand.testing import simulated_table, small_plan
    >>> plan = small_plan()
    >>> everybody = simulated_table(plan.survey, 100, seed=1)
    >>> randomize_table(plan, everybody, "reports.parquet").people
    100
    """
    if isinstance(answers, (str, Path)):
        table = open_answers(answers, plan.layout, skip_torn=skip_bad_rows)
    else:
        table = answers_in(answers, plan.layout)
    return randomize(
        plan,
        table,
        Path(output),
        ledger=TableLedger(ledger),
        declared=declaration(other_people=other_people, discarded=discarded),
        round_number=round_number,
        skip_bad_rows=skip_bad_rows,
    )
