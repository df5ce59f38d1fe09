"""The surveys and answers of the end-to-end test vectors: each shows something of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from client.vector_plans import known_plan
from krand.promise import NOISE_GRID, Linkage, Policy
from krand.survey import mechanisms
from krand.survey.about import About
from krand.survey.choices import Choices
from krand.survey.conditions import Condition
from krand.survey.layout import layout_of
from krand.survey.plan import Plan
from krand.survey.questions import (
    Choice,
    Matrix,
    Number,
    PickAny,
    Question,
    Scale,
    Words,
    YesNo,
)
from krand.survey.survey import Survey, Together, Trust
from krand.survey.translations import Translation
from krand.wire.invitations import CODE_BYTES, code_text
from schedules import days
from wire.vectors import digest

POLICY = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=1000)
OFTEN, SOMETIMES = NOISE_GRID // 4, NOISE_GRID // 10
ALMOST_HALF = NOISE_GRID // 2 - 1
REFUSED_WORD = NOISE_GRID - 1
"""Too large to choose one of three: 2^32 mod 3 = 1."""
CODE = code_text(digest("invitation")[:CODE_BYTES])


@dataclass(frozen=True, kw_only=True)
class Case:
    """What one person answers in one round of a plan."""

    name: str
    plan: Plan
    answers: Mapping[str, Any]
    round_number: int = 1
    invitation: str | None = None
    first_words: tuple[int, ...] = ()
    """The first random words, where a case needs certain ones."""


COLOURS = Choices(("red", "grün", "藍", "أزرق", 'with "quotes" \\ and / 🟣'))
PLACES = Choices(tuple(f"place {number}" for number in range(40)))
KINDS: tuple[Question, ...] = (
    YesNo(name="smokes", text="Do you smoke?", help="Cigars\ncount too.", required=True),
    Choice(name="colour", choices=COLOURS),
    PickAny(name="colours", choices=COLOURS, at_most=2),
    Number(name="distance", edges=(0, 0.5, 2.5, 10), open_above=True, unit="km"),
    Scale(name="rating", lowest=-2, highest=2, labels=("bad", "good")),
    Words(name="tools", size=50, hashes=3, at_most=2),
)
ANSWERED = {
    "smokes": True,
    "colour": "藍",
    "colours": ["أزرق", "red"],
    "distance": 2.5,
    "rating": -2,
    "tools": ["Hammer", "saw"],
}
ABOUT = About(
    title="Gewohnheiten – habits",
    organiser="Universität Ulm",
    contact="habits@example.org",
    introduction="First line.\nSecond line, with “quotes”.",
    thanks="Danke! 🙏",
    language="de-DE",
    closes=date(2027, 1, 31),
)
GROUPED: tuple[Question, ...] = (
    Number(name="age", edges=(0, 18, 65), open_below=True, open_above=True, integer=True),
    YesNo(name="member"),
    PickAny(name="days", choices=Choices(("Monday", "Tuesday", "Friday"))),
    Choice(name="sex", choices=Choices(("f", "m", "x"))),
    Scale(name="mood", lowest=1, highest=5),
)
MATRIX = Matrix(name="work", text="How far do you agree?")
NEW_KINDS: tuple[Question, ...] = (
    YesNo(name="smokes", counts="both"),
    YesNo(name="drinks", counts="both"),
    Scale(name="pay", text="My pay is fair.", lowest=1, highest=5, matrix=MATRIX),
    Scale(name="boss", text="My boss listens.", lowest=1, highest=5, matrix=MATRIX),
    Number(name="dose", edges=(0, 0.00001, 0.5, 2), open_above=True, asked_as="ranges"),
    Number(name="age", edges=(18, 30, 31, 67), open_below=True, integer=True, asked_as="ranges"),
)
GROUPS = (Together(("age", "sex")), Together(("member", "sex", "mood")))
BRANCHES: tuple[Question, ...] = (
    YesNo(name="owns"),
    Scale(name="likes", lowest=-1, highest=1, labels=("no", "yes"), asked_if=Condition("owns", 1)),
    Number(name="age", edges=(0, 1e-5, 2.5), open_below=True, asked_if=Condition("likes", [0, 1])),
    PickAny(name="kinds", choices=COLOURS, asked_if=Condition("age", [-3, 1e-5])),
    Words(name="names", size=40, hashes=2, asked_if=Condition("kinds", ["red", "藍"])),
    Choice(name="why_not", choices=COLOURS, asked_if=Condition("owns", False)),
)
LISTS: tuple[Question, ...] = (
    YesNo(name="smokes"),
    PickAny(name="places", choices=PLACES, at_most=3),
    PickAny(name="colours", choices=COLOURS),
)
FREE: tuple[Question, ...] = (
    Words(name="word", size=1000, hashes=2, at_most=20),
    Words(name="small", size=5, hashes=3, at_most=4),
)
MIXED_WORDS = [
    "Straße",
    "STRASSE",
    "ΌΔΟΣ",
    "İstanbul",
    "ﬁnd",
    "Ｋｒａｎｄ",
    "e\u0301",
    "É",
    "\u00a0\u2003Ångström\u3000\x85",
    "\ufeffmark",
    "\x1cseparator",
    "\u200bzero width",
    "a\u0345Σ",
    "ǅ",
    "①",
    "Ω",
    "🟣" * 1000,
]
"""Case, final sigma, a dotted I, compatibility forms, spaces of Unicode and characters that only
some languages take for spaces, and the longest word, of 1,000 characters outside the plane."""


def _survey(name: str, questions: tuple[Question, ...], rounds: int = 1, **more: Any) -> Survey:
    return Survey(
        id=name,
        policy=POLICY,
        questions=questions,
        rounds=rounds,
        schedule=days(rounds),
        **more,
    )


def _by_devices(survey: Survey, numerator: int, spare: int) -> Plan:
    """One noise for all blocks, and so much room beyond true answers."""
    blocks = layout_of(survey).blocks
    rooms = () if survey.linkage is Linkage.RECORD else [b.most_ones + spare for b in blocks]
    return known_plan(survey, (numerator,) * len(blocks), rooms)


def _mixed(mixers: int) -> Trust:
    return Trust(noise=mechanisms.MIXERS, mixers=mixers)


ALL_KINDS = _by_devices(_survey("kinds", KINDS, about=ABOUT), SOMETIMES, 3)
TOGETHER = _by_devices(_survey("groups", GROUPED, together=GROUPS), SOMETIMES, 2)
YES_AND_NO = _by_devices(_survey("both-counted", NEW_KINDS), SOMETIMES, 2)
THRESHOLD = known_plan(_survey("threshold", LISTS[:1] + GROUPED[3:4]), (5, 7), (1, 2))
CROWDED = _by_devices(_survey("crowded", LISTS), ALMOST_HALF, 1)
LONG_LIST = known_plan(_survey("lists", LISTS, trust=_mixed(1)))
WORDS = known_plan(_survey("words", FREE, trust=_mixed(2)))
TWO_MIXERS = known_plan(_survey("two", GROUPED, together=GROUPS, rounds=2, trust=_mixed(2)))
THREE_MIXERS = known_plan(_survey("three", LISTS[:1] + GROUPED, rounds=3, trust=_mixed(3)))
RECORD = _by_devices(_survey("record", KINDS[:3], linkage=Linkage.RECORD), OFTEN, 0)
COPIES = _by_devices(
    _survey("copies", GROUPED, linkage=Linkage.RECORD, copies=3, rounds=300), OFTEN, 0
)
CONDITIONAL = _by_devices(_survey("branches", BRANCHES), SOMETIMES, 2)
GATED_GROUP = known_plan(
    _survey("gates", BRANCHES[:3], together=(Together(("owns", "age")),), trust=_mixed(2))
)
FRENCH = {
    "title": "Habitudes",
    "introduction": "Une ligne.",
    "thanks": "Merci !",
    "question": {
        "smokes": {"text": "Fumez-vous ?", "help": "Les cigares\ncomptent."},
        "colour": {
            "choices": dict(zip(COLOURS, ("rouge", "red", "bleu", "azur", "«🟣»"), strict=True))
        },
        "colours": {"choices": "same"},
        "distance": {"unit": "km"},
        "rating": {"labels": {"bad": "mauvais", "good": "bon"}},
    },
}
TWO_LANGUAGES = _by_devices(
    _survey("kinds", KINDS, about=ABOUT, translations=(Translation("fr", FRENCH),)), SOMETIMES, 3
)
INVITED = _by_devices(_survey("invited", LISTS[:1], invitations=True), OFTEN, 2)
INVITED_MIXED = known_plan(_survey("invited.2", LISTS, invitations=True, rounds=2, trust=_mixed(2)))

CASES = (
    Case(name="every kind", plan=ALL_KINDS, answers=ANSWERED),
    Case(name="nothing answered", plan=ALL_KINDS, answers={"smokes": None, "tools": None}),
    Case(
        name="empty lists, no, and a number in an open range",
        plan=ALL_KINDS,
        answers={"smokes": False, "colours": [], "tools": [], "distance": 1e300},
    ),
    Case(
        name="groups with an answer in two of them",
        plan=TOGETHER,
        answers={"age": 18, "member": False, "days": ["Friday"], "sex": "x", "mood": 5},
    ),
    Case(name="groups partly answered", plan=TOGETHER, answers={"age": -1, "mood": 1}),
    Case(
        name="yes and no counted, a matrix, ranges by name",
        plan=YES_AND_NO,
        answers={
            "smokes": False,
            "drinks": True,
            "boss": 4,
            "dose": "1e-05 to under 0.5",
            "age": "below 18",
        },
    ),
    Case(
        name="ranges by a figure",
        plan=YES_AND_NO,
        answers={"dose": 3e-5, "age": 30, "smokes": None},
    ),
    Case(
        name="a word below the numerator flips, the numerator itself does not",
        plan=THRESHOLD,
        answers={"smokes": True, "sex": "m"},
        first_words=(5, 6, 7, 0),
    ),
    Case(
        name="more reported positions than messages",
        plan=CROWDED,
        answers={"smokes": True, "places": ["place 7", "place 39"], "colours": ["grün"]},
    ),
    Case(
        name="one mixer, and a shuffle that draws again",
        plan=LONG_LIST,
        answers={"smokes": True, "places": ["place 39", "place 0"], "colours": ["red", "藍"]},
        first_words=(REFUSED_WORD, REFUSED_WORD, 4),
    ),
    Case(
        name="words",
        plan=WORDS,
        answers={"word": MIXED_WORDS, "small": ["a", "A ", "b", "c"]},
    ),
    Case(
        name="two mixers, second round",
        plan=TWO_MIXERS,
        answers={"age": 64, "days": ["Monday", "Tuesday"], "sex": "f", "member": True},
        round_number=2,
    ),
    Case(
        name="three mixers, third round",
        plan=THREE_MIXERS,
        answers={"smokes": True, "age": 65, "sex": "m", "mood": 3, "days": ["Tuesday"]},
        round_number=3,
    ),
    Case(
        name="a record",
        plan=RECORD,
        answers={"smokes": True, "colour": "grün", "colours": ["red"]},
    ),
    Case(
        name="copies of a record, round 258",
        plan=COPIES,
        answers={"age": 17, "member": True, "sex": "x", "mood": 2, "days": []},
        round_number=258,
    ),
    Case(
        name="every question of a branch is asked",
        plan=CONDITIONAL,
        answers={"owns": True, "likes": 1, "age": 2, "kinds": ["藍"], "names": "Rex"},
    ),
    Case(
        name="a gate was changed: what hung on it is dropped, and read by nobody",
        plan=CONDITIONAL,
        answers={"owns": False, "likes": 7, "age": "x", "kinds": 1, "names": 2, "why_not": "red"},
    ),
    Case(
        name="a chain breaks in the middle",
        plan=CONDITIONAL,
        answers={"owns": True, "likes": 0, "age": 1e-6, "kinds": ["red"], "names": "Rex"},
    ),
    Case(
        name="no answer to a gate asks nothing",
        plan=CONDITIONAL,
        answers={"owns": None, "likes": 1, "why_not": "red"},
    ),
    Case(
        name="a group with a question that was not asked",
        plan=GATED_GROUP,
        answers={"owns": True, "likes": -1, "age": 2},
    ),
    Case(name="two languages", plan=TWO_LANGUAGES, answers=ANSWERED | {"colour": "red"}),
    Case(name="an invitation", plan=INVITED, answers={"smokes": True}, invitation=CODE),
    Case(
        name="an invitation, two mixers, second round",
        plan=INVITED_MIXED,
        answers={"places": ["place 3"]},
        round_number=2,
        invitation=CODE,
    ),
)
SEALED = ("every kind", "three mixers, third round", "a record")

WORDED: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("two languages", "fr", ANSWERED | {"colour": "rouge"}),
)
"""Case, language, and the answers of the case in this language."""
REFUSED: tuple[tuple[str, Mapping[str, Any], str], ...] = (
    ("every kind", {"smokes": "perhaps"}, "smokes"),
    ("every kind", {"colour": "Red"}, "colour"),
    ("every kind", {"colour": ["red"]}, "colour"),
    ("every kind", {"colour": True}, "colour"),
    ("every kind", {"colours": "red"}, "colours"),
    ("every kind", {"colours": ["red", "mauve"]}, "colours"),
    ("every kind", {"colours": ["red", "grün", "藍"]}, "colours"),
    ("every kind", {"distance": -0.001}, "distance"),
    ("every kind", {"distance": "2"}, "distance"),
    ("every kind", {"distance": True}, "distance"),
    ("every kind", {"rating": 3}, "rating"),
    ("every kind", {"rating": 0.5}, "rating"),
    ("every kind", {"rating": "0"}, "rating"),
    ("every kind", {"tools": ["a", "b", "c"]}, "tools"),
    ("every kind", {"tools": ["a", 1]}, "tools"),
    ("every kind", {"tools": 7}, "tools"),
    ("every kind", {"tools": "\u00a0 \u2028"}, "tools"),
    ("every kind", {"tools": ""}, "tools"),
    ("every kind", {"tools": "\ud83d"}, "tools"),
    ("every kind", {"tools": "🟣" * 1001}, "tools"),
    ("every kind", {"smoked": True}, "answers"),
    ("ranges by a figure", {"age": "17"}, "age"),
    ("ranges by a figure", {"age": "30 to 30"}, "age"),
    ("ranges by a figure", {"dose": "0.00001 to under 0.5"}, "dose"),
    ("ranges by a figure", {"age": 67}, "age"),
    ("groups with an answer in two of them", {"age": 18.5}, "age"),
    ("groups with an answer in two of them", {"mood": 6, "sex": "f"}, "mood"),
    ("a record", {"colour": "blue"}, "colour"),
    ("a chain breaks in the middle", {"owns": "perhaps", "likes": 7}, "owns"),
    ("a chain breaks in the middle", {"owns": True, "likes": 7, "age": "x"}, "likes"),
)
"""Case, answers, and what the error names: the question, or "answers" for one nobody asked."""
