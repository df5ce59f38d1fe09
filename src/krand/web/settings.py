"""The numbers form: its fields, and the promise and response format that they describe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from krand.errors import InvalidInput
from krand.promise import Assurance, Linkage, Policy, ResponseFormat, check_crowd
from krand.web.limits import MOST_BITS, MOST_COPIES
from krand.web.texts import TEXTS
from krand.wording.numbers import parse_count, parse_real

OWN, LABELS, HINTS = TEXTS.form, TEXTS.fields.labels, TEXTS.fields.hints
LONGEST_TEXT = 40
"""The most characters in a field; no number needs more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A number that is typed, or set with a slider between `low` and `high`."""

    name: str
    label: str
    default: str
    low: float
    high: float
    hint: str
    whole: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few options."""

    name: str
    label: str
    options: tuple[tuple[str, str], ...]
    """The options and their meanings, the default first."""


def number_field(
    name: str,
    default: str,
    low: float,
    high: float,
    *,
    labels: Mapping[str, str] = LABELS,
    hints: Mapping[str, str] = HINTS,
    whole: bool = False,
    optional: bool = False,
) -> Field:
    """A field with the texts that its name has."""
    return Field(
        name=name,
        label=labels[name],
        default=default,
        low=low,
        high=high,
        hint=hints[name],
        whole=whole,
        optional=optional,
    )


FIELDS = {
    field.name: field
    for field in (
        number_field("epsilon", "2", 0.05, 20),
        number_field("delta", "1e-6", 1e-12, 1e-2),
        number_field("eta", "0.003", 1e-6, 1e-1),
        number_field("crowd", "10M", 100, 1e9, whole=True),
        number_field("bits", "40", 1, 1000, whole=True),
        number_field("max_set_bits", "", 1, 1000, whole=True, optional=True),
        number_field("copies", "1", 1, 1024, whole=True),
    )
}

CHOICES = {
    name: Choice(name, LABELS[name], tuple((w, TEXTS.fields.options[f"{name}-{w}"]) for w in words))
    for name, words in (
        ("promise", ("delta", "eta")),
        ("linkage", ("bit", "record")),
        ("assurance", ("certified", "outlier")),
    )
}


@dataclass(frozen=True, slots=True)
class FilledForm:
    """A form as it was filled in: text, valid or not."""

    texts: Mapping[str, str]

    def query(self, **changes: str) -> str:
        """The form as a query string, with some fields changed."""
        return urlencode({**self.texts, **changes})

    def given(self, name: str, example: str) -> str:
        """A text that must not be left out."""
        text = self.texts[name].strip()
        if not text:
            hint = OWN.for_example.format(example=example)
            raise InvalidInput(name, OWN.must_be_given, None, hint)
        return text

    def one_of(self, name: str, words: Sequence[str]) -> str:
        """One of the words that the form offers."""
        if self.texts[name] not in words:
            rule = OWN.one_of.format(words=", ".join(words))
            raise InvalidInput(name, rule, self.texts[name])
        return self.texts[name]


class Settings(FilledForm):
    """The numbers form."""

    def policy(self) -> Policy:
        """The promise; InvalidInput names the invalid field."""
        epsilon = self._real("epsilon")
        promise = self._choice("promise")
        limit = self._real(promise)
        crowd = self._count("crowd")
        check_crowd(crowd)
        return Policy(
            epsilon=epsilon,
            minimum_crowd=crowd,
            delta=limit if promise == "delta" else None,
            eta=limit if promise == "eta" else None,
            assurance=Assurance(self._choice("assurance")),
        )

    def responses(self) -> ResponseFormat:
        """The response format; InvalidInput names the invalid field."""
        bits, copies = self._count("bits", MOST_BITS), self._count("copies", MOST_COPIES)
        most = self._count("max_set_bits") if self.texts["max_set_bits"].strip() else None
        return ResponseFormat(
            bits, linkage=Linkage(self._choice("linkage")), copies=copies, max_set_bits=most
        )

    def command(self) -> str:
        """The same request on the command line."""
        texts = {name: text.strip() for name, text in self.texts.items()}
        promise = texts["promise"]
        names = ["crowd", "bits", "epsilon", promise]
        names += [name for name in ("max_set_bits",) if texts[name]]
        for name, default in (("linkage", "bit"), ("copies", "1"), ("assurance", "certified")):
            names += [name] if texts[name] != default else []
        options = (f"--{name.replace('_', '-')} {texts[name]}" for name in names)
        return " ".join(("krand noise", *options))

    def _real(self, name: str) -> float:
        return parse_real(name, self.given(name, FIELDS[name].default))

    def _count(self, name: str, most: int | None = None) -> int:
        count = parse_count(name, self.given(name, FIELDS[name].default))
        if most is not None and count > most:
            rule, hint = OWN.too_many_here.format(most=f"{most:,}"), OWN.more_allowed
            raise InvalidInput(name, rule, count, hint)
        return count

    def _choice(self, name: str) -> str:
        return self.one_of(name, [word for word, _ in CHOICES[name].options])


def settings_from(query: Mapping[str, str]) -> Settings:
    """The form in a query; unknown fields are ignored, missing ones have their defaults."""
    default = {name: field.default for name, field in FIELDS.items()}
    default |= {name: choice.options[0][0] for name, choice in CHOICES.items()}
    given = {name: query.get(name, text)[:LONGEST_TEXT] for name, text in default.items()}
    return Settings(given)
