"""The numbers form: what it asks, and the promise and reports that its answers describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from krand.errors import InvalidInput
from krand.promise import Assurance, Linkage, Policy, ResponseFormat
from krand.web.limits import MOST_BITS, MOST_COPIES
from krand.wording.numbers import parse_count, parse_real

__all__ = ["CHOICES", "FIELDS", "Choice", "Field", "Settings", "settings_from"]

LONGEST_TEXT = 40
"""Of what is typed into a field; no number needs more."""


@dataclass(frozen=True, slots=True)
class Field:
    """A number that is typed, or moved by a slider between two ends."""

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
    """One of a few words."""

    name: str
    label: str
    options: tuple[tuple[str, str], ...]
    """The words and what they mean, the usual one first."""


FIELDS = {
    field.name: field
    for field in (
        Field("epsilon", "ε", "2", 0.05, 20, "e^ε bounds how much anything can reveal"),
        Field("delta", "δ", "1e-6", 1e-12, 1e-2, "how far the bound may fail, as a probability"),
        Field("eta", "η", "0.003", 1e-6, 1e-1, "how often the ratio may exceed e^ε"),
        Field(
            *("population", "Crowd", "10M", 100, 1e9),
            hint="people who take part; write 10M, 1e7 or 10_000_000",
            whole=True,
        ),
        Field(
            *("bits", "Questions", "40", 1, 1000),
            hint="yes/no bits about each person",
            whole=True,
        ),
        Field(
            *("max_set_bits", "Most set bits", "", 1, 1000),
            hint="the most yeses of one person; empty: all",
            whole=True,
            optional=True,
        ),
        Field(
            *("copies", "Copies", "1", 1, 1024),
            hint="noisy copies that each person sends",
            whole=True,
        ),
    )
}

CHOICES = {
    choice.name: choice
    for choice in (
        Choice(
            "promise",
            "Promise",
            (("delta", "ε with δ"), ("eta", "ε with η")),
        ),
        Choice(
            "linkage",
            "What travels together",
            (("bit", "every bit alone"), ("record", "the whole record")),
        ),
        Choice(
            "assurance",
            "How the promise is known",
            (
                ("certified", "certified: proven"),
                ("outlier", "outlier: the drafts' attack"),
            ),
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The form as it was filled in: text, right or wrong."""

    texts: Mapping[str, str]

    def query(self, **changes: str) -> str:
        """The form as the end of an address, with some answers changed."""
        return urlencode({**self.texts, **changes})

    def policy(self) -> Policy:
        """What must be promised; InvalidInput names the field that is wrong."""
        epsilon = self._real("epsilon")
        promise = self._choice("promise")
        limit = self._real(promise)
        population = self._count("population")
        return Policy(
            epsilon,
            population,
            delta=limit if promise == "delta" else None,
            eta=limit if promise == "eta" else None,
            assurance=Assurance(self._choice("assurance")),
        )

    def reports(self) -> ResponseFormat:
        """What each person sends; InvalidInput names the field that is wrong."""
        bits, copies = self._count("bits", MOST_BITS), self._count("copies", MOST_COPIES)
        most = self._count("max_set_bits") if self.texts["max_set_bits"].strip() else None
        return ResponseFormat(bits, Linkage(self._choice("linkage")), copies, most)

    def command(self) -> str:
        """The same request on the command line."""
        texts = {name: text.strip() for name, text in self.texts.items()}
        promise = texts["promise"]
        names = ["population", "bits", "epsilon", promise]
        names += [name for name in ("max_set_bits",) if texts[name]]
        for name, usual in (("linkage", "bit"), ("copies", "1"), ("assurance", "certified")):
            names += [name] if texts[name] != usual else []
        options = (f"--{name.replace('_', '-')} {texts[name]}" for name in names)
        return " ".join(("krand noise", *options))

    def _real(self, name: str) -> float:
        return parse_real(name, self._given(name))

    def _count(self, name: str, most: int | None = None) -> int:
        count = parse_count(name, self._given(name))
        if most is not None and count > most:
            rule, hint = f"must be at most {most:,} on this page", "the command line takes more"
            raise InvalidInput(name, rule, count, hint)
        return count

    def _given(self, name: str) -> str:
        text = self.texts[name].strip()
        if not text:
            raise InvalidInput(name, "must be given", None, f"for example {FIELDS[name].default}")
        return text

    def _choice(self, name: str) -> str:
        words = [word for word, _ in CHOICES[name].options]
        if self.texts[name] not in words:
            raise InvalidInput(name, f"must be one of {', '.join(words)}", self.texts[name])
        return self.texts[name]


def settings_from(query: Mapping[str, str]) -> Settings:
    """The form in a query; what is not asked for is ignored, what is missing is as usual."""
    usual = {name: field.default for name, field in FIELDS.items()}
    usual |= {name: choice.options[0][0] for name, choice in CHOICES.items()}
    given = {name: query.get(name, text)[:LONGEST_TEXT] for name, text in usual.items()}
    return Settings(given)
