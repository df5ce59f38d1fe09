"""`krand web`: the planner and a collector's dashboard in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.options import listening_options, output_options, round_option
from krand.errors import InvalidInput
from krand.terminal.output import Output
from krand.terminal.overwriting import FILE, FOLDER, OutputFile


@click.command(short_help="Show the planner and a collector's dashboard.")
@listening_options(8090)
@click.option(
    "--plan",
    "plan_file",
    type=FILE,
    help="The collector's plan.",
)
@click.option("--spool", type=FOLDER, help="The collector's folder.")
@round_option
@click.option(
    "--results",
    type=FOLDER,
    help="A folder with results files, written by krand estimate.",
)
@click.option("--collector", metavar="URL", help="The collector's address.")
@click.option(
    "--token-file",
    type=OutputFile(made_again=False),
    help="Keep the dashboard's token in this file, for the next start; created if missing.",
)
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
@output_options
def web(
    out: Output,
    host: str,
    port: int,
    plan_file: Path | None,
    spool: Path | None,
    round_number: int,
    results: Path | None,
    collector: str | None,
    token_file: Path | None,
    open_browser: bool,
) -> None:
    """Plan in a browser, and watch a collector.

    The planner asks whom you want to ask about what, and shows how precise the results will be,
    what is promised to each person, and what would help. It also loads, edits and saves survey
    files, and has a page of numbers for experts. With --plan and --spool there is also a dashboard:
    the crowd so far, the batches, the results. The dashboard needs the token in its address; the
    planner does not. The pages load nothing from other hosts, and no request is logged. Press
    Ctrl-C to stop.

    \b
    Examples:
      krand web
      krand web --plan plan.json --spool spool --results results \\
          --collector http://127.0.0.1:8080
    """
    from krand.collector.serving import listen
    from krand.web.access import Address, dashboard_token
    from krand.web.serving import make_server, serve
    from krand.web.watching import watched

    watch = watched(plan_file, spool, round_number, results, collector)
    if watch is None and token_file is not None:
        rule = "must come with --plan and --spool"
        raise InvalidInput("token-file", rule, str(token_file), "the planner needs no token")
    token = None if watch is None else dashboard_token(token_file)
    listener = listen(host, port)
    address = Address(host, listener.getsockname()[1], token)
    server = make_server(address, watch)
    if not address.is_loopback:
        out.warn(
            "everybody who can reach this address can use the planner, and the token is sent"
            " without encryption; put a proxy with TLS in front of it"
        )
    if out.as_json:
        out.json({"planner": address.planner, "collector": address.collector})
    else:
        found = (f"Planner    {address.planner}", f"Collector  {address.collector}")
        shown = found[: 1 if address.collector is None else 2]
        out.lines(*shown, "Press Ctrl-C to stop.", stderr=True)
    serve(server, listener, (address.collector or address.planner) if open_browser else None)
