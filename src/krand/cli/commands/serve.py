"""`krand serve`: a collector for one plan and round."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.options import (
    checked_plan,
    listening_options,
    output_options,
    plan_option,
    round_option,
    spool_option,
)
from krand.terminal.output import Output
from krand.terminal.overwriting import FILE

if TYPE_CHECKING:
    from krand.survey.plan import Plan


@click.command(short_help="Collect submissions for a plan.")
@plan_option
@spool_option
@round_option
@listening_options(8080)
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Whose pages may ask from a browser, as https://form.example; repeatable.",
)
@click.option(
    "--signature",
    "signatures",
    type=FILE,
    multiple=True,
    help="A mixer's signature of the plan, once for each mixer, the collector included; browsers"
    " refuse a plan without them.",
)
@click.option("--form", is_flag=True, help="Serve the survey as a form at /, too.")
@click.option(
    "--invitations",
    type=FILE,
    help="The collector's file of krand invite, for a survey with invitations.",
)
@output_options
def serve(
    out: Output,
    plan_file: Path,
    spool: Path,
    round_number: int,
    host: str,
    port: int,
    **options: Any,
) -> None:
    """Take submissions over HTTP and store them durably, without identity.

    A submission is acknowledged only when it is on the disk. No address, header, cookie, time or
    order of arrival is stored. A round is one batch, open until krand release --close closes it, or
    until the survey's last day.

    Clients may ask for the plan, its signatures and whether the round is open, under
    /v1/plans/HASH. Pages of other origins may do so from a browser only with --origin.

    Ctrl-C or SIGTERM stops the collector. Acknowledged submissions are not lost, even if it is
    killed. Put a proxy with TLS in front of it.

    \b
    Examples:
      krand serve --plan plan.json --spool spool --port 8080
      krand serve --plan plan.json --spool spool --origin https://form.example
      krand serve --plan plan.json --spool spool --form
    """
    from krand.collector.serving import check_installed, listen, make_server, url_of
    from krand.collector.serving import serve as run

    check_installed()
    from krand.collector.intake import Intake, Serving
    from krand.collector.invitations import check_invitations
    from krand.collector.public import check_origins, served_signatures
    from krand.collector.spool import Spool
    from krand.web.form.site import form_pages
    from krand.wire.plan_signatures import read_signature

    plan = checked_plan(plan_file, out)
    origins = check_origins(options["origins"])
    signatures = served_signatures(plan, [read_signature(f) for f in options["signatures"]])
    invitations = check_invitations(plan, options["invitations"], round_number)
    listener = listen(host, port)
    pages = form_pages(plan, signatures) if options["form"] else None
    intake = Intake(Spool(spool, plan, round_number), invitations)
    if not signatures:
        _warn_unsigned(plan, out)
    serving = Serving(intake, signatures=signatures, origins=origins, pages=pages)
    server = make_server(serving.application)
    address = f"{url_of(listener)}/v1/plans/{plan.hash}/submissions"
    if out.as_json:
        out.json({"url": address, "spool": str(spool), "round": round_number})
    else:
        from krand.wording.surveys import survey_name

        out.lines(
            f"Collecting {survey_name(plan.survey)}, round {round_number}, {_until(plan)}",
            f"POST {address}",
            *((f"Form at {address.partition('/v1/')[0]}/",) if pages else ()),
            *_over(plan),
            stderr=True,
        )
    run(server, listener, quiet=out.quiet)


def _warn_unsigned(plan: Plan, out: Output) -> None:
    """A client refuses a plan unless it has the signatures of all its mixers."""
    count = len(plan.mixers)
    out.warn(
        "no --signature: clients that ask this collector for the signatures of the plan's"
        f" {count} {'mixer' if count == 1 else 'mixers'} will refuse the plan. Give the signature"
        " of each mixer, unless all clients already have them."
    )


def _over(plan: Plan) -> tuple[str, ...]:
    """That the last day has passed."""
    if not plan.survey.is_over():
        return ()
    closes = plan.survey.closes
    return (f"The survey closed on {closes}: only retries of what was stored are answered.",)


def _until(plan: Plan) -> str:
    """How many people a batch needs."""
    crowd = plan.smallest_batch
    return "until it is closed" if crowd == 1 else f"for at least {crowd:,} people"
