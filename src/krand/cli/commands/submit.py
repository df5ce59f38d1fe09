"""`krand submit`: send one person's answers from this device to a collector."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from krand.cli.options import (
    FILE,
    checked_plan,
    output_options,
    plan_option,
    signature_option,
)
from krand.files import json_object, read_whole
from krand.terminal.output import Output
from krand.terminal.overwriting import OutputFile

if TYPE_CHECKING:
    from krand.client.ledger import Ledger
    from krand.client.sending import Failed
    from krand.survey.plan import Plan


@click.command(short_help="Send one person's answers to a collector.")
@click.argument("answers", type=FILE)
@plan_option
@click.option(
    "--plan-hash",
    metavar="HASH",
    help="The published hash of the plan; any other plan is refused.",
)
@click.option(
    "--trust-this-plan",
    is_flag=True,
    help="Accept the plan without a published hash to compare. The ledger remembers it.",
)
@click.option("--collector", "url", required=True, metavar="URL", help="The collector's address.")
@click.option(
    "--ledger",
    type=OutputFile(made_again=False),
    required=True,
    help="The record of what this device has answered.",
)
@signature_option
@click.option(
    "--invitation",
    metavar="CODE",
    help="The code of the invitation, behind # in its link; for surveys with invitations.",
)
@output_options
def submit(
    out: Output,
    answers: Path,
    plan_file: Path,
    plan_hash: str | None,
    trust_this_plan: bool,
    url: str,
    ledger: Path,
    signatures: tuple[Path, ...],
    invitation: str | None,
) -> None:
    """Add noise to, seal and send the answers in a JSON file: an object with a value per question.

    The ledger makes sure that a round is answered only once. If the collector cannot be reached or
    the command is interrupted, run it again: it sends identical bytes. Once a round has been
    delivered, new answers are refused and the first ones stay.

    A plan decides who can read what, so say which one you trust: give --plan-hash and the hash that
    was published, or --trust-this-plan if you know no hash to compare with. The ledger remembers
    the plan, and later commands need neither. Another plan is refused, even of the same survey.

    Give the signature of each of the plan's mixers, the collector included. They show that all of
    them checked this plan. Whether they are the right mixers is what the plan's hash tells.

    A survey with invitations takes one submission for each code. The code itself is not sent.

    \b
    Examples:
      krand submit answers.json --plan plan.json --plan-hash 5e0c… --ledger ledger.sqlite \\
          --collector https://collector.example.org
      krand submit answers.json --plan plan.json --trust-this-plan --ledger ledger.sqlite \\
          --collector https://collector.example.org \\
          --signature collector.sig.json --signature university.sig.json
    """
    from krand.client.client import Client
    from krand.client.ledger import Ledger
    from krand.client.sending import NotDelivered
    from krand.wire.plan_signatures import read_signature

    rule = "must be a JSON object with a value per question"
    given = json_object("answers", read_whole("answers", answers), str(answers), rule)
    plan = checked_plan(plan_file, out)
    kept_in = Ledger(ledger)
    client = Client(
        plan,
        kept_in,
        expected_hash=plan_hash or plan.hash,
        url=url,
        signatures=[read_signature(path) for path in signatures],
    )
    if plan_hash is None and not trust_this_plan:
        _check_trusted(plan, kept_in)
    kept_in.trust(plan)
    number = client.open_round()
    submission = client.prepare(given, number, invitation=invitation)
    kept = f"the sealed submission is kept in {ledger}: run the same command again to send it"

    try:
        with out.progress("sending") as bar:
            tell = bar or partial(out.console(stderr=True).print, soft_wrap=True)
            client.deliver(
                submission,
                number,
                failed=None if out.as_json else lambda failed: tell(_said(failed)),
            )
    except NotDelivered as error:
        raise NotDelivered(error.problem, kept) from None
    except KeyboardInterrupt:
        out.warn(f"interrupted; {kept}")
        raise
    if out.as_json:
        done = {"delivered": True, "from_earlier_attempt": submission.kept}
        out.json({"plan": plan.hash, "round": number, **done})
        return
    line = f"Round {number} of {plan.survey.id} has been delivered"
    first = ", with the answers of an earlier attempt, whose submission was kept"
    out.console().print(line + (first if submission.kept else "") + ".")


def _check_trusted(plan: Plan, ledger: Ledger) -> None:
    """Refuse a plan that nobody has vouched for on this device, and say what it is."""
    from krand.errors import InvalidInput
    from krand.wording.plans import promise_sentence

    earlier = ledger.trusted(plan.survey.id)
    if plan.hash in earlier:
        return
    rule = "must be one that you trust"
    if earlier:
        rule += f", and for {plan.survey.id} this device trusts another one, {', '.join(earlier)}"
    hint = (
        "nothing was sent; compare the hash with the published one and give it with --plan-hash, or"
        " accept the plan with --trust-this-plan"
    )
    # Anybody can take a name, so each mixer is told with the key that it signs with.
    mixers = ", ".join(f"{m.name} ({m.identity})" for m in plan.mixers) or "none"
    told = f"its mixers: {mixers}", f"its promise: {promise_sentence(plan)}"
    raise InvalidInput("plan", rule, plan.hash, "\n  ".join((hint, *told)))


def _said(failed: Failed) -> str:
    return (
        f"attempt {failed.attempt} of {failed.attempts} failed ({failed.problem}); next attempt"
        f" in {failed.wait:.0f} s"
    )
