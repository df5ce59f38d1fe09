"""Shared settings of the tests."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("hypothesis") is not None:  # absent from the oracles' own environment
    from hypothesis import settings

    # No test asserts a duration: a slow machine is not a failure.
    settings.register_profile("krand", deadline=None, print_blob=True)
    settings.load_profile("krand")
