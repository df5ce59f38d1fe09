"""`krand invite`: one-time links to a survey, and the digests by which a collector knows them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from krand.cli.exit_codes import CHECK_FAILED, until_stopped
from krand.cli.exit_codes import INTERRUPTED as EXIT_INTERRUPTED
from krand.cli.numbers import Count
from krand.cli.options import FILE, output_option, output_options
from krand.errors import InvalidInput, Unavailable
from krand.showing import some
from krand.terminal.output import Output
from krand.terminal.overwriting import check_ending

if TYPE_CHECKING:
    from krand.inviting.addresses import Recipient
    from krand.inviting.mail_server import MailServer
    from krand.inviting.sending import Sending
    from krand.inviting.templates import Templates
    from krand.survey.plan import Plan

LINKS, SHEET, JOURNAL = ".csv", ".html", ".sent"
PASSWORD = "KRAND_MAIL_PASSWORD"
NO_CODE = "x" * 22
"""What stands for a code where nothing is sent."""
NEEDED = {
    "--count": ("--output",),
    "--mail": ("--smtp", "--from"),
    "--remind": ("--smtp", "--from", "--output"),
}
ALLOWED = {
    "--count": ("--url", "--local"),
    "--mail": ("--url", "--local", "--template", "--dry-run"),
    "--remind": ("--template", "--dry-run"),
}


@click.command(short_help="Make one-time links to a survey, and send them.")
@click.argument("of", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--count", type=Count(0), help="Write this many links into a file.")
@click.option("--mail", type=FILE, help="Mail a link to each address of this CSV file.")
@click.option("--remind", type=FILE, help="Mail each address of this CSV file, without a link.")
@click.option(
    "--url", default="", help="The address of the form, if it is not where the plan says."
)
@click.option(
    "--local", is_flag=True, help="Allow an address on this machine or in a private network."
)
@output_option(
    "With --count: links.csv, or sheet.html to print and cut. With --remind: the list of who was"
    " reminded, .sent.",
    required=False,
    endings=(LINKS, SHEET, JOURNAL),
)
@click.option(
    "--smtp", default="", metavar="URL", help="The mail server: smtps://user@mail.example.org."
)
@click.option(
    "--from",
    "sender",
    default="",
    metavar="ADDRESS",
    help="The sender; nobody should read replies.",
)
@click.option("--template", type=FILE, help="Your own text instead of krand's.")
@click.option("--dry-run", is_flag=True, help="Check everything, show the messages, send nothing.")
@output_options
def invite(
    out: Output,
    of: Path,
    count: int | None,
    mail: Path | None,
    remind: Path | None,
    url: str,
    local: bool,
    output: Path | None,
    smtp: str,
    sender: str,
    template: Path | None,
    dry_run: bool,
) -> int:
    """Make one link for each person: one code, one submission in each round.

    FILE is the survey, the site file or the folder that krand run has published, or a plan file.

    The survey must have invitations = true. Links lead to the page of the plan's second mixer where
    there is one, otherwise to the collector's; --url is for a page elsewhere. They are secret:
    whoever has one can answer in the place of its owner. Their digests, which do not reveal them,
    are written where krand run reads them. Earlier links stay valid.

    With --mail krand draws codes and mails them, and no file tells who got which, not even if it
    is killed. Run the same command again to go on: nobody is mailed twice, and an address whose
    message may or may not have left is reported. A list beside the digests says who was mailed.
    The mail server does see which address gets which link, and may keep it; so may the mailbox of
    the sender. Use a server whose operators have nothing to do with the collector.

    Its password is asked for, or read from the variable KRAND_MAIL_PASSWORD.

    Links in a file are yours to hand out: keep no list of who got which, and delete the file.

    \b
    Examples:
      krand invite survey.toml --count 800 -o links.csv
      krand invite survey.toml --count 60 -o sheet.html
      krand invite survey.toml --count 60 --url https://form.example/ -o sheet.html
      krand invite survey.toml --mail people.csv \\
        --smtp smtps://survey@mail.example.org --from survey@example.org
      krand invite survey.toml --remind people.csv -o reminder.sent \\
        --smtp smtps://survey@mail.example.org --from survey@example.org
    """
    from krand.inviting.links import check_url
    from krand.inviting.mail_server import mail_server
    from krand.survey.plan_file import read_plan

    given = {
        "--count": count is not None,
        "--mail": mail,
        "--remind": remind,
        "--url": url,
        "--local": local,
        "--output": output,
        "--smtp": smtp,
        "--from": sender,
        "--template": template,
        "--dry-run": dry_run,
    }
    _check_options({option for option, value in given.items() if value})
    plan_file = _plan_file(of)
    plan = read_plan(plan_file)
    if not plan.survey.invitations:
        hint = "write invitations = true above the first table, and make the plan again"
        raise InvalidInput("plan", "must be of a survey with invitations = true", plan.hash, hint)
    if remind is None:
        url = url or plan.page_url
        check_url(url, local=local)
    if count is not None and output is not None:
        return _write(plan, plan_file, count, url, output, out)
    listed = mail or remind
    assert listed is not None
    server = mail_server(smtp, sender)
    return _send(plan, plan_file, listed, url, output, server, template, dry_run, out)


def _plan_file(of: Path) -> Path:
    """The plan that a survey's, a site's or any party's folder publishes; a plan file is itself."""
    from krand.site.running import ENDING
    from krand.site.site_file import read_site

    if of.suffix == ".json":
        return of
    own = of if of.is_dir() else of.with_suffix(ENDING)
    folder = own if own.is_dir() or not of.exists() else read_site(of).folder
    found = sorted(folder.glob("public/*/plan.json"))
    if len(found) != 1:
        rule = f"must have published one survey, not {len(found):,}"
        hint = "krand run publishes it" if not found else f"name one: {found[0]}"
        raise InvalidInput("file", rule, str(of), hint)
    return found[0]


def _check_options(given: set[str]) -> None:
    """One way to invite, with all that it needs and nothing that would do nothing."""
    modes = [mode for mode in NEEDED if mode in given]
    if len(modes) != 1:
        rule = "exactly one of --count, --mail and --remind must be given"
        hint = "links in a file: --count 800; by mail: --mail people.csv; a reminder: --remind"
        raise InvalidInput("invite", rule, ", ".join(modes) or "none", hint)
    (mode,) = modes
    for option in NEEDED[mode]:
        if option not in given:
            rule = f"must be given with {mode}"
            raise InvalidInput(option.removeprefix("--"), rule, None, f"add {option}")
    for option in sorted(given - {mode, *NEEDED[mode], *ALLOWED[mode]}):
        rule = f"must not be given with {mode}"
        raise InvalidInput(option.removeprefix("--"), rule, None, f"leave out {option}")


def _write(plan: Plan, plan_file: Path, count: int, url: str, output: Path, out: Output) -> int:
    """Links or slips in a file, and their digests beside the plan."""
    from krand.inviting.links import invitations_beside, make_links

    check_ending("output", output, (LINKS, SHEET))
    with out.counting("inviting", count * (1 + plan.survey.rounds), "links") as progress:
        invited = make_links(plan, plan_file, count, url, output, progress)
    if few := _too_few(plan, invited):
        out.warn(few)
    digests = invitations_beside(plan_file)
    out.tell(
        {
            "plan": plan.hash,
            "count": count,
            "invited": invited,
            "links": str(output),
            "digests": str(digests),
        },
        f"links:         {output} ({count:,}; secret, for the people)",
        f"digests:       {digests} (krand run reads them there)",
    )
    return 0


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
    plan: Plan,
    plan_file: Path,
    listed: Path,
    url: str,
    output: Path | None,
    server: MailServer,
    template: Path | None,
    dry_run: bool,
    out: Output,
) -> int:
    """Mail everybody, with a link if there is an address, or show how; the exit code."""
    from krand.inviting.addresses import read_addresses
    from krand.inviting.journal import Journal, states_in
    from krand.inviting.links import invitations_so_far
    from krand.inviting.sending import Mailing, begun, journal_beside
    from krand.inviting.templates import INVITATION, REMINDER, Templates

    kind = INVITATION if output is None else REMINDER
    if output is not None:
        check_ending("output", output, (JOURNAL,))
    recipients = read_addresses(listed)
    templates = Templates(kind, plan.survey, template)
    path = output or journal_beside(plan, plan_file)
    states = states_in(path, kind, plan.hash)
    mailed = {*states, *(one.address.casefold() for one in recipients)}
    handed_out = invitations_so_far(plan, plan_file).handed_out
    if url and (few := _too_few(plan, handed_out + len(mailed))):
        out.warn(few)
    if dry_run:
        known = begun(recipients, states)
        _show(known, f"{url}#{NO_CODE}", templates, out)
        return 0
    if server.user:
        server.password = os.environ.get(PASSWORD) or click.prompt(
            f"Password of {server.user}", hide_input=True, err=True
        )
    stopped = Event()
    with Journal(path, kind, plan.hash) as journal, until_stopped(stopped.set):
        known = begun(recipients, journal.states)
        with out.counting("mailing", len(known.left), "messages") as progress:
            mailing = Mailing(
                server=server,
                templates=templates,
                journal=journal,
                is_stopped=stopped.is_set,
                progress=progress,
            )
            if url:
                mailing.invite(plan, plan_file, url, known)
            else:
                mailing.remind(known)
    if url and (apart := _mailed_apart(known.earlier, known.sent)):
        out.warn(apart)
    return _tell(plan, known, path, out)


def _mailed_apart(before: int, now: int) -> str:
    """A warning if a few people's codes can be told from all others."""
    from krand.collector.rounds import MINIMUM_GROUP

    few = min(before, now)
    if not few or few >= MINIMUM_GROUP:
        return ""
    people = "1 person was" if few == 1 else f"{few:,} people were"
    return (
        f"{people} mailed apart from the others: whoever has the collector's file from before and"
        " from after this run can tell their links from all others. Delete earlier copies"
    )


def _show(known: Sending, link: str, templates: Templates, out: Output) -> None:
    """The first message in each language, with a link that is good for nothing."""
    first = {templates.of(one.language): one for one in reversed(known.left)}
    messages = [
        {"to": one.address, "subject": template.subject, "body": template.body_with(link)}
        for template, one in first.items()
    ]
    out.tell(
        {
            "to_mail": len(known.left),
            "earlier": known.earlier,
            "doubtful": [_who(one) for one in known.doubtful],
            "messages": messages,
        },
        f"to be mailed:  {len(known.left):,} ({known.earlier:,} were mailed before)",
        *_doubts(known),
        *(f"\nTo: {one['to']}\nSubject: {one['subject']}\n\n{one['body']}" for one in messages),
        "Nothing was sent, and nothing was written.",
    )


def _who(one: Recipient) -> dict[str, Any]:
    return {"line": one.line, "address": one.address}


def _doubts(known: Sending) -> Iterator[str]:
    for one in known.doubtful:
        yield f"in doubt:      line {one.line:,}, {one.address}: it may have been mailed"
    if known.doubtful:
        yield "               not mailed again: ask them; give them a slip if nothing came"


def _tell(plan: Plan, known: Sending, journal: Path, out: Output) -> int:
    """What became of everybody; the exit code."""
    from krand.inviting.sending import INTERRUPTED

    lines = [f"mailed:        {known.sent:,} ({known.earlier:,} before)"]
    for one, why in known.refused:
        remedy = "correct it" if why.is_final else "not now"
        lines.append(f"refused:       line {one.line:,}, {one.address}: {why.code}; {remedy}")
    lines += _doubts(known)
    if known.left:
        lines.append(f"not yet:       {len(known.left):,} ({known.stopped})")
    if known.left or known.refused:
        lines.append("next:          the same command again mails those who were not mailed")
    out.tell(
        {
            "plan": plan.hash,
            "sent": known.sent,
            "earlier": known.earlier,
            "refused": [
                {**_who(one), "code": why.code, "final": why.is_final} for one, why in known.refused
            ],
            "doubtful": [_who(one) for one in known.doubtful],
            "left": len(known.left),
            "stopped": known.stopped or None,
            "journal": str(journal),
        },
        *lines,
    )
    if known.stopped == INTERRUPTED:
        return EXIT_INTERRUPTED
    if known.stopped or any(not why.is_final for _, why in known.refused):
        return Unavailable.exit_code
    return 0 if known.is_complete else CHECK_FAILED
