"""How much a run of the tests tries: `KRAND_EFFORT` is 1 in the gate, 30 at night."""

from __future__ import annotations

import os

EFFORT = int(os.environ.get("KRAND_EFFORT", "1"))
"""Loops repeat so many times as often, and from 2 on tests that are marked `nightly` run, too."""
