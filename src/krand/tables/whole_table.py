"""Randomizes a data holder's table in one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from krand.files import keep_inputs
from krand.survey.plan import Plan
from krand.tables.answers import answers_in, open_answers
from krand.tables.ledger import TableLedger, declaration
from krand.tables.randomizing import Randomized, randomize

__all__ = ["randomize_table"]


def randomize_table(
    plan: Plan,
    answers: Any,
    output: str | Path,
    *,
    round_number: int = 1,
    skip_bad_rows: bool = False,
    overwrite: bool = False,
    separator: str = ";",
    delimiter: str = ",",
    encoding: str = "utf-8",
    other_people: bool = False,
    discarded: bool = False,
    ledger: str | Path | None = None,
) -> Randomized:
    """Write the noisy responses of all people in a table, without order; each row is a person.

    `answers` is the path of a Parquet or CSV file, or Arrow data, such as a data frame of pandas or
    Polars. An existing output file is replaced only if `overwrite` is true. `separator` separates
    the answers of a list that is written as one text, `delimiter` the columns of a CSV file, and
    `encoding` is that of the file.

    A second randomization of the same answers would reveal more. Therefore a ledger records each
    run and refuses a second one for the same plan and round. It is in the user's folder for state,
    unless another file is given. `other_people` declares that nobody in the table was in an earlier
    one, `discarded` that the earlier file was deleted before anybody saw it.

    >>> from krand import randomize_table
    >>> from krand.testing import simulated_table, small_plan
    >>> plan = small_plan()
    >>> everybody = simulated_table(plan.survey, 100, seed=1)
    >>> randomize_table(plan, everybody, "responses.parquet").people
    100
    """
    if isinstance(answers, (str, Path)):
        keep_inputs("output", Path(output), [Path(answers)])
        table = open_answers(
            answers,
            plan.layout,
            separator=separator,
            delimiter=delimiter,
            encoding=encoding,
            skip_torn=skip_bad_rows,
        )
    else:
        table = answers_in(answers, plan.layout, separator=separator)
    return randomize(
        plan,
        table,
        Path(output),
        ledger=TableLedger(ledger),
        declared=declaration(other_people=other_people, discarded=discarded),
        round_number=round_number,
        skip_bad_rows=skip_bad_rows,
        overwrite=overwrite,
    )
