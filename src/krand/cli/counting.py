"""Options of the commands that count responses, and what is made of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from krand.cli.options import FILE, passphrase_from, passphrase_options, plan_option, stack
from krand.errors import InvalidInput
from krand.terminal.overwriting import PlaceOrFile

F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    from krand.analysis.engines.source import Source
    from krand.survey.plan import Plan


def _files(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete file names; click cannot know, because addresses are accepted too."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(begun, type="file")]


counting_options = stack(
    click.argument("responses", nargs=-1, required=True, type=PlaceOrFile(), shell_complete=_files),
    plan_option,
    click.option("--key", type=FILE, help="The analyst's private key, for sealed batches."),
    passphrase_options,
    click.option(
        "--collector-key",
        type=FILE,
        help="The public key of the collector that signed the manifest; mixers' keys are in the"
        " plan.",
    ),
    click.option(
        "--manifest",
        "manifests",
        type=FILE,
        multiple=True,
        help="The manifest or chain of each batch; by default next to it (batch.manifest.json or"
        " batch.chain.json).",
    ),
    click.option("--workers", type=int, help="Processes on this machine; all cores by default."),
)


class Given(NamedTuple):
    """What is to be counted, and the key that opens it, if it is sealed."""

    sources: list[Source]
    key: X25519PrivateKey | None


def given_sources(plan: Plan, output: Path, options: Mapping[str, Any]) -> Given:
    """Responses or batches, with their manifests; none of them is the output."""
    from krand.analysis.tallying import batches_in, responses_in, signed_beside
    from krand.files import keep_inputs
    from krand.wire.keys import read_private_key, read_verifying_key

    responses, key = options["responses"], options["key"]
    if key is None:
        return Given(responses_in(plan, responses), None)
    keep_inputs("output", output, [signed_beside(plan, file) for file in responses])
    secret = read_private_key(
        key, passphrase_from(options["passphrase_env"], options["passphrase"])
    )
    path = options["collector_key"]
    collector = None if path is None else read_verifying_key(path)
    return Given(batches_in(plan, responses, collector, options["manifests"]), secret)


def workers_of(asked: int | None) -> int:
    """As many processes as asked for, or as there are cores."""
    if asked is not None and asked < 1:
        raise InvalidInput("workers", "must be at least 1", asked)
    return asked or os.cpu_count() or 1
