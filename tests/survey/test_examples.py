"""The example surveys: they parse, and are what their names say."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from krand.planning.making import make_plan
from krand.survey.encoding import encode
from krand.survey.layout import layout_of
from krand.survey.questions import Kind
from krand.survey.reading import read_survey

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_browser_telemetry_has_forty_positions() -> None:
    """The example the numbers of the documentation are about."""
    layout = layout_of(read_survey(EXAMPLES / "browser.toml"))
    assert layout.positions == 40
    assert layout.sensitivity == 2 + 2 + 2 + 2 + 6 + 3
    kinds = {block.kind for block in layout.blocks}
    assert kinds == set(Kind) - {Kind.SCALE, Kind.WORDS}
    person = {"search_engine": "Bing", "ad_blocker": True, "open_tabs": 400, "features": ["sync"]}
    assert encode(layout, person) == (6, 24, 35)


def test_the_health_survey_asks_sensitive_questions() -> None:
    """Mostly yes or no, each of them one bit."""
    layout = layout_of(read_survey(EXAMPLES / "health.toml"))
    assert [block.kind for block in layout.blocks].count(Kind.YES_NO) == 8
    assert layout.sensitivity == 10


def test_a_team_is_hidden_by_mixers() -> None:
    """Too few people for devices' noise: the promise names no crowd, and counts say something."""
    survey = read_survey(EXAMPLES / "team.toml")
    assert (survey.trust.noise.code, survey.trust.mixers) == ("mixers", 3)
    assert make_plan(survey).blocks[0].precision.half_width_95 < 6


def test_home_pages_are_a_hundred_thousand(tmp_path: Path) -> None:
    """The script makes exactly the list that the survey pins, and one answer is still one bit."""
    script = EXAMPLES / "make_homepages.py"
    subprocess.run([sys.executable, script, tmp_path], check=True, capture_output=True)
    shutil.copy(EXAMPLES / "homepages.toml", tmp_path)
    layout = layout_of(read_survey(tmp_path / "homepages.toml"))
    pages, words = layout.blocks
    assert (pages.positions, pages.sensitivity, pages.most_ones) == (100_000, 2, 1)
    assert (words.kind, words.positions, words.sensitivity) == (Kind.WORDS, 4096, 4)
    last = (tmp_path / "homepages.txt").read_text(encoding="utf-8").splitlines()[-1]
    assert encode(layout, {"home_page": last}) == (99_999,)
