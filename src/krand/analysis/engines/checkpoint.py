"""What has been counted so far, so that a long count survives an interruption."""

from __future__ import annotations

import json
from contextlib import suppress
from glob import escape
from pathlib import Path

from krand.analysis.engines.partition import Work
from krand.analysis.engines.source import Source
from krand.analysis.tally import Tally
from krand.analysis.tally_file import tally_from
from krand.errors import InvalidInput
from krand.files import unreadable, write_atomically

FORMAT = "krand-checkpoint-3"


def checkpoint_beside(tally: Path, source: Source) -> Path:
    """One file for each source, next to the tally."""
    return tally.with_name(f".{tally.name}.{source.sha256[:16]}.checkpoint")


class Checkpoint:
    """A file beside the tally, for one source and one way to count it."""

    def __init__(self, path: Path, source: Source, work: Work) -> None:
        self._path, self._nothing = path, work.nothing
        self._of = {
            "format": FORMAT,
            "batch": source.sha256,
            "plan": work.plan.hash,
            "joint": [list(bits) for bits in work.joint],
        }

    def start(self) -> tuple[int, Tally]:
        """How many rows are counted already, and what they gave; zero if there is no file."""
        try:
            values = json.loads(self._path.read_bytes())
            if {key: values[key] for key in self._of} != self._of:
                raise InvalidInput(
                    "checkpoint",
                    "must be of the same batch, plan and joint counts",
                    str(self._path),
                    "delete it to count from the beginning",
                )
            return int(values["rows"]), tally_from(values["tally"])
        except FileNotFoundError:
            return 0, self._nothing
        except OSError as error:
            raise unreadable("checkpoint", self._path, error) from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            rule, hint = "must be whole", "delete it to count from the beginning"
            raise InvalidInput("checkpoint", rule, str(self._path), hint) from None

    def save(self, rows: int, tally: Tally) -> None:
        """Replace what was saved before, in one step."""
        values = {**self._of, "rows": rows, "tally": tally.values()}
        write_atomically("checkpoint", self._path, json.dumps(values))


def forget_checkpoint(path: Path) -> None:
    """The tally is kept. What cannot be removed is harmless: it says only what was counted."""
    # Whoever was killed while saving may have left a file with a longer, hidden name.
    with suppress(OSError):
        for each in (*path.parent.glob(f".{escape(path.name)}.*"), path):
            each.unlink(missing_ok=True)
