"""The numbers form: its fields, and the promise and response format that they describe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from krand.errors import InvalidInput
from krand.promise import Assurance, Linkage, Policy, ResponseFormat, check_crowd
from krand.web.limits import MOST_BITS, MOST_COPIES
from krand.wording.numbers import parse_count, parse_real

LONGEST_TEXT = 40
"""The most characters in a field; no number needs more."""


@dataclass(frozen=True, slots=True)
class Field:
    """A number that is typed, or set with a slider between `low` and `high`."""

    name: str
    default: str
    low: float
    high: float
    whole: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few options, the default first."""

    name: str
    options: tuple[str, ...]


FIELDS = {
    field.name: field
    for field in (
        Field("epsilon", "2", 0.05, 20),
        Field("delta", "1e-6", 1e-12, 1e-2),
        Field("eta", "0.003", 1e-6, 1e-1),
        Field("crowd", "10M", 100, 1e9, whole=True),
        Field("bits", "40", 1, 1000, whole=True),
        Field("max_set_bits", "", 1, 1000, whole=True, optional=True),
        Field("copies", "1", 1, 1024, whole=True),
    )
}

CHOICES = {
    choice.name: choice
    for choice in (
        Choice("promise", ("delta", "eta")),
        Choice("linkage", ("bit", "record")),
        Choice("assurance", ("certified", "outlier")),
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
            raise InvalidInput(name, "must be given", None, f"for example {example}")
        return text

    def one_of(self, name: str, words: Sequence[str]) -> str:
        """One of the words that the form offers."""
        if self.texts[name] not in words:
            raise InvalidInput(name, f"must be one of {', '.join(words)}", self.texts[name])
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
            rule = f"must be at most {most:,} on this page"
            raise InvalidInput(name, rule, count, "the command line allows more")
        return count

    def _choice(self, name: str) -> str:
        return self.one_of(name, CHOICES[name].options)


def settings_from(query: Mapping[str, str]) -> Settings:
    """The form in a query; unknown fields are ignored, missing ones have their defaults."""
    default = {name: field.default for name, field in FIELDS.items()}
    default |= {name: choice.options[0] for name, choice in CHOICES.items()}
    given = {name: query.get(name, text)[:LONGEST_TEXT] for name, text in default.items()}
    return Settings(given)
