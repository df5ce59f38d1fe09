"""`krand serve`: a collector for one plan and round."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from krand.cli.options import output_options, plan_option, round_option, spool_option
from krand.cli.plans import checked_plan
from krand.terminal.output import Output
from krand.terminal.overwriting import FILE

if TYPE_CHECKING:
    from krand.survey.plan import Plan

__all__ = ["serve"]


@click.command(short_help="Collect submissions for a plan.")
@plan_option
@spool_option
@round_option
@click.option(
    "--id-key",
    type=FILE,
    help="The key by which a retry is recognized, created if missing;"
    " by default $XDG_STATE_HOME/krand/spools/ID.key.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=int,
    default=8080,
    show_default=True,
    help="Port to listen on; 0 for any free port.",
)
@output_options
def serve(
    as_json: bool,
    no_color: bool,
    plan_file: Path,
    spool: Path,
    round_number: int,
    id_key: Path | None,
    host: str,
    port: int,
) -> None:
    """Take submissions over HTTP and store them durably, without identity.

    A submission is acknowledged only when it is on the disk. No address, header, cookie, time or
    order of arrival is stored. When as many people as planned have submitted, the batch is sealed,
    and krand release writes it. Where mixers add the noise, krand release --close seals it.

    Ctrl-C or SIGTERM stops the collector. Acknowledged submissions are not lost, even if it is
    killed. Put a proxy with TLS in front of it.

    \b
    Example:
      krand serve --plan plan.json --spool spool --port 8080
    """
    from krand.collector.opening import open_spool
    from krand.collector.serving import listen, make_server
    from krand.collector.serving import serve as run

    out = Output(as_json, no_color)
    plan = checked_plan(plan_file, out)
    listener = listen(host, port)
    server = make_server(open_spool(plan, spool, round_number, id_key=id_key))
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{listener.getsockname()[1]}/v1/{plan.hash}/submissions"
    if as_json:
        out.json({"url": address, "spool": str(spool), "round": round_number})
    else:
        console = out.console(stderr=True)
        for line in (
            f"Collecting {plan.survey.id}, round {round_number}, {_until(plan)}",
            f"POST {address}",
        ):
            console.print(line, markup=False, soft_wrap=True)
    run(server, listener)


def _until(plan: Plan) -> str:
    """When a batch is complete."""
    if plan.mixing is None:
        return f"for {plan.promise.crowd:,} people"
    return "until krand release --close"
