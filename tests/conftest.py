"""Shared settings of the tests."""

from __future__ import annotations

import signal
from importlib.util import find_spec

if find_spec("hypothesis") is not None:  # absent from the oracles' own environment
    from hypothesis import settings

    # No test asserts a duration: a slow machine is not a failure.
    settings.register_profile("krand", deadline=None, print_blob=True)
    settings.load_profile("krand")

# A shell lets its background jobs ignore Ctrl-C, and whatever they start inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)
