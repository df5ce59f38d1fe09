"""Commands of krand-lab, asked as a program asks them."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner, Result

from krand_lab.commands.main import lab

SMALL = ["--crowd", "1000", "--bits", "5", "--epsilon", "0.6931471805599453"]


def run(*arguments: str) -> Result:
    """What a command that succeeds says."""
    result = CliRunner().invoke(lab, list(arguments))
    assert result.exit_code == 0, result.output
    return result


def answer(*arguments: str) -> dict[str, Any]:
    """The single JSON object on stdout."""
    value = json.loads(run(*arguments, "--json").stdout)
    assert isinstance(value, dict)
    return value
