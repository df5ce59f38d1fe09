"""What a notebook shows of tallies, estimates and results."""

from __future__ import annotations

from krand.analysis.estimates.values import AskedEstimate, QuestionEstimate, Row
from krand.analysis.results import Results
from krand.analysis.tally import Tally
from krand.notebook.html import MOST_ROWS, html_of, pairs, table
from krand.notebook.surveys import promise_line
from krand.promise import READABLE
from krand.showing import some
from krand.wording.phrases import asked_texts, summary_text
from krand.wording.surveys import survey_name
from krand.wording.texts import ENGLISH

UNREADABLE = f"too noisy: margin of error above {100 * READABLE:g} %"


@html_of.register
def _(tally: Tally) -> str:
    """What was counted, without the counts themselves."""
    rows = [
        ("plan", f"{tally.plan_hash[:16]}…"),
        ("round", f"{tally.round:,}"),
        ("people", f"{tally.people:,}, the smallest batch {tally.crowd:,}"),
        ("linkage", tally.linkage.value),
        ("positions", f"{tally.positions:,}"),
        ("responses", f"{tally.responses:,}"),
        ("set bits", f"{int(tally.counts.sum()):,}"),
        ("provenance", tally.provenance.value),
    ]
    if tally.different_people:
        rows.append(("different people", "declared by the analyst"))
    rows += [("refused", f"{count:,} {reason}") for reason, count in tally.rejected.items()]
    return pairs("Tally", rows)


@html_of.register
def _question(question: QuestionEstimate) -> str:
    """The answers to one question; of many the most frequent."""
    sure = f"at {ENGLISH.numbers.confidence(question.confidence)}"
    rows = list(question.rows)
    note = some(question.people, "person")
    if len(rows) > MOST_ROWS:
        note += f"; the {MOST_ROWS} most frequent of {len(rows):,} answers"
        rows = sorted(rows, key=lambda row: -row.consistent)[:MOST_ROWS]
    if question.unreadable:
        note += f"; {len(question.unreadable):,} of {len(question.all_rows):,} {UNREADABLE}"
    note = "; ".join([note, *map(summary_text, question.summaries)])
    if question.unanswered is not None:
        rows.append(question.unanswered)
    head = ("answer", "people", sure, "share, %", sure)
    return table(question.name, head, map(_cells, rows), note)


def _cells(row: Row) -> tuple[str, ...]:
    share = row.share_interval
    return (
        row.label if row.readable else f"{row.label} ({UNREADABLE})",
        f"{row.consistent:,.0f}",
        f"{row.interval.low:,.0f} to {row.interval.high:,.0f}",
        f"{100 * row.consistent_share:.2f}",
        f"{100 * share.low:.2f} to {100 * share.high:.2f}",
    )


@html_of.register
def _(results: Results) -> str:
    """Whom the numbers are about, and what was promised to them."""
    batch = f"{results.crowd:,}"
    rows = [
        ("survey", survey_name(results.plan.survey)),
        ("people", f"{results.people:,}, the smallest batch {batch}; round {results.round:,}"),
        ("promise", promise_line(results.promise)),
        ("as promised", "yes" if results.kept else "no: too many messages were refused"),
        ("provenance", results.provenance.value),
    ]
    if results.different_people:
        rows.append(("different people", "declared by the analyst"))
    rows += [("joint table", " × ".join(joint.table.questions)) for joint in results.joint]
    rows += [
        ("words", f"{w.question}: {len(w.found):,} of {len(w.rows):,} candidates found")
        for w in results.words
    ]
    rows += [("refused", f"{count:,} {why}") for why, count in results.rejected.items()]
    asked = "".join(map(_asked, results.asked))
    return pairs("Results", rows) + "".join(map(_question, results.questions)) + asked


def _asked(found: AskedEstimate) -> str:
    """The answers among those who were asked, or who answered."""
    sure = f"at {ENGLISH.numbers.confidence(found.confidence)}"
    rows = sorted(found.rows, key=lambda row: -row.consistent)[:MOST_ROWS]
    cells = (
        (
            row.label if row.readable else f"{row.label} ({UNREADABLE})",
            f"{100 * row.consistent:.2f}",
            f"{100 * row.interval.low:.2f} to {100 * row.interval.high:.2f}",
        )
        for row in (*rows, *(() if found.unanswered is None else (found.unanswered,)))
    )
    head = ("answer", f"{ENGLISH.asked.heading[found.base]}, %", sure)
    return table(found.question, head, cells, " ".join(asked_texts(found)))
