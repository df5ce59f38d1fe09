"""`krand web`: the planner and a collector's dashboard as pages."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.options import output_options
from krand.errors import InvalidInput
from krand.terminal.output import Output
from krand.terminal.overwriting import FILE, FOLDER, OutputFile

__all__ = ["web"]


@click.command(short_help="The planner and a collector's dashboard as pages.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=int, default=8090, show_default=True, help="Where to listen; 0: any.")
@click.option(
    "--plan",
    "plan_file",
    type=FILE,
    help="The plan that a collector collects for.",
)
@click.option("--spool", type=FOLDER, help="The collector's folder.")
@click.option(
    "--round",
    "round_number",
    type=int,
    default=1,
    show_default=True,
    help="Which of the planned rounds.",
)
@click.option(
    "--results",
    type=FOLDER,
    help="A folder with results files, made by krand estimate.",
)
@click.option("--collector", metavar="URL", help="Where the collector answers.")
@click.option(
    "--token-file",
    type=OutputFile(made_again=False),
    help="Keep the dashboard's token here, for the next start; made if it is not there.",
)
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
@output_options
def web(
    as_json: bool,
    no_color: bool,
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

    The planner shows at once what a change of ε, crowd, questions or copies does to noise and
    precision; it also loads, edits and saves survey files. With --plan and --spool there is a
    dashboard too: how far the crowd is, the batches, the results. The dashboard needs
    the token that is in its address; the planner does not. Nothing is loaded from other hosts,
    and no request is logged. Ctrl-C stops it.

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

    out = Output(as_json, no_color)
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
            "everybody who reaches this address can use the planner, and whoever listens on the"
            " way can read the token: there is no TLS here. Put a proxy with TLS in front of it"
        )
    if as_json:
        out.json({"planner": address.planner, "collector": address.collector})
    else:
        console = out.console(stderr=True)
        console.print(f"Planner    {address.planner}", markup=False, soft_wrap=True)
        if address.collector is not None:
            console.print(f"Collector  {address.collector}", markup=False, soft_wrap=True)
        console.print("Ctrl-C stops.", markup=False)
    serve(server, listener, (address.collector or address.planner) if open_browser else None)
