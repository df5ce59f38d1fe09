"""How much a run of the tests tries: `make test` little, `make check` more, `make long` most."""

from __future__ import annotations

import os

LONG = os.environ.get("KRAND_LONG") == "1"
"""Set by `make long`: loops repeat many times."""
CHECK = LONG or os.environ.get("KRAND_CHECK") == "1"
"""Set by `make check`: every variant of every test, but the loops are short."""
