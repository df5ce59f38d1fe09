"""What the console calls the kinds of questions and the keys of a survey file: fields of a form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from krand.languages.speaking import marked
from krand.models import said
from krand.survey.questions import KINDS, Question

Table = dict[str, Any]

STATEMENTS = "+"
"""Behind a kind: several statements with the same answers."""
KIND_LABELS = {
    "yes_no": marked("Yes or no"),
    "choice": marked("Choose one"),
    "pick_any": marked("Choose several"),
    "scale": marked("Scale"),
    "number": marked("Number, counted in ranges"),
    "words": marked("Words"),
    "scale+": marked("Statements on one scale"),
    "choice+": marked("Statements, choose one for each"),
    "yes_no+": marked("Statements, yes or no for each"),
}
MOST_QUESTIONS = 200


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form, and how its text becomes a value of the file."""

    name: str
    label: str
    control: str = "line"
    """line, text, lines, whole, real, numbers, day, flag or select."""
    kinds: tuple[str, ...] = ()
    """The kinds of questions that have it; none: all."""
    hint: str = ""
    options: tuple[tuple[str, str], ...] = ()
    """What can be chosen: the value of the file, and what people read."""


LISTS, SCALES = ("choice", "pick_any", "choice+"), ("scale", "scale+")
HEAD = (
    Field("title", marked("Title")),
    Field("organiser", marked("Who asks"), hint=marked("people see it above the first question")),
    Field(
        "contact",
        marked("How to reach you"),
        hint=marked("an address for questions about the survey"),
    ),
    Field("introduction", marked("Introduction"), "text"),
    Field(
        "thanks",
        marked("Thanks"),
        "text",
        hint=marked("what people read at the end: when and where results come"),
    ),
    Field(
        "closes",
        marked("Last day"),
        "day",
        hint=marked("answers are taken until the end of this day, in UTC"),
    ),
    Field("language", marked("Language"), hint=marked("of your texts: en, de, fr, es, ar …")),
)
EACH_LINE = marked("one on each line")
QUESTION = (
    Field("choices", marked("Options"), "lines", LISTS, EACH_LINE),
    Field("statements", marked("Statements"), "lines", ("scale+", "choice+", "yes_no+"), EACH_LINE),
    Field("lowest", marked("Lowest value"), "whole", SCALES),
    Field("highest", marked("Highest value"), "whole", SCALES),
    Field(
        "labels",
        marked("What the values mean"),
        "lines",
        SCALES,
        marked("two lines for the ends, or one for each"),
    ),
    Field("edges", marked("Where ranges begin and end"), "numbers", ("number",), "0, 10, 20, 50"),
    Field("unit", marked("Unit"), "line", ("number",), marked("hours a week")),
    Field(
        "open",
        marked("Beyond the ends"),
        "select",
        ("number",),
        options=(
            ("", marked("nothing is allowed")),
            ("below", marked("below the first is a range too")),
            ("above", marked("above the last is a range too")),
            ("true", marked("both are ranges")),
        ),
    ),
    Field(
        "asked_as",
        marked("People give"),
        "select",
        ("number",),
        options=(("", marked("the number")), ("ranges", marked("the range"))),
    ),
    Field("integer", marked("Whole numbers only"), "flag", ("number",)),
    Field(
        "counts",
        marked("Counted"),
        "select",
        ("yes_no", "yes_no+"),
        marked("with “yes” only, “no” and “no answer” cannot be told apart"),
        options=(
            ("", marked("“yes” only, with less noise")),
            ("both", marked("“yes” and “no”")),
        ),
    ),
    Field(
        "at_most",
        marked("At most so many"),
        "whole",
        ("pick_any", "words"),
        marked("fewer means less noise"),
    ),
    Field("positions", marked("Positions that words are hashed into"), "whole", ("words",), "1024"),
    Field("hashes", marked("Positions that each word sets"), "whole", ("words",), "2"),
)
MORE = (
    Field("help", marked("Help beside the question"), "text"),
    Field("required", marked("The form asks for an answer"), "flag"),
    Field("weight", marked("Weight"), "real", hint=marked("2: less noise here, more elsewhere")),
    Field("name", marked("Column name"), hint=marked("empty: made from the text")),
)
FIELDS = {field.name: field for field in (*HEAD, *QUESTION, *MORE)}
FIRST_VALUES: dict[str, Table] = {
    "choice": {"choices": []},
    "pick_any": {"choices": []},
    "scale": {"lowest": 1, "highest": 5},
    "number": {"edges": []},
    "words": {"positions": 1024, "hashes": 2},
}
"""What a question of a kind has before anybody writes it."""
OWN = {
    kind: {said(*each) for each in question.model_fields.items()}
    - {said(*each) for each in Question.model_fields.items()}
    | {"choices_file"}
    for kind, question in KINDS.items()
}
ALL_OWN = set().union(*OWN.values())
PROMISE = (
    Field("invited", marked("People that you ask"), "whole"),
    Field("expected", marked("How many will answer, at least"), "whole"),
    Field("epsilon", "ε", "real"),
    Field("delta", "δ", "real"),
)
