"""Words apart from what is computed: tables of texts, with places for names and numbers.

`<NAME>` in a text stands for a value that the code has, or for a text of the table `words` of the
same file, which may hold names itself. Lines are joined: where a text breaks means nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from krand.errors import InternalError

SHARED = "words"
"""The table of texts that others share."""
_PLACEHOLDER = re.compile(r"<(\w+)>")


@cache
def tables(package: str) -> dict[str, dict[str, Any]]:
    """The tables of every file below `texts` in a package, by its name without `.toml`."""
    return {
        file.name.removesuffix(".toml"): tomllib.loads(file.read_text(encoding="utf-8"))
        for file in files(package).joinpath("texts").iterdir()
    }


def filled_in(text: str, names: Mapping[str, Any], of: str) -> str:
    """The text on one line, its names replaced; `of` says whose words they are."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in names:
            raise InternalError(f"the words of {of} name {found[1]}, which its test does not have")
        return filled_in(str(names[found[1]]), names, of)

    return _PLACEHOLDER.sub(value, " ".join(text.split()))
