"""The reproduction as one HTML page that needs nothing else."""

from __future__ import annotations

from typing import Any

from krand import __version__
from krand.report.pages import render
from krand.wording.phrases import number
from krand_lab.mathml import formulas
from krand_lab.reproduction.drawing import element
from krand_lab.reproduction.entries import Number, Picture, Section
from krand_lab.reproduction.findings import Finding
from krand_lab.reproduction.tasks import Reproduction
from krand_lab.reproduction.values import counts
from krand_lab.statements.verdict import Verdict

LEAD = (
    "Five drafts by Maxim Zhilyaev and David Zeber (2016–17) invented the method behind krand. Here"
    " every number and figure of theirs is computed again, and every statement put to the test by"
    " exact enumeration. An erratum is where the computed number is a whole unit of the last"
    " printed digit away, or more; a statement fails where a single case contradicts it. Throughout"
    " $q$ is the probability of a flip, $p=1-q$, $\\varphi=p/q+q/p-1$, $R=P(S|D_m)/P(S|D)$ and"
    " $\\lambda=e^\\varepsilon$."
)


def drafts_page(result: Reproduction, findings: tuple[Finding, ...], json_name: str) -> str:
    """The whole page."""
    return render(
        "drafts.html",
        room="krand_lab",
        formulas=formulas,
        title="The drafts of k-randomization, reproduced and corrected",
        lead=LEAD,
        cards=_cards(result),
        findings=findings,
        sections=[_section(section, result) for section in result.sections],
        version=__version__,
        json_name=json_name,
    )


def _cards(result: Reproduction) -> list[dict[str, str]]:
    has = counts(result)
    return [
        {
            "title": "numbers",
            "value": f"{has['numbers'] - has['errata']} of {has['numbers']} agree",
            "text": f"{has['errata']} errata; {has['errata_that_expose']} of them would expose"
            " people who trust the printed number",
        },
        {
            "title": "statements",
            "value": f"{has['statements'] - has['statements_that_fail']} of"
            f" {has['statements']} hold",
            "text": f"{has['cases']:,} cases enumerated in rational arithmetic, none sampled",
        },
        {
            "title": "figures",
            "value": f"{has['figures']} redrawn",
            "text": "beside what they should have been",
        },
    ]


def _section(section: Section, result: Reproduction) -> dict[str, Any]:
    numbers = [_number(entry) for entry in result.numbers if entry.section is section]
    figures = [_figure(picture) for picture in result.pictures if picture.section is section]
    statements = [verdict for of, verdict in result.verdicts if of is section]
    return {
        "id": f"section-{section}",
        "title": section.heading,
        "holds": _holds(numbers, statements),
        "intro": section.introduction,
        "numbers": numbers,
        "figures": figures,
        "statements": statements,
    }


def _holds(numbers: list[dict[str, Any]], statements: list[Verdict]) -> str:
    """What became of a section, beside its title."""
    parts = []
    if numbers:
        agree = sum(entry["agrees"] for entry in numbers)
        parts.append(f"{agree} of {len(numbers)} numbers agree")
    if statements:
        hold = sum(verdict.holds for verdict in statements)
        parts.append(f"{hold} of {len(statements)} statements hold")
    return ", ".join(parts)


def _number(entry: Number) -> dict[str, Any]:
    verdict = "agrees" if entry.agrees else "erratum, exposes" if entry.exposes else "erratum"
    texts = ["" if entry.agrees else entry.why, entry.note]
    if entry.seed is not None:
        texts.append(f"Simulated with seed {entry.seed}.")
    return {
        "key": entry.key,
        "agrees": entry.agrees,
        "what": entry.what,
        "source": entry.source,
        "printed": entry.shown,
        "computed": number(entry.computed, 5),
        "verdict": verdict,
        "text": " ".join(filter(None, texts)),
    }


def _figure(picture: Picture) -> dict[str, Any]:
    caption = picture.caption
    if picture.seed is not None:
        caption += f" Simulated with seed {picture.seed}."
    return {
        "key": picture.key,
        "svg": element(picture),
        "title": picture.title,
        "source": picture.source,
        "draft_shows": picture.draft_shows,
        "caption": caption,
    }
