"""`krand web`: the organiser's console in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from krand.cli.options import listening_options, output_options
from krand.errors import InvalidInput
from krand.terminal.output import Output
from krand.terminal.overwriting import FILE, FOLDER, OutputFile

if TYPE_CHECKING:
    from krand.web.access import Address


@click.command(short_help="Write, publish, watch and read surveys in a browser.")
@click.argument("folder", type=FOLDER, required=False)
@listening_options(8090)
@click.option(
    "--token-file",
    type=OutputFile(made_again=False),
    help="Keep the token in this file, for the next start; created if missing.",
)
@click.option("--tls-cert", type=FILE, help="A certificate, for another address than this machine.")
@click.option("--tls-key", type=FILE, help="Its private key.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
@output_options
def web(
    out: Output,
    folder: Path | None,
    host: str,
    port: int,
    token_file: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    open_browser: bool,
) -> None:
    """Run surveys from a browser: questions, promise, partners, publishing, results.

    FOLDER holds the surveys, each in a folder of its own with ordinary files; by default it is the
    current one. The console writes these files and runs krand's own commands, and shows which. A
    published survey goes on when the console ends, and the next start looks after it again.

    Every page needs the token in the address that is printed. For another address than this machine
    give --tls-cert and --tls-key, and a --token-file: the token is then typed as a password. The
    pages load nothing from other hosts, and no request is logged. Press Ctrl-C to stop.

    \b
    Examples:
      krand web
      krand web surveys --open
    """
    from krand.collector.serving import check_installed, listen
    from krand.web.access import Address, kept_token, page_server, serve

    check_installed()
    tls = _tls(Address(host, port), token_file, tls_cert, tls_key)
    place = (folder or Path()).absolute()
    if not place.is_dir():
        raise InvalidInput("folder", "must be a folder", str(place), f"mkdir {place}")
    listener = listen(host, port)
    token = kept_token(token_file)
    address = Address(host, listener.getsockname()[1], token, tls is not None)

    from krand.console.app import make_app

    server = page_server(make_app(address, place), tls)
    entrance = address.entrance()
    if out.as_json:
        out.json({"console": entrance})
    else:
        out.lines(f"Console    {entrance}", "Press Ctrl-C to stop.", stderr=True)
    serve(server, listener, entrance if open_browser else None)


def _tls(
    address: Address, token_file: Path | None, cert: Path | None, key: Path | None
) -> tuple[Path, Path] | None:
    """The certificate and its key; where others reach the pages, a password too."""
    if (cert is None) != (key is None):
        name = "tls-key" if key is None else "tls-cert"
        raise InvalidInput(name, "must be given with the other of --tls-cert and --tls-key", None)
    if not address.is_loopback:
        if cert is None:
            hint = "or keep the default address, and forward its port over SSH"
            rule = "must be given for an address that others can reach"
            raise InvalidInput("tls-cert", rule, None, hint)
        if token_file is None:
            rule = "must be given for an address that others can reach: it holds the password"
            raise InvalidInput("token-file", rule, None, "for example --token-file token")
    return None if cert is None or key is None else (cert, key)
