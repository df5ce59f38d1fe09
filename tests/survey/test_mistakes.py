"""Mistakes in survey files: what is said about each, with its line and what to do.

The table is the golden text survey/mistakes: under each file stands what krand says about it.
`<head>`, `<yes>` and the like stand for the lines of `PARTS`, `<x*9>` for nine x. To add a mistake,
write the file there, and run `pytest --update-golden`; `schema: takes it` says that an editor with
the schema alone would not have found it.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import tomllib
import unicodedata
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import krand
from command_line import done, refused
from components import require
from effort import EFFORT
from forge import Damage, damages, toml
from golden import FOLDER, Golden
from survey.files import PARTS, written_out

HERE = Path(__file__).parent


@cache
def schema() -> Any:
    """As `krand plan --schema` prints it."""
    checker = require("jsonschema").Draft202012Validator
    found = json.loads(done("plan --schema").stdout)
    checker.check_schema(found)
    return checker(found)


def schema_takes(text: str) -> bool:
    """Whether an editor has nothing to complain about; what is not TOML it cannot read."""
    try:
        return bool(schema().is_valid(tomllib.loads(text)))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return False


def test_every_mistake_is_told_with_its_line(golden: Golden, tmp_path: Path) -> None:
    """All mistakes of a file at once."""
    require("jsonschema")
    (tmp_path / "lists").mkdir()
    for name, content in LISTS.items():
        (tmp_path / "lists" / name).write_bytes(content)
    kept = (FOLDER / "survey" / "mistakes.txt").read_text(encoding="utf-8")
    told = []
    for part in re.split(r"(?m)^=+\n", kept):
        lines = part.splitlines(keepends=True)
        text = "".join(line for line in lines if not line.startswith("> "))
        told.append(text + "".join(f"> {line}\n" for line in what_is_said(text, tmp_path)))
    assert len(told) > 200
    golden("survey/mistakes", "==\n".join(told), {"is not TOML: .*": "is not TOML: <why>"})


LISTS = {
    "empty.txt": b"",
    "gap.txt": b"a\n\nb\n",
    "twice.txt": b"a\nb\na\n",
    "space.txt": b"a\n b\n",
    "tab.txt": b"a\nb\tc\n",
    "latin.txt": b"a\nb\n\xff\n",
    "hidden.txt": "cat\ndog\u200b\n".encode(),
    "hopeless.txt": b" x\n" * 1000,
    "good.txt": b"a\nb\n",
}
"""Lists of choices, beside the file."""


def what_is_said(text: str, folder: Path) -> list[str]:
    """The error, without its first line, which counts the mistakes."""
    whole = written_out(text)
    try:
        krand.parse_survey(whole, folder)
    except krand.SurveyErrors as error:
        said = str(error).splitlines()[1:]
    else:
        said = ["NOTHING"]
    return [line.strip()[:300] for line in said] + ["schema: takes it"] * schema_takes(whole)


def test_the_command_tells_all_mistakes(tmp_path: Path) -> None:
    """To people with lines, to programs as values; nothing is written."""
    kept = (FOLDER / "survey" / "mistakes.txt").read_text(encoding="utf-8")
    five = next(part for part in kept.split("==\n") if "five mistakes" in part)
    text = "".join(line for line in five.splitlines(keepends=True) if not line.startswith("> "))
    (tmp_path / "five.toml").write_text(text, encoding="utf-8")
    error = refused("plan five.toml -o plan.json", at=tmp_path)
    assert error["message"].startswith("five.toml: has 5 mistakes\n  line 1, id: must be ")
    found = [(problem["path"], problem["line"]) for problem in error["problems"]]
    assert found == [
        ("id", 1),
        ("policy.delta", 6),
        ("question[0].choices[2]", 14),
        ("question[1].edges", 17),
        ("together[0].wheight", 23),
    ]
    assert error["problems"][1] == {
        "path": "policy.delta",
        "line": 6,
        "rule": "must be below 1",
        "value": 2,
        "hint": "for example delta = 1e-06",
    }
    assert not (tmp_path / "plan.json").exists()


# --- whatever stands there -----------------------------------------------------------------------

WHOLE = tomllib.loads((HERE / "whole.toml").read_text(encoding="utf-8"))


def test_whatever_stands_in_a_file_is_taken_or_named() -> None:
    """Any key dropped, added, of another type or out of range: a survey, or all its mistakes."""
    assert krand.parse_survey(toml(WHOLE)).id == "s"
    wrong = []
    for damage in damages(WHOLE):
        try:
            krand.parse_survey(toml(damage.values))
        except krand.SurveyErrors as error:
            if not is_at(damage, error):
                wrong.append(f"{damage}: {[problem.path for problem in error.problems]}")
        else:
            if damage.how == "added" or (damage.how == "type" and not may_be(damage)):
                wrong.append(f"{damage}: taken")
    assert not wrong, "\n".join(wrong)


def is_at(damage: Damage, error: krand.SurveyErrors) -> bool:
    """Whether a problem is told at the field, at what is around it, or at what it makes wrong."""
    paths = [re.sub(r"\[\d+\]", "[]", problem.path) for problem in error.problems]
    near = damage.field.removesuffix("[]").rpartition(".")[0]
    exact = any(path.startswith(damage.field) or damage.field.startswith(path) for path in paths)
    is_moved = damage.how != "added" and any(path.startswith(near) for path in paths)
    return exact or is_moved or damage.field in ("question[].name", "question[].type")


def may_be(damage: Damage) -> bool:
    """What has several types, or is a number that other numbers are, too; None cannot be said."""
    several = ("asked_if.is", "edges", "weight", "epsilon", "delta", "open", "closes")
    return damage.now == "None" or any(each in damage.field for each in several)


# --- lines ---------------------------------------------------------------------------------------

VALUES = (
    "1", "1e-6", "true", '"a # b"', "'c\\'", '"\\\\\\" = ["', "1979-05-27 07:32:00", "[]", "[1, 2]",
    "[\n1, # one\n\n2\n]", "[[1,\n2], [3]]", '"""\n[x]\n"""', "'''\n#\n\n'''",
    "{ a = 1, b.c = [1,\n2] }", '["]", \'#\',\n"\\"]"]', '"""\na \\""" b\n""""',
)  # fmt: skip


def test_lines_are_right_in_every_corner_of_toml() -> None:
    """Unknown keys between comments, strings and lists over several lines, dotted keys, CRLF."""
    for seed in range(60 * EFFORT):
        chance, expected = Random(seed), {}
        text, table = PARTS["head"], "policy"
        for number in range(chance.randint(1, 12)):
            text += chance.choice(["", "\n", "# [[a]]\n", "  ", "\t# x = 1\n\n"])
            line = text.count("\n") + 1
            match chance.choice(["key", "key", "dotted", "question", "header"]):
                case "key":
                    text += f"k{number}={chance.choice(VALUES)}"
                    expected[f"{table}.k{number}"] = line
                case "dotted":
                    text += f"d{number} . 'e f' = {chance.choice(VALUES)}"
                    expected[f"{table}.d{number}"] = line
                case "header":
                    table = f"t{number}"
                    text += f"[ t{number} ]"
                    expected[table] = line
                case "question":
                    asked = text.count("[[question]]")
                    table = f"question[{asked}]"
                    text += f'[[question]]\nname = "q{number}"\ntype = "yes_no"'
            text += chance.choice(["\n", " # end\n", "\r\n"])
        text += "" if "[[question]]" in text else PARTS["yes"]
        known = {
            path: line
            for path, line in expected.items()
            if not path.startswith("t") or "." not in path
        }
        found = {}
        if known:
            with pytest.raises(krand.SurveyErrors) as caught:
                krand.parse_survey(text)
            found = {problem.path: problem.line for problem in caught.value.problems}
        assert found == known, text


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """Missing files, folders, other encodings; but editors' marks and line ends are fine."""
    (tmp_path / "latin.toml").write_bytes('# ok\nid = "é"\n'.encode("latin-1"))
    told = []
    for name in ("none.toml", ".", "latin.toml"):
        with pytest.raises(krand.InvalidInput) as caught:
            krand.read_survey(tmp_path / name)
        told.append(str(caught.value).replace(str(tmp_path), "<folder>"))
    assert all("can be read" in each for each in told[:2]), told
    assert "must be UTF-8 text, found" in told[2]
    assert "line 2 is not" in told[2]
    file = tmp_path / "s.toml"
    text = written_out("<head>\n<yes>\n").replace("\n", "\r\n")
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert krand.read_survey(file).id == "s"
    with pytest.raises(krand.SurveyErrors) as mistake:
        krand.parse_survey(text + "weight = 0\r\n")
    assert [(each.path, each.line) for each in mistake.value.problems] == [
        ("question[0].weight", 9)
    ]


# --- characters ----------------------------------------------------------------------------------

SEEN = {*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD}
SEEN |= set(range(0x13430, 0x13440))
"""Format characters of scripts that people see, or whose effect they see."""


def test_every_character_without_a_shape_is_refused() -> None:
    """Categories Cc, Cf, Zl, Zp, save those that scripts need; nothing hides in a choice."""
    hidden = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zl", "Zp")
    ]
    choices = [f"a{sign}b" for sign in hidden]
    text = written_out("<head>\n<choice>\n")
    refused_ones = set()
    for start in range(0, len(choices), 4):  # at most five mistakes of a list are told
        with contextlib.suppress(krand.SurveyErrors):
            krand.parse_survey(text + toml({"choices": ["cat", *choices[start : start + 4]]}))
            continue
        for choice in choices[start : start + 4]:
            with contextlib.suppress(krand.SurveyErrors):
                krand.parse_survey(text + toml({"choices": ["cat", choice]}))
                continue
            refused_ones.add(choice[1])
    assert {sign for sign in hidden if sign not in refused_ones} == {
        sign for sign in hidden if ord(sign) in SEEN
    }


@pytest.mark.parametrize("label", ["می‌خواهم", "👩‍🔬", "क्‍ष", "❤️", "naïve café", "東京", "٣؀"])
def test_joiners_and_marks_that_scripts_need_are_allowed(label: str) -> None:
    text = written_out("<head>\n<choice>\n") + toml({"choices": ["cat", label]})
    assert list(krand.parse_survey(text).questions[0].choices) == ["cat", label]


# --- the schema and the page ---------------------------------------------------------------------

ROOT = HERE.parents[1]


@pytest.mark.parametrize("name", ["browser", "health", "homepages", "team"])
def test_the_examples_fit_the_schema(name: str) -> None:
    """Editors have nothing to complain about in the examples."""
    require("jsonschema")
    assert schema_takes((ROOT / "examples" / f"{name}.toml").read_text(encoding="utf-8"))


def test_every_key_is_described_and_documented() -> None:
    """An editor can say what each key means; docs/reference/survey-file.md names each, and kind."""
    require("jsonschema")
    manual = (ROOT / "docs" / "reference" / "survey-file.md").read_text(encoding="utf-8")
    found = schema().schema
    tables = ("type", "policy", "question", "together", "trust", "schedule", "translations")
    for table in (found, *found["$defs"].values()):
        for key, value in table.get("properties", {}).items():
            assert f"`{key}" in manual or f"[{key}]" in manual, key
            if key not in tables:
                assert value["description"], key
                assert value["examples"], key
    for kind in found["properties"]["question"]["items"]["discriminator"]["mapping"]:
        assert f"\n### {kind}\n" in manual
