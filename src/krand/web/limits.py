"""Limits on the resources that one form, and all forms together, may use."""

from __future__ import annotations

WORKERS = 2
"""The most plans at a time."""
QUICK_WORKERS = 1
"""Processes of their own for quick bounds, so that they never wait for a search."""
MOST_WAITING = 8
"""The most plans that wait; further requests are told to try again."""
WAIT_SECONDS = 30.0
"""How long a plan waits for others; then the request is told to try again."""
PAGE_SECONDS = 60.0
"""The work for a request ends after this time, waiting included, however many there are."""
QUICK_SECONDS = 20.0
SURVEY_SECONDS = PAGE_SECONDS
PATIENCE_SECONDS = 10.0
"""How long a plan continues if nobody waits for it: a new process would cost as much."""
MOST_MEMORY = 4 * 2**30
KEPT_ANSWERS = 64
"""The most answers kept in memory; the same request always has the same answer."""

MOST_BODY_BYTES = 2**20
BODY_SECONDS = 10.0
