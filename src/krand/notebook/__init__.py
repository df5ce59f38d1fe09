"""What notebooks show of krand's values: `html_of` turns each of them into a small table."""

from __future__ import annotations

from krand.notebook import promises, results, surveys
from krand.notebook.html import html_of

__all__ = ["html_of", "promises", "results", "surveys"]
