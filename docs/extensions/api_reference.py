"""The reference of public names, written from the modules.

A page says where it wants what:

`<!-- module: krand.testing -->`      what the module says about itself
`<!-- names: krand.testing -->`       every name of its `__all__`
`<!-- names: krand: Plan … -->`     some of them

Below the comment the page lists the names with the first line about each, for people who read it in
the repository: `docs/write_reference.py` writes that list. The built page has everything instead.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module

from sphinx.application import Sphinx

PLACE = re.compile(
    r"^(?P<place><!-- (?P<what>module|names): (?P<module>[\w.]+)(?:: (?P<names>[\w ]+))? -->)$"
    r"(?:\n\n- .*(?:\n- .*)*)?",
    re.MULTILINE,
)


def directives(found: re.Match[str]) -> str:
    """What stands in the place of a comment and its list: directives that read docstrings."""
    module = found["module"]
    if found["what"] == "module":
        lines = [f".. automodule:: {module}", "   :no-members:"]
    else:
        lines = [f".. {directive(value)}:: {module}.{name}\n" for name, value in _named(found)]
    return "\n".join(["```{eval-rst}", *lines, "```"])


def _named(found: re.Match[str]) -> list[tuple[str, object]]:
    home = import_module(found["module"])
    names = found["names"].split() if found["names"] else home.__all__
    return [(name, getattr(home, name)) for name in names]


def listed(found: re.Match[str]) -> str:
    """A comment, and below it the names with the first line about each."""
    if found["what"] == "module":
        return found[0]
    lines = (f"- `{found['module']}.{name}`{_first_line(value)}" for name, value in _named(found))
    return "\n".join([found["place"], "", *lines])


def _first_line(value: object) -> str:
    """What a thing says about itself first; a constant says nothing of its own."""
    own = inspect.isclass(value) or inspect.isroutine(value)
    text = inspect.cleandoc(value.__doc__ or "").partition("\n\n")[0] if own else ""
    return f": {' '.join(text.split())}" if text else ""


def directive(value: object) -> str:
    """What Sphinx calls a thing of this kind."""
    if inspect.isclass(value):
        return "autoexception" if issubclass(value, BaseException) else "autoclass"
    return "autofunction" if callable(value) else "autodata"


def insert(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the names into the page that asks for them."""
    source[0] = PLACE.sub(directives, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen for pages being read."""
    app.connect("source-read", insert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
