"""The reproduction as a page of the documentation: verdicts, corrections and proofs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from krand.wording.phrases import number
from krand_lab.reproduction.entries import Section

SUMMARY = "What stands, what falls, what to use instead"
HEAD = """# The drafts, reproduced and corrected

krand's method comes from five drafts by Maxim Zhilyaev and David Zeber (2016–17), cited as 000–004.
`krand-lab drafts` computes every number and figure of theirs again and puts every statement to the
test; this page is written from what it finds, with the corrections and the proofs. Every verdict on
a statement rests on complete enumeration in rational arithmetic over the stated range.
"""


def drafts_markdown(values: dict[str, Any]) -> str:
    """The whole page, from the same values as drafts.json."""
    parts = (_documents(values), _contents(values), _summary(values), _sections(values))
    return "\n".join((HEAD, *chain.from_iterable(parts)))


def _documents(values: dict[str, Any]) -> Iterator[str]:
    has = values["counts"]
    for key, title in values["documents"].items():
        yield f"* {key}: {title}"
    yield ""
    yield (
        f"{has['numbers']} numbers, {has['errata']} of them errata, {has['errata_that_expose']} of"
        f" which would expose people; {has['statements']} statements,"
        f" {has['statements_that_fail']} of them false; {has['cases']:,} cases enumerated."
    )
    yield ""


def _contents(values: dict[str, Any]) -> Iterator[str]:
    """Links to the sections, with what became of each."""
    yield f"* [{SUMMARY}](#{_anchor(SUMMARY)})"
    for section in map(Section, values["sections"]):
        yield f"* [{section.heading}](#{_anchor(section.heading)}): {_tally(values, section)}"
    yield ""


def _anchor(heading: str) -> str:
    """As GitHub and the documentation name a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _tally(values: dict[str, Any], section: Section) -> str:
    errata, statements = _errata(values, section), _statements(values, section)
    told = _counted(len(errata), "erratum", "errata")
    if not statements:
        return told
    failed = sum(entry["verdict"] == "fails" for entry in statements)
    return f"{told}, {_counted(len(statements), 'statement', 'statements')}, {failed} of them false"


def _counted(many: int, one: str, more: str) -> str:
    return f"{many} {one if many == 1 else more}"


def _errata(values: dict[str, Any], section: Section) -> list[dict[str, Any]]:
    return [
        entry
        for entry in values["numbers"]
        if entry["section"] == section and entry["verdict"] == "erratum"
    ]


def _statements(values: dict[str, Any], section: Section) -> list[dict[str, Any]]:
    return [entry for entry in values["statements"] if entry["section"] == section]


def _summary(values: dict[str, Any]) -> Iterator[str]:
    yield f"## {SUMMARY}\n"
    for finding in values["summary"]:
        word = "stands" if finding["stands"] else "falls"
        instead = f" *Use instead:* {finding['instead']}" if finding["instead"] else ""
        yield f"* **{finding['source']} {word}.** {finding['text']}{instead}"
    yield ""


def _sections(values: dict[str, Any]) -> Iterator[str]:
    for section in map(Section, values["sections"]):
        yield f"## {section.heading}\n"
        yield f"{section.introduction}\n"
        errata, statements = _errata(values, section), _statements(values, section)
        if errata:
            yield "### Errata\n"
            yield from _folded(_counted(len(errata), "erratum", "errata"), map(_erratum, errata))
        if statements:
            yield "### Statements\n"
            words = chain.from_iterable(map(_statement, statements))
            yield from _folded(_counted(len(statements), "statement", "statements"), words)


def _folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Closed until somebody wants it; the blank lines let Markdown go on inside."""
    yield f"<details>\n<summary>{title}</summary>\n"
    yield from lines
    yield "\n</details>\n"


def _erratum(entry: dict[str, Any]) -> str:
    mark = " **Exposes people.**" if entry["exposes"] else ""
    return (
        f"* {entry['source']}, {entry['what']}: {entry['draft_as_written']} in the draft,"
        f" {number(entry['computed'], 6)} computed.{mark} {entry['why']}"
    )


def _statement(entry: dict[str, Any]) -> Iterator[str]:
    yield f"**{entry['source']}: {entry['verdict']}.** {entry['says']}\n"
    yield f"*Tested:* {entry['covered']} {entry['cases']:,} cases.\n"
    if entry["smallest_counterexample"]:
        yield f"*Smallest counterexample:* {entry['smallest_counterexample']}\n"
    if entry["corrected"]:
        yield f"*Right is:* {entry['corrected']}\n"
    if entry["comment"]:
        title = "Proof or remark" if entry["verdict"] == "holds" else "Remark"
        yield f"*{title}:* {entry['comment']}\n"
