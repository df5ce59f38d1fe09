"""The reference of public names, written from the modules.

A page says where it wants what:

`<!-- module: krand.figures -->`      what the module says about itself
`<!-- names: krand.figures -->`       every name of its `__all__`
`<!-- names: krand: Plan … -->`     some of them
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module

from sphinx.application import Sphinx

PLACE = re.compile(
    r"^<!-- (?P<what>module|names): (?P<module>[\w.]+)(?:: (?P<names>[\w ]+))? -->$", re.MULTILINE
)


def directives(found: re.Match[str]) -> str:
    """What stands in the place of a comment: directives that read the documentation."""
    module = found["module"]
    if found["what"] == "module":
        lines = [f".. automodule:: {module}", "   :no-members:"]
    else:
        home = import_module(module)
        names = found["names"].split() if found["names"] else home.__all__
        lines = [f".. {directive(getattr(home, name))}:: {module}.{name}\n" for name in names]
    return "\n".join(["```{eval-rst}", *lines, "```"])


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
