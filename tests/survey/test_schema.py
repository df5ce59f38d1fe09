"""The published schema, of the same opinion as the reader; and the example surveys."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from components import require
from krand.planning.making import make_plan
from krand.survey.encoding import encode
from krand.survey.layout import layout_of
from krand.survey.questions import Kind
from krand.survey.reading import SurveyErrors, parse_survey, read_survey
from krand.survey.schema import survey_schema

ROOT = Path(__file__).resolve().parents[2]
HEAD = 'id = "s"\npolicy = { epsilon = 1, delta = 1e-6, minimum_crowd = 1000 }\n'
MIXERS = '[trust]\nnoise = "mixers"\nmixers = 3\n'
YES = '[[question]]\nname = "a"\ntype = "yes_no"\n'


def test_the_schema_is_printed() -> None:
    """`python -m krand.survey.schema`, for editors."""
    command = [sys.executable, "-m", "krand.survey.schema"]
    assert json.loads(subprocess.check_output(command)) == survey_schema()


def test_every_key_is_described_and_documented() -> None:
    """An editor can say what each key means, and docs/reference/survey-file.md names it."""
    manual = (ROOT / "docs" / "reference" / "survey-file.md").read_text(encoding="utf-8")
    schema = survey_schema()
    for table in (schema, *schema["$defs"].values()):
        for key, value in table["properties"].items():
            assert f"`{key}" in manual or f"[{key}]" in manual, key
            undescribed = ("type", "policy", "question", "together", "trust", "schedule")
            if key not in (*undescribed, "translations"):
                assert value["description"], key
                assert value["examples"], key
                assert value.get("default", 0) is not None


@pytest.mark.parametrize("name", ["browser", "health", "homepages", "team"])
def test_the_examples_fit_the_schema(name: str) -> None:
    """Editors have nothing to complain about in the examples."""
    jsonschema = require("jsonschema")
    document = tomllib.loads((ROOT / "examples" / f"{name}.toml").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(survey_schema())
    jsonschema.validate(document, survey_schema(), jsonschema.Draft202012Validator)


WRONG = [
    HEAD,
    YES,
    HEAD + YES + "weight = 0\n",
    HEAD + YES + "color = 1\n",
    HEAD + YES.replace("yes_no", "yesno"),
    HEAD + YES.replace("yes_no", "choice"),
    HEAD + YES.replace("yes_no", "number") + "edges = [1]\n",
    HEAD + YES.replace("yes_no", "number") + 'edges = [1, 2]\nopen = "up"\n',
    HEAD + YES.replace("yes_no", "number") + "edges = [1, 2.5]\ninteger = true\n",
    HEAD + YES.replace("yes_no", "number") + "edges = [1, 2]\ninteger = 1\n",
    HEAD + YES.replace("yes_no", "words") + "positions = 8\n",
    HEAD + YES.replace("yes_no", "pick_any") + 'choices = ["a", "b"]\nat_most = 0\n',
    f'title = "{"a" * 201}"\n' + HEAD + YES,
    "organiser = 1\n" + HEAD + YES,
    f'thanks = "{"a" * 10_001}"\n' + HEAD + YES,
    'language = "german"\n' + HEAD + YES,
    'closes = "24.12.2026"\n' + HEAD + YES,
    "closes = 2026-12-24T12:00:00\n" + HEAD + YES,
    "invitations = 1\n" + HEAD + YES,
    HEAD + YES + "required = 1\n",
    HEAD + YES + "help = 1\n",
    HEAD + YES + 'unit = "km"\n',
    HEAD + YES.replace("yes_no", "number") + "edges = [1, 2]\nunit = 1\n",
    HEAD.replace("delta = 1e-6, ", "") + YES,
    HEAD.replace("delta = 1e-6", "delta = 1e-6, eta = 0.1") + YES,
    HEAD + YES + '[[together]]\nquestions = ["a"]\n',
    "copies = 2\n" + HEAD + YES,
    'linkage = "bit"\ncopies = 2\n' + HEAD + YES,
    HEAD.replace(", minimum_crowd = 1000", "") + YES,
    HEAD.replace(", minimum_crowd = 1000", "") + YES + '[trust]\nnoise = "devices"\n',
    HEAD + YES + '[trust]\nnoise = "none"\n',
    HEAD + YES + '[trust]\nnoise = "both"\n',
    HEAD + YES + '[trust]\nnoise = "mixers"\nmixers = 9\n',
    HEAD + YES + "[trust]\nmixers = 2\n",
    'linkage = "record"\n' + HEAD + YES + '[trust]\nnoise = "mixers"\n',
    HEAD.replace("= 1000", "= 1000, max_local_epsilon = 3") + YES + '[trust]\nnoise = "mixers"\n',
]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + YES,
        "copies = 1\n" + HEAD + YES,
        'linkage = "record"\ncopies = 2\n' + HEAD + YES,
        'title = "A title"\nlanguage = "pt-BR"\ncloses = "2026-12-24"\ninvitations = true\n'
        + HEAD
        + YES,
        HEAD.replace(", minimum_crowd = 1000", "") + YES + MIXERS,
        HEAD.replace(" = 1000", " = 5") + YES + MIXERS,
    ],
)
def test_schema_and_reader_take_the_same(text: str) -> None:
    """Copies go with whole records, one copy and texts with everything; mixers need no crowd."""
    jsonschema = require("jsonschema")
    assert parse_survey(text).trust.mixers == (3 if MIXERS in text else 1)
    jsonschema.validate(tomllib.loads(text), survey_schema())


@pytest.mark.parametrize("text", WRONG)
def test_schema_and_reader_refuse_the_same(text: str) -> None:
    """What the schema can say, it says like the reader."""
    jsonschema = require("jsonschema")
    with pytest.raises(SurveyErrors):
        parse_survey(text)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(text), survey_schema())


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


@pytest.mark.check
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
