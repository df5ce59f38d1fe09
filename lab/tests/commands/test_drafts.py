"""`krand-lab drafts noise`: what the drafts choose, never without what it gives."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from asking import SMALL, answer, run
from krand.showing import number
from krand_lab.commands.main import lab


def test_draft_noise_comes_with_a_warning() -> None:
    """A draft's formula is never shown without the erratum beside it."""
    command = ("drafts", "noise", *SMALL, "--linkage", "record")
    result = run(*command, "--json")
    found = json.loads(result.stdout)
    assert found["noise"] == pytest.approx(0.2445, abs=2e-4)
    assert found["source"] == "001 (3.12)"
    assert "3.12" in found["warning"]
    assert result.stderr.startswith("warning: ")
    text = run(*command, "--no-color").stdout
    assert "Formula: 001 (3.12)" in text
    assert f"q = {number(found['noise'], 6)}" in text


def test_options_of_the_drafts_count_for_their_noise() -> None:
    """--json and --quiet may stand before its name."""
    command = ["noise", *SMALL, "--linkage", "record"]
    assert json.loads(run("drafts", "--json", *command).stdout) == answer("drafts", *command)
    assert run("drafts", "--quiet", *command).stdout == ""


@pytest.mark.parametrize("extra", [["--copies", "2"], ["--max-set-bits", "1"]])
def test_draft_noise_refuses_what_the_drafts_get_wrong(extra: list[str]) -> None:
    """Copies and sparse vectors are planned with a proof or not at all."""
    command = ["drafts", "noise", *SMALL, "--linkage", "record"]
    result = CliRunner().invoke(lab, [*command, *extra, "--json"])
    assert result.exit_code == 2
    assert extra[0] in json.loads(result.stdout)["error"]["message"]
