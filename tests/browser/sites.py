"""What browser tests visit: `krand web` for real, and any host of files."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from collecting import WAIT_SECONDS, object_told
from components import require

PATIENT = """
from krand.web import forms, workers
forms.BODY_SECONDS = workers.QUICK_SECONDS = workers.PAGE_SECONDS = workers.WAIT_SECONDS = 600.0
from krand.cli.main import main
main()
"""
"""The command with time enough on a machine that is busy; work that nobody waits for ends soon."""


@contextmanager
def console(folder: Path) -> Iterator[str]:
    """`krand web` on an empty folder; the address that it prints."""
    for component in ("starlette", "uvicorn", "mnemonic"):
        require(component)
    folder.mkdir(exist_ok=True)
    with (folder.parent / "web.log").open("a", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", PATIENT, "web", str(folder), "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            yield json.loads(object_told(process, folder.parent / "web.log"))["console"]
        finally:
            process.terminate()
            process.communicate(timeout=WAIT_SECONDS)
            _end_sites(folder)


def _end_sites(folder: Path) -> None:
    """End what the console left running, as it should."""
    for status in folder.glob("*/survey.krand/state/status.json"):
        parts = json.loads(status.read_bytes())["parts"]
        for part in parts:
            number = part["said"].get("started", {}).get("process")
            parent = Path(f"/proc/{number}/stat")
            if number and parent.exists():
                subprocess.run(["kill", parent.read_text().split()[3]], check=False)
                break


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    """Any host of files; its origin."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
