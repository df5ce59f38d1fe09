"""A release as one page that needs nothing but itself: for a manager, a regulator, a participant.

`release_page` takes what `krand.analysis.results_file.release_values` gives, or what is read from a
release file; further sections of a caller come after the results.
"""

from __future__ import annotations

from krand.report.page import Section, release_page

__all__ = ["Section", "release_page"]
