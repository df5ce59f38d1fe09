"""Line numbers: found without guessing in every corner of TOML."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand.survey.lines import locate
from krand.survey.rules import Path

AWKWARD = '''\
# [policy]
id = "x # no comment"   # epsilon = 3
"quoted key" = 'C:\\new = [1]'
long = """
[policy]
a = 1
escaped \\""" still inside \\
""""        # one more quote belongs to the text
raw = \'\'\'
]] ' = "
\'\'\'

[ policy ]
epsilon = 1.0
limits.lower . upper = { a = 1, "b.c" = [1,
  2], d = {e = 1979-05-27 07:32:00} }
[[question]]
name = "a"
choices = [  # ]
  "x",

  "y]", # "z"
  [ 1,
    2 ], { k = 1 },
]
[question.more]
deep = true
[[question.part]]
n = 1
[[question.part]]
n = 2
[[question]]
name = "b"
[last]
'''


def test_awkward_documents_are_understood() -> None:
    """Comments, strings, dotted keys, inline tables, arrays over lines, tables in tables."""
    document = tomllib.loads(AWKWARD)
    assert document["long"].endswith('"')
    assert document["question"][0]["part"][1]["n"] == 2
    lines = locate(AWKWARD)
    expected: dict[Path, int] = {
        ("id",): 2,
        ("quoted key",): 3,
        ("long",): 4,
        ("raw",): 9,
        ("policy",): 13,
        ("policy", "epsilon"): 14,
        ("policy", "limits"): 15,
        ("policy", "limits", "lower", "upper"): 15,
        ("policy", "limits", "lower", "upper", "b.c"): 15,
        ("policy", "limits", "lower", "upper", "b.c", 1): 16,
        ("policy", "limits", "lower", "upper", "d", "e"): 16,
        ("question",): 17,
        ("question", 0): 17,
        ("question", 0, "name"): 18,
        ("question", 0, "choices"): 19,
        ("question", 0, "choices", 0): 20,
        ("question", 0, "choices", 1): 22,
        ("question", 0, "choices", 2): 23,
        ("question", 0, "choices", 2, 1): 24,
        ("question", 0, "choices", 3, "k"): 24,
        ("question", 0, "more"): 26,
        ("question", 0, "more", "deep"): 27,
        ("question", 0, "part", 0, "n"): 29,
        ("question", 0, "part", 1): 30,
        ("question", 0, "part", 1, "n"): 31,
        ("question", 1): 32,
        ("question", 1, "name"): 33,
        ("last",): 34,
    }
    assert {path: lines.of(path) for path in expected} == expected


def test_what_is_missing_is_looked_for_where_it_should_be() -> None:
    """A missing key has the line of its table, a missing table that of the file."""
    lines = locate("a = 1\n\n[policy]\nb = 2\n")
    assert lines.of(("policy", "epsilon")) == 3
    assert lines.of(("question", 4, "name")) == 1
    assert lines.of(()) == 1


def test_a_table_stands_at_its_own_header() -> None:
    """A table that was first named in passing is found where it is opened."""
    lines = locate("[a.b]\nx = 1\n[a]\ny = 2\n")
    assert (lines.of(("a",)), lines.of(("a", "b")), lines.of(("a", "z"))) == (3, 1, 3)


@pytest.mark.parametrize("text", ["", "\n\n", "# only\n", "a = 1", "[a]", "a = [1, 2,]"])
def test_small_documents_end(text: str) -> None:
    """Nothing is read beyond the end."""
    tomllib.loads(text)
    assert locate(text).of(("a",)) == 1


VALUES = st.sampled_from(
    [
        "1",
        "1e-6",
        "true",
        '"a # b"',
        "'c\\'",
        '"\\\\\\" = ["',
        "1979-05-27 07:32:00",
        "[]",
        "[1, 2]",
        "[\n1, # one\n\n2\n]",
        "[[1,\n2], [3]]",
        '"""\n[x]\n"""',
        "'''\n#\n\n'''",
        "{ a = 1, b.c = [1,\n2] }",
        '["]", \'#\',\n"\\"]"]',
    ]
)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[Path, int]]:
    """A TOML text, and the line of everything in it, known because it was just written."""
    text, expected = "", {}
    table: Path = ()
    arrays: dict[str, int] = {}
    for number in range(draw(st.integers(1, 12))):
        text += draw(st.sampled_from(["", "\n", "# [[a]]\n", "  ", "\t# x = 1\n\n"]))
        line = text.count("\n") + 1
        what = draw(st.sampled_from(["key", "key", "key", "dotted", "table", "array"]))
        if what == "table":
            table = (f"t{number}",)
            text += f"[ t{number} ]"
        elif what == "array":
            name = draw(st.sampled_from(["x", "y"]))
            table = (name, arrays.get(name, 0))
            arrays[name] = arrays.get(name, 0) + 1
            text += f'[["{name}"]]'
        elif what == "dotted":
            text += f"d{number} . 'e f' = {draw(VALUES)}"
        else:
            text += f"k{number}={draw(VALUES)}"
        where = {"key": (*table, f"k{number}"), "dotted": (*table, f"d{number}", "e f")}
        expected[where.get(what, table)] = line
        text += draw(st.sampled_from(["\n", " # end\n", "\r\n"]))
    return text, expected


def paths(value: Any, here: Path = ()) -> list[Path]:
    """Every path of a document."""
    below: list[Path] = []
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in pairs:
        below += [(*here, key)]
        below += paths(part, (*here, key)) if isinstance(part, (dict, list)) else []
    return below


@given(documents())
def test_lines_of_random_documents(case: tuple[str, dict[Path, int]]) -> None:
    """Every key is found on the line it was written on, and everything in the document is found."""
    text, expected = case
    document = tomllib.loads(text)
    lines = locate(text)
    assert {path: lines.of(path) for path in expected} == expected
    assert set(paths(document)) == {path for path in lines.known if path}
