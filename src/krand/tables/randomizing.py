"""Randomizes a data holder's table: each row is a person, randomized as on their own device.

The table is read once, in chunks. The output carries no order: sorted tokens, or records in uniform
random order. Nothing is written for a crowd smaller than planned.

Two randomizations of the same table reveal more than one. Therefore an empty file, named for plan
and round, is made before the first byte of output and stays; a second run is refused, unless the
data holder declares that the first output was destroyed before anybody saw it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from krand.batches.frames import pandas_frame, polars_frame
from krand.batches.provenance import Provenance
from krand.batches.responses import ResponsesHeader, ResponsesWriter
from krand.errors import InvalidInput
from krand.files import complete_file, keep_inputs, state_folder, sync_folder, unwritable
from krand.planning.promises import check_promise
from krand.promise import Linkage
from krand.randomness.flips import flip_packed
from krand.randomness.generator import SecureRandom, secure_random
from krand.randomness.shuffling import shuffled_chunks
from krand.survey.plan import Plan
from krand.survey.plan_check import check_crowd, check_round
from krand.tables.answers import Answers, Chunk, read_answers
from krand.tables.arrow_columns import SEPARATOR
from krand.tables.columns import Encoded, Mistake, answered, asked_columns, encode_columns

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

RUN_BYTES = 16
TOKENS_AT_A_TIME = 2**20
MOST_KEPT = 100
"""The most mistakes that are described, over all chunks."""
SKIP = "correct them, or skip them with skip_bad_rows=True"
AGAIN = (
    "name another file; responses cannot be recreated, so replace the file only if nobody needs it,"
    " with overwrite=True"
)
BITS_AT_A_TIME = 2**24
"""The most bits that are flipped together, of all people and positions."""

People = Iterable[tuple[Encoded, int]]
"""What some people set, and how many they are, chunk by chunk."""


class BadRows(InvalidInput):
    """Invalid rows; `mistakes` describes the first of them."""

    def __init__(self, mistakes: tuple[Mistake, ...]) -> None:
        first = mistakes[0]
        self.mistakes = mistakes
        lines = [
            f"row {m.row:,}, {m.error.field}: {m.error.rule}, found {m.error.value!r:.100}"
            for m in mistakes[1:10]
        ]
        more = ["…"] if len(mistakes) > 10 else []
        error = first.error
        hint = "\n  ".join(filter(None, [error.hint, *lines, *more, SKIP]))
        super().__init__(f"row {first.row:,}, {error.field}", error.rule, error.value, hint)


class AlreadyRandomized(InvalidInput):
    """A table has been randomized for this plan and round."""

    def __init__(self, plan: Plan, round_number: int) -> None:
        rounds = plan.survey.rounds
        later = (
            f"for a later round of the same people use round_number={round_number + 1}"
            if round_number < rounds
            else f"the plan has {rounds:,} round{'s' if rounds > 1 else ''}"
        )
        super().__init__(
            "round",
            f"of survey {plan.survey.id} must not have been randomized before",
            round_number,
            "use the file of that run: a second randomization of the same answers would reveal more"
            f" than the plan promises; {later}; if that file was destroyed, or never finished,"
            " before anybody saw it, add again=True",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Randomized:
    """The result of randomizing a table."""

    output: Path
    people: int
    rows: int
    """Rows in the file: tokens, or noisy records."""
    skipped: int
    mistakes: tuple[Mistake, ...]
    """The first skipped rows, and why; rows are counted from 1."""
    run: str
    """A random id, also in the file, so that a run is not counted twice."""
    unanswered: Mapping[str, int]
    """The number of rows without an answer, for each question that has such rows; of a question
    with a condition, those that were asked."""
    not_asked: Mapping[str, int]
    """The number of answers that were dropped, because their condition does not hold."""

    def to_arrow(self) -> pa.Table:
        """The responses as an Arrow table: a row for each token or noisy record, in no order."""
        return pq.read_table(self.output)

    def to_pandas(self) -> pd.DataFrame:
        """The same as a pandas data frame; needs krand[pandas]."""
        frame: pd.DataFrame = pandas_frame(self.to_arrow())
        return frame

    def to_polars(self) -> pl.DataFrame:
        """The same as a polars data frame; needs krand[polars]."""
        frame: pl.DataFrame = polars_frame(self.to_arrow())
        return frame


def randomize_table(
    plan: Plan,
    answers: Any,
    output: str | Path,
    *,
    round_number: int = 1,
    skip_bad_rows: bool = False,
    overwrite: bool = False,
    separator: str = SEPARATOR,
    again: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Randomized:
    """Write the noisy responses of all people in a table, without order; each row is a person.

    `answers` is the path of a Parquet file or a CSV file in UTF-8, or Arrow data, such as a data
    frame of pandas or Polars; what is returned has the responses as one, too: `to_pandas`,
    `to_polars`. An existing output file is replaced only if `overwrite` is true. `separator`
    separates the answers of a list that is written as one text.

    A second randomization of the same answers would reveal more. Therefore an empty file in the
    user's folder for state stands for each run, and a second one for the same plan and round is
    refused. `again` declares that the earlier output was destroyed before anybody saw it.

    `progress` is called with the number of rows that were read since the last call.

    >>> from krand import randomize_table
    >>> from krand.testing import simulated_table, small_plan
    >>> plan = small_plan()
    >>> everybody = simulated_table(plan.survey, 100, seed=1)
    >>> done = randomize_table(plan, everybody, "responses.parquet")
    >>> done.people, done.rows == len(done.to_pandas())
    (100, True)
    """
    if plan.survey.trust.has_dummies:
        rule = "must be a plan in which devices add the noise"
        hint = 'no mixers stand behind a table: write noise = "devices" under [trust]'
        raise InvalidInput("plan", rule, f"noise of {plan.survey.trust.noise}", hint)
    check_promise(plan)
    check_round(plan, round_number)
    mark = state_folder() / "randomized" / f"{plan.hash}-{round_number}"
    if mark.exists() and not again:
        raise AlreadyRandomized(plan, round_number)
    output = Path(output)
    if isinstance(answers, (str, Path)):
        keep_inputs("output", output, [Path(answers)])
    if not isinstance(answers, Answers):
        answers = read_answers(answers, plan.layout, separator=separator)
    if answers.rows is not None:
        check_crowd(plan, answers.rows)
    people = _People(plan, answers, skip_bad_rows, progress)
    run, rows = secure_random().bytes(RUN_BYTES).hex(), 0
    with complete_file("output", output, replace=overwrite, hint=AGAIN) as stream:
        chunks = responses_without_order(plan, people, secure_random(), output.parent)
        first = next(chunks)  # all people have been read when the first responses appear
        check_crowd(plan, people.count)
        header = ResponsesHeader(
            plan=plan.hash,
            round=round_number,
            people=people.count,
            linkage=plan.survey.linkage,
            positions=plan.layout.positions,
            run=run,
            provenance=Provenance.TABLE,
        )
        if not _marked(mark) and not again:
            raise AlreadyRandomized(plan, round_number)
        with ResponsesWriter(stream, header) as writer:
            for chunk in chain((first,), chunks):
                writer.write(chunk)
                rows += len(chunk)
    return Randomized(
        output=output,
        people=people.count,
        rows=rows,
        skipped=people.skipped,
        mistakes=tuple(people.mistakes),
        run=run,
        unanswered=dict(people.unanswered),
        not_asked=dict(people.not_asked),
    )


def _marked(mark: Path) -> bool:
    """Make the file that stands for a run, to survive a power cut; False if there is one."""
    try:
        # It reveals which tables somebody holds.
        mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(mark, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)):
            pass
        sync_folder(mark.parent)
    except FileExistsError:
        if not mark.parent.is_dir():
            raise InvalidInput("XDG_STATE_HOME", "must hold a folder", str(mark.parent)) from None
        return False
    except OSError as error:
        raise unwritable("XDG_STATE_HOME", mark, error) from None
    return True


def responses_without_order(
    plan: Plan, people: People, random: SecureRandom, directory: Path
) -> Iterator[NDArray[Any]]:
    """All responses; the first appear after the last person was read."""
    if plan.survey.linkage is Linkage.BIT:
        return _tokens(plan, people, random)
    width = plan.response_bytes
    return shuffled_chunks(noisy_rows(plan, people, random), width, random, directory)


def _tokens(plan: Plan, people: People, random: SecureRandom) -> Iterator[NDArray[Any]]:
    """All tokens, sorted, so that no order is left."""
    ends = np.cumsum(reported_counts(plan, people, random))
    yield np.empty(0, np.int32)  # there may be none
    for start in range(0, int(ends[-1]), TOKENS_AT_A_TIME):
        places = np.arange(start, min(start + TOKENS_AT_A_TIME, int(ends[-1])))
        yield np.searchsorted(ends, places, side="right").astype(np.int32)


class _People:
    """The people in a table, chunk by chunk; invalid rows stop it, or are skipped and counted."""

    def __init__(
        self,
        plan: Plan,
        answers: Answers,
        skip_bad_rows: bool,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._layout, self._answers = plan.layout, answers
        self._skip, self._progress = skip_bad_rows, progress
        self.count = self.skipped = 0
        self.mistakes: list[Mistake] = []
        self.unanswered: Counter[str] = Counter()
        self.not_asked: Counter[str] = Counter()

    def __iter__(self) -> Iterator[tuple[Encoded, int]]:
        for chunk in self._answers.chunks:
            encoded = encode_columns(self._layout, chunk.columns)
            if encoded.bad.size:
                self._note(chunk, encoded)
                skipped = np.searchsorted(encoded.bad, encoded.rows)
                encoded = replace(encoded, rows=encoded.rows - skipped)
            self._note_silence(chunk)
            height = chunk.height - encoded.bad.size
            yield encoded, height
            self.count += height
            if self._progress is not None:
                self._progress(chunk.height)

    def _note(self, chunk: Chunk, encoded: Encoded) -> None:
        here = [replace(m, row=chunk.first_row + m.row) for m in encoded.mistakes]
        if not self._skip:
            raise BadRows(tuple(here))
        self.skipped += encoded.bad.size
        self.mistakes += here[: MOST_KEPT - len(self.mistakes)]

    def _note_silence(self, chunk: Chunk) -> None:
        asked = asked_columns(self._layout.questions, chunk.columns)
        for name, column in asked.columns.items():
            given, people = answered(column), asked.people.get(name)
            if silent := (chunk.height if people is None else int(people.sum())) - given:
                self.unanswered[name] += silent
            if dropped := answered(chunk.columns[name]) - given:
                self.not_asked[name] += dropped


def reported_counts(plan: Plan, people: People, random: SecureRandom) -> NDArray[np.int64]:
    """How many of these people report a 1 at each position.

    This is the same as counting `reported_positions` for each person: every bit of every person is
    flipped, and of a true one that means that it is missing.
    """
    positions = plan.layout.positions
    counts = np.zeros(positions, np.int64)
    for part, height in _few_at_a_time(people, positions):
        flips = np.zeros((positions, (height + 7) // 8), np.uint8)
        for block in plan.blocks:
            rows = slice(block.offset, block.offset + block.positions)
            flips[rows] = flip_packed(flips[rows], block.numerator, random, bits=height)
        here = flips[part.positions, part.rows >> 3] >> (7 - (part.rows & 7)) & 1 == 1
        counts += np.bitwise_count(flips).sum(axis=1, dtype=np.int64)
        counts += np.bincount(part.positions[~here], minlength=positions)
        counts -= np.bincount(part.positions[here], minlength=positions)
    return counts


def noisy_rows(plan: Plan, people: People, random: SecureRandom) -> Iterator[NDArray[np.uint8]]:
    """k noisy copies of each person's record, packed, one row each; some people at a time."""
    bits, copies = plan.layout.positions, plan.survey.copies
    for part, height in _few_at_a_time(people, bits * copies):
        records = np.zeros((height, bits), dtype=np.uint8)
        records[part.rows, part.positions] = 1
        rows = np.repeat(np.packbits(records, axis=1), copies, axis=0)
        yield flip_packed(rows, plan.numerators[0], random, bits=bits)


def _few_at_a_time(people: People, bits: int) -> Iterator[tuple[Encoded, int]]:
    """The same people in smaller chunks: memory is bounded however many bits each of them has."""
    most = max(8, BITS_AT_A_TIME // bits // 8 * 8)
    for encoded, height in people:
        for first in range(0, height, most):
            end = min(first + most, height)
            inside = slice(*np.searchsorted(encoded.rows, [first, end]))
            rows, positions = encoded.rows[inside] - first, encoded.positions[inside]
            yield replace(encoded, rows=rows, positions=positions), end - first
