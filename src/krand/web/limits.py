"""What one form, and all forms together, may take of the machine."""

from __future__ import annotations

__all__ = [
    "BODY_SECONDS",
    "FRONTIER_SECONDS",
    "KEPT_ANSWERS",
    "MOST_BITS",
    "MOST_BODY_BYTES",
    "MOST_COPIES",
    "MOST_MEMORY",
    "MOST_RESULTS",
    "MOST_RESULTS_BYTES",
    "MOST_SURVEY_BYTES",
    "MOST_WAITING",
    "NUMBERS_SECONDS",
    "PATIENCE_SECONDS",
    "RESULTS_SECONDS",
    "SURVEY_SECONDS",
    "WORKERS",
]

WORKERS = 2
"""Plans at a time."""
MOST_WAITING = 8
"""Plans that wait for one of those; more are told to come again."""
NUMBERS_SECONDS = 30.0
SURVEY_SECONDS = 60.0
FRONTIER_SECONDS = 90.0
RESULTS_SECONDS = 30.0
PATIENCE_SECONDS = 2.0
"""How long a plan goes on that nobody waits for: a new process would cost as much."""
MOST_MEMORY = 4 * 2**30
KEPT_ANSWERS = 64
"""Answers that are kept in memory: the same question always has the same one."""

MOST_BODY_BYTES = 2**20
MOST_SURVEY_BYTES = 2**19
BODY_SECONDS = 10.0

MOST_BITS = 100_000
MOST_COPIES = 4_096

MOST_RESULTS = 200
MOST_RESULTS_BYTES = 2**25
