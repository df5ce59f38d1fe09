"""Plurals, numbers and dates are those of CLDR: its own examples, and its second reader, Intl."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from javascript import built_internals, node
from krand.languages.catalogs import codes, serves
from krand.languages.cldr import date_texts, plural_form, plural_forms
from krand.showing import total
from krand.wording.number_format import number_format

LANGUAGES = ("en", "de", "fr", "es", "ar")
EXAMPLES = {
    "en": {"one": "1", "other": "0 2~16 100 1000 10000 100000 1000000 0.1 0.9 1.5 10.5"},
    "de": {"one": "1", "other": "0 2~16 100 1000 10000 100000 1000000 0.1 0.9 1.5 10.5"},
    "fr": {
        "one": "0 1 0.1 0.9 1.5",
        "many": "1000000 2000000",
        "other": "2~17 100 1000 10000 100000 2.1 3.5",
    },
    "es": {
        "one": "1",
        "many": "1000000 2000000",
        "other": "0 2~16 100 1000 10000 100000 0.1 0.9 1.1 1.6",
    },
    "ar": {
        "zero": "0",
        "one": "1",
        "two": "2",
        "few": "3~10 103~110 1003",
        "many": "11~26 111 1011",
        "other": "100~102 200~202 300~302 400~402 500~502 600 1000 10000 100000 1000000 0.1 10.1",
    },
}
"""Of CLDR's plurals.xml: integers, and some decimals."""
WHOLE = [*range(120), *(10**power + more for power in range(2, 10) for more in (-1, 0, 1, 234))]
PARTS = [0.5, 1.5, 12.25, 999.75, 1234.5, 12345.75, 1234567.5]
INTL = """
const { languages, whole, parts } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const told = languages.map((language) => {
  const options = { numberingSystem: "latn", minimumFractionDigits: 2 };
  const percent = { style: "percent", numberingSystem: "latn" };
  const day = { dateStyle: "long", timeZone: "UTC", numberingSystem: "latn" };
  return [language, {
    forms: [...whole, ...parts].map((n) => new Intl.PluralRules(language).select(n)),
    whole: whole.map((n) => new Intl.NumberFormat(language, { numberingSystem: "latn" }).format(n)),
    parts: parts.map((n) => new Intl.NumberFormat(language, options).format(n)),
    percent: new Intl.NumberFormat(language, percent).format(0.95),
    days: Array.from({ length: 12 }, (_, month) =>
      new Date(Date.UTC(2026, month, 8)).toLocaleDateString(language, day)),
  }];
});
console.log(JSON.stringify(Object.fromEntries(told)));
"""


def numbers_in(text: str) -> list[float]:
    """CLDR's list of examples: 3~10 is a range."""
    found: list[float] = []
    for each in text.split():
        low, _, high = each.partition("~")
        found += range(int(low), int(high) + 1) if high else [json.loads(low)]
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_plurals_are_those_of_cldrs_examples(language: str) -> None:
    """Every form that the language has, and no other."""
    assert set(plural_forms(language)) == set(EXAMPLES[language])
    for form, examples in EXAMPLES[language].items():
        for number in numbers_in(examples):
            assert plural_form(language, number) == form, number


def intl_says() -> dict[str, Any]:
    """Of every language."""
    languages = sorted({*LANGUAGES, *codes()})
    given = json.dumps({"languages": languages, "whole": WHOLE, "parts": PARTS})
    told: dict[str, Any] = json.loads(node("-e", INTL, text=given))
    assert sorted(told) == languages
    return told


def test_python_and_javascript_agree() -> None:
    """Babel and the browser's Intl, whose copies of CLDR have different keepers."""
    for code, intl in intl_says().items():
        assert [plural_form(code, n) for n in (*WHOLE, *PARTS)] == intl["forms"], code
        if not serves(code, "report"):
            continue
        numbers = number_format(code)
        assert list(map(numbers.whole, WHOLE)) == intl["whole"], code
        assert [numbers.rounded(part, 2) for part in PARTS] == intl["parts"], code
        if code != "en":  # which krand writes with a space before the sign, and day first
            assert numbers.percent_of(0.95, "g") == intl["percent"]
            assert [day_in(code, date(2026, month, 8)) for month in range(1, 13)] == intl["days"]


FORM = """
import { readFileSync } from "node:fs";
const form = await import(process.argv[1]);
const { languages, whole, parts, bounds } = JSON.parse(readFileSync(0, "utf8"));
const told = languages.map((language) => {
  const signs = form.signsOf(language);
  const typed = ["٣٥", "۱۲٫۵", "12,5", "1 234,5"].map((text) => form.typed(text, signs));
  const decimals = parts.map((n) => form.shown(n, signs, 9));
  const limits = bounds.map(([count, n]) => form.atMost(form.times(count, n), signs));
  const written = [...whole.map((n) => form.whole(n, signs)), ...decimals, ...limits];
  return [language, { written, typed }];
});
console.log(JSON.stringify(Object.fromEntries(told)));
"""


def test_the_form_writes_numbers_as_its_language_does() -> None:
    """And as reports do; and it reads digits of Arabic and Persian keyboards."""
    bounds = [(12, 1e-4), (3, 0.1), (52, 1e-9), (1, 2.71820001), (1, 2.7182), (7, 1 / 3), (4, 10.0)]
    given = json.dumps({"languages": [*codes()], "whole": WHOLE, "parts": PARTS, "bounds": bounds})
    internals = built_internals().as_uri()
    told = json.loads(node("--input-type=module", "-e", FORM, internals, text=given))
    intl = intl_says()
    for code, form in told.items():
        assert form["written"][: len(WHOLE)] == intl[code]["whole"], code
        assert form["typed"] == [35, 12.5, 12.5, 1234.5]
        if not serves(code, "report"):
            continue
        numbers = number_format(code)
        expected = [*map(numbers.whole, WHOLE), *(numbers.number(part, 9) for part in PARTS)]
        expected += [numbers.at_most(total([bound] * count)) for count, bound in bounds]
        assert form["written"] == expected, code


def day_in(code: str, day: date) -> str:
    """As a report writes it."""
    texts = date_texts(code)
    month = texts["months"][day.month - 1]
    return str(texts["day"].format(day=day.day, month=month, year=day.year))
