"""HTML pages that need nothing but themselves: templates, and what is filled into them."""

from __future__ import annotations

import html
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from krand.languages.cldr import ENGLISH
from krand.languages.speaking import language, plural_of, text_of
from krand.showing import unbroken_html
from krand.wording.number_format import number_format

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, *, room: str | tuple[str, ...] = __package__, **values: Any) -> str:
    """A template of a room, or of the first that has it; all but markup is escaped."""
    rooms = (room,) if isinstance(room, str) else room
    return unbroken_html(_environment(rooms).get_template(template).render(**values))


@cache
def _environment(rooms: tuple[str, ...]) -> Environment:
    """Templates are those of rooms, and the report's, on which others build."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(each) for each in dict.fromkeys((*rooms, __package__))]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.add_extension("jinja2.ext.i18n")
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_callables(text_of, plural_of, newstyle=True)  # type: ignore[attr-defined]
    environment.globals |= {"spoken": language, "whole": _whole, "short": _short, "told": told}
    environment.filters["filled"] = filled
    return environment


def _whole(number: int) -> str:
    """1,234, as the language that is spoken writes it."""
    return number_format(language()).whole(number)


def _short(number: float) -> str:
    """0.25, or 3 without decimals."""
    return number_format(language()).written(number, "g")


def told(message: str) -> Markup:
    """What a page says, in the language that is spoken; what an error says, marked as English."""
    found = text_of(message)
    if found != message or language() == ENGLISH:
        return escape(found)
    return Markup('<span lang="en">{}</span>').format(message)


def filled(text: str, **values: Any) -> Markup:
    """A text as HTML; the values in it may be markup, and are escaped otherwise."""
    plain = html.escape(text, quote=False).replace('"', "&#34;")  # attributes are in double quotes
    return Markup(plain).format(**values)
