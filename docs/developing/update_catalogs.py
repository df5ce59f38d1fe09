"""Bring the catalogs of all languages up to date with the English texts: `make catalogs`.

    python docs/developing/update_catalogs.py       # every catalog
    python docs/developing/update_catalogs.py it    # and a new one, for Italian

New texts become entries without a translation, and entries whose English text has changed become
fuzzy, until somebody translates them. Entries of texts that are gone disappear. Everything else
stays, with its header.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_python
from babel.messages.pofile import read_po, write_po
from babel.plural import to_gettext
from jinja2.ext import babel_extract

from krand.languages.catalogs import BY_CLDR, OF_ROOM, is_plural, named, parse_catalog, room_of
from krand.languages.cldr import locale_of, plural_forms
from krand.languages.speaking import ROOM

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "src" / "krand" / "languages"
SOURCES = (
    ("wording", "src/krand/wording/texts_en.toml"),
    ("plans", "src/krand/wording/plan_texts.toml"),
    ("report", "src/krand/report/texts_en.toml"),
    ("form", "src/krand/web/form/texts_en.toml"),
    ("form", "clients/js/src/form/en.json"),
    ("mail", "src/krand/inviting/mail_en.toml"),
)
"""Rooms, and the files of their English texts."""
ASKED = ("form", "mail")
"""Rooms that people who are asked read: every language has them."""
WHOLE = ("de",)
"""Languages that have the other rooms, too."""
MARKED = ("console", "report", "site", "web")
"""Rooms of src/krand with texts that are marked in templates and modules."""
MARKS = ("_", "gettext", "ngettext", "marked")
TEMPLATES = {"trimmed": "true", "trim_blocks": "true", "lstrip_blocks": "true", "silent": "false"}
WIDTH = 100
Text = str | Mapping[str, str]


def english_texts() -> dict[str, Text]:
    """Every English text by its name, plurals by their two forms."""
    found = {path: text for room, file in SOURCES for path, text in _texts_in(_read(file), room)}
    return found | dict(marked_texts())


def marked_texts() -> Iterator[tuple[str, Text]]:
    """The texts that templates and modules have themselves."""
    folders = (ROOT / "src" / "krand" / room for room in MARKED)
    for path in (path for folder in folders for path in sorted(folder.rglob("*.*"))):
        if path.suffix in (".html", ".py"):
            with path.open("rb") as file:
                extract, options = (
                    (extract_python, {}) if path.suffix == ".py" else (babel_extract, TEMPLATES)
                )
                for _, name, texts, _ in extract(file, MARKS, (), options):
                    one, *others = texts if isinstance(texts, tuple) else (texts,)
                    if one is not None:  # a variable is marked where it is written
                        plural = {"one": one, "other": others[0]} if name == "ngettext" else None
                        yield named(ROOM, one), plural or one


def _read(file: str) -> dict[str, Any]:
    content = (ROOT / file).read_text(encoding="utf-8")
    return dict(json.loads(content) if file.endswith(".json") else tomllib.loads(content))


def _texts_in(value: Any, path: str) -> Iterator[tuple[str, Text]]:
    if path in BY_CLDR or not value:
        return
    if isinstance(value, str) or is_plural(value):
        yield path, value
    else:
        pairs = enumerate(value) if isinstance(value, list) else value.items()
        for name, each in pairs:
            yield from _texts_in(each, f"{path}.{name}")


def updated(content: bytes, code: str, english: Mapping[str, Text]) -> bytes:
    """A catalog, brought up to date."""
    head = content.decode().split("\n\n", 1)[0]
    found = (each for each in read_po(BytesIO(content), locale=code) if each.id)
    before = {named(each.context, each.id): each for each in found}
    return written(code, head, english, before)


def written(
    code: str, head: str, english: Mapping[str, Text], before: Mapping[str, Message]
) -> bytes:
    """A catalog with this header, an entry for each English text, and the translations so far.

    Texts that only organisers read are in the catalogs of `WHOLE`.
    """
    made = Catalog(locale=code)
    made._num_plurals = len(plural_forms(code))
    for path, text in english.items():
        if code not in WHOLE and room_of(path) not in ASKED:
            continue
        id = text if isinstance(text, str) else (text["one"], text["other"])
        old = before.get(path)
        same = old is not None and isinstance(old.id, str) == isinstance(id, str)
        changed = same and old.id != id
        made.add(
            id,
            old.string if same else None,
            context=path.partition(OF_ROOM)[0],
            flags=[*(["fuzzy"] if changed or (same and old.fuzzy) else [])],
            user_comments=old.user_comments if same else (),
        )
        made.get(id, path.partition(OF_ROOM)[0]).flags.discard("python-format")  # "%" alone is one
    into = BytesIO()
    write_po(into, made, width=WIDTH, omit_header=True)
    return f"{head}\n\n".encode() + into.getvalue()


def header(code: str) -> str:
    """The header of a new catalog."""
    rule = re.sub(r"\be\b", "0", to_gettext(locale_of(code).plural_form))
    lines = {
        "Project-Id-Version": "krand",
        "MIME-Version": "1.0",
        "Language": code,
        "Language-Team": locale_of(code).english_name,
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": rule,
        "X-Second-Reader": "",
    }
    told = (f'"{name}: {value}\\n"'.replace(": \\n", ":\\n") for name, value in lines.items())
    return "\n".join(['msgid ""', 'msgstr ""', *told])


def main(new: list[str]) -> None:
    """Write every catalog anew, and say what is left to translate."""
    english = english_texts()
    for code in new:
        path = FOLDER / f"{code}.po"
        if not path.exists():
            path.write_bytes(written(code, header(code), english, {}))
    for path in sorted(FOLDER.glob("*.po")):
        content = updated(path.read_bytes(), path.stem, english)
        path.write_bytes(content)
        made = parse_catalog(content, path.stem, path.name)
        rooms = ", ".join(sorted(made.rooms)) or "none"
        print(f"{path.name}: {len(made.missing)} texts to translate; complete: {rooms}")


if __name__ == "__main__":
    main(sys.argv[1:])
