"""`krand-lab drafts`: reproduce the papers that the method comes from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.numbers import Count
from krand.cli.options import FOLDER, OneOf, crowd_options, linkage_option, output_options
from krand.terminal.output import Output

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from krand_lab.choice import DraftNoise
    from krand_lab.reproduction.findings import Finding
    from krand_lab.reproduction.tasks import Reproduction

SECTIONS = ("single-bit", "ratio", "tail", "precision", "sparse", "copies", "collections")
"""Listed here so that `krand-lab --help` need not load the mathematics."""


@click.group(
    invoke_without_command=True,
    short_help="Reproduce and correct the drafts of the method.",
)
@click.option(
    "-o",
    "--output",
    "directory",
    type=FOLDER,
    default=Path("drafts-output"),
    show_default=True,
    help="Where drafts.html and drafts.json are written.",
)
@click.option(
    "--only",
    "sections",
    type=OneOf(SECTIONS),
    multiple=True,
    help="Only this section; may be given several times.",
)
@output_options
@click.pass_context
def drafts(
    context: click.Context,
    out: Output,
    directory: Path,
    sections: tuple[str, ...],
) -> None:
    """Recompute every number and figure of the drafts that krand is based on.

    Each number is compared with the draft: it agrees, or it is an erratum, with the reason. Each
    statement is tested by exact enumeration. This takes about a minute on two cores. Two runs give
    the same numbers, bit for bit.

    \b
    Examples:
      krand-lab drafts --output drafts-output
      krand-lab drafts --only copies --only sparse
      krand-lab drafts noise --crowd 1000 --bits 5 --epsilon 1 --linkage record
    """
    out.pass_on(context)
    if context.invoked_subcommand is None:
        _reproduce(out, directory, sections)


@drafts.command(short_help="The noise that the drafts choose, for comparison.")
@crowd_options
@linkage_option
@click.option(
    "--colluding",
    type=Count(),
    default=0,
    show_default=True,
    help="Colluding participants: they help the analyst and hide nobody.",
)
@output_options
def noise(out: Output, **options: Any) -> None:
    """The noise that the drafts choose, and what it actually gives.

    For one bit or one record of each person. The drafts aim at no δ and no η, so plan with krand
    noise instead.

    \b
    Examples:
      krand-lab drafts noise --crowd 1000 --bits 5 --epsilon 1 --linkage record
      krand-lab drafts noise --crowd 10k --bits 1 --epsilon 1 --json
    """
    from krand_lab.choice import noise as draft_noise
    from krand_lab.formulas.planners import DRAFT_WARNING

    found = draft_noise(**options)
    out.warn(DRAFT_WARNING)
    if out.as_json:
        from dataclasses import asdict

        out.json(
            {
                **options,
                "noise": found.noise,
                "noise_numerator": found.noise_numerator,
                "delta": asdict(found.delta),
                "eta": asdict(found.eta),
                "sigma": found.sigma,
                "half_width_95": found.half_width_95,
                "half_width_percent": 100 * found.half_width_95 / options["crowd"],
                "source": found.source,
                "warning": DRAFT_WARNING,
            }
        )
        return
    console = out.console()
    console.print(f"Formula: {found.source}")
    console.print(_given(found, options["crowd"]))


def _given(found: DraftNoise, crowd: int) -> Table:
    """The noise, the precision, and what is left of the promise in both directions."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from krand.wording.phrases import number, percent
    from krand_lab.agreement import bounds_text

    half = found.half_width_95
    people = f"{half:,.0f}" if half >= 10 else number(half, 2)
    margin = f"typical margin of error (95 %) ± {people} people ({percent(100 * half / crowd)})"
    title = f"q = {number(found.noise, 6)}: {margin}, σ = {number(found.sigma)}"
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left")
    for heading in ("value\n[lower, upper]", "forward", "reverse"):
        table.add_column(heading)
    for symbol, ways in (("δ", found.delta), ("η", found.eta)):
        table.add_row(symbol, bounds_text(ways.forward), bounds_text(ways.reverse))
    return table


def _reproduce(out: Output, directory: Path, sections: tuple[str, ...]) -> None:
    """The page, the numbers and what is on the screen."""
    from krand.files import ensure_directory, write_atomically
    from krand.terminal.output import to_json
    from krand_lab.reproduction.entries import Section
    from krand_lab.reproduction.findings import findings_of
    from krand_lab.reproduction.page import drafts_page
    from krand_lab.reproduction.tasks import reproduce, tasks
    from krand_lab.reproduction.values import document

    ensure_directory("output", directory)
    chosen = tuple(section for section in Section if not sections or section in sections)
    work = tasks(chosen)
    with out.progress("reproducing", len(work)) as progress:
        result = reproduce(chosen, work, progress)
    findings = findings_of(result)
    values = document(result, findings)
    page, numbers = directory / "drafts.html", directory / "drafts.json"
    write_atomically("output", numbers, to_json(values) + "\n")
    write_atomically("output", page, drafts_page(result, findings, numbers.name))
    if out.as_json:
        out.json({**values, "written": {"page": str(page), "numbers": str(numbers)}})
        return
    console = out.console()
    console.print(_table(result))
    for finding in findings:
        console.print(_lines(finding))
    console.print(f"Report: {page}", soft_wrap=True)


def _lines(finding: Finding) -> Text:
    """What became of one part of the drafts, and what to use instead."""
    from rich.text import Text

    word, style = ("stands", "bold green") if finding.stands else ("falls", "bold red")
    text = Text.assemble((word, style), " ", (finding.source, "bold"), f": {finding.text}")
    return text.append(f" Use instead: {finding.instead}") if finding.instead else text


def _table(result: Reproduction) -> Table:
    """One row for each section."""
    from rich.table import Table

    table = Table(title="the drafts, reproduced", title_justify="left")
    for heading in ("section", "numbers", "errata", "figures", "statements", "false"):
        table.add_column(heading, justify="left" if heading == "section" else "right")
    for section in result.sections:
        numbers = [entry for entry in result.numbers if entry.section is section]
        verdicts = [verdict for of, verdict in result.verdicts if of is section]
        table.add_row(
            section.heading,
            str(len(numbers)),
            str(sum(not entry.agrees for entry in numbers)),
            str(sum(picture.section is section for picture in result.pictures)),
            str(len(verdicts)),
            str(sum(not verdict.holds for verdict in verdicts)),
        )
    return table
