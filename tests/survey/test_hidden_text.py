"""What people read in a survey is what is there: nothing hides or reorders its text."""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path

import pytest

from krand.errors import InvalidInput
from krand.survey.questions import YesNo
from krand.survey.reading import SurveyErrors, parse_survey
from krand.survey.rules import item_rules, text_rules, visible

SEEN = {
    *range(0x0600, 0x0606),  # signs that embrace the numbers behind them
    *(0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD),
    *range(0x13430, 0x13440),  # how hieroglyphs are grouped
}
"""Format characters of scripts that people see, or whose effect they see."""
JOINERS = {0x200C, 0x200D}


def survey_with(label: str, text: str = "") -> str:
    return f"""id = "pets"
[policy]
epsilon = 1.0
delta = 1e-3
minimum_crowd = 1000
[[question]]
name = "pet"
type = "choice"
text = {json.dumps(text)}
choices = [
    "cat",
    {json.dumps(label)},
]
"""


def broken(label: str) -> bool:
    return any(True for _ in item_rules(["cat", label]))


def test_every_character_without_a_shape_is_refused() -> None:
    """Categories Cc, Cf, Cs, Zl, Zp, save those that scripts need."""
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            refused = broken(f"a{character}b")
            assert refused == (code not in SEEN), f"U+{code:04X}"
            if code not in JOINERS | SEEN | {0x09, 0x0A}:
                assert any(True for _ in text_rules(f"a{character}b")), f"U+{code:04X}"
                assert character not in visible(f"a{character}b")


@pytest.mark.parametrize("character", "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2065\U000e0100")
def test_letters_and_marks_that_nobody_sees_are_refused(character: str) -> None:
    assert broken(f"a{character}b")


@pytest.mark.parametrize("label", ["می‌خواهم", "👩‍🔬", "क्‍ष", "❤️", "naïve café", "東京", "٣؀"])
def test_joiners_and_marks_that_scripts_need_are_allowed(label: str) -> None:
    assert not broken(label)
    assert visible(label) == label


@pytest.mark.parametrize("label", ["ca\u200dt", "\u200ccat", "é\u200d\u200dx"])
def test_joiners_that_join_nothing_are_refused(label: str) -> None:
    assert broken(label)


def test_the_error_names_line_character_and_remedy() -> None:
    with pytest.raises(SurveyErrors) as caught:
        parse_survey(survey_with("dog\u202egod", "Which\u2066pet?"))
    said = str(caught.value)
    assert "line 9, question[0].text: must not contain" in said
    assert "remove U+2066, left-to-right isolate" in said
    assert "line 12, question[0].choices[1]: must not contain" in said
    assert "remove U+202E, right-to-left override" in said
    assert "\u202e" not in said
    assert "\u2066" not in said


def test_lists_in_files_are_checked_too(tmp_path: Path) -> None:
    (tmp_path / "pets.txt").write_text("cat\ndog\u200b\n", encoding="utf-8")
    text = survey_with("x")
    start = text.index("choices = [")
    with pytest.raises(SurveyErrors, match=r"line 2 of pets\.txt.*\n.*remove U\+200B"):
        parse_survey(text[:start] + 'choices_file = "pets.txt"\n', tmp_path)


def test_wording_may_have_lines() -> None:
    assert YesNo(name="a", text="one\n\ttwo").text == "one\n\ttwo"
    with pytest.raises(InvalidInput, match=r"remove U\+001B, a control character"):
        YesNo(name="a", text="one\x1b[2J")
