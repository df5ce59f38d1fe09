"""Write every text that people read, to be read in one go: `make sentences`.

Most are in the files of texts. Templates of the console and the planner are read without filling
them in, and their modules for strings that are sentences. Commands tell their own help.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import click

from krand.cli.main import krand

READ_ALOUD = ("alt", "aria-label", "placeholder", "title")
FILLED_IN = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
MARKED = re.compile(r'\{\{-?\s*_\("([^"]*)"\)\s*-?\}\}')
STATEMENT = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.DOTALL)
SENTENCE = re.compile(r"[A-Za-z][a-z]+ .*[a-z]")
HEAD = """# Every sentence that people read

For people who check or translate what krand says. Names in braces are filled in.
"""

NO_SENTENCES = ("recipes", "texts")
"""Modules whose strings are code, or are listed by their names."""

SOURCE = Path(__file__).resolve().parents[2]
TEXTS = (
    ("The report", "src/krand/report/texts_en.toml"),
    ("Shared by the report, commands and the planner", "src/krand/wording/texts_en.toml"),
    ("Plans", "src/krand/wording/plan_texts.toml"),
    ("The planner", "src/krand/web/texts.toml"),
    ("The form", "clients/js/src/form/en.json"),
    ("The method in 30 seconds", "clients/js/src/method/en.json"),
    ("The form's page without a script", "src/krand/web/form/texts_en.toml"),
    ("A mixer's page", "src/krand/web/mixer/texts_en.toml"),
    ("Mails", "src/krand/inviting/mail_en.toml"),
)
PAGES = ("src/krand/web", "src/krand/console")
Group = tuple[str, list[str]]


def sentences_page() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    for title, groups in _rooms():
        parts.append(f"## {title}\n")
        for name, texts in groups:
            listed = "\n".join(f"- {_inline(text)}" for text in dict.fromkeys(texts))
            parts.append(f"### {name}\n\n{listed}\n")
    return "\n".join(parts)


def _rooms() -> Iterator[tuple[str, list[Group]]]:
    for title, name in TEXTS:
        content = (SOURCE / name).read_text(encoding="utf-8")
        texts = json.loads(content) if name.endswith(".json") else tomllib.loads(content)
        groups = ((group, list(_texts_in(value))) for group, value in texts.items())
        yield title, [(group, found) for group, found in groups if found]
    folders = [SOURCE / folder for folder in PAGES]
    yield (
        "Pages of krand web",
        [g for each in folders for g in (*_templates(each), *_modules(each))],
    )
    yield "Commands", list(_commands())


def _texts_in(value: Any) -> Iterator[str]:
    """All strings of a file of texts, in their order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for entry in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_in(entry)


def _commands(group: click.Group = krand, prefix: str = "krand") -> Iterator[Group]:
    context = click.Context(group, info_name=prefix)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        told = command.get_help(click.Context(command, info_name=name, parent=context))
        yield f"{prefix} {name}", told.split("\n\n")
        if isinstance(command, click.Group):
            yield from _commands(command, f"{prefix} {name}")


def _templates(folder: Path) -> Iterator[Group]:
    for template in sorted((folder / "templates").iterdir()):
        reader = _Reader()
        source = STATEMENT.sub("", template.read_text(encoding="utf-8"))
        source = MARKED.sub(r"\1", source)
        reader.feed(
            FILLED_IN.sub(
                lambda found: "{" + found[1].strip(" -").split("|")[0].strip() + "}", source
            )
        )
        if reader.texts:
            yield template.name, reader.texts


class _Reader(HTMLParser):
    """Whatever of a template a person reads or hears."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open.append(tag)
        for name, value in attrs:
            if name in READ_ALOUD:
                self._keep(value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self._open):
            self._keep(data)

    def _keep(self, text: str) -> None:
        text = " ".join(text.split())
        if re.search(r"[A-Za-z]{2}", re.sub(r"\{.*\}", "", text)):
            self.texts.append(text)


def _modules(folder: Path) -> Iterator[Group]:
    """Strings in the code of krand web that look like sentences; no docstrings."""
    for module in sorted(folder.glob("*.py")):
        if module.stem in NO_SENTENCES:
            continue
        tree = ast.parse(module.read_text(encoding="utf-8"))
        docs = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docs
            and SENTENCE.match(node.value)
        ]
        if texts:
            yield module.name, texts


def _inline(text: str) -> str:
    """A text that Markdown shows as it is."""
    return "`` " + " ".join(text.split()) + " ``"


if __name__ == "__main__":
    (page,) = map(Path, sys.argv[1:])
    page.parent.mkdir(exist_ok=True)
    page.write_text(sentences_page(), encoding="utf-8")
    print(f"wrote {page}")
