"""Results as one page that needs nothing but itself: for a manager, a regulator, a participant.

Further sections of a caller come after the results.
"""

from __future__ import annotations

from krand.report.page import Section, report_page, save_report

__all__ = ["Section", "report_page", "save_report"]
