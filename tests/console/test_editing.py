"""A survey file as a form, and back: nothing is lost, and no kind is guessed."""

from __future__ import annotations

from typing import Any

import pytest

from krand.console.editing import (
    changed_order,
    file_text,
    has_comments,
    head_texts,
    mistake_of,
    question_texts,
    value_of,
    with_head,
    with_promise,
    with_questions,
)
from krand.console.fields import FIELDS, KIND_LABELS
from krand.survey.reading import parse_survey
from krand.survey.rules import SurveyErrors
from krand.survey.toml_file import toml_document

EVERY_KIND = """\
# Written by hand.
id = "all"
title = "Every kind"
closes = 2126-12-24

[policy]
epsilon = 1.0
delta = 1e-06

[trust]
noise = "mixers"
mixers = 1

[[question]]
name = "smokes"
type = "yes_no"
text = "Do you smoke?"
counts = "both"

[[question]]
name = "pet"
type = "choice"
text = "Which pet?"
choices = ["cat", "dog, or two", "نعم 🐕"]
weight = 2
asked_if = { question = "smokes", is = ["yes"] }

[[question]]
name = "days"
type = "pick_any"
text = "Which days?"
choices = ["Monday", "Friday"]
at_most = 1

[[question]]
name = "mood"
type = "scale"
text = "Rate your boss 1–5"
lowest = 1
highest = 5
labels = ["bad", "good"]

[[question]]
name = "age"
type = "number"
text = "How old are you?"
edges = [0, 18, 65.5]
open = "above"
unit = "years"

[[question]]
name = "brand"
type = "words"
text = "Which brand?"
positions = 64
hashes = 2

[[question]]
name = "team"
type = "scale"
text = "How much do you agree?"
lowest = 1
highest = 3
statements = [{ name = "pay", text = "My pay is fair." }, { name = "boss", text = "I am heard." }]

[[together]]
questions = ["smokes", "pet"]

[[together]]
questions = ["pet", "mood", "age"]
"""


def form_of(document: dict[str, Any]) -> dict[str, str]:
    """What a browser sends for the form of a document."""
    form = head_texts(document)
    for number, texts in enumerate(question_texts(document["question"]), 1):
        form |= {f"q{number}_{name}": text for name, text in texts.items()}
    pairs = [g["questions"] for g in document.get("together", []) if len(g["questions"]) == 2]
    for number, (first, second) in enumerate(pairs, 1):
        form |= {f"t{number}_a": first, f"t{number}_b": second}
    return form


def saved(text: str, form: dict[str, str]) -> str:
    document = toml_document(text)
    return file_text(with_questions(with_head(document, form), form), text)


def test_a_form_that_nobody_changed_gives_the_same_survey() -> None:
    """Of every kind, with conditions, groups, weights, and what the form does not show."""
    document = toml_document(EVERY_KIND)
    made = saved(EVERY_KIND, form_of(document))
    assert parse_survey(made) == parse_survey(EVERY_KIND)
    assert made.startswith("# Written by hand.\n")
    assert saved(made, form_of(toml_document(made))) == made
    kinds = {texts["kind"] for texts in question_texts(document["question"])}
    assert kinds | {"choice+", "yes_no+"} == set(KIND_LABELS)


def test_names_follow_texts_and_whatever_refers_to_them_follows_too() -> None:
    """Unless somebody gave a name; a kind stays what was chosen."""
    text = EVERY_KIND.replace('"smokes"', '"do_you_smoke"')
    form = {**form_of(toml_document(text)), "q1_text": "Do you still smoke?"}
    survey = parse_survey(saved(text, form))
    assert survey.questions[0].name == "do_you_still_smoke"
    assert survey.questions[1].asked_if is not None
    assert survey.questions[1].asked_if.question == "do_you_still_smoke"
    assert survey.together[0].questions[0] == "do_you_still_smoke"
    given = {**form_of(toml_document(EVERY_KIND)), "q1_text": "Rate your boss 1–5", "q2_name": "x"}
    first, second, *_ = parse_survey(saved(EVERY_KIND, given)).questions
    assert (first.name, first.kind.value, second.name) == ("smokes", "yes_no", "x")


@pytest.mark.parametrize("kind", [kind for kind in KIND_LABELS if kind != "words"])
def test_another_kind_takes_its_own_fields_and_leaves_the_others(kind: str) -> None:
    """What the new kind needs has a first value, and the file has no key that it does not know."""
    form = {**form_of(toml_document(EVERY_KIND)), "q6_kind": kind, "q6_statements": "It is good."}
    form |= {"q6_choices": "a\nb", "q6_edges": "1, 2"}
    made = parse_survey(saved(EVERY_KIND, form))
    assert made.questions[5].kind.value == kind.removesuffix("+")
    assert made.questions[5].text == ("It is good." if kind.endswith("+") else "Which brand?")


@pytest.mark.parametrize(
    ("do", "texts", "at"),
    [
        ("up:2", ["B", "A", "C"], 1),
        ("down:2", ["A", "C", "B"], 3),
        ("up:1", ["A", "B", "C"], 1),
        ("remove:3", ["A", "B"], 2),
        ("remove:9", ["A", "B", "C"], 1),
        ("add:scale", ["A", "B", "C", ""], 4),
        ("add:nothing", ["A", "B", "C"], 1),
    ],
)
def test_questions_move(do: str, texts: list[str], at: int) -> None:
    """Each with all its fields; the page goes to the one that was moved."""
    form = {"title": "T"}
    for number, text in enumerate("ABC", 1):
        form |= {f"q{number}_kind": "yes_no", f"q{number}_text": text, f"q{number}_help": text}
    moved, place = changed_order(form, do)
    document = with_questions({"id": "x"}, moved)
    assert [table["text"] for table in document["question"]] == texts
    assert place == at
    assert all(t.get("help", "") == t["text"] for t in document["question"])


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("lowest", "1", 1),
        ("lowest", "one", "one"),
        ("weight", "2.5", 2.5),
        ("weight", "inf", "inf"),
        ("edges", "0, 10;  20\n50.5", [0, 10, 20, 50.5]),
        ("choices", " a \r\n\r\n b,c ", ["a", "b,c"]),
        ("integer", "true", True),
        ("integer", "", None),
        ("open", "true", True),
        ("open", "", None),
        ("help", "  ", None),
    ],
)
def test_fields_become_values(name: str, text: str, value: object) -> None:
    """What is no number stays as it was typed, and the survey's own rules refuse it."""
    assert value_of(FIELDS[name], text) == value


@pytest.mark.parametrize(
    ("form", "policy", "trust"),
    [
        (
            {"noise": "devices", "expected": "480", "chosen": "2", "delta": "1e-5"},
            {"epsilon": 2, "delta": 1e-5, "minimum_crowd": 480},
            None,
        ),
        (
            {"noise": "mixers", "expected": "30", "chosen": "other", "epsilon": "0.7"},
            {"epsilon": 0.7},
            {"noise": "mixers", "mixers": 3},
        ),
    ],
)
def test_a_promise_becomes_policy_and_trust(
    form: dict[str, str], policy: dict[str, Any], trust: dict[str, Any] | None
) -> None:
    """Devices need the crowd that is expected; mixers need none."""
    before = {"policy": {"minimum_crowd": 9}, "trust": {"noise": "mixers", "mixers": 3}}
    made = with_promise(before, form)
    assert made["policy"] == policy
    assert made.get("trust") == trust


def test_mistakes_are_told_by_the_labels_of_fields() -> None:
    """One of each kind of place."""
    text = EVERY_KIND.replace('"Monday", "Friday"', '"Monday"').replace(
        "lowest = 1\nhighest = 5", 'lowest = "x"\nhighest = 5'
    )
    text = text.replace("epsilon = 1.0", "epsilon = 0").replace('"Every kind"', '"a\\nb"')
    with pytest.raises(SurveyErrors) as refused:
        parse_survey(text)
    found = {(one.where, one.field) for one in map(mistake_of, refused.value.problems)}
    assert {
        ("Title", "title"),
        ("ε", "epsilon"),
        ("Question 3, Options", "q3_choices"),
        ("Question 4, Lowest value", "q4_lowest"),
    } <= found


def test_comments_that_would_be_lost_are_seen() -> None:
    """Those at the beginning stay."""
    assert not has_comments(EVERY_KIND)
    assert has_comments(EVERY_KIND.replace("[policy]", "# strict\n[policy]"))


def test_long_lists_and_titles_are_kept() -> None:
    """A thousand options, and a title of 300 characters, which the rules then refuse or take."""
    form = form_of(toml_document(EVERY_KIND))
    options = [f"option {number}" for number in range(1_000)]
    form |= {"q2_choices": "\n".join(options), "title": "t" * 300}
    document = toml_document(saved(EVERY_KIND, form))
    assert document["question"][1]["choices"] == options
    assert document["title"] == "t" * 300
