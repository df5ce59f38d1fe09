"""A language is one file: what is in it, what it can serve, and what is refused."""

from __future__ import annotations

import json
import re
from gettext import c2py
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

import pytest

from docs.pages import ROOT, script
from krand.errors import InvalidInput
from krand.languages.catalogs import catalog, codes, named, nested, parse_catalog, serves
from krand.languages.cldr import plural_form, plural_forms
from krand.languages.speaking import gettext, language, speaking
from krand.web.app import ROOMS

HEAD = """msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset={charset}\\n"
"Plural-Forms: {plurals}\\n"
"""
PLURALS = {"de": "nplurals=2; plural=(n != 1);", "ar": "nplurals=6; plural=0;"}
SKIP = '\nmsgctxt "report.skip"\nmsgid "Skip"\nmsgstr "Springen"\n'
NAMED = '\nmsgctxt "report.of"\nmsgid "{number} of {all}"\nmsgstr "%s"\n'
MANY = (
    '\nmsgctxt "report.many"\nmsgid "{number} word in {room}"\n'
    'msgid_plural "{number} words in {room}"\n'
)


def po(*entries: str, language: str = "de", charset: str = "UTF-8", plurals: str = "") -> bytes:
    """A catalog of these entries."""
    plurals = plurals or PLURALS[language]
    head = HEAD.format(language=language, charset=charset, plurals=plurals)
    return (head + "".join(entries)).encode()


def forms(*texts: str) -> str:
    """An entry with these plural forms."""
    return MANY + "".join(f'msgstr[{place}] "{text}"\n' for place, text in enumerate(texts))


@pytest.fixture(scope="module")
def updating() -> SimpleNamespace:
    return script("developing/update_catalogs.py")


def test_a_catalog_is_read() -> None:
    """Texts, and plurals by CLDR's names; rooms without a gap can be served."""
    other = '\nmsgctxt "form.start"\nmsgid "Start"\nmsgstr ""\n'
    found = parse_catalog(po(SKIP, forms("Wort in {room}", "{number} in {room}"), other), "de", "x")
    assert found.texts == {
        "report.skip": "Springen",
        "report.many": {"one": "Wort in {room}", "other": "{number} in {room}"},
    }
    assert (found.rooms, found.missing) == ({"report"}, ("form.start",))


def test_texts_without_names_are_found_by_their_english() -> None:
    """Their context is the room alone; plurals by the first form, and names as %(name)s."""
    one, other = "%(number)s word in %(room)s", "%(number)s words in %(room)s"
    unnamed = SKIP.replace("report.skip", "console")
    plural = MANY.replace("report.many", "console").replace("{number} word", "%(number)s word")
    plural = plural.replace("{room}", "%(room)s")
    said = ("Wort in %(room)s", "%(number)s Wörter in %(room)s")
    both = plural + "".join(f'msgstr[{place}] "{text}"\n' for place, text in enumerate(said))
    found = parse_catalog(po(unnamed, both), "de", "x")
    assert found.texts == {
        named("console", "Skip"): "Springen",
        named("console", (one, other)): dict(zip(("one", "other"), said, strict=True)),
    }
    assert found.rooms == {"console"}
    with pytest.raises(InvalidInput, match=r"console: must name \{all\}"):
        parse_catalog(po(NAMED.replace("report.of", "console") % "%(number)s"), "de", "x")
    with pytest.raises(InvalidInput, match="must be there once"):
        parse_catalog(po(unnamed, unnamed), "de", "x")


def test_a_marked_text_is_said_in_the_language_that_is_spoken() -> None:
    """English where nobody chose one, and for what no catalog has."""
    assert gettext("Page not found") == "Page not found"
    with speaking("de"):
        assert gettext("Page not found") == "Seite nicht gefunden"
        assert gettext("%(share)s %% of nothing", share=5) == "5 % of nothing"
    assert language() == "en"


def test_a_translation_of_an_older_text_is_never_shown() -> None:
    """Its whole room is left to English: a page has one language, and no stale promise."""
    found = parse_catalog(po(SKIP, NAMED.replace("\n", "\n#, fuzzy\n", 1)), "de", "x")
    assert found.texts.keys() == {"report.skip"}
    assert found.rooms == frozenset()


WRONG = [
    (po(NAMED % "{number}"), r"line 8, report.of: must name \{all\}.*\n.*English text has it"),
    (
        po(NAMED % "{number} {all} {rest}"),
        r"line 8, report.of: must name only .*\{all\}, \{number\}, found '\{rest\}'\n.*remove it",
    ),
    (po(NAMED % "{numbre} {all}"), r"line 8, report.of: .*'\{numbre\}'\n *did you mean \{number\}"),
    (po(NAMED % "{number {all}"), r"line 8, report.of: must have braces around names alone"),
    (
        po(forms("Wort in {room}", "Wörter in {room}")),
        r"line 8, report.many, other: must name \{number\}",
    ),
    (po(forms("{number}", "{number} in {room}")), r"line 8, report.many, one: must name \{room\}"),
    (
        po(forms("{room}"), language="de"),
        r"line 8, report.many: must have 2 forms: one, other, found '1 of.*\n.*msgstr\[1\]",
    ),
    (po(forms("{room}", "{room}", "{room}")), r"line 8: must be a gettext catalog.*\n.*more trans"),
    (
        po(forms("{room}", "{room}"), language="ar"),
        r"report.many: must have 6 forms: zero, one, two, few, many, other, found '2 of",
    ),
    (
        po(SKIP, language="ar", plurals="nplurals=2; plural=(n != 1);"),
        r"Plural-Forms: must say nplurals=6.*\n.*zero, one, two, few, many, other",
    ),
    (
        po(SKIP, SKIP),
        r"line 8, report.skip: must be there once.*\n.*\n.*line 12, report.skip: must be there once"
        r".*\n.*remove all but one",
    ),
    (
        po(SKIP, NAMED % "{number} von {all} Größen").replace("ö".encode(), b"\xf6"),
        r"line 13: must be UTF-8\n.*save it as UTF-8",
    ),
    (po(SKIP, charset="ISO-8859-1"), r"Content-Type: must say that the file is UTF-8.*\n.*charset"),
    (po(SKIP).replace(b"Language: de", b"Language: fr"), r"Language: must be de, found 'fr'"),
    (po(SKIP.replace('msgctxt "report.skip"\n', "")), r"line 7: must have a context, found 'Skip'"),
    (po(SKIP.replace("msgid", "msgidd")), r"line 8: must be a gettext catalog, found 'msgidd"),
]


@pytest.mark.parametrize(("content", "said"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_catalog_is_refused(content: bytes, said: str) -> None:
    """By line, entry and remedy."""
    language = "ar" if b"Language: ar" in content else "de"
    with pytest.raises(InvalidInput, match=said) as refused:
        parse_catalog(content, language, "xx.po")
    assert str(refused.value).startswith("xx.po has ")


@pytest.mark.parametrize("code", codes())
def test_a_catalog_is_up_to_date_and_translates_rooms_as_a_whole(
    code: str, updating: SimpleNamespace
) -> None:
    """It has every English text as it is now; run make catalogs, and translate what it names."""
    content = files("krand.languages").joinpath(f"{code}.po").read_bytes()
    assert updating.updated(content, code, updating.english_texts()) == content, (
        "run: make catalogs"
    )
    found = catalog(code)
    assert found.missing == ()
    assert found.rooms


@pytest.mark.parametrize("code", codes())
def test_translators_tools_count_as_cldr_does(code: str) -> None:
    """By the formula of the catalog's header, which krand itself does not need."""
    content = files("krand.languages").joinpath(f"{code}.po").read_text(encoding="utf-8")
    formula = re.search(r"plural=(.*);\\n", content)
    assert formula is not None
    place = c2py(formula[1])
    names = plural_forms(code)
    for number in (*range(1_200), 10**5, 10**6, 10**6 + 1, 3 * 10**6):
        assert names[place(number)] == plural_form(code, number), number


def test_new_changed_and_removed_texts(updating: SimpleNamespace) -> None:
    """Without a translation, fuzzy, and gone; a plural is no plain text.

    A language begins with what people who are asked read.
    """
    before = po(SKIP, NAMED % "{number} von {all}", forms("{room}", "{number} {room}"))
    english = {
        "report.of": "{number} of all {all}",
        "report.new": "New",
        "report.many": "many",
    }
    content = updating.updated(before, "de", english)
    assert content.startswith(before.split(b"\n\n")[0])
    found = parse_catalog(content, "de", "x")
    assert found.missing == ("report.of", "report.new", "report.many")
    assert found.texts == {}
    text = content.decode()
    assert "#, fuzzy" in text
    assert 'msgstr "{number} von {all}"' in text
    assert updating.updated(content, "de", english) == content
    english |= {"form.start": "Start"}
    made = updating.written("it", updating.header("it"), english, {})
    assert parse_catalog(made, "it", "it.po").missing == ("form.start",)


def shape(value: Any) -> Any:
    """The names of texts in their tables; a plural is one text."""
    if isinstance(value, str) or {"one", "other"} <= value.keys():
        return None
    return {name: shape(each) for name, each in value.items()}


@pytest.mark.parametrize("code", [code for code in codes() if serves(code, "form")])
def test_the_form_gets_texts_of_the_shape_that_it_knows(code: str) -> None:
    """That of the English ones, with the plural forms of the language."""
    english = json.loads((ROOT / "clients/js/src/form/en.json").read_text(encoding="utf-8"))
    found = nested(code, "form")
    assert found.pop("no_script")
    assert shape(found) == shape(english)
    assert tuple(found["helpers"]) == plural_forms(code)


PAGES = (("form",), ("mail",), ("report", "wording"), ("mixer",), ROOMS)
"""The columns of the page of languages, by the rooms that they need."""


def header(code: str) -> str:
    """Of a catalog."""
    content = files("krand.languages").joinpath(f"{code}.po").read_text(encoding="utf-8")
    return content.partition("\n\n")[0]


def test_the_page_of_languages_is_true() -> None:
    """What each of them serves, and whether a second reader has read it."""
    page = (ROOT / "docs/reference/languages.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[2:-1]] for line in page.splitlines()]
    told = {row[0].strip("`"): row[1:] for row in rows if row and row[0].startswith("`")}
    english = ["yes"] * (len(PAGES) + 1)
    found = {
        code: [
            *("yes" if serves(code, *rooms) else "–" for rooms in PAGES),
            "yes" if "X-Second-Reader: yes" in header(code) else "not yet",
        ]
        for code in codes()
    }
    assert told == {"en": english, **found}
