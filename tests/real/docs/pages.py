"""Pages as the tests read them: fenced blocks, and what the comment above a block says about it.

`<!-- file: NAME -->`             the block is a file that the page's commands find
`<!-- test: MARK; MARK … -->`     how the block is run, see MARKS
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

MARKS = {
    "exit": "the exit code that the last command ends with, if not 0",
    "needs": "modules or programs that must be there; without them the commands are only parsed",
    "background": "the command goes on while the rest of the page runs",
    "port": "these ports are replaced by free ones on the whole page",
    "numbers vary": "any number stands for any other, and so does any run of spaces",
    "output": "what the Python block above prints",
    "parsed": "not run, for the reason given; krand's commands are parsed",
}

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,})(?P<language>[^`]*)$")
COMMENT = re.compile(r"^ *<!-- (?P<kind>test|file): (?P<text>.*?) -->$")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block, where it stands, and its marks."""

    page: Path
    line: int
    language: str
    text: str
    marks: dict[str, str]
    file: str | None

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a console block, and the output shown below it."""

    block: Block
    text: str
    output: str


def pages() -> list[Path]:
    """Every page that people are told to read."""
    top = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "README.md"]
    return [*top, *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return _split(page)[0]


def without_fences(page: Path) -> list[tuple[int, str]]:
    """The lines outside of fenced blocks, with their numbers."""
    return _split(page)[1]


def _split(page: Path) -> tuple[list[Block], list[tuple[int, str]]]:
    found: list[Block] = []
    rest: list[tuple[int, str]] = []
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), 1))
    comment: dict[str, str] = {}
    for number, line in lines:
        fence = FENCE.match(line)
        if fence is None:
            rest.append((number, line))
            said = COMMENT.match(line)
            if said is not None:
                comment[said["kind"]] = said["text"]
            elif line.strip():
                comment = {}
            continue
        end, indent = re.compile(rf" *{fence['ticks']}`*$"), len(fence["indent"])
        body = []
        for _, inner in lines:
            if end.match(inner):
                break
            body.append(inner[indent:] if inner[:indent].isspace() else inner)
        text = "".join(f"{inner}\n" for inner in body)
        marks = _marks(comment.get("test", ""))
        found.append(
            Block(page, number, fence["language"].strip(), text, marks, comment.get("file"))
        )
        comment = {}
    return found, rest


def _marks(text: str) -> dict[str, str]:
    marks = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name = next((name for name in MARKS if part == name or part.startswith(f"{name} ")), None)
        if name is None:
            raise ValueError(f"no such mark: {part}")
        marks[name] = part[len(name) :].strip()
    return marks


def commands(block: Block) -> list[Command]:
    """The lines that begin with `$ `, each with its continuation (`> `) and its output."""
    found: list[Command] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append(Command(block, line[2:], ""))
        elif not found:
            raise ValueError(f"{block}: output without a command")
        elif (line.startswith("> ") or line == ">") and not found[-1].output:
            found[-1] = Command(block, f"{found[-1].text}\n{line[2:]}", "")
        else:
            found[-1] = Command(block, found[-1].text, f"{found[-1].output}{line}\n")
    return found


def run_pages(*, tutorials: bool) -> list[Path]:
    """The pages with commands or Python: the tutorials, or all others."""
    runs = [p for p in pages() if any(b.language in ("console", "python") for b in blocks(p))]
    return [page for page in runs if ("tutorial" in page.parts) == tutorials]


def name_of(page: Path) -> str:
    """How a test is called."""
    return str(page.relative_to(ROOT).with_suffix(""))
