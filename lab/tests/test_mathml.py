"""Formulas on pages are formulas, and nothing else gets through."""

from __future__ import annotations

from markupsafe import Markup

from krand_lab.mathml import formulas


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
