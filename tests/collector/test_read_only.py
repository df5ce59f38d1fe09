"""A file system of a test's own; to go with its last user."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from components import missing


def system(*command: str) -> bool:
    """Whether a command of the system succeeded."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextmanager
def mounted(folder: Path, *how: str) -> Iterator[Path]:
    """A file system of our own."""
    folder.mkdir()
    if os.geteuid() != 0 or not system("mount", *how, str(folder)):
        missing("mount", "nobody but root may mount a file system")
    try:
        yield folder
    finally:
        system("umount", "-l", str(folder))
