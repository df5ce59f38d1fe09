"""`krand keygen`: the analyzer's key pair."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.options import (
    output_option,
    output_options,
    passphrase_from,
    passphrase_options,
)
from krand.terminal.output import Output
from krand.terminal.overwriting import OutputFile

__all__ = ["keygen"]


@click.command(short_help="The key pair that reports are sealed for.")
@output_option("File of the private key, which stays with the analyzer.")
@click.option(
    "--public",
    type=OutputFile(made_again=False),
    help="File of the public key, for everybody; key.pub.pem beside key.pem if not given.",
)
@passphrase_options
@click.option(
    "--signing",
    is_flag=True,
    help="A collector's key instead: it signs what it releases, and opens nothing.",
)
@click.option("--force", is_flag=True, help="Replace existing files: what they opened is lost.")
@output_options
def keygen(
    as_json: bool,
    no_color: bool,
    output: Path,
    public: Path | None,
    passphrase_env: str | None,
    passphrase: bool,
    signing: bool,
    force: bool,
) -> None:
    """Make the key pair that messages are sealed for.

    Users' devices get the public key. Whoever has the private key can open the messages, so it
    is written for its owner's eyes only, and an existing file is never replaced without --force.
    A passphrase protects the file when it is copied; make it long.

    \b
    Examples:
      krand keygen -o key.pem
      krand keygen --signing -o collector.pem
      krand keygen -o key.pem --public survey.pub.pem --passphrase-env KRAND_PASSPHRASE --json
    """
    from krand.wire.keys import (
        fingerprint,
        generate_private_key,
        generate_signing_key,
        write_key_pair,
    )

    secret = passphrase_from(passphrase_env, passphrase, confirm=True)
    public = _beside(output) if public is None else public
    key = generate_signing_key() if signing else generate_private_key()
    write_key_pair(key, output, public, secret, overwrite=force)
    name = fingerprint(key.public_key())
    screen = Output(as_json, no_color)
    if as_json:
        screen.json(
            {
                "private_key": str(output),
                "public_key": str(public),
                "fingerprint": name,
                "encrypted": secret is not None,
                "signing": signing,
            }
        )
        return
    lock = "not encrypted" if secret is None else "encrypted"
    console = screen.console()
    for line in (
        f"private key: {output} ({lock}; keep it, and keep it secret)",
        f"public key:  {public}",
        f"fingerprint: {name}",
    ):
        console.print(line, markup=False, soft_wrap=True)


def _beside(private_path: Path) -> Path:
    """key.pem → key.pub.pem"""
    return private_path.parent / f"{private_path.stem}.pub{private_path.suffix}"
