"""A data holder's whole table at once: every row is a person, randomized as on their device.

The table is read once, in chunks. What is written carries no order: counts of positions, written
out as sorted tokens, or records in uniform random order. Nothing is written for a crowd smaller
than planned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.batches.provenance import Provenance
from krand.batches.responses import ResponsesHeader, ResponsesWriter
from krand.errors import InvalidInput
from krand.files import complete_file
from krand.planning.checking import check_promise
from krand.promise import Linkage
from krand.randomness.compiled import kernels_for
from krand.randomness.generator import SecureRandom, secure_random
from krand.randomness.shuffling import shuffled_chunks
from krand.survey.limits import check_crowd, check_round
from krand.survey.plan import Plan
from krand.tables.answers import Answers, Chunk
from krand.tables.column import Encoded, Mistake, answered
from krand.tables.columns import encode_columns
from krand.tables.ledger import Declared, Run, TableLedger
from krand.tables.responses import add_reported_counts, reported_rows

__all__ = ["BadRows", "Randomized", "randomize"]

RUN_BYTES = 16
TOKENS_AT_A_TIME = 2**20
MOST_KEPT = 100
"""Mistakes of all chunks together that are told in words."""
AGAIN = (
    "name another file; responses cannot be made again, so replace it only if nobody needs it, with"
    " --force (in Python: overwrite=True)"
)


class BadRows(InvalidInput):
    """Rows that cannot be read; `mistakes` tells the first of them."""

    def __init__(self, mistakes: tuple[Mistake, ...]) -> None:
        first = mistakes[0]
        self.mistakes = mistakes
        lines = [f"row {m.row:,}, {_said(m)}" for m in mistakes[1:10]]
        more = ["…"] if len(mistakes) > 10 else []
        hint = "\n  ".join([*lines, *more, "mend them, or leave them out with --on-error skip"])
        error = first.error
        super().__init__(f"row {first.row:,}, {error.field}", error.rule, error.value, hint)


def _said(mistake: Mistake) -> str:
    error = mistake.error
    return f"{error.field}: {error.rule}, found {error.value!r:.100}"


@dataclass(frozen=True, slots=True)
class Randomized:
    """What became of a table."""

    output: Path
    people: int
    reports: int
    """Tokens, or noisy records."""
    skipped: int
    mistakes: tuple[Mistake, ...]
    """The first rows that were left out, and why; rows are counted from 1."""
    run: str
    """Random; the file carries it, so that nobody counts the same run twice."""
    unanswered: Mapping[str, int]
    """How many rows have no answer to a question, where there are any."""


def randomize(
    plan: Plan,
    answers: Answers,
    output: Path,
    *,
    ledger: TableLedger,
    declared: Declared = Declared.NOTHING,
    round_number: int = 1,
    skip_bad_rows: bool = False,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Randomized:
    """Write the reports of all people of a table; all of them, or no file at all.

    The ledger knows of the run before the file has its name. Killed in between, it knows of a file
    that is not there, which is the safe side.
    """
    check_promise(plan)
    check_round(plan, round_number)
    others = ledger.admit(plan, round_number, declared)
    if answers.rows is not None:
        check_crowd(plan, answers.rows)
        kernels_for(answers.rows * plan.survey.copies * plan.layout.positions)
    people = _People(plan, answers, skip_bad_rows, progress)
    run, reports = secure_random().bytes(RUN_BYTES).hex(), 0
    with (
        _noted(ledger, run),
        complete_file("output", output, replace=overwrite, hint=AGAIN) as stream,
    ):
        chunks = _reports(plan, people, secure_random(), output.parent)
        first = next(chunks)  # everybody has been read when the first reports come out
        check_crowd(plan, people.count)
        header = ResponsesHeader(
            plan.hash,
            round_number,
            people.count,
            plan.survey.linkage,
            plan.layout.positions,
            run,
            Provenance.TABLE,
            others,
        )
        with ResponsesWriter(stream, header) as writer:
            for chunk in chain((first,), chunks):
                writer.write(chunk)
                reports += len(chunk)
        place = str(output.absolute())
        made = Run(run, plan.hash, round_number, plan.survey.id, people.count, place)
        ledger.add(plan, made, declared)
    left_out, silent = tuple(people.mistakes), dict(people.unanswered)
    return Randomized(output, people.count, reports, people.skipped, left_out, run, silent)


@contextmanager
def _noted(ledger: TableLedger, run: str) -> Iterator[None]:
    """A run whose file does not come to be is forgotten."""
    try:
        yield
    except BaseException:
        ledger.remove(run)
        raise


def _reports(
    plan: Plan, people: _People, random: SecureRandom, directory: Path
) -> Iterator[NDArray[Any]]:
    """Everybody's reports in an order that tells nothing; the first come after the last person."""
    if plan.survey.linkage is Linkage.BIT:
        return _tokens(plan, people, random)
    rows = (reported_rows(plan, *found, random) for found in people)
    return shuffled_chunks(rows, (plan.layout.positions + 7) // 8, random, directory)


def _tokens(plan: Plan, people: _People, random: SecureRandom) -> Iterator[NDArray[np.int32]]:
    """All tokens, sorted: a multiset has no order."""
    counts = np.zeros(plan.layout.positions, np.int64)
    for encoded, height in people:
        add_reported_counts(plan, encoded, height, random, counts)
    ends = np.cumsum(counts)
    yield np.empty(0, np.int32)  # there may be none at all
    for start in range(0, int(ends[-1]), TOKENS_AT_A_TIME):
        places = np.arange(start, min(start + TOKENS_AT_A_TIME, int(ends[-1])))
        yield np.searchsorted(ends, places, side="right").astype(np.int32)


class _People:
    """The people of a table, chunk by chunk; bad rows stop it, or are left out and counted."""

    def __init__(
        self,
        plan: Plan,
        answers: Answers,
        skip_bad_rows: bool,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._layout, self._answers = plan.layout, answers
        self._skip, self._progress = skip_bad_rows, progress
        self.count = self._left_out = 0
        self.mistakes: list[Mistake] = []
        self.unanswered: Counter[str] = Counter()

    @property
    def skipped(self) -> int:
        return self._left_out + len(self._answers.torn)

    def __iter__(self) -> Iterator[tuple[Encoded, int]]:
        for chunk in self._answers.chunks:
            encoded = encode_columns(self._layout, chunk.columns)
            if encoded.bad.size:
                self._note(chunk, encoded)
            self.unanswered.update(_unanswered(chunk))
            height = chunk.height - encoded.bad.size
            yield _without_gaps(encoded), height
            self.count += height
            if self._progress is not None:
                self._progress(chunk.height)

    def _note(self, chunk: Chunk, encoded: Encoded) -> None:
        here = [replace(m, row=self._row(chunk.first_row + m.row)) for m in encoded.mistakes]
        if not self._skip:
            raise BadRows(tuple(here))
        self._left_out += encoded.bad.size
        self.mistakes += here[: MOST_KEPT - len(self.mistakes)]

    def _row(self, row: int) -> int:
        """Its number in the file, torn rows counted."""
        for torn in self._answers.torn:
            row += torn.row <= row
        return row


def _unanswered(chunk: Chunk) -> dict[str, int]:
    """How many rows of the chunk have no answer to each question, where there are any."""
    silent = {name: chunk.height - answered(column) for name, column in chunk.columns.items()}
    return {name: count for name, count in silent.items() if count}


def _without_gaps(encoded: Encoded) -> Encoded:
    """People are numbered without those who were left out."""
    if not encoded.bad.size:
        return encoded
    return replace(encoded, rows=encoded.rows - np.searchsorted(encoded.bad, encoded.rows))
