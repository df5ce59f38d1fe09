"""`krand keygen`: create a key pair."""

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


@click.command(short_help="Create the key pair that responses are sealed for.")
@output_option("File for the private key, which stays with the analyst.")
@passphrase_options
@click.option("--force", is_flag=True, help="Replace existing files; the old keys are lost.")
@output_options
def keygen(
    out: Output,
    output: Path,
    passphrase_env: str | None,
    passphrase: bool,
    force: bool,
) -> None:
    """Create the key pair that messages are sealed for.

    Devices get the public key, which is written beside the private one: key.pub.pem. Anybody who
    has the private key can open the messages, so only its owner can read the file, and an existing
    file is never replaced without --force. A passphrase protects the file if it is copied; choose a
    long one.

    \b
    Examples:
      krand keygen -o key.pem
      krand keygen -o key.pem --passphrase-env KRAND_PASSPHRASE --json
    """
    from krand.wire.keys import (
        fingerprint,
        generate_private_key,
        write_key_pair,
    )

    secret = passphrase_from(passphrase_env, passphrase, confirm=True)
    public = output.parent / f"{output.stem}.pub{output.suffix}"
    key = generate_private_key()
    write_key_pair(key, output, public, secret, overwrite=force)
    name = fingerprint(key.public_key())
    lock = "not encrypted" if secret is None else "encrypted"
    out.tell(
        {
            "private_key": str(output),
            "public_key": str(public),
            "fingerprint": name,
            "encrypted": secret is not None,
        },
        f"private key: {output} ({lock}; keep it safe and secret)",
        f"public key:  {public}",
        f"fingerprint: {name}",
    )
