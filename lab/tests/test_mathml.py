"""Formulas on pages are formulas, and nothing else gets through."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from krand_lab.mathml import formulas, stretched


def test_latex_between_dollars_becomes_mathml() -> None:
    """Inline between single dollar signs, a line of its own between double ones."""
    page = formulas(r"noise $q\le\frac{1}{2}$ and $$\varphi^L$$")
    assert isinstance(page, Markup)
    assert page.count("<math") == 2
    assert 'display="inline"' in page
    assert 'display="block"' in page
    assert "<mfrac>" in page
    assert "$" not in page


def test_everything_outside_formulas_is_escaped() -> None:
    """A text cannot bring in elements of its own."""
    page = formulas("<script>alert(1)</script> & $q<p$")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "&amp;" in page
    assert "<p" not in page.split("<math")[1]


@pytest.mark.parametrize(
    ("written", "set_as"),
    [
        (r"N(\frac{p}{q})^L", r"N\left(\frac{p}{q}\right)^L"),
        (r"f(x) = [1 - \binom{n}{k}]", r"f(x) = \left[1 - \binom{n}{k}\right]"),
        (r"((a) + \sum_i (i))", r"\left((a) + \sum_i (i)\right)"),
        (r"\frac{(a)}{(\frac{1}{2})}", r"\frac{(a)}{\left(\frac{1}{2}\right)}"),
    ],
)
def test_brackets_grow_with_what_they_hold(written: str, set_as: str) -> None:
    """Around fractions and the like; others stay as small as their line."""
    assert stretched(written) == set_as
    assert stretched(set_as) == set_as


@pytest.mark.parametrize(
    "latex",
    [
        r"[0, \frac{1}{2})",
        r"\sqrt[3]{\frac{a}{b}}",
        r"\left[\frac{1}{2}\right)",
        r"(\frac{1}{2}",
        "a)",
    ],
)
def test_brackets_without_a_partner_stay(latex: str) -> None:
    """Half-open intervals, roots, and pairs that stretch already."""
    assert stretched(latex) == latex


def test_a_stretched_bracket_is_stretchy_in_mathml() -> None:
    """Both of a pair, and those alone that hold something tall."""
    page = formulas(r"$f(x) = (\frac{p}{q})^2$")
    assert page.count('stretchy="true"') == 2
    assert page.count('stretchy="false"') == 2
