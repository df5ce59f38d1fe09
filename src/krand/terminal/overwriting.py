"""What a command may overwrite: never a file that it reads, nor one that krand cannot recreate.

Tallies, results and reports can be recreated from other files, so they are replaced.
Keys, plans, responses, batches and files that krand did not write are replaced only with --force.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import click

from krand.errors import InvalidInput
from krand.files import Exists, keep_inputs

F = TypeVar("F", bound=Callable[..., Any])

GUARDED = "spares its inputs"
"""The mark on the function of a command."""
HEAD = 4096
"""Bytes that are enough to recognize the type of a file."""
MADE_AGAIN = re.compile(
    rb'\s*(?:\{\s*"format":\s*"krand-(?:tally|results)-|<!doctype html>'
    rb'|"question","kind","answer",)',
    re.IGNORECASE,
)
PARQUET = b"PAR1"
RESULTS_COLUMNS = ["question", "kind", "answer"]
ZIP = b"PK\x03\x04"
CREATOR = b"<dc:creator>krand</dc:creator>"
"""What a workbook of results says about itself."""


class InputFile(click.Path):
    """A file that a command reads."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)


class OutputFile(click.Path):
    """A file that a command writes; `made_again`: an earlier one is replaced without --force.

    `endings` are the file name endings that fit the content; a name may also have none.
    """

    def __init__(self, *, made_again: bool, endings: tuple[str, ...] = ()) -> None:
        super().__init__(dir_okay=False, path_type=Path)
        self.made_again, self.endings = made_again, endings


class PlaceOrFile(click.types.StringParamType):
    """A file that a command reads, or the address of a remote one, as text."""


class LabelledFile(click.types.StringParamType):
    """LABEL=FILE: a file that a command reads, with a label or without one, as text."""


FILE = InputFile()
FILE_OR_FOLDER = click.Path(path_type=Path)
"""Both are read."""
FOLDER = click.Path(file_okay=False, path_type=Path)


def guarded(command: F) -> F:
    """Check before a command runs that its outputs do not overwrite its inputs."""

    @wraps(command)
    def begin(*arguments: Any, **options: Any) -> Any:
        _check(click.get_current_context())
        return command(*arguments, **options)

    vars(begin)[GUARDED] = True
    return begin  # type: ignore[return-value]


def _check(context: click.Context) -> None:
    inputs = [
        path
        for parameter in context.command.params
        if isinstance(parameter.type, (InputFile, PlaceOrFile, LabelledFile))
        for path in _paths(_without_labels(parameter, context.params))
    ]
    for parameter in context.command.params:
        if not isinstance(parameter.type, OutputFile):
            continue
        for path in _paths(context.params.get(parameter.name or "")):
            if not path.name:  # an empty text, or a dot
                rule = "must be a file, or not exist yet"
                raise InvalidInput(parameter.name or "output", rule, str(path), "name a file")
            keep_inputs(parameter.name or "output", path, inputs)
            check_ending(parameter.name or "output", path, parameter.type.endings)
            if parameter.type.made_again and not context.params.get("force"):
                may_replace(parameter.name or "output", path)


def check_ending(field: str, path: Path, endings: tuple[str, ...]) -> None:
    """An ending other than these is refused; a name may also have none."""
    if endings and path.suffix and path.suffix.lower() not in endings:
        hint = f"for example {path.with_suffix(endings[0])}"
        raise InvalidInput(field, f"must end in {' or '.join(endings)}", str(path), hint)


def _without_labels(parameter: click.Parameter, values: dict[str, Any]) -> object:
    given = values.get(parameter.name or "")
    if not isinstance(parameter.type, LabelledFile) or not given:
        return given
    return [entry.partition("=")[2] or entry for entry in given]


def _paths(value: object) -> list[Path]:
    """The local files that an option or argument names."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return [path for entry in value for path in _paths(entry)]
    text = str(value)
    if "://" not in text:
        return [Path(text)]
    address = urlsplit(text)
    return [Path(unquote(address.path))] if address.scheme == "file" else []


def files_named_in(survey: Path) -> list[Path]:
    """The files of choices that belong to a survey file."""
    from krand.survey.reading import survey_files

    return [survey.parent / name for name in survey_files(survey)]


def may_replace(field: str, path: Path) -> None:
    """Refuse to replace a file that krand cannot recreate."""
    if not path.is_file() or _can_be_made_again(path):
        return
    rule = "must not replace a file other than a tally, results or a report"
    raise Exists(field, rule, str(path), "name another file, or replace it with --force")


def _can_be_made_again(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD)
    except OSError:
        return False
    if head.startswith(PARQUET):
        return _has_columns_of_results(path)
    if head.startswith(ZIP):
        return _is_workbook_of_results(path)
    return not head or MADE_AGAIN.match(head) is not None


def _has_columns_of_results(path: Path) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        names: list[str] = pq.read_schema(path).names
    except (OSError, pa.ArrowInvalid):
        return False
    return names[: len(RESULTS_COLUMNS)] == RESULTS_COLUMNS


def _is_workbook_of_results(path: Path) -> bool:
    from zipfile import BadZipFile, ZipFile
    from zlib import error as BadStream

    try:
        with ZipFile(path) as archive, archive.open("docProps/core.xml") as about:
            return CREATOR in about.read(HEAD)
    except (OSError, BadZipFile, BadStream, KeyError, NotImplementedError, RuntimeError):
        return False
