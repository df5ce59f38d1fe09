"""`krand submit`: one person's answers, from this device to a collector."""

from __future__ import annotations

from pathlib import Path

import click

from krand.files import json_object, read_whole
from krand.present.guarding import OutputFile
from krand.present.options import FILE, output_options, plan_option, round_option
from krand.present.output import Output

__all__ = ["submit"]


@click.command(short_help="One person's answers, to a collector.")
@click.argument("answers", type=FILE)
@plan_option
@click.option("--key", type=FILE, required=True, help="The analyzer's public key.")
@click.option("--collector", "url", required=True, metavar="URL", help="The collector.")
@click.option(
    "--ledger",
    type=OutputFile(made_again=False),
    required=True,
    help="What this device has answered.",
)
@round_option
@output_options
def submit(
    as_json: bool,
    no_color: bool,
    answers: Path,
    plan_file: Path,
    key: Path,
    url: str,
    ledger: Path,
    round_number: int,
) -> None:
    """Randomize, seal and deliver the answers in a JSON file: an object, question by question.

    The ledger makes sure that a round is answered once: a retry sends the identical bytes, and
    after an interruption the same command goes on.

    \b
    Example:
      krand submit answers.json --plan plan.json --key key.pub.pem --ledger ledger.sqlite \\
          --collector https://collector.example.org
    """
    from krand.client.client import Client
    from krand.client.ledger import Ledger
    from krand.survey.plan_file import read_plan
    from krand.wire.keys import load_public_key

    out = Output(as_json, no_color)
    given = _answers(answers)
    plan = read_plan(plan_file)
    client = Client(plan, load_public_key(key), Ledger(ledger))
    with out.progress("sending"):
        client.submit(url, given, round_number)
    if as_json:
        out.json({"plan": plan.hash, "round": round_number, "delivered": True})
        return
    line = f"Round {round_number} of {plan.survey.id} has been delivered."
    out.console().print(line, markup=False)


def _answers(path: Path) -> dict[str, object]:
    rule = "must be a JSON object, question by question"
    return json_object("answers", read_whole("answers", path), str(path), rule)
