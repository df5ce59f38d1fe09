"""Whether what a command printed is what the page shows.

`…` stands for anything within a line; alone on its line, for any lines.
"""

from __future__ import annotations

import re

__all__ = ["difference"]

NUMBER = re.compile(r"\b[0-9a-f]{16,}\b|[-−+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


def difference(shown: str, printed: str, *, numbers_vary: bool) -> str | None:
    """What to tell if the two differ, and nothing if they agree."""
    if not shown.strip():
        return None
    want, have = _tidy(shown, numbers_vary), _tidy(printed, numbers_vary)
    if re.fullmatch("".join(map(_pattern, want)), "".join(f"{line}\n" for line in have)):
        return None
    return "\n".join(["the page shows", *want, "but it printed", *have])


def _tidy(text: str, numbers_vary: bool) -> list[str]:
    lines = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n").splitlines()
    if not numbers_vary:
        return lines
    return [_shape(line) for line in lines if not _is_rule(line)]


def _shape(line: str) -> str:
    """A line without what varies: numbers, widths of columns, bars."""
    return re.sub(r"[\s─━█▏▎▍▌▋▊▉]+", " ", NUMBER.sub("#", line)).strip()


def _is_rule(line: str) -> bool:
    """Lines of a table that only separate, or hold nothing but bars."""
    return not re.search(r"\w|…", line)


def _pattern(line: str) -> str:
    if line.strip(" │") == "…":
        return "(?:.*\n)*?"
    return ".*?".join(map(re.escape, line.split("…"))) + "\n"
