"""What the console calls the kinds of questions and the keys of a survey file: fields of a form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from krand.survey.questions import KINDS

Table = dict[str, Any]

STATEMENTS = "+"
"""Behind a kind: several statements with the same answers."""
KIND_LABELS = {
    "yes_no": "Yes or no",
    "choice": "Choose one",
    "pick_any": "Choose several",
    "scale": "Scale",
    "number": "Number, counted in ranges",
    "words": "Words",
    "scale+": "Statements on one scale",
    "choice+": "Statements, choose one for each",
    "yes_no+": "Statements, yes or no for each",
}
MOST_QUESTIONS = 200


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form, and how its text becomes a value of the file."""

    name: str
    label: str
    form: str = "line"
    """line, text, lines, whole, real, numbers, flag, or a list of options after a colon."""
    kinds: tuple[str, ...] = ()
    """The kinds of questions that have it; none: all."""
    hint: str = ""

    @property
    def options(self) -> list[tuple[str, str]]:
        """What can be chosen: the value of the file, and what people read."""
        pairs = self.form.partition(":")[2].split("|")
        return [(value, label) for value, _, label in (pair.partition("=") for pair in pairs)]

    @property
    def control(self) -> str:
        """Which control it has."""
        return self.form.partition(":")[0]


LISTS, SCALES = ("choice", "pick_any", "choice+"), ("scale", "scale+")
HEAD = (
    Field("title", "Title"),
    Field("organiser", "Who asks", hint="people see it above the first question"),
    Field("contact", "How to reach you", hint="an address for questions about the survey"),
    Field("introduction", "Introduction", "text"),
    Field(
        "thanks", "Thanks", "text", hint="what people read at the end: when and where results come"
    ),
    Field("closes", "Last day", "day", hint="answers are taken until the end of this day, in UTC"),
    Field("language", "Language", hint="of your texts: en, de, fr, es, ar …"),
)
QUESTION = (
    Field("choices", "Options", "lines", LISTS, "one on each line"),
    Field(
        "statements", "Statements", "lines", ("scale+", "choice+", "yes_no+"), "one on each line"
    ),
    Field("lowest", "Lowest value", "whole", SCALES),
    Field("highest", "Highest value", "whole", SCALES),
    Field(
        "labels", "What the values mean", "lines", SCALES, "two lines for the ends, or one for each"
    ),
    Field("edges", "Where ranges begin and end", "numbers", ("number",), "0, 10, 20, 50"),
    Field("unit", "Unit", "line", ("number",), "hours a week"),
    Field(
        "open",
        "Beyond the ends",
        "select:=nothing is allowed|below=below the first is a range too"
        "|above=above the last is a range too|true=both are ranges",
        ("number",),
    ),
    Field("asked_as", "People give", "select:=the number|ranges=the range", ("number",)),
    Field("integer", "Whole numbers only", "flag", ("number",)),
    Field(
        "counts",
        "Counted",
        "select:=“yes” only: less noise; “no” and no answer look the same|both=“yes” and “no”",
        ("yes_no", "yes_no+"),
    ),
    Field("at_most", "At most so many", "whole", ("pick_any", "words"), "fewer means less noise"),
    Field("positions", "Positions that words are hashed into", "whole", ("words",), "1024"),
    Field("hashes", "Positions that each word sets", "whole", ("words",), "2"),
)
MORE = (
    Field("help", "Help beside the question", "text"),
    Field("required", "The form asks for an answer", "flag"),
    Field("weight", "Weight", "real", hint="2: less noise here, more elsewhere"),
    Field("name", "Column name", hint="empty: made from the text"),
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
    kind: {*(key.name for key in question.keys), "choices_file"} for kind, question in KINDS.items()
}
ALL_OWN = set().union(*OWN.values())
PROMISE = (
    Field("invited", "People that you ask", "whole"),
    Field("expected", "How many will answer, at least", "whole"),
    Field("epsilon", "ε", "real"),
    Field("delta", "δ", "real"),
)
