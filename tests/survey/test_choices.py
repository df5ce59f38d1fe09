"""Lists of choices: in files of their own, compared by hash, found fast."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from krand.survey.choices import Choices
from krand.survey.document import document_of
from krand.survey.questions import Choice
from krand.survey.reading import SurveyErrors, parse_survey, survey_from_document
from krand.survey.survey import Survey

SURVEY = """\
id = "s"
policy = { epsilon = 1, delta = 1e-6, minimum_crowd = 1000 }
[[question]]
name = "page"
type = "choice"
choices_file = "lists/pages.txt"
"""


def survey(directory: Path, content: bytes, extra: str = "") -> Survey:
    (directory / "lists").mkdir(exist_ok=True)
    (directory / "lists" / "pages.txt").write_bytes(content)
    return parse_survey(SURVEY + extra, directory)


def choices(found: Survey) -> Choices:
    (question,) = found.questions
    assert isinstance(question, Choice)
    return question.choices


def test_a_file_holds_one_choice_per_line(tmp_path: Path) -> None:
    """The items, and the hash that `sha256sum` would print."""
    content = "a.example\nb c\nété\n".encode()
    read = choices(survey(tmp_path, content))
    assert list(read) == ["a.example", "b c", "été"]
    assert read.sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("content", [b"a\nb", b"a\r\nb\r\n", b"\xef\xbb\xbfa\nb\n"])
def test_the_editor_does_not_matter(tmp_path: Path, content: bytes) -> None:
    """Line ends, a missing last one, or a byte order mark make no other list."""
    assert choices(survey(tmp_path, content)).sha256 == Choices(["a", "b"]).sha256


BROKEN = [
    (b"", "2 to 1,000,000"),
    (b"one\n", "2 to 1,000,000"),
    (b"a\n\nb\n", "line 2 of lists/pages.txt: must not be empty"),
    (b"a\nb\na\n", "line 3 of lists/pages.txt: must be different"),
    (b"a\n b\n", "line 2 of lists/pages.txt: must not begin"),
    (b"a\nb\tc\n", "line 2 of lists/pages.txt: must not contain control"),
    (b"a\nb\n\xff\n", "must be UTF-8"),
]


@pytest.mark.parametrize(("content", "rule"), BROKEN)
def test_a_broken_list_is_told_with_its_own_line(tmp_path: Path, content: bytes, rule: str) -> None:
    """The problem stands at choices_file and names the line of the list."""
    with pytest.raises(SurveyErrors) as caught:
        survey(tmp_path, content)
    (problem,) = caught.value.problems
    assert (problem.path, problem.line) == ("question[0].choices_file", 6)
    assert rule in problem.rule


def test_a_hopeless_list_is_told_by_a_few_lines(tmp_path: Path) -> None:
    """Thousands of broken lines do not make thousands of messages."""
    with pytest.raises(SurveyErrors) as caught:
        survey(tmp_path, b" x\n" * 1000)
    assert len(caught.value.problems) == 5


def test_a_pinned_list_cannot_change(tmp_path: Path) -> None:
    """choices_sha256 holds the list to what was agreed on."""
    pin = f'choices_sha256 = "{Choices(["a", "b"]).sha256}"\n'
    assert choices(survey(tmp_path, b"a\nb\n", pin))
    with pytest.raises(SurveyErrors, match="the list has changed"):
        survey(tmp_path, b"b\na\n", pin)


def test_a_survey_carries_its_list(tmp_path: Path) -> None:
    """Written as data, the list stands inside: what is read back needs no file, and is the same."""
    one = survey(tmp_path, b"a\nb\n")
    document = document_of(one)
    assert document["question"][0]["choices"] == ["a", "b"]
    (tmp_path / "lists" / "pages.txt").unlink()
    assert survey_from_document(document) == one
    two = survey(tmp_path, b"a\nc\n")
    assert two != one
    assert document_of(two) != document


def test_a_document_names_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan from elsewhere cannot make a device read files: the list stands inside, or nothing."""
    document = document_of(survey(tmp_path, b"a\nb\n"))
    del document["question"][0]["choices"]
    document["question"][0]["choices_file"] = "lists/pages.txt"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SurveyErrors, match="must not stand in a plan"):
        survey_from_document(document)


def test_choices_are_found_by_text() -> None:
    """Place, membership, equality and hash."""
    three = Choices(["x", "y", "z"])
    assert [three.find(item) for item in ("x", "z", "w")] == [0, 2, None]
    assert "y" in three
    assert 3 not in three
    assert three == Choices("xyz")
    assert hash(three) == hash(Choices("xyz"))
    assert three != Choices("xzy")
    assert three != ["x", "y", "z"]
    assert three[1:] == ("y", "z")
    assert "3 in all" in repr(three)
