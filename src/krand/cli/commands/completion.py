"""`krand completion`: the completion script for a shell."""

from __future__ import annotations

import click

from krand.cli.options import OneOf, output_options
from krand.terminal.output import Output

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_KRAND_COMPLETE"
"""The environment variable through which the shell asks click for completions."""


@click.command(short_help="Set up shell completion.")
@click.argument("shell", type=OneOf(SHELLS))
@output_options
def completion(out: Output, shell: str) -> None:
    """Print the script that completes commands, options, choices and files in bash, zsh or fish.

    Add this line to the file that your shell reads at startup, then open a new shell:

    \b
      bash, in ~/.bashrc:                     eval "$(krand completion bash)"
      zsh, in ~/.zshrc, after compinit:       eval "$(krand completion zsh)"
      fish, in ~/.config/fish/config.fish:    krand completion fish | source

    \b
    Example:
      krand completion bash
    """
    from click.shell_completion import get_completion_class

    from krand.cli.main import krand

    kind = get_completion_class(shell)
    assert kind is not None
    # Not kind.source(): it asks the shell for its version, and the shell may not be installed.
    found = kind(krand, {}, "krand", VARIABLE)
    script = found.source_template % found.source_vars()
    if out.as_json:
        out.json({"shell": shell, "script": script})
    elif not out.quiet:
        click.echo(script)
