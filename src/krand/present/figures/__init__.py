"""Figures, one module each, all in one style; `krand.present.plots` offers them together."""
