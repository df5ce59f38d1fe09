"""A collector takes what the JavaScript client sends from node, and counts it."""

from __future__ import annotations

import pytest

from js_client.chromium import running_origin
from js_client.javascript import asked
from krand.testing import FakeCollector, unsafe_exact_plan, small_survey
from krand.wire.keys import generate_private_key
from krand.wire.layers import LaneOpener
from krand.wire.messages import Token

pytestmark = pytest.mark.usefixtures("internals")
PEOPLE: tuple[dict[str, object], ...] = (
    {"smokes": True, "pet": "dog"},
    {"smokes": False, "pet": "dog"},
    {"pet": "cat"},
    {},
)
