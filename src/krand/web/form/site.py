"""A plan becomes a site: page, script, style, plan and signatures, for any host of files.

Everything that people see is rendered in their browser from the plan. The page itself names the
plan's hash and the collector, and allows no script, style or connection but these.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from krand.client.transport import safe_parts
from krand.collector.public import Page
from krand.errors import InvalidInput
from krand.languages.catalogs import main_language, nested, spoken
from krand.languages.cldr import ENGLISH
from krand.languages.speaking import language as spoken_language
from krand.languages.speaking import marked, text_of
from krand.mixing.keys import generate_mixer_keys
from krand.web.form.promise import english, promise_texts
from krand.wire.keys import generate_private_key
from krand.wire.plan_signatures import PlanSignature, check_signatures, signature_values

if TYPE_CHECKING:
    from krand.survey.plan import Plan

SCRIPT, STYLE, CLIENT = "form.js", "form.css", "krand.js"
JAVASCRIPT, CSS, HTML = "text/javascript", "text/css", "text/html; charset=utf-8"
ALWAYS_FRESH = ("Cache-Control", "no-cache")
ROOM = "form"
PREVIEW = marked("Preview: nothing is sent, and no key exists yet.")


def check_collector(url: str) -> str:
    """The collector's address as a browser can use it; without a slash at its end."""
    safe_parts("collector", url)
    return url.rstrip("/")


def site_of(
    plan: Plan, signatures: Sequence[PlanSignature] = (), collector: str = ""
) -> dict[str, Page]:
    """The files of a plan's form by their names; without a collector it is the page's own origin.

    >>> from krand.testing import FakeChain, small_plan
    >>> chain = FakeChain(small_plan())
    >>> print(*sorted(site_of(chain.plan, chain.signatures, "https://collector.example.org")))
    form.css form.en.json form.js index.html krand.js plan.json signatures.json
    """
    if plan.analyst_key is None:
        hint = "make it with krand plan --mixer collector.json --analyst-key key.pub.pem"
        raise InvalidInput("plan", "must have the analyst's key", plan.hash, hint)
    found = _files(plan, _page(plan, collector))
    check_signatures(plan, signatures)
    values = json.dumps([signature_values(each) for each in signatures])
    return {**found, "signatures.json": Page(values.encode(), "application/json")}


def preview_of(plan: Plan) -> dict[str, Page]:
    """The form of a survey before any key exists: it says that it is a preview, and sends nothing.

    Its plan names keys that nobody has: their private parts are dropped here.
    """
    rounds = (0, *[plan.survey.rounds] * (plan.survey.trust.mixers - 1))
    keys = [generate_mixer_keys(count) for count in rounds]
    named = (one.described(f"Mixer {place}") for place, one in enumerate(keys, 1))
    shown = plan.with_parties(tuple(named), generate_private_key().public_key())
    return _files(shown, _as_preview(_page(shown, "")))


def _as_preview(page: Page) -> Page:
    """The page of a form that says so, to people and to its script, and may stand in a frame."""
    note = f'<p class="preview" lang="{spoken_language()}">{text_of(PREVIEW)}</p>'
    said = f'<meta name="krand-preview" content="yes">\n{note}'
    content = page.content.replace(b"<main>", f"{said}\n<main>".encode(), 1)
    headers = {**dict(page.headers), "X-Frame-Options": "SAMEORIGIN"}
    policy = headers["Content-Security-Policy"]
    headers["Content-Security-Policy"] = policy.replace("ancestors 'none'", "ancestors 'self'")
    return Page(content, HTML, tuple(headers.items()))


def _files(plan: Plan, page: Page) -> dict[str, Page]:
    found = {
        "index.html": page,
        SCRIPT: Page(_static(SCRIPT), JAVASCRIPT, (ALWAYS_FRESH,)),
        STYLE: Page(_static(STYLE), CSS, (ALWAYS_FRESH,)),
        CLIENT: Page(_static(CLIENT), JAVASCRIPT, (ALWAYS_FRESH,)),
        "plan.json": Page(plan.bytes, "application/json", (ALWAYS_FRESH,)),
    }
    for language in _languages(plan):
        content = _texts(plan, language)
        found[_texts_name(language)] = Page(content, "application/json", (ALWAYS_FRESH,))
    return found


def form_pages(plan: Plan, signatures: Sequence[PlanSignature] = ()) -> dict[str, Page]:
    """What a collector serves itself: the form at the root, and the client for other pages."""
    site = site_of(plan, signatures)
    return {"/": site["index.html"], **{f"/{name}": page for name, page in site.items()}}


def static_file(name: str) -> tuple[bytes, str]:
    """A file that is the same for every form, and its type; nothing under any other name."""
    kinds = dict.fromkeys((SCRIPT, CLIENT), JAVASCRIPT) | {STYLE: CSS}
    return (_static(name), kinds[name]) if name in kinds else (b"", HTML)


def _policy(collector: str) -> str:
    """Nothing but the page's own script and style, and the collector."""
    parts = urlsplit(collector)
    origin = f" {parts.scheme}://{parts.netloc}" if collector else ""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"
        f"{origin}; base-uri 'none'; form-action 'none'"
    )


def _page(plan: Plan, collector: str) -> Page:
    said = (plan.survey.organiser, plan.survey.contact)
    languages = {code: _integrity(_texts(plan, code)) for code in _languages(plan)}
    title, policy = plan.survey.shown_title, _policy(collector)
    lines = [
        "<!doctype html>",
        f'<html lang="{escape(plan.survey.language)}">',
        '<meta charset="utf-8">',
        f"<title>{escape(title)}</title>",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="robots" content="noindex">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
        f'<link rel="stylesheet" href="{STYLE}" integrity="{_integrity(_static(STYLE))}">',
        f'<script type="module" src="{SCRIPT}" integrity="{_integrity(_static(SCRIPT))}"></script>',
        f'<meta name="krand-plan" content="{plan.hash}">',
        f'<meta name="krand-collector" content="{escape(collector)}">',
        f'<meta name="krand-languages" content="{escape(json.dumps(languages))}">',
        "<main>",
        "<noscript>",
        f'<h1 dir="auto">{escape(title)}</h1>',
        *(f"<p>{escape(text)}</p>" for text in said if text),
        *(_no_script(code) for code in dict.fromkeys((ENGLISH, *languages))),
        "</noscript>",
        "</main>",
        "</html>",
    ]
    headers = (
        ALWAYS_FRESH,
        ("Content-Security-Policy", f"{policy}; frame-ancestors 'none'"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
    )
    return Page("\n".join(lines).encode() + b"\n", HTML, headers)


def _languages(plan: Plan) -> tuple[str, ...]:
    """Those of the survey that the form has; English for any other."""
    return tuple(dict.fromkeys(main_language(tag, ROOM) for tag in plan.survey.languages))


def _texts_name(language: str) -> str:
    return f"form.{language}.json"


def _texts(plan: Plan, language: str) -> bytes:
    """The form's texts in a language, with the sentences of the plan's promise; the script has the
    other English ones."""
    said = {} if language == ENGLISH else nested(language, ROOM)
    said["promise"] = promise_texts(plan, language)
    return json.dumps(said, ensure_ascii=False).encode()


@cache
def _no_script(language: str) -> str:
    text = spoken({"no_script": english()["no_script"]}, ROOM, language)["no_script"]
    return f'<p lang="{language}" dir="auto">{escape(text)}</p>'


def _integrity(content: bytes) -> str:
    return "sha384-" + base64.b64encode(hashlib.sha384(content).digest()).decode()


@cache
def _static(name: str) -> bytes:
    return (files("krand.web.form") / "static" / name).read_bytes()
