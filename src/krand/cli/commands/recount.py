"""`krand recount`: count the batches of a tally again, and sign it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from krand.cli.counting import (
    counting_options,
    given_sources,
    signer_from,
    signing_options,
    workers_of,
)
from krand.cli.exit_codes import CHECK_FAILED
from krand.cli.options import FILE, checked_plan, force_option, output_option, output_options
from krand.terminal.output import Output

MOST_SHOWN = 10


@click.command(short_help="Count a tally again, and countersign it.")
@click.argument("tally", type=FILE)
@counting_options
@signing_options(required=True)
@output_option("The tally file to write, with the signature added.", made_again=True)
@force_option
@output_options
@click.pass_context
def recount(
    context: click.Context,
    /,
    out: Output,
    tally: Path,
    plan_file: Path,
    output: Path,
    force: bool,
    workers: int | None,
    **options: Any,
) -> None:
    """Count the batches of a tally again; if all numbers are the same, sign it.

    For a second holder of the analyst's private key, such as a works council. Without that key
    nobody can open the messages, so that everybody else has to believe whoever counted. Each holder
    signs with a key of its own, and publishes the public key or its fingerprint. Results and report
    then name all who signed; krand verify checks the signatures. A holder of the analyst's key can
    read all messages: the report names it among those who must not work with the mixers.

    Files of krand randomize are not sealed: whoever has them can count again, without a key.

    Exit code 0: all numbers are the same. 1: they differ, and nothing is written.

    \b
    Examples:
      krand recount tally.json mixed.parquet --plan plan.json --key key.pem \\
          --signing-key council.pem --signer "Works council" -o countersigned.json
    """
    from krand.analysis import tallying as recounting
    from krand.analysis.engines import Options
    from krand.analysis.tally_file import read_tally

    plan, claimed = checked_plan(plan_file, out), read_tally(tally)
    signer = signer_from(options)
    assert signer is not None  # both options are required
    countersigned = claimed.signed_by(*signer)
    sources, key = given_sources(plan, output, options)
    with out.counting("counting", sum(s.rows for s in sources), "responses") as progress:
        asked = Options(workers_of(workers), progress=progress)
        found = recounting.recount(plan, claimed, sources, key=key, options=asked)
    if not found:
        countersigned.save(output)
        signers = [entry.shown for entry in countersigned.signatures]
        out.tell(
            {"same": True, "differences": [], "output": str(output), "signers": signers},
            "All numbers are the same, counted again.",
            *(f"Signed by {signer}" for signer in signers),
            f"Written: {output}",
        )
        return
    out.tell(
        {"same": False, "differences": list(found)},
        *(f"✗ {place}, counted again" for place in found[:MOST_SHOWN]),
        f"{len(found):,} numbers of the tally differ; it is not signed.",
    )
    context.exit(CHECK_FAILED)
