"""`krand form`: the survey as a page that people answer in a browser."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from krand.cli.options import FILE, checked_plan, folder_option, output_options, signature_option
from krand.terminal.output import Output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krand.collector.public import Page


@click.command(short_help="Write the survey as a page to answer in a browser.")
@click.argument("plan_file", type=FILE)
@folder_option("The folder to write, for any host of files.")
@click.option("--collector", required=True, metavar="URL", help="The collector's address.")
@signature_option
@click.option("--force", is_flag=True, help="Replace a form that is there.")
@output_options
def form(
    out: Output,
    plan_file: Path,
    output: Path,
    collector: str,
    signatures: tuple[Path, ...],
    force: bool,
) -> None:
    """Write a folder of files that ask the survey's questions in a browser.

    Any web server can host it, by https. Whoever hosts it could replace its code, so people have to
    trust the host: a mixer or another third party can be one. Start the collector with --origin and
    the address of the host. krand serve --form serves the same page itself.

    \b
    Examples:
      krand form plan.json -o site --collector https://collector.example.org \\
          --signature collector.sig.json
    """
    from krand.web.form.site import check_collector, site_of
    from krand.wire.plan_signatures import read_signature

    plan = checked_plan(plan_file, out)
    address = check_collector(collector)
    site = site_of(plan, [read_signature(path) for path in signatures], address)
    _write(output, site, replace=force)
    size = sum(len(page.content) for page in site.values())
    values = {"plan": plan.hash, "output": str(output), "files": sorted(site), "bytes": size}
    out.tell(
        {**values, "collector": address},
        f"Written: {output}: {', '.join(sorted(site))}",
        f"Plan {plan.hash}",
        "Next: host the folder by https, and start the collector with --origin and its address.",
    )


def _write(folder: Path, site: Mapping[str, Page], *, replace: bool) -> None:
    """The whole folder or nothing: it is written beside its place, and then renamed."""
    from krand.errors import InvalidInput
    from krand.files import unwritable

    if folder.exists() and not replace:
        hint = "name another folder, or replace it with --force"
        raise InvalidInput("output", "must not exist yet", str(folder), hint)
    if folder.exists() and not _is_form(folder):
        hint = "it is not a form that krand wrote; name another folder"
        raise InvalidInput("output", "must be a form to replace it", str(folder), hint)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            for name, page in site.items():
                (staged / name).write_bytes(page.content)
            staged.chmod(0o755)
            _exchange(staged, folder.resolve())
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    except OSError as error:
        raise unwritable("output", folder, error) from None


def _exchange(staged: Path, folder: Path) -> None:
    """The staged folder takes the other's place; the old one is removed when the new one is there.

    A kill in between leaves the old one beside its place.
    """
    if not folder.exists():
        staged.rename(folder)
        return
    old = folder.with_name(f"{staged.name}.old")
    folder.rename(old)
    try:
        staged.rename(folder)
    except OSError:
        old.rename(folder)
        raise
    shutil.rmtree(old)


def _is_form(folder: Path) -> bool:
    """Whether nothing would be lost: an empty folder, or one with the files of a form only."""
    known = {"form.css", "form.js", "krand.js", "plan.json", "signatures.json"}
    names = {path.name for path in folder.iterdir()}
    texts = r"form\.[a-z]+\.json|(index|answers)\.html"
    return all(re.fullmatch(texts, name) for name in names - known)
