"""`krand trend`: follow every answer over the rounds of a survey."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.numbers import Real
from krand.cli.options import FILE, confidence_option, force_option, output_option, output_options
from krand.terminal.output import Output

ENDINGS = (".html", ".htm", ".csv", ".parquet", ".xlsx", ".json")
MOST_LINES = 40
"""The most lines that the terminal shows; files have all of them."""


@click.command(short_help="Follow every answer over rounds.")
@click.argument("results", type=FILE, nargs=-1, required=True)
@click.option("--question", "questions", multiple=True, help="Question to follow; all by default.")
@click.option(
    "--between",
    nargs=2,
    type=int,
    metavar="ROUND ROUND",
    help="Also show the differences between two rounds.",
)
@confidence_option
@click.option(
    "--error-rate",
    type=Real(),
    default=0.05,
    show_default=True,
    help="How often any change may be claimed that is none, over all answers and rounds.",
)
@click.option(
    "--language",
    show_default="the survey's, else en",
    help="Language of the page, by its code: one of krand's or of the survey's.",
)
@output_option(
    "Where the trend is written: a page (.html), a table (.csv, .parquet, .xlsx) or .json.",
    required=False,
    made_again=True,
    endings=ENDINGS,
)
@force_option
@output_options
def trend(
    out: Output,
    results: tuple[Path, ...],
    questions: tuple[str, ...],
    between: tuple[int, int] | None,
    confidence: float,
    error_rate: float,
    language: str | None,
    output: Path | None,
    force: bool,
) -> None:
    """Follow the answers of one survey over its rounds: what they are now, and what changed.

    Each answer has its share as it was counted last, and the mean of the last four rounds, which is
    more precise; both with intervals by the exact law of the noise. A change is found by the window
    test on raw counts, whose error rate is for all answers, all rounds and a look after every
    round.

    Give the results of all rounds so far, in any order. A round that is missing and an option that
    was added are named. Means and tests use published results, so they cost no privacy.

    \b
    Examples:
      krand trend results-*.json
      krand trend results-*.json -o trend.html --language de
      krand trend results-*.json --question crashed --between 3 14
    """
    from krand.analysis.results_comparison import compare_results
    from krand.analysis.trends.series import rounds_of
    from krand.analysis.trends.trend import make_trend

    rounds = rounds_of(results)
    pair = _pair(tuple(rounds), between) if between else ()
    with out.progress("trend") as progress:
        found = make_trend(
            tuple(rounds.values()),
            questions,
            confidence=confidence,
            error_rate=error_rate,
            progress=progress,
        )
    compared = (
        compare_results([rounds[number] for number in pair], questions, confidence)
        if pair
        else None
    )
    if output is not None:
        found.save(output, language=language)
    if out.as_json:
        from krand.survey.plain_values import plain

        values = found.values()
        if compared is not None:
            values["between"] = {
                "rounds": list(pair),
                "questions": {name: plain(each) for name, each in compared.questions.items()},
            }
        out.json(values)
        return
    from krand.cli.result_tables import comparison_table, trend_sentences, trend_table
    from krand.report.trend_texts import people_text, words_for

    console, words = out.console(), words_for(found, "en")
    console.print(words.lead())
    console.print(trend_table(words, MOST_LINES))
    for said in trend_sentences(words, MOST_LINES):
        console.print(said)
    if compared is not None:
        for name, changes in compared.questions.items():
            console.print(comparison_table(f"{name}, round {pair[0]} to {pair[1]}", changes))
        console.print(people_text(*(rounds[number].people for number in pair)))
    console.print(words.test())
    console.print(words.promise())
    if output is not None:
        out.lines(f"Written: {output}")


def _pair(rounds: tuple[int, ...], between: tuple[int, int]) -> tuple[int, ...]:
    from krand.errors import InvalidInput

    for number in between:
        if number not in rounds:
            listed = ", ".join(f"{each:,}" for each in rounds)
            hint = f"the rounds are {listed}"
            raise InvalidInput("between", "must be rounds of the results", number, hint)
    if between[0] == between[1]:
        raise InvalidInput("between", "must be two different rounds", between[0])
    return tuple(sorted(between))
