"""Reading survey files: what is right becomes a survey, all that is wrong is told at once."""

from __future__ import annotations

import json
import pickle
import tomllib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.document import document_of, survey_text
from krand.survey.questions import Choice, Matrix, Number, PickAny, Words, YesNo
from krand.survey.reading import parse_survey, read_survey, survey_from_document
from krand.survey.rules import Problem, SurveyErrors
from krand.survey.survey import Survey
from krand.wording.failures import describe, explain
from survey.drawing import conditional_surveys

HEAD = """\
id = "s"
[policy]
epsilon = 1
delta = 1e-6
minimum_crowd = 1000
"""
YES = """\
[[question]]
name = "a"
type = "yes_no"
"""


@pytest.mark.parametrize(
    ("crowd", "colluding"),
    [(2, 0), (3, 1), (30, 1), (100, 1), (101, 2), (400, 4), (100_000, 1_000), (10**9, 10**7)],
)
def test_one_in_a_hundred_is_counted_on_to_hide_nobody(crowd: int, colluding: int) -> None:
    """Where a survey does not say; at least one person, and two are left to hide each other."""
    text = HEAD.replace("minimum_crowd = 1000", f"minimum_crowd = {crowd}")
    survey = parse_survey(text + YES)
    assert survey.policy.colluding == colluding
    assert document_of(survey)["policy"]["colluding"] == colluding
    for said in (0, colluding):
        assert parse_survey(f"{text}colluding = {said}\n{YES}").policy.colluding == said


def problems(text: str, directory: Path | str = ".") -> tuple[Problem, ...]:
    with pytest.raises(SurveyErrors) as caught:
        parse_survey(text, directory)
    return caught.value.problems


def places(text: str) -> list[tuple[str, int | None]]:
    return [(problem.path, problem.line) for problem in problems(text)]


def test_a_whole_file_is_read() -> None:
    """Every key has its place in the survey."""
    survey = parse_survey(
        """
        id = "all-2026"
        linkage = "bit"
        copies = 1
        rounds = 2
        policy = { epsilon = 2, eta = 0.01, minimum_crowd = 5_000, colluding = 7,
            max_local_epsilon = 9.5 }
        [[question]]
        name = "y"
        type = "yes_no"
        text = "Really?"
        weight = 2.5
        [[question]]
        name = "c"
        type = "choice"
        choices = ["α", "β"]
        [[question]]
        name = "p"
        type = "pick_any"
        choices = ["x", "y", "z"]
        at_most = 2
        [[question]]
        name = "n"
        type = "number"
        edges = [0, 0.5, 10]
        open = "below"
        [[question]]
        name = "w"
        type = "words"
        positions = 128
        hashes = 3
        at_most = 4
        [[together]]
        questions = ["n", "y"]
        weight = 7
        [schedule]
        every = "month"
        starts = 2027-01-01
        """.replace("colluding = 7,\n", "colluding = 7,")
    )
    y, c, p, n, w = survey.questions
    assert (survey.id, survey.copies, survey.rounds, survey.linkage) == ("all-2026", 1, 2, "bit")
    policy = survey.policy
    assert (policy.epsilon, policy.eta, policy.delta, policy.minimum_crowd) == (2, 0.01, None, 5000)
    assert (policy.colluding, policy.max_local_epsilon) == (7, 9.5)
    assert isinstance(y, YesNo)
    assert (y.text, y.weight) == ("Really?", 2.5)
    assert isinstance(c, Choice)
    assert list(c.choices) == ["α", "β"]
    assert isinstance(p, PickAny)
    assert (list(p.choices), p.at_most) == (["x", "y", "z"], 2)
    assert isinstance(n, Number)
    assert (n.edges, n.open_below, n.open_above) == ((0, 0.5, 10), True, False)
    assert isinstance(w, Words)
    assert (w.size, w.hashes, w.at_most) == (128, 3, 4)
    assert survey.together[0].questions == ("n", "y")
    assert survey.together[0].weight == 7


def test_what_is_left_out_has_its_default() -> None:
    """Bit linkage, one copy, one round, weight one, closed bins."""
    survey = parse_survey(HEAD + YES)
    assert (survey.linkage, survey.copies, survey.rounds) == (Linkage.BIT, 1, 1)
    assert (survey.questions[0].weight, survey.questions[0].text) == (1.0, "")


FIVE = """\
id = "five mistakes"            # 1: a space

[policy]
epsilon = 1.0
minimum_crowd = 10_000
delta = 2                       # 6: not below 1

[[question]]                    # 8
name = "colour"
type = "choice"
choices = [
  "red",
  "green",
  "red",                        # 14: twice
]

[[question]]                    # 17: no edges
name = "age"
type = "number"

[[together]]
questions = ["colour", "size"]  # 22: not asked
"""


def test_five_mistakes_are_told_at_once_with_their_lines() -> None:
    """Nobody has to run krand five times."""
    assert places(FIVE) == [
        ("id", 1),
        ("policy.delta", 6),
        ("question[0].choices[2]", 14),
        ("question[1].edges", 17),
        ("together[0].questions[1]", 22),
    ]


def test_the_command_line_prints_all_mistakes() -> None:
    """One line for each, with what was found and what to do; exit code 2; no traceback."""
    with pytest.raises(SurveyErrors) as caught:
        parse_survey(FIVE, source="five.toml")
    text = explain(caught.value)
    assert text.startswith("five.toml: has 5 mistakes\n  line 1, id: must be ")
    assert "line 6, policy.delta: must be below 1, found 2\n    for example delta = 1e-06" in text
    assert "line 17, question[1].edges: must be given\n    for example edges = [0, 10" in text
    assert caught.value.exit_code == 2
    assert json.loads(json.dumps(describe(caught.value)))["error"]["kind"] == "invalid_input"
    assert "five.toml has 5 mistakes" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).problems == caught.value.problems


def question(body: str) -> str:
    """A file whose only question, on lines 6 to 8, has these further lines."""
    return f'{HEAD}[[question]]\nname = "q"\n{body}\n'


CHOICE = 'type = "choice"\n'
PICK = 'type = "pick_any"\n'
NUMBER = 'type = "number"\n'
WORDS = 'type = "words"\n'
FIVE_STEPS = 'type = "scale"\nlowest = 1\nhighest = 5\n'
SCALE = 'type = "scale"\nlowest = 1\n'

EDGES = NUMBER + "edges = [0, 1, 2]\n"
MANY_EDGES = NUMBER + f"edges = {list(range(31))}\n"
ROW, ROW_0 = 'statements = [{ name = "b" }]\n', "question[0].statements[0]"
ROWS = HEAD + YES + 'statements = [{ name = "b" }, { name = "c", text = "?" }]\n'
IN_M = 'matrix = { name = "m", text = "?" }\n'
TWO_ROWS = HEAD + YES + IN_M + YES.replace('"a"', '"b"') + IN_M

MISTAKES = [
    # the head
    (HEAD.replace("s", "ß", 1) + YES, "id", 1, "letters a-z"),
    (HEAD.replace('"s"', "3") + YES, "id", 1, "text between quotes"),
    (HEAD.replace('id = "s"', "") + YES, "id", 1, "must be given"),
    ("copies = 0\n" + HEAD + YES, "copies", 1, "at least 1"),
    ("copies = 1.5\n" + HEAD + YES, "copies", 1, "whole number"),
    ("\ncopies = 2\n" + HEAD + YES, "copies", 2, '1 with linkage = "bit"'),
    ('linkage = "bit"\ncopies = 2\n' + HEAD + YES, "copies", 2, '1 with linkage = "bit"'),
    ('copies = 2\nlinkage = "word"\n' + HEAD + YES, "linkage", 2, "'bit' or 'record'"),
    ("rounds = 20_000\n" + HEAD + YES, "rounds", 1, "at most 10,000"),
    ("rounds = 2\n" + HEAD + YES, "rounds", 1, "must be 1 without a schedule"),
    ('linkage = "word"\n' + HEAD + YES, "linkage", 1, "'bit' or 'record'"),
    ("invited = 999\n" + HEAD + YES, "invited", 1, "at least minimum_crowd, 1,000"),
    ("expected = 3000\ninvited = 2999\n" + HEAD + YES, "invited", 2, "at least expected, 3,000"),
    (HEAD, "question", 1, "must be given"),
    ("question = []\n" + HEAD, "question", 1, "must be given"),
    (HEAD + '[question]\nname = "a"\n', "question", 6, "array of tables"),
    ("question = [3]\n" + HEAD, "question[0]", 1, "table of keys"),
    ('id = "s"\n' + YES, "policy", 1, "must be given"),
    ('id = "s"\npolicy = 3\n' + YES, "policy", 2, "table of keys"),
    (HEAD + YES + "[questions]\n", "questions", 9, "not a key"),
    # the policy
    (HEAD.replace("epsilon = 1", "epsilon = 101") + YES, "policy.epsilon", 3, "at most 100"),
    (HEAD.replace("epsilon = 1", "epsilon = nan") + YES, "policy.epsilon", 3, "finite"),
    (HEAD.replace("epsilon = 1", "epsilon = true") + YES, "policy.epsilon", 3, "a number"),
    (HEAD.replace("delta = 1e-6\n", "") + YES, "policy.delta", 2, "delta or eta"),
    (HEAD + "eta = 0.1\n" + YES, "policy.eta", 6, "beside delta"),
    (HEAD.replace("1000", "1") + YES, "policy.minimum_crowd", 5, "at least 2"),
    (HEAD.replace("1000", "1e6") + YES, "policy.minimum_crowd", 5, "whole number"),
    (HEAD + "colluding = 999\n" + YES, "policy.colluding", 6, "at least 2 of the crowd"),
    (HEAD + 'assurance = "certified"\n' + YES, "policy.assurance", 6, "not a key"),
    (HEAD + "max_local_epsilon = 0\n" + YES, "policy.max_local_epsilon", 6, "above 0"),
    (HEAD + "epsilom = 1\n" + YES, "policy.epsilom", 6, "not a key"),
    # questions
    (question('type = "yesno"'), "question[0].type", 8, "one of yes_no"),
    (question("type = 3"), "question[0].type", 8, "one of yes_no"),
    (question(""), "question[0].type", 6, "must be given"),
    (HEAD + '[[question]]\ntype = "yes_no"\n', "question[0].name", 6, "must be given"),
    (HEAD + YES.replace('"a"', '"1a"'), "question[0].name", 7, "a letter first"),
    (HEAD + YES + "weight = 0\n", "question[0].weight", 9, "above 0"),
    (HEAD + YES + "weight = inf\n", "question[0].weight", 9, "finite"),
    (HEAD + YES + "choices = []\n", "question[0].choices", 9, "not a key"),
    (HEAD + YES + YES, "question[1].name", 10, "question[0] has it too"),
    (HEAD + YES + "text = 1\n", "question[0].text", 9, "text between quotes"),
    (question(CHOICE), "question[0].choices", 6, "choices_file must be given"),
    (question(CHOICE + 'choices = "a"'), "question[0].choices", 9, "must be a list"),
    (question(CHOICE + 'choices = ["a"]'), "question[0].choices", 9, "2 to 1,000,000"),
    (question(CHOICE + 'choices = ["a", ""]'), "question[0].choices[1]", 9, "empty"),
    (question(CHOICE + 'choices = ["a", 1]'), "question[0].choices[1]", 9, "text"),
    (question(CHOICE + 'choices = ["a", "b "]'), "question[0].choices[1]", 9, "end with a space"),
    (question(CHOICE + 'choices = ["a", "b\\nc"]'), "question[0].choices[1]", 9, "line breaks"),
    (question(CHOICE + 'choices_file = ""'), "question[0].choices_file", 9, "empty"),
    (question(CHOICE + 'choices_file = "none"'), "question[0].choices_file", 9, "readable"),
    (question(CHOICE + 'choices_file = "/etc/x"'), "question[0].choices_file", 9, "relative"),
    (
        question(CHOICE + 'choices = ["a", "b"]\nchoices_file = "x"'),
        "question[0].choices_file",
        10,
        "beside choices",
    ),
    (
        question(CHOICE + f'choices = ["a", "b"]\nchoices_sha256 = "{"0" * 64}"'),
        "question[0].choices_sha256",
        10,
        "beside choices_file",
    ),
    (question(PICK), "question[0].choices", 6, "must be given"),
    (question(PICK + 'choices = ["a", "b"]\nat_most = 3'), "question[0].at_most", 10, "from 1 to"),
    (question(PICK + 'choices = ["a", "b"]\nat_most = 0'), "question[0].at_most", 10, "at least 1"),
    (question(NUMBER + "edges = [1]"), "question[0].edges", 9, "2 to"),
    (question(NUMBER + "edges = [1, 1.0]"), "question[0].edges[1]", 9, "larger than"),
    (question(NUMBER + "edges = [1, nan]"), "question[0].edges[1]", 9, "between -2"),
    (question(NUMBER + "edges = [1, inf]"), "question[0].edges[1]", 9, "between -2"),
    (question(NUMBER + f"edges = [1, {10**400}]"), "question[0].edges[1]", 9, "between -2"),
    (question(NUMBER + "edges = [1, true]"), "question[0].edges[1]", 9, "a number"),
    (question(NUMBER + "edges = [1, 2.5]\ninteger = true"), "question[0].edges[1]", 9, "whole"),
    (question(NUMBER + "edges = [1, 2]\nopen = 1"), "question[0].open", 10, "true, false"),
    (question(NUMBER + 'edges = [1, 2]\nopen = "up"'), "question[0].open", 10, "true, false"),
    (question(WORDS + "positions = 1\nhashes = 1"), "question[0].positions", 9, "at least 2"),
    (question(WORDS + "positions = 2\nhashes = 3"), "question[0].hashes", 10, "than the positions"),
    (question(WORDS + "positions = 99\nhashes = 17"), "question[0].hashes", 10, "at most 16"),
    (question(SCALE), "question[0].highest", 6, "must be given"),
    (question(SCALE + "highest = 1"), "question[0].highest", 10, "above lowest, 1"),
    (question(SCALE + "highest = 0"), "question[0].highest", 10, "above lowest, 1"),
    (question(SCALE + "highest = 1_000_001"), "question[0].highest", 10, "by at most 999,999"),
    (question(SCALE + f"highest = {2**54}"), "question[0].highest", 10, "at most"),
    (question(SCALE.replace("1", "1.5") + "highest = 5"), "question[0].lowest", 9, "whole number"),
    (question(FIVE_STEPS + 'labels = ["bad"]'), "question[0].labels", 11, "at least 2"),
    (question(FIVE_STEPS + 'labels = ["a", "b", "c"]'), "question[0].labels", 11, "ends, or 5"),
    (question(FIVE_STEPS + 'labels = ["a", "a"]'), "question[0].labels[1]", 11, "different"),
    (question(FIVE_STEPS + 'labels = ["a", "b\u202e"]'), "question[0].labels[1]", 11, "reorders"),
    (question(FIVE_STEPS + "box = 3"), "question[0].box", 11, "at most half of the 5 values, 2"),
    (question(FIVE_STEPS + "box = 0"), "question[0].box", 11, "at least 1"),
    (HEAD + YES + 'counts = "no"', "question[0].counts", 9, '"yes" or "both"'),
    (HEAD + YES + "counts = true", "question[0].counts", 9, "text between quotes"),
    (question(EDGES + 'asked_as = "range"'), "question[0].asked_as", 10, '"figure" or "ranges"'),
    (question(MANY_EDGES + 'asked_as = "ranges"'), "question[0].edges", 9, "at most 30 edges"),
    # statements
    (HEAD + YES + "statements = []", "question[0].statements", 9, "at least 1"),
    (HEAD + YES + "statements = [\n1]", "question[0].statements[0]", 10, "table of keys"),
    (HEAD + YES + "statements = [{}]", "question[0].statements[0].name", 9, "must be given"),
    (ROWS.replace("{", "{ name = 1 }, {", 1), "question[0].statements[0].name", 9, "quotes"),
    (ROWS.replace("text", "txt"), "question[0].statements[1].txt", 9, "not a key"),
    (ROWS.replace('"c"', '"b"'), "question[0].statements[1].name", 9, "statements[0] has it"),
    (ROWS + YES.replace('"a"', '"c"'), "question[1].name", 11, "question[0].statements[1] has"),
    (ROWS + 'matrix = { name = "m" }', "question[0].matrix", 10, "beside statements"),
    (question(FIVE_STEPS + ROW).replace("5", "50"), ROW_0, 11, "at most 12 answers"),
    (question(EDGES + ROW), ROW_0, 10, "must be a yes_no, choice or scale question"),
    (
        TWO_ROWS.replace(", text", ', text = "x" }  #', 1),
        "question[1]",
        10,
        "beside the other rows",
    ),
    (TWO_ROWS + 'counts = "both"', "question[1]", 10, "the same type, keys and answers as a"),
]


@pytest.mark.parametrize(("text", "path", "line", "rule"), MISTAKES)
def test_every_mistake_is_told_with_path_line_and_rule(
    text: str, path: str, line: int, rule: str
) -> None:
    """One mistake, one problem, in the right place."""
    (problem,) = problems(text)
    assert (problem.path, problem.line) == (path, line)
    assert rule in problem.rule


A_AND_B = HEAD + YES + YES.replace('"a"', '"b"')
PICKED = '[[question]]\nname = "p"\ntype = "pick_any"\nchoices = ["x", "y"]\n'
GROUPS = [
    ('questions = ["a"]', "together[0].questions", "at least 2"),
    ('questions = ["a", "a"]', "together[0].questions[1]", "only once"),
    ('questions = ["a", "z"]', "together[0].questions[1]", "name of a question"),
    ('questions = ["a", "p"]', "together[0].questions[1]", "not pick_any"),
    ('questions = ["a", "b"]\n[[together]]\nquestions = ["b", "a"]', None, "more than together[0]"),
    ('questions = ["a", "b"]\nweight = -1', "together[0].weight", "above 0"),
    ('question = ["a", "b"]', None, "not a key"),
]


@pytest.mark.parametrize(("body", "path", "rule"), GROUPS)
def test_groups_join_known_questions_once(body: str, path: str | None, rule: str) -> None:
    """What cannot be analysed jointly is refused."""
    found = problems(A_AND_B + PICKED + "[[together]]\n" + body)
    assert path is None or [problem.path for problem in found] == [path]
    assert any(rule in problem.rule for problem in found)


def test_absurd_groups_are_refused_with_their_size() -> None:
    """Cells multiply: 101⁴ - 1 of them are too many."""
    items = json.dumps([str(number) for number in range(100)])
    asked = "".join(
        f'[[question]]\nname = "q{index}"\ntype = "choice"\nchoices = {items}\n'
        for index in range(4)
    )
    group = '[[together]]\nquestions = ["q0", "q1", "q2", "q3"]\n'
    (problem,) = problems(HEAD + asked + group)
    assert (problem.path, problem.value) == ("together[0].questions", "104,060,400 cells")
    assert "fewer" in problem.hint
    assert parse_survey(HEAD + asked + group.replace(', "q3"', "").replace(', "q2"', ""))


def test_a_survey_cannot_grow_without_end() -> None:
    """A million positions in all, whatever the linkage; the largest question is blamed."""
    words = '[[question]]\nname = "{}"\ntype = "words"\npositions = {}\nhashes = 1\n'
    for linkage in ("bit", "record"):
        head = f'linkage = "{linkage}"\n{HEAD}{YES}'  # the next question stands on line 10
        assert parse_survey(head + words.format("w", 999_999))
        (problem,) = problems(head + words.format("w", 600_000) + words.format("v", 400_000))
        assert (problem.path, problem.line) == ("question[1]", 10)
        assert "more than 1,000,000 positions" in problem.rule
        assert problem.value == "1,000,001 positions"
        assert "the largest" in problem.hint


def test_groups_count_with_their_cells() -> None:
    """A group of 999,999 cells leaves room for one more question, and is blamed otherwise."""
    items = json.dumps([str(number) for number in range(999)])
    asked = "".join(f'[[question]]\nname = "{n}"\n{CHOICE}choices = {items}\n' for n in "ab")
    group = '[[together]]\nquestions = ["a", "b"]\n'
    assert parse_survey(HEAD + asked + YES.replace('"a"', '"c"') + group)
    both = YES.replace('"a"', '"c"') + YES.replace('"a"', '"d"')
    (problem,) = problems(HEAD + asked + both + group)
    assert (problem.path, problem.line) == ("together[0]", 20)
    assert problem.value == "1,000,001 positions"


def test_records_need_no_groups_and_no_weights() -> None:
    """A record keeps everything together already, and all its bits have the same noise."""
    group = '[[together]]\nquestions = ["a", "b"]\n'
    text = (
        'linkage = "record"\n' + A_AND_B.replace('"yes_no"\n', '"yes_no"\nweight = 2\n', 1) + group
    )
    assert places(text) == [("question[0].weight", 10), ("together[0]", 14)]
    assert 'linkage = "bit"' in problems(text)[1].hint
    record = parse_survey('linkage = "record"\ncopies = 5\n' + A_AND_B)
    assert (record.linkage, record.copies) == (Linkage.RECORD, 5)


SYNTAX = [
    ('id = "s"\n[policy\n', 2),
    ('id = "s"\nid = "t"\n', 2),
    ('id = "s"\n\nname = yes\n', 3),
    (f"id = s\n{HEAD}", 1),
    (HEAD.replace("= 1e-6", "1e-6") + YES, 4),
    ("id = [1,\n2,\n", 2),
    ('id = "s\n', 1),
    ("a = 2026-13-99\n", 1),
]


@pytest.mark.parametrize(("text", "line"), SYNTAX)
def test_bad_syntax_is_told_with_its_line(text: str, line: int) -> None:
    """What is not TOML is one problem, on the line where it stops being TOML."""
    (problem,) = problems(text)
    assert problem.line == line
    assert "not TOML" in problem.rule


def test_absurd_nesting_and_numbers_are_no_traceback() -> None:
    """What Python itself cannot read is a mistake of the file."""
    assert "nested" in problems("a = " + "[" * 100_000)[0].rule
    assert problems("a = " + "9" * 5_000)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """Missing files, directories and other encodings are told as such."""
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(InvalidInput, match="readable file"):
            read_survey(path)
    latin = tmp_path / "latin.toml"
    latin.write_bytes('# ok\nid = "é"\n'.encode("latin-1"))
    with pytest.raises(SurveyErrors) as caught:
        read_survey(latin)
    assert (caught.value.problems[0].line, caught.value.problems[0].rule) == (
        2,
        "must be UTF-8 text",
    )


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    """Some editors write them; lines are counted all the same."""
    file = tmp_path / "s.toml"
    file.write_bytes(b"\xef\xbb\xbf" + (HEAD + YES).replace("\n", "\r\n").encode())
    assert read_survey(file).id == "s"
    assert places((HEAD + YES + "weight = 0\n").replace("\n", "\r\n")) == [
        ("question[0].weight", 9)
    ]


def test_statements_become_questions_with_the_same_answers() -> None:
    """Each has its own name and wording; all that they share is a table's."""
    own = 'text = "Agreed?"\nhelp = "h"\nrequired = true\nweight = 2\ncounts = "both"\n'
    first, second = parse_survey(ROWS + own).questions
    assert (first.name, first.text, second.name, second.text) == ("b", "", "c", "?")
    assert first.matrix == second.matrix == Matrix(name="a", text="Agreed?")
    assert replace(first, name="c", text="?") == second
    assert (first.help, first.required, first.weight, first.positions) == ("h", True, 2, 2)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(conditional_surveys())
def test_surveys_survive_being_written_as_json(survey: Survey) -> None:
    """What a plan carries reads back as the same survey, and so does a file that is written."""
    assert survey_from_document(json.loads(json.dumps(document_of(survey)))) == survey
    assert parse_survey(survey_text(survey)) == survey


WHOLE = """
id = "s"
title = "t"
introduction = "i"
language = "de"
closes = "2026-12-24"
invitations = true
copies = 1
policy = { epsilon = 1, delta = 1e-6, minimum_crowd = 1000, colluding = 1 }
question = [
  { name = "y", type = "yes_no", weight = 2, text = "?", help = "h", required = true },
  { name = "c", type = "choice", choices = ["a", "b"], asked_if = { question = "y", is = [true] } },
  { name = "n", type = "number", edges = [0, 1.5], open = true, unit = "km" },
  { name = "p", type = "pick_any", choices = ["a", "b"], at_most = 1 },
  { name = "w", type = "words", positions = 9, hashes = 2 },
  { name = "b", type = "yes_no", counts = "both", matrix = { name = "m", text = "?" } },
  { name = "r", type = "number", edges = [0, 1], asked_as = "ranges" },
  { name = "s", type = "scale", lowest = 1, highest = 3, statements = [
    { name = "s1", text = "?" }, { name = "s2" } ] },
]
together = [ { questions = ["y", "c"], weight = 3 } ]
"""
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "y", "c", "record", "choice", "words", "id"])
    | st.text(max_size=5)
    | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "type", "choices", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=300)
@given(st.data())
def test_whatever_stands_in_a_file_there_is_no_traceback(data: st.DataObject) -> None:
    """Any value in any place, any key left out: a survey, or all its mistakes."""
    document: Any = tomllib.loads(WHOLE)
    assert survey_from_document(document)
    here = document
    while isinstance(here, (dict, list)) and here:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = data.draw(st.sampled_from(keys))
        deeper = isinstance(here[key], (dict, list)) and data.draw(st.integers(0, 3))
        if deeper:
            here = here[key]
        elif data.draw(st.integers(0, 3)):
            here[key] = data.draw(ANYTHING)
            break
        else:
            del here[key]
            break
    with suppress(SurveyErrors):
        survey_from_document(document)


def test_a_broken_document_has_no_lines() -> None:
    """Without a file the path alone tells the place."""
    document = document_of(parse_survey(HEAD + YES))
    document["question"][0]["weight"] = 0
    with pytest.raises(SurveyErrors, match=r"\n  question\[0\].weight: must be above 0"):
        survey_from_document(document)
