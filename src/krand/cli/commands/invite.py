"""`krand invite`: one-time links to a survey, and the digests by which a collector knows them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from krand.cli.exit_codes import CHECK_FAILED
from krand.cli.exit_codes import INTERRUPTED as EXIT_INTERRUPTED
from krand.cli.numbers import Count
from krand.cli.options import FILE, output_option, output_options
from krand.errors import InvalidInput, Unavailable
from krand.showing import some
from krand.terminal.output import Output
from krand.terminal.overwriting import LabelledFile, check_ending

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from krand.inviting.addresses import Recipient
    from krand.inviting.sending import Sending
    from krand.inviting.templates import Templates
    from krand.survey.plan import Plan

LINKS, SLIPS, DIGESTS, JOURNAL = ".csv", ".pdf", ".json", ".sent"
NO_CODE = "x" * 22
"""What stands for a code where nothing is sent."""


@click.command(short_help="Make one-time links to a survey, and send them.")
@click.argument("plan_file", type=FILE)
@click.option("--count", type=Count(0), help="How many links to write into a file, from 0 on.")
@click.option("--send", type=FILE, help="Mail a link to each address of this CSV file.")
@click.option("--remind", type=FILE, help="Mail each address of this CSV file, without a link.")
@click.option("--url", help="The address of the form, as https://form.example/.")
@output_option(
    "Of --count links.csv or slips.pdf, of --send the collector's file .json, of --remind a list"
    " of who was mailed .sent.",
    endings=(LINKS, SLIPS, DIGESTS, JOURNAL),
)
@click.option("--add", is_flag=True, help="Keep the links of the collector's file, and add to it.")
@click.option("--font", type=FILE, help="A font for slips in other alphabets, as DejaVuSans.ttf.")
@click.option("--smtp", metavar="URL", help="The mail server, as smtps://user@mail.example.org.")
@click.option("--from", "sender", metavar="ADDRESS", help="The sender; nobody should read replies.")
@click.option(
    "--template",
    "templates",
    type=LabelledFile(),
    multiple=True,
    metavar="[LANGUAGE=]FILE",
    help="Your own text instead of krand's, once for each language.",
)
@click.option(
    "--password-env",
    metavar="NAME",
    help="Read the password of the mail server from this variable instead of asking for it.",
)
@click.option("--dry-run", is_flag=True, help="Check everything, show a message, send nothing.")
@click.option("--force", is_flag=True, help="Replace existing files; the old links are lost.")
@output_options
def invite(
    out: Output,
    plan_file: Path,
    count: int | None,
    send: Path | None,
    remind: Path | None,
    url: str | None,
    output: Path,
    **options: Any,
) -> int:
    """Make one link for each person: one code, one submission in each round.

    The survey must have invitations = true. Links are secret: whoever has one can answer in the
    place of its owner. They go to the people, and their digests to the collector, which learns no
    code from them: krand serve --invitations invitations.json.

    With --send krand draws codes and mails them, and no file tells who got which, not even if it
    is killed. Run the same command again to go on: nobody is mailed twice, and an address of which
    nobody knows whether its message left is reported. The mail server does see which address gets
    which link, and may keep it; so may the mailbox of the sender. Use a server whose operators have
    nothing to do with the collector.

    Beside the collector's file lies a list of who was mailed, ending in .sent.

    Links in a file are yours to hand out: keep no list of who got which, and delete the file. The
    collector's file lies beside it, ending in .json.

    \b
    Examples:
      krand invite plan.json --count 800 --url https://form.example/ -o invitations.csv
      krand invite plan.json --count 60 --url https://form.example/ -o slips.pdf
      krand invite plan.json --send people.csv --url https://form.example/ -o invitations.json \\
        --smtp smtps://survey@mail.example.org --from survey@example.org
      krand invite plan.json --remind people.csv -o reminder.sent \\
        --smtp smtps://survey@mail.example.org --from survey@example.org
    """
    from krand.survey.plan_file import read_plan

    modes = {"--count": count, "--send": send, "--remind": remind}
    given = [name for name, value in modes.items() if value is not None]
    if len(given) != 1:
        rule = "exactly one of --count, --send and --remind must be given"
        hint = "links in a file: --count 800; by mail: --send people.csv; a reminder: --remind"
        raise InvalidInput("invite", rule, ", ".join(given) or "none", hint)
    plan = read_plan(plan_file)
    _check_plan(plan)
    if count is not None:
        _refuse(options, "smtp", "sender", "templates", "password_env", "dry_run")
        _write(plan, count, _checked_url(url), output, out, options)
        return 0
    _refuse(options, "font", "force")
    if send is not None:
        return _send(plan, send, _checked_url(url), output, out, options)
    assert remind is not None
    _refuse(options, "add")
    return _send(plan, remind, None, output, out, options)


def _refuse(options: dict[str, Any], *names: str) -> None:
    """Options that would do nothing."""
    for name in names:
        if options[name]:
            option = "from" if name == "sender" else name.removesuffix("s").replace("_", "-")
            wanted = {"add": "--count or --send", "font": "--count", "force": "--count"}
            rule = f"must be given only with {wanted.get(name, '--send or --remind')}"
            raise InvalidInput(option, rule, options[name], f"leave out --{option}")


def _check_plan(plan: Plan) -> None:
    if not plan.survey.invitations:
        hint = "write invitations = true above the first table, and make the plan again"
        raise InvalidInput("plan", "must be of a survey with invitations = true", plan.hash, hint)


def _checked_url(url: str | None) -> str:
    from krand.client.transport import is_loopback

    hint = "for example https://form.example/"
    if url is None:
        raise InvalidInput("url", "must be given", None, f"add --url, {hint}")
    parts = urlsplit(url) if url.isprintable() and " " not in url and "#" not in url else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput("url", "must be the address of a page, without #", url, hint)
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        hint = "browsers encrypt only on pages that come by https: put TLS in front of the form"
        raise InvalidInput("url", "must begin with https://", url, hint)
    return url


def _write(
    plan: Plan, count: int, url: str, output: Path, out: Output, options: dict[str, Any]
) -> None:
    """Links or slips in a file, and their digests beside it."""
    from krand.inviting.links import make_links

    check_ending("output", output, (LINKS, SLIPS))
    with out.counting("inviting", count * (1 + plan.survey.rounds), "links") as progress:
        invited = make_links(
            plan,
            count,
            url,
            output,
            replace=options["force"],
            add=options["add"],
            font=options["font"],
            progress=progress,
        )
    if few := _too_few(plan, invited):
        out.warn(few)
    digests = output.with_suffix(DIGESTS)
    out.tell(
        {
            "plan": plan.hash,
            "count": count,
            "invited": invited,
            "links": str(output),
            "digests": str(digests),
        },
        f"links:         {output} ({count:,}; secret, for the people)",
        f"for collector: {digests} (krand serve --invitations {digests})",
    )


def _too_few(plan: Plan, count: int) -> str:
    """A warning if so many links cannot make a batch, or fewer people than are expected."""
    crowd, expected = plan.smallest_batch, plan.survey.expected
    links = some(count, "link")
    if count < crowd:
        return (
            f"{links} for a crowd of at least {crowd:,} people: even if everybody answers, nothing"
            f" can be released. Make at least {crowd:,}, more if not everybody will answer"
        )
    if expected is not None and count < expected:
        return f"{links}, but the survey expects {expected:,} people"
    if plan.survey.invited not in (None, count):
        return f"{links}, but the survey says that {plan.survey.invited:,} people are invited"
    return ""


def _send(
    plan: Plan, addresses: Path, url: str | None, output: Path, out: Output, options: dict[str, Any]
) -> int:
    """Mail everybody, or show how that would be; the exit code."""
    from krand.inviting.addresses import read_addresses
    from krand.inviting.journal import Journal
    from krand.inviting.mail_server import checked_sender, mail_server
    from krand.inviting.sending import (
        Post,
        check_begun,
        send_invitations,
        send_reminders,
        waiting,
    )
    from krand.inviting.templates import INVITATION, REMINDER, Templates

    kind = REMINDER if url is None else INVITATION
    check_ending("output", output, (JOURNAL if url is None else DIGESTS,))
    for name, option in (("smtp", "smtp"), ("sender", "from")):
        if options[name] is None:
            raise InvalidInput(option, "must be given to send", None, f"add --{option}")
    server, sender = mail_server(options["smtp"]), checked_sender(options["sender"])
    recipients = read_addresses(addresses)
    templates = Templates(kind, plan.survey, map(_labelled, options["templates"]))
    templates.check(recipients, str(addresses))
    path = output.with_suffix(JOURNAL)
    if url is not None and not options["add"] and (few := _too_few(plan, len(recipients))):
        out.warn(few)
    if options["dry_run"]:
        left, known = waiting(recipients, Journal.states_in(path, kind, plan.hash))
        _show(left, known, f"{url}#{NO_CODE}", templates, out)
        return 0
    if url is not None:
        check_begun(path, output, add=options["add"])
    password = _password(server.user, options["password_env"])
    with Journal(path, kind, plan.hash) as journal, _until_stopped() as is_stopped:
        left, known = waiting(recipients, journal.states)
        with out.counting("mailing", len(left), "messages") as progress:
            post = Post(
                connect=lambda: server.connected(password),
                sender=sender,
                templates=templates,
                is_stopped=is_stopped,
                progress=progress,
            )
            if url is None:
                found = send_reminders(recipients, journal, post)
            else:
                found = send_invitations(plan, url, recipients, journal, output, post)
    if url is not None and (apart := _mailed_apart(known.earlier, found.sent)):
        out.warn(apart)
    return _tell(plan, found, path, None if url is None else output, out)


def _labelled(entry: str) -> tuple[str, Path]:
    """LANGUAGE=FILE, or a file for everybody."""
    language, sign, path = entry.partition("=")
    return (language, Path(path)) if sign else ("", Path(entry))


def _password(user: str, variable: str | None) -> str:
    if variable is not None:
        if not os.environ.get(variable):
            rule = "must name a variable that is set and not empty"
            hint = f"set it before this command: read -rs {variable}; export {variable}"
            raise InvalidInput("password-env", rule, variable, hint)
        return os.environ[variable]
    if not user:
        return ""
    return str(click.prompt(f"Password of {user}", hide_input=True, err=True))


@contextmanager
def _until_stopped() -> Iterator[Callable[[], bool]]:
    """Ctrl-C and SIGTERM end the work after the message that is under way."""
    from threading import Event

    from krand.cli.exit_codes import until_stopped

    stopped = Event()
    with until_stopped(stopped.set):
        yield stopped.is_set


def _mailed_apart(before: int, now: int) -> str:
    """A warning if a few people's codes can be told from all others."""
    from krand.collector.store import MINIMUM_GROUP

    few = min(before, now)
    if not few or few >= MINIMUM_GROUP:
        return ""
    people = "1 person was" if few == 1 else f"{few:,} people were"
    return (
        f"{people} mailed apart from the others: whoever has the collector's file from before and"
        " from after this run can tell their links from all others. Give the collector this one,"
        " and delete earlier copies"
    )


def _show(
    left: Sequence[Recipient], known: Sending, link: str, templates: Templates, out: Output
) -> None:
    """The first message in each language, with a link that is good for nothing."""
    first = {templates.of(one.language): one for one in reversed(left)}
    messages = [
        {"to": one.address, "subject": template.subject, "body": template.body_with(link)}
        for template, one in first.items()
    ]
    out.tell(
        {
            "to_mail": len(left),
            "earlier": known.earlier,
            "doubtful": [_who(one) for one in known.doubtful],
            "messages": messages,
        },
        f"to be mailed:  {len(left):,} ({known.earlier:,} were mailed before)",
        *_doubts(known),
        *(f"\nTo: {one['to']}\nSubject: {one['subject']}\n\n{one['body']}" for one in messages),
        "Nothing was sent, and nothing was written.",
    )


def _who(one: Recipient) -> dict[str, Any]:
    return {"line": one.line, "address": one.address}


def _doubts(found: Sending) -> Iterator[str]:
    for one in found.doubtful:
        yield f"in doubt:      line {one.line:,}, {one.address}: it may have been mailed"


def _tell(plan: Plan, found: Sending, journal: Path, digests: Path | None, out: Output) -> int:
    """What became of everybody; the exit code."""
    from krand.inviting.sending import INTERRUPTED

    refused = [{**_who(one), "code": why.code, "final": why.is_final} for one, why in found.refused]
    lines = [f"mailed:        {found.sent:,} ({found.earlier:,} before)"]
    for one, why in found.refused:
        remedy = "correct it" if why.is_final else "not now"
        lines.append(f"refused:       line {one.line:,}, {one.address}: {why.code}; {remedy}")
    lines += _doubts(found)
    if found.doubtful:
        lines.append("               not mailed again: ask them; give them a slip if nothing came")
    if found.left:
        lines.append(f"not yet:       {len(found.left):,} ({found.stopped})")
    if found.left or found.refused:
        lines.append("next:          the same command again mails those who were not mailed")
    if digests is not None and digests.exists():
        lines.append(f"for collector: {digests} (krand serve --invitations {digests})")
    out.tell(
        {
            "plan": plan.hash,
            "sent": found.sent,
            "earlier": found.earlier,
            "refused": refused,
            "doubtful": [_who(one) for one in found.doubtful],
            "left": len(found.left),
            "stopped": found.stopped or None,
            "journal": str(journal),
            "digests": None if digests is None else str(digests),
        },
        *lines,
    )
    if found.stopped == INTERRUPTED:
        return EXIT_INTERRUPTED
    if found.stopped or any(not why.is_final for _, why in found.refused):
        return Unavailable.exit_code
    return 0 if found.is_complete else CHECK_FAILED
