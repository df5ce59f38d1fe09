"""Figures, one module each, all in one style; `krand.figures.svg` offers them together."""
