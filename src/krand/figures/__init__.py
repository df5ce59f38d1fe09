"""Figures, one module each, all in one style; `krand.figures.svg` exports them all."""
