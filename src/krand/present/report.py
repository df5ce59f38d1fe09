"""The planner's report: one HTML file that needs nothing else."""

from __future__ import annotations

import math
import re
from html import escape
from string import Template
from typing import TYPE_CHECKING

from krand.present.plots import FIGURE_COLORS
from krand.present.wording import (
    against_curator,
    at_most,
    how_known,
    local_promise,
    number,
    people,
    percent,
    promise,
)

if TYPE_CHECKING:
    from krand.present.demo import Demonstration, Headline
    from krand.privacy.frontier import Frontier, FrontierRow

__all__ = ["inline_figure", "planner_report"]

PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
:root { color-scheme: light dark; --ink: #1c2128; --paper: #ffffff; --back: #f6f7f9;
  --faint: #57606a; --grid: #d5d9de; --bit: #b34700; --record: #0072b2; --local: #6e7781;
  --curator: #00785a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --paper: #1a1f26; --back: #12161b;
  --faint: #a3adb8; --grid: #39414b; --bit: #ff9a57; --record: #5cb8f0; --local: #9aa4af;
  --curator: #3ccf9f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 3rem; background: var(--back);
  color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; }
p { max-width: 46rem; }
.cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); }
.card, .wide { background: var(--paper); border: 1px solid var(--grid); border-radius: .6rem;
  padding: 1rem; }
.card h3 { margin: 0; font-size: .95rem; color: var(--faint); font-weight: 600; }
.card strong { display: block; font-size: 1.5rem; margin: .3rem 0; }
.card p { margin: .3rem 0 0; font-size: .9rem; color: var(--faint); overflow-wrap: anywhere; }
.wide { overflow-x: auto; padding: .5rem 1rem; }
.wide svg { display: block; margin: 0 auto; width: 100%; min-width: 34rem; max-width: 54rem;
  height: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; white-space: nowrap; }
th, td { padding: .4rem .7rem; text-align: left; border-bottom: 1px solid var(--grid); }
th { color: var(--faint); font-weight: 600; }
tr:last-child td { border-bottom: 0; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
.best td { font-weight: 600; }
footer { margin-top: 2.5rem; color: var(--faint); font-size: .85rem; }
</style>
</head>
<body>
<main>
<h1>$title</h1>
<p>$lead</p>
<h2>Three ways to ask</h2>
<div class="cards">
$cards
</div>
<h2>What is promised</h2>
$promises
<h2>Volume against precision</h2>
<p>★ marks the rows that no other row beats in both volume and precision; the trusted curator is a
limit, not a competitor.</p>
<div class="wide" tabindex="0" role="region" aria-label="Table: every way to keep the promise">
$table
</div>
$figure
</main>
<footer>Written by krand. Numbers for programs: frontier.json beside this page.</footer>
</body>
</html>
""")


def planner_report(demonstration: Demonstration, svg: str | None) -> str:
    """The whole page; without a figure where none could be drawn."""
    default = demonstration.headlines[0]
    policy, reports = default.plan.policy, default.plan.reports
    title = f"Asking {policy.population:,} people {reports.bits} yes/no questions, in private"
    lead = (
        "Everybody flips each answer with probability q before it leaves the device; a shuffler"
        " forgets who sent what; the analyst subtracts the noise from the totals. Here is the"
        f" smallest q for ε = {policy.epsilon:g} and δ = {policy.delta:g}, and how precise every"
        " total is before a single answer has been collected."
    )
    return PAGE.substitute(
        title=escape(title),
        lead=escape(lead),
        cards="\n".join(map(_card, demonstration.headlines)),
        promises=_promises(default),
        table=_table(demonstration.frontier),
        figure=_figure(svg),
    )


def _card(way: Headline) -> str:
    plan = way.plan
    lines = [
        f"{percent(plan.precision.half_width_percent)} of the crowd, at 95 % confidence",
        f"flip probability q = {number(plan.noise, 6)} ({plan.noise_numerator:,} / 2^32)",
        f"σ = {number(plan.precision.sigma)}; {against_curator(plan, way.central_gaussian_sigma)}",
        local_promise(plan.guarantee.local_epsilon),
        f"{plan.guarantee.assurance}: {plan.guarantee.method}",
    ]
    body = "".join(f"<p>{escape(line)}</p>" for line in lines)
    return (
        f'<div class="card"><h3>{escape(way.title)}</h3>'
        f"<strong>{escape(people(plan.precision))}</strong>{body}</div>"
    )


def _promises(way: Headline) -> str:
    plan = way.plan
    sentences = [
        f"{promise(plan.policy, plan.guarantee)} This is {how_known(plan.guarantee.assurance)}.",
        "In plain words, leaving δ aside: seeing the totals multiplies or divides anybody's odds"
        f" about one person's answers by at most {at_most(math.exp(plan.policy.epsilon))}.",
        f"The promise needs the shuffler: {local_promise(plan.guarantee.local_epsilon)}.",
    ]
    assumptions = "".join(f"<li>{escape(text)}</li>" for text in plan.guarantee.assumptions)
    listed = f"<p>It rests on this:</p><ul>{assumptions}</ul>" if assumptions else ""
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences) + listed


def _table(frontier: Frontier) -> str:
    headings = (
        ("", ""),
        ("method", ""),
        ("noise q", "n"),
        ("σ", "n"),
        ("± at 95 %", "n"),
        ("messages", "n"),
        ("bytes", "n"),
        ("guarantee", ""),
    )
    head = "".join(f'<th scope="col"{_css(css)}>{escape(text)}</th>' for text, css in headings)
    rows = "\n".join(_row(row, [css for _, css in headings]) for row in frontier.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>"


def _row(row: FrontierRow, css: list[str]) -> str:
    cells = (
        "★" if row.best else "",
        row.name,
        "" if row.noise is None else number(row.noise),
        number(row.sigma),
        number(row.half_width_95),
        f"{row.messages:,}",
        f"{row.bytes_per_user:,}",
        row.guarantee,
    )
    inner = "".join(
        f"<td{_css(style)}>{escape(cell)}</td>" for cell, style in zip(cells, css, strict=True)
    )
    return f"<tr{_css('best' if row.best else '')}>{inner}</tr>"


def _css(name: str) -> str:
    return f' class="{name}"' if name else ""


def _figure(svg: str | None) -> str:
    if svg is None:
        return "<p>The figure is left out: matplotlib is not installed.</p>"
    return f'<h2>The same as a picture</h2>\n<div class="wide">{inline_figure(svg)}</div>'


def inline_figure(svg: str) -> str:
    """An SVG document as an element of a page, in the page's own colours."""
    element = svg[svg.index("<svg") :]
    for name, color in FIGURE_COLORS.items():
        element = re.sub(re.escape(color), f"var(--{name})", element, flags=re.IGNORECASE)
    label = "σ of an estimated count against the bytes that each person sends"
    return element.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
