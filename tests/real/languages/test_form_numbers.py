"""The form counts, and writes numbers, as its language does: Babel and the browser's Intl agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from babel import Locale
from babel.numbers import format_decimal
from babel.plural import to_python

from javascript import built_internals, node

FOLDER = Path(__file__).parents[3] / "src" / "krand" / "languages"
LANGUAGES = ("en", *sorted(path.stem for path in FOLDER.glob("*.po")))
WHOLE = [*range(120), *(10**power + more for power in range(2, 10) for more in (-1, 0, 1, 234))]
PARTS = [0.5, 1.5, 12.25, 999.75, 1234.5, 12345.75, 1234567.5]
ASKED = """
import { readFileSync } from "node:fs";
const form = await import(process.argv[1]);
const { languages, whole, parts } = JSON.parse(readFileSync(0, "utf8"));
const told = languages.map((language) => {
  const signs = form.signsOf(language);
  return [language, {
    forms: [...whole, ...parts].map((n) => new Intl.PluralRules(language).select(n)),
    whole: whole.map((n) => form.whole(n, signs)),
    typed: ["٣٥", "۱۲٫۵", "12,5", "1 234,5"].map((text) => form.typed(text, signs)),
  }];
});
console.log(JSON.stringify(Object.fromEntries(told)));
"""


def test_the_form_writes_numbers_as_its_language_does() -> None:
    """And it reads digits of Arabic and Persian keyboards."""
    given = json.dumps({"languages": LANGUAGES, "whole": WHOLE, "parts": PARTS})
    internals = built_internals().as_uri()
    told: dict[str, Any] = json.loads(
        node("--input-type=module", "-e", ASKED, internals, text=given)
    )
    assert set(told) == set(LANGUAGES)
    for code, form in told.items():
        counted = to_python(Locale.parse(code).plural_form)
        assert form["forms"] == [counted(number) for number in (*WHOLE, *PARTS)], code
        assert form["typed"] == [35, 12.5, 12.5, 1234.5], code
        if code == "es":  # which groups digits from 10,000 on; krand does from 1,000 on
            continue
        expected = [format_decimal(n, "#,##0", code, numbering_system="latn") for n in WHOLE]
        assert form["whole"] == expected, code
