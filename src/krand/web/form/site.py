"""A plan becomes a site: page, script, style, plan and signatures, for any host of files.

Everything that people see is rendered in their browser from the plan. The page itself names the
plan's hash, and allows no script and no style but these, and no connection but to its own host and
to what the plan's collector serves of this plan. It is the same at every host: it compares its own
address with the plan's, and says whom it comes from.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from krand.collector.public import Page
from krand.errors import InvalidInput
from krand.files import ensure_directory, write_atomically
from krand.languages.catalogs import main_language, nested, spoken
from krand.languages.cldr import ENGLISH
from krand.languages.speaking import language as spoken_language
from krand.languages.speaking import marked, text_of
from krand.survey.plan import Analyst, Mixer
from krand.web.form.promise import english, promise_texts
from krand.wire.keys import generate_private_key, generate_signing_key, public_hex
from krand.wire.plan_signatures import PlanSignature, check_signatures, signature_values

if TYPE_CHECKING:
    from krand.survey.plan import Plan

SCRIPT, STYLE, CLIENT = "form.js", "form.css", "krand.js"
JAVASCRIPT, CSS, HTML = "text/javascript", "text/css", "text/html; charset=utf-8"
ALWAYS_FRESH = ("Cache-Control", "no-cache")
ROOM = "form"
PREVIEW = marked("Preview: nothing is sent, and no key exists yet.")


def save_form(
    plan: Plan,
    folder: str | Path,
    signatures: Sequence[PlanSignature],
    *,
    overwrite: bool = False,
) -> None:
    """Write the page on which people answer, its script and style, the plan and its signatures:
    all that a host needs who is none of the plan's parties.

    The host is trusted by those who answer on its page. The collector has to be told its address
    (`origins` in its site file), and people get the link to it.

    >>> import os
    >>> from krand import save_form
    >>> from krand.testing import FakeChain, small_plan
    >>> chain = FakeChain(small_plan())
    >>> save_form(chain.plan, "form", chain.signatures)
    >>> print(*sorted(os.listdir("form")))
    form.css form.en.json form.js index.html krand.js plan.json signatures.json
    """
    files = {name: page.content for name, page in site_of(plan, signatures).items()}
    if not plan.mixers[0].url:
        rule = "must say where its collector is: people elsewhere have to find it"
        raise InvalidInput("plan", rule, plan.hash, "publish the survey with its address")
    folder = Path(folder)
    known = {*files, *(path.name for path in folder.glob("form.*.json"))}
    if folder.exists() and not (overwrite and {path.name for path in folder.iterdir()} <= known):
        hint = "name another folder, or replace a form with overwrite=True"
        raise InvalidInput("folder", "must not exist yet", str(folder), hint)
    ensure_directory("folder", folder)
    for name, content in sorted(files.items(), key=lambda each: each[0] == "index.html"):
        write_atomically("folder", folder / name, content)  # the page last


def site_of(plan: Plan, signatures: Sequence[PlanSignature]) -> dict[str, Page]:
    """The files of a plan's form by their names: the same bytes at every party."""
    if plan.analyst is None:
        hint = "krand run publishes a survey; in Python, plan.with_parties names everybody"
        raise InvalidInput("plan", "must name its mixers and its analyst", plan.hash, hint)
    check_signatures(plan, signatures)
    found = _files(plan, _page(plan))
    values = json.dumps([signature_values(each) for each in signatures])
    return {**found, "signatures.json": Page(values.encode(), "application/json")}


def preview_of(plan: Plan) -> dict[str, Page]:
    """The form of a survey before any key exists: it says that it is a preview, and sends nothing.

    Its plan names keys that nobody has: their private parts are dropped here.
    """
    rounds = (0, *[plan.survey.rounds] * (plan.survey.trust.mixers - 1))
    named = tuple(
        Mixer(
            name=f"Mixer {place}",
            identity=public_hex(generate_signing_key()),
            url=f"https://mixer-{place}.example",
            keys=tuple(public_hex(generate_private_key()) for _ in range(count)),
        )
        for place, count in enumerate(rounds, 1)
    )
    analyst = Analyst(
        key=public_hex(generate_private_key()), identity=public_hex(generate_signing_key())
    )
    shown = plan.with_parties(named, analyst)
    return _files(shown, _as_preview(_page(shown)))


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


def static_file(name: str) -> tuple[bytes, str]:
    """A file that is the same for every form, and its type; nothing under any other name."""
    kinds = dict.fromkeys((SCRIPT, CLIENT), JAVASCRIPT) | {STYLE: CSS}
    return (_static(name), kinds[name]) if name in kinds else (b"", HTML)


def _policy(plan: Plan) -> str:
    """Nothing but the page's own files, and what the collector serves of this plan."""
    url = plan.mixers[0].url
    collector = f" {url}/v1/plans/{plan.hash}/" if url else ""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"
        f"{collector}; base-uri 'none'; form-action 'none'"
    )


def _page(plan: Plan) -> Page:
    said = (plan.survey.organiser, plan.survey.contact)
    languages = {code: _integrity(_texts(plan, code)) for code in _languages(plan)}
    title, policy = plan.survey.shown_title, _policy(plan)
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
