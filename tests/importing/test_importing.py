"""Questionnaires of other tools: what they ask is asked, and whatever is lost is named."""

from __future__ import annotations

import contextlib
import random
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from command_line import done, refused, told
from components import require
from importing.forms import Row, asked, xlsform
from krand import import_survey
from krand.errors import InvalidInput, KrandError, MissingComponent
from krand.importing import questionnaire as limits
from krand.importing import xlsform as xlsforms
from krand.importing.questionnaire import from_codes
from krand.planning.making import make_plan

require("openpyxl")
require("defusedxml")


def questions(path: Path) -> list[dict[str, Any]]:
    """The questions of the survey file, which krand's own reader has accepted."""
    found = tomllib.loads(import_survey(path).text)["question"]
    assert isinstance(found, list)
    return found


def remarks(path: Path) -> list[str]:
    return [str(remark) for remark in import_survey(path).remarks]


LIST = ["Apple", "Pear", "Plum"]
TYPES: list[tuple[Row, Mapping[str, Any]]] = [
    (asked("select_one fruit", "q"), {"type": "choice", "choices": LIST}),
    (asked("select one from fruit", "q"), {"type": "choice", "choices": LIST}),
    (asked("select_one yn", "q"), {"type": "yes_no", "counts": "both"}),
    (asked("select_one fruit or_other", "q"), {"type": "choice", "choices": [*LIST, "Other"]}),
    (asked("select_multiple fruit", "q"), {"type": "pick_any", "choices": LIST}),
    (
        asked("select_multiple fruit", "q", constraint="count-selected(.) <= 2"),
        {"type": "pick_any", "choices": LIST, "at_most": 2},
    ),
    (
        asked("range", "q", parameters="start=0 end=10"),
        {"type": "scale", "lowest": 0, "highest": 10},
    ),
    (
        asked("integer", "q", constraint=". >= 1 and . <= 5"),
        {"type": "scale", "lowest": 1, "highest": 5},
    ),
    (
        asked("integer", "q", constraint="(.>=0 and .<96) or .=999", required="yes"),
        {"type": "number", "edges": [0, 20, 40, 60, 80, 96], "integer": True},
    ),
    (
        asked("decimal", "q", constraint=".>=1.5 and .<=4"),
        {"type": "number", "edges": [1.5, 2.0, 2.5, 3.0, 3.5, 4.0], "open": "above"},
    ),
    (
        asked("decimal", "q", constraint=".>0 and .<2"),
        {
            "type": "number",
            "edges": [0.0, 0.5, 1.0, 1.5, 2.0],
            "open": "above",
        },
    ),
    (
        {
            "type": "select_one fruit",
            "name": "q",
            "label": "<b>Fat</b> &amp; thin",
            "hint": "a\u200bb",
        },
        {"text": "Fat & thin", "help": "ab"},
    ),
    (asked("select_one fruit", "q", required="true()"), {"required": True}),
]


@pytest.mark.parametrize(("row", "expected"), TYPES)
def test_types_of_xlsform(row: Row, expected: Mapping[str, Any], tmp_path: Path) -> None:
    """Each becomes the type that asks the same."""
    (question,) = questions(xlsform(tmp_path, [row]))
    assert question == {"name": "q", "text": "Label of q", **expected} | {
        key: question[key]
        for key in ("type", "choices")
        if "text" in expected or "required" in expected
    }


RULE = "not(selected(., 'a') and selected(., 'b'))"
CHANGED: list[tuple[Row, list[str]]] = [
    (
        asked("integer", "q", constraint="(. >= 0 and . <= 9) or . = 111"),
        ["only 0 to 9 can be answered, so nobody must: its help may name other codes"],
    ),
    (
        asked("select_multiple fruit", "q", constraint=RULE),
        [f"this rule was left out: {RULE}"],
    ),
    (
        asked("select_multiple fruit", "q", constraint=f"count-selected(.) <= 2 and {RULE}"),
        [f"this rule was left out: count-selected(.) <= 2 and {RULE}"],
    ),
    (asked("select_multiple fruit", "q", constraint="count-selected(.) <= 2"), []),
    (asked("select_one yn", "q", constraint=". = '1'"), ["this rule was left out: . = '1'"]),
    (asked("select_one yn", "q", constraint=". >= 1 and . <= 2"), []),
    (
        asked("select_one yn", "q", **{"media::image": "pill.jpg"}),
        ["its picture or sound was left out: pill.jpg"],
    ),
]


@pytest.mark.parametrize(("row", "expected"), CHANGED)
def test_what_a_kept_question_loses_is_named(
    row: Row, expected: Sequence[str], tmp_path: Path
) -> None:
    made = import_survey(xlsform(tmp_path, [row]))
    assert [remark.said for remark in made.changed] == expected
    assert not made.left_out


KEPT = asked("select_one yn", "kept")
LEFT_OUT = [
    ("text", "free text"),
    ("date", "exact date"),
    ("geopoint", "exact place"),
    ("image", "recording or a file"),
    ("calculate", "computes nothing"),
    ("deviceid", "nothing about devices"),
    ("rank fruit", "ranking"),
    ("acknowledge", "asks nothing"),
    ("note", "a text that is no question: put it into a question"),
    ("select_one_from_file towns.csv", "choices_file"),
    ("select_one nowhere", "its list nowhere has fewer than two"),
    ("integer", "add a number with edges"),
    ("", "it has no type"),
    ("telepathy", '"telepathy" is not a type of question that krand knows'),
]


@pytest.mark.parametrize(("kind", "reason"), LEFT_OUT)
def test_what_has_no_counterpart_is_named(kind: str, reason: str, tmp_path: Path) -> None:
    """One line with its row, also in the file that is written."""
    made = import_survey(xlsform(tmp_path, [KEPT, asked(kind, "gone")]))
    assert [question.name for question in made.survey.questions] == ["kept"]
    (remark,) = made.left_out
    assert remark.place == "survey, row 3"
    assert remark.name == "gone"
    assert reason in remark.said
    assert f"#   {remark}" in made.text


GATES = [
    asked("select_one yn", "yes", required="yes"),
    asked("select_one fruit", "one"),
    asked("select_multiple fruit", "several"),
    asked("integer", "age", constraint=".>=0 and .<=100"),
    asked("text", "name"),
]
CONDITIONS: list[tuple[str, dict[str, Any] | None, str]] = [
    ("${yes} = '1'", {"question": "yes", "is": ["yes"]}, ""),
    ("${yes} != 1", {"question": "yes", "is": ["no"]}, ""),
    ("${one} = 'a' or ${one} = 'c'", {"question": "one", "is": ["Apple", "Plum"]}, ""),
    ("not(${one} = 'a')", {"question": "one", "is": ["Pear", "Plum"]}, "without an answer to one"),
    ("${one} != ''", {"question": "one", "is": LIST}, ""),
    ("selected(${several}, 'b')", {"question": "several", "is": ["Pear"]}, ""),
    (
        "selected(${several}, 'b') or selected(${several}, 'a')",
        {"question": "several", "is": ["Apple", "Pear"]},
        "",
    ),
    (
        "${age} >= 18",
        {"question": "age", "is": ["18 to 39", "40 to 59", "60 to 79", "80 to 100"]},
        "",
    ),
    ("${age} &lt; 3", None, "left out"),
    ("true()", None, ""),
    ("not(selected(${several}, 'b'))", None, "only 'picked' can be asked"),
    ("${name} = 'x'", None, "name is not a question before it that krand can ask"),
    ("${q} = '1'", None, "q is not a question before it"),
    ("${yes} = '1' or ${one} = 'a'", None, "it joins several questions"),
    ("${age} mod 2 = 0", None, "not a comparison"),
    (
        "((${age} mod 2 = 0) and ${yes} = '1')",
        {"question": "yes", "is": ["yes"]},
        "must answer: (${age} mod 2 = 0) (",
    ),
    ("(${yes} = '1' and ${age} mod 2 = 0) or ${one} = 'a'", None, "not a comparison"),
    ("(${yes} = '1' and 1) + (1 and ${one} = 'a')", None, "not a comparison"),
    ("${one} = ${yes}", None, "compares questions with each other"),
    ("${one} = 'z'", None, "no answer to one meets it"),
    ("(" * 100, None, "too many brackets"),
    ("${yes} = '1' and " * 20 + "${yes} = '1'", None, "too many parts"),
    ("${yes} = '1' or " * 999 + "${yes} = '1'", None, "longer than 4,000 characters"),
    ("${yes} = '1' and ${one} = 'a'", {"question": "one", "is": ["Apple"]}, "yes is yes"),
]


@pytest.mark.parametrize(("relevant", "expected", "said"), CONDITIONS)
def test_conditions(relevant: str, expected: object, said: str, tmp_path: Path) -> None:
    """One gate, or the question is asked of more people, is not required, and that is said."""
    row = asked("select_one yn", "q", relevant=relevant, required="yes")
    made = import_survey(xlsform(tmp_path, [*GATES, row]))
    question = tomllib.loads(made.text)["question"][-1]
    told_of = "; ".join(remark.said for remark in made.remarks if remark.name == "q")
    assert question.get("asked_if") == expected
    assert (said in told_of) if said else not told_of
    assert question.get("required", False) == ("more people are asked" not in told_of)


def test_conditions_of_groups_and_chains(tmp_path: Path) -> None:
    """A gate that is itself behind the group's gate needs no second one; nothing never holds."""
    rows = [
        asked("select_one yn", "consent"),
        asked("begin_group", "all", relevant="${consent} = '1'"),
        asked("select_one yn", "smokes"),
        asked("select_one fruit", "brand", relevant="${smokes} = '1'"),
        asked("select_one fruit", "never", relevant="${consent} = '2'"),
        {"type": "end_group"},
    ]
    path = xlsform(tmp_path, rows)
    gates = {q["name"]: q.get("asked_if", {}).get("question") for q in questions(path)}
    assert gates == {"consent": None, "smokes": "consent", "brand": "smokes"}
    never, headings = remarks(path)
    assert never == "survey, row 6, never: its condition can never hold"
    assert headings.startswith("survey: the form has no headings:")
    assert headings.endswith(': "Label of all"')


@pytest.mark.parametrize(
    ("relevant", "is_said"),
    [("${kind} != 'a'", True), ("${yes} = '1' and ${kind} != 'a'", False)],
)
def test_people_who_were_not_asked_a_gate(relevant: str, is_said: bool, tmp_path: Path) -> None:
    """Elsewhere they meet "not a"; that krand does not ask them is said, where there are any."""
    rows = [
        GATES[0],
        asked("select_one fruit", "kind", relevant="${yes} = '1'", required="yes"),
        asked("select_one yn", "q", relevant=relevant),
    ]
    path = xlsform(tmp_path, rows)
    assert questions(path)[-1]["asked_if"] == {"question": "kind", "is": ["Pear", "Plum"]}
    said = ["survey, row 4, q: people without an answer to kind are not asked"]
    assert remarks(path) == (said if is_said else [])


def test_numbers_are_divided_where_conditions_ask(tmp_path: Path) -> None:
    rows = [*GATES[3:4], asked("select_one yn", "old", relevant="${age} > 64")]
    age, old = questions(xlsform(tmp_path, rows))
    assert age["edges"] == [0, 20, 40, 65, 80, 101]
    assert old["asked_if"]["is"] == ["65 to 79", "80 to 100"]


def test_tables_become_statements(tmp_path: Path) -> None:
    """Of a group, or below a row that has the labels; both are asked on one scale."""
    rows = [
        asked("begin_group", "food", appearance="table-list"),
        asked("select_one fruit", "first"),
        asked("select_one fruit", "second"),
        asked("end_group", ""),
        asked("select_one fruit", "drinks", appearance="label"),
        asked("select_one fruit", "third", appearance="list-nolabel"),
        asked("select_one fruit", "fourth", appearance="list-nolabel"),
        asked("select_one yn", "q", relevant="${third} = 'a'"),
    ]
    food, drinks, last = questions(xlsform(tmp_path, rows))
    assert food["text"] == "Label of food"
    assert food["choices"] == drinks["choices"] == LIST
    statement = {"name": "food_first", "text": "Label of first"}
    assert food["statements"] == [statement, {"name": "food_second", "text": "Label of second"}]
    assert last["asked_if"] == {"question": "drinks_third", "is": ["Apple"]}


def test_a_form_has_a_title_a_language_and_an_introduction(tmp_path: Path) -> None:
    """And other texts, which are named."""
    rows = [
        asked("note", "hello"),
        asked("begin_repeat", "child"),
        asked("select_one yn", "fed"),
        asked("end_repeat", ""),
        {"type": "select_one yn", "name": "q", "label::German (de)": "Frage ${fed}?"},
    ]
    settings = {"form_title": "A form", "form_id": "Form 1!", "default_language": "German (de)"}
    made = import_survey(xlsform(tmp_path, rows, settings=settings))
    survey = made.survey
    assert (survey.id, survey.title, survey.about.language) == ("form-1", "A form", "de")
    assert survey.about.introduction == "Label of hello"
    said = " ".join(map(str, made.remarks))
    assert "row 3, child: questions that are repeated have no counterpart; 1 row inside" in said
    assert "row 6, q: its wording has ${fed}" in said


@pytest.mark.parametrize(
    ("labels", "ends"),
    [
        (["1 (never)", "2", "3 (always)"], ["never", "always"]),
        (["0 = low", "1", "2", "3 = high"], ["low", "high"]),
        (["1", "2", "3 - high"], None),
        (["1 (x)", "2 (y)", "3 (z)"], None),
        (["1. Male", "2", "3. Female"], None),
        (["1-2", "2", "3-4"], None),
        (["1 (same)", "2", "3 (same)"], None),
        (["1 (no)", "2 (yes)"], None),
    ],
)
def test_a_scale_may_explain_its_ends(labels: list[str], ends: list[str] | None) -> None:
    """Where numbers stand between them; else words are choices, which have no order and no mean."""
    keys, answers = from_codes({f"c{place}": label for place, label in enumerate(labels)})
    if ends is None:
        assert keys == {"type": "choice", "choices": labels}
    else:
        assert keys["labels"] == ends
        assert (keys["type"], keys["highest"] - keys["lowest"]) == ("scale", len(labels) - 1)
        assert answers[0] == (keys["lowest"], ("c0",))


def test_a_wording_that_is_too_long_for_a_question_is_named(tmp_path: Path) -> None:
    row = {"type": "select_one yn", "name": "q", "label": "Welcome. " * 60}
    (said,) = remarks(xlsform(tmp_path, [row]))
    assert "it has 539 characters: move most into its help or the introduction" in said


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, ['settings, language: the form does not say it: language = "en" is a guess']),
        (
            {"default_language": "Quenya"},
            ['settings, language: nobody knows the tag of "Quenya": language = "en" is a guess'],
        ),
        ({"default_language": "Français (fr)"}, []),
        (
            {"default_language": "fr", "form_title": "Enquête 2021-03"},
            ["id, enquete-2021-03: the report takes the date in it for that of this survey"],
        ),
        ({"default_language": "fr", "form_title": "Salle 2024"}, []),
    ],
)
def test_a_guess_about_the_form_is_named(settings: Row, said: list[str], tmp_path: Path) -> None:
    """krand's own words are in its language, and a report says when it was."""
    path = xlsform(tmp_path, [KEPT], settings=settings)
    assert remarks(path) == said
    language = "fr" if "fr" in str(settings) else "en"
    assert import_survey(path).survey.about.language == language


def in_languages(kind: str, name: str, *languages: str, **more: object) -> Row:
    """A row with its label in some of them."""
    labels = {f"label::{tag}": f"{tag} {name}" for tag in languages}
    return {"type": kind, "name": name, **labels, **more}


FRENCH = {
    "title": "A form",
    "introduction": "fr hello",
    "question": {
        "fruit": {
            "text": "fr fruit",
            "help": "vite",
            "choices": {"Apple": "Pomme", "Pear": "Poire"},
        },
        "often": {"text": "fr often", "labels": {"never": "jamais", "always": "toujours"}},
        "food": {"text": "fr food", "choices": {"Apple": "Pomme", "Pear": "Poire"}},
        "food_a": {"text": "fr a"},
        "food_b": {"text": "fr b"},
        "age": {"text": "fr age"},
    },
}


def test_an_xlsform_in_several_languages(tmp_path: Path) -> None:
    """A language in which everything is said is kept; of another one the first gap is named."""
    both = ("English (en)", "fr")
    hints = {"hint::English (en)": "soon", "hint::fr": "vite"}
    rows = [
        in_languages("note", "hello", *both, "de"),
        in_languages("select_one f", "fruit", *both, "de", **hints),
        in_languages("select_one s", "often", *both),
        in_languages("begin_group", "food", *both, appearance="table-list"),
        in_languages("select_one f", "a", *both),
        in_languages("select_one f", "b", *both),
        {"type": "end_group"},
        in_languages("integer", "age", *both, constraint=". >= 0 and . <= 90"),
    ]
    said = {"Apple": "Pomme", "Pear": "Poire"}
    choices = [("f", code, code, text, None) for code, text in said.items()]
    choices += [
        ("s", "1", "1 (never)", "1 (jamais)", "1 (nie)"),
        ("s", "2", "2", "2", "2"),
        ("s", "3", "3 (always)", "3 (toujours)", "3 (immer)"),
    ]
    head = ["list_name", "name", *(f"label::{tag}" for tag in (*both, "de"))]
    settings = {"form_title": "A form", "default_language": "English (en)"}
    path = xlsform(tmp_path, rows, choices, settings, head)
    made = import_survey(path)
    (french,) = made.survey.translations
    assert (french.language, french.texts) == ("fr", FRENCH)
    assert made.survey.in_language("fr").questions[0].text == "fr fruit"
    (lost,) = made.left_out
    assert (lost.place, lost.name) == ("languages", "de")
    assert lost.said.endswith("texts without a translation, the first: survey, row 3")


def test_a_hint_without_a_translation_stays_in_the_forms_own_language(tmp_path: Path) -> None:
    """The language is kept, and whoever imports is told."""
    both = ("English (en)", "fr")
    rows = [in_languages("select_one f", "fruit", *both, **{"hint::English (en)": "soon"})]
    choices = [("f", "a", "Apple", "Pomme"), ("f", "b", "Pear", "Poire")]
    head = ["list_name", "name", *(f"label::{tag}" for tag in both)]
    path = xlsform(tmp_path, rows, choices, {"default_language": "English (en)"}, head)
    made = import_survey(path)
    assert made.survey.in_language("fr").questions[0].help == "soon"
    assert not made.left_out
    assert ["hint" in remark.said for remark in made.changed] == [True]


def test_texts_say_where_their_links_lead(tmp_path: Path) -> None:
    """Which may be how to reach somebody; other HTML goes."""
    label = '<p>Ask <a href="mailto:ann@example.org">Ann</a></p><i>soon</i><script>1</script>'
    row = {"type": "note", "name": "hello", "label": label}
    made = import_survey(xlsform(tmp_path, [row, KEPT]))
    assert made.survey.about.introduction == "Ask Ann (ann@example.org)\nsoon"


def test_names_and_labels_become_different(tmp_path: Path) -> None:
    rows = [asked("select_one twin", "a.b"), asked("select_one twin", "a.b")]
    twins = [("twin", "x", "Same"), ("twin", "y", "Same"), ("twin", "z", None)]
    first, second = questions(xlsform(tmp_path, rows, twins))
    assert first["choices"] == ["Same", "Same (y)", "z"]
    assert [first["name"], second["name"]] == ["a_b", "a_b_2"]


def test_tables_that_are_too_wide_become_questions(tmp_path: Path) -> None:
    """And conditions still find their rows."""
    rows = [
        asked("begin_group", "food", appearance="table-list"),
        asked("select_one wide", "first"),
        asked("select_one wide", "second"),
        asked("end_group", ""),
        asked("select_one wide", "q", relevant="${second} = 'c1'"),
    ]
    wide = [("wide", f"c{code}", f"Choice {code}") for code in range(13)]
    path = xlsform(tmp_path, rows, wide)
    first, second, last = questions(path)
    assert (first["name"], first["text"]) == ("food_first", "Label of food\nLabel of first")
    assert len(second["choices"]) == 13
    assert last["asked_if"] == {"question": "food_second", "is": ["Choice 1"]}
    assert remarks(path) == ["survey, row 2, food: its rows are questions: the table is too wide"]


FILES: list[tuple[str, bytes, str, str]] = [
    ("a.xlsx", b"PK\x03\x04", "questionnaire", "must be an Excel workbook"),
    ("a.xls", b"", "questionnaire", "must be an XLSForm, which ends in .xlsx"),
    ("a.lss", b"", "questionnaire", "must be an XLSForm, which ends in .xlsx"),
]


@pytest.mark.parametrize(("name", "content", "field", "rule"), FILES)
def test_files_that_are_no_questionnaires(
    name: str, content: bytes, field: str, rule: str, tmp_path: Path
) -> None:
    """Each is refused with its line and a remedy, before anything is written."""
    (tmp_path / name).write_bytes(content)
    found = refused("import", name, "-o survey.toml", at=tmp_path)
    assert (found["field"], found["hint"] != "") == (field, True)
    assert rule in found["rule"]
    assert not (tmp_path / "survey.toml").exists()


FORMS: list[tuple[Sequence[Row], str]] = [
    ([{"type": "end_group"}], "survey, row 2: must end a group"),
    ([KEPT, asked("begin_group", "g")], "survey, row 3: must be closed.*end_group"),
    ([KEPT, asked("begin repeat", "g")], "survey, row 3: must be closed.*end repeat"),
    ([asked("select_one yn", "=1+1")], "sheet survey, cell B2: must be a value, not a formula"),
    ([asked("text", "q")], "must have a question that krand can ask.*row 2, q: free text"),
]


@pytest.mark.parametrize(("rows", "message"), FORMS)
def test_forms_that_do_not_do(rows: Sequence[Row], message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=message):
        import_survey(xlsform(tmp_path, rows))


@pytest.mark.parametrize("component", ["openpyxl", "defusedxml"])
def test_a_missing_component_is_named(
    component: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = xlsform(tmp_path, [KEPT])
    monkeypatch.setitem(sys.modules, component, None)
    with pytest.raises(MissingComponent, match=rf"{component} is not installed.*krand\[excel\]"):
        import_survey(path)


def test_sheets_are_named_and_have_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workbook of anything else, and one that would take for ever."""
    path = xlsform(tmp_path, [KEPT] * 30)
    for module, limit, message in (
        (xlsforms, "MOST_ROWS", "sheet survey: must have at most 2 rows"),
        (xlsforms, "MOST_COLUMNS", "sheet survey: must have at most 2 columns"),
        (limits, "MOST_QUESTIONS", "must have at most 2 questions, found 'survey, row 4'"),
        (limits, "MAX_BITS", "must not have more than 2 answers, found 'survey, row 3'"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, limit, 2)
            with pytest.raises(InvalidInput, match=message):
                import_survey(path)
    book = require("openpyxl").load_workbook(path)
    book["survey"]["A1"] = "kind"
    book.save(path)
    with pytest.raises(InvalidInput, match="sheet survey: must have a column named type"):
        import_survey(path)
    book["survey"].title = "answers"
    book.save(path)
    with pytest.raises(InvalidInput, match=r'a sheet named "survey".*answers, choices'):
        import_survey(path)


def _damaged(content: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, some removed."""
    found = bytearray(content)
    for _ in range(chance.randrange(1, 6)):
        place = chance.randrange(len(found))
        found[place : place + chance.randrange(3)] = bytes([chance.randrange(256)])
    return bytes(found)


def test_damaged_questionnaires_are_imported_or_refused(tmp_path: Path) -> None:
    """Nothing but krand's own errors; a workbook is damaged inside its parts."""
    chance = random.Random(1)
    rows = [KEPT, asked("select_one fruit", "q", relevant="${kept} = '1'")]
    whole = xlsform(tmp_path, rows)
    with ZipFile(whole) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(60):
        victim = chance.choice(sorted(parts))
        with ZipFile(whole, "w") as archive:
            for name, inside in parts.items():
                archive.writestr(name, _damaged(inside, chance) if name == victim else inside)
        with contextlib.suppress(KrandError):
            assert import_survey(whole).survey.questions


def test_the_command_imports_and_the_survey_can_be_planned(tmp_path: Path) -> None:
    """What was left out is on stderr; programs read it as values; an old file stays."""
    rows = [*GATES, asked("select_one fruit", "q", relevant="${yes} = '1'")]
    path = xlsform(tmp_path, rows)
    result = done("import form.xlsx -o survey.toml --epsilon 2", at=tmp_path)
    assert "left out: survey, row 6, name: free text" in result.stderr
    assert result.stdout == "5 questions, 1 left out, 1 to look at.\nWritten: survey.toml\n"
    made = import_survey(path, epsilon=2)
    assert (tmp_path / "survey.toml").read_text(encoding="utf-8") == made.text
    assert make_plan(made.survey).survey.policy.epsilon == 2
    done("plan survey.toml -o plan.json", at=tmp_path)
    values = told("import form.xlsx -o other.toml --noise-of devices --crowd 5000", at=tmp_path)
    assert values["questions"] == ["yes", "one", "several", "age", "q"]
    assert [each["left_out"] for each in values["remarks"]] == [False, True]
    assert "minimum_crowd = 5000" in (tmp_path / "other.toml").read_text(encoding="utf-8")
    assert "must not exist yet" in refused("import form.xlsx -o other.toml", at=tmp_path)["rule"]
    problem = refused("import form.xlsx -o new.toml --noise-of devices", at=tmp_path)
    assert "minimum_crowd" in problem["problems"][0]["path"]
