"""One part of a site, in a process of its own: `python -m krand.site.part`.

The supervisor writes to its standard input which part it is, and keeps that open: a part whose
supervisor has died ends. What happens is one JSON object a line on standard output. A part can be
killed at any time: what it works on is recorded in stores before anybody is told.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, BinaryIO

from krand.errors import InternalError, KrandError
from krand.languages.speaking import marked
from krand.mixing.watching import failure_of
from krand.partners.clock import SYSTEM_CLOCK, Clock
from krand.site.site_file import Receiver, Site, SiteSurvey
from krand.survey.survey_folder import SurveyFolder
from krand.wording.failures import as_krand_error, explain

LOOK_SECONDS = 1.0
MODULES = {
    marked("collector"): "site.collecting",
    marked("passing on"): "site.passing_on",
    marked("analyst"): "site.analysing",
    marked("receiver"): "site.receiving",
    marked("status page"): "site.status",
    marked("console"): "console.site",
}
"""Which module does what, by the kind of a part."""


class Say:
    """What a part tells its supervisor."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._lock = stream, threading.Lock()
        self._seen: str | None = ""
        self._said: str | None = ""

    def __call__(self, event: str, **values: Any) -> None:
        """Something happened."""
        line = json.dumps({"event": event, **values}).encode() + b"\n"
        with self._lock:
            self._stream.write(line)
            self._stream.flush()

    def trouble(self, error: KrandError | None) -> None:
        """What is in the way now, or nothing; told once, when it was so twice."""
        now = "" if error is None else " ".join(explain(error).split())
        if now == self._seen != self._said:
            self._said = now
            self("trouble", what=now)
        self._seen = now


@dataclass(frozen=True, slots=True)
class Receiving:
    """What the receiver of a site takes: batches for the analysts of these surveys."""

    receiver: Receiver
    name: str
    folders: tuple[SurveyFolder, ...]
    awaited: tuple[SurveyFolder, ...] = ()
    """Those whose plans their organisers have yet to hand over."""


@dataclass(frozen=True, slots=True)
class Part:
    """What the supervisor starts: a frozen value, which is all that the process is given."""

    kind: str
    """What it does, in a word."""
    of: SiteSurvey | Receiving | Site
    clock: Clock = SYSTEM_CLOCK

    @property
    def survey(self) -> str:
        """The survey's folder; empty where it is for all of them."""
        return str(self.of.folder.path) if isinstance(self.of, SiteSurvey) else ""

    def run(self, say: Say) -> None:
        """Do it, until the process is ended; only there is loaded what it needs."""
        import_module(f"krand.{MODULES[self.kind]}").run(self.of, say, self.clock)


def look_again(look: Callable[[], None], say: Say) -> None:
    """For ever; what goes wrong is told and tried again."""
    while True:
        try:
            look()
            say.trouble(None)
        except Exception as failure:
            error, _ = failure_of(failure)
            if isinstance(error, InternalError):
                raise
            say.trouble(error)
        time.sleep(LOOK_SECONDS)


def main() -> None:
    """The process of a part."""
    part: Part = pickle.load(sys.stdin.buffer)  # from the supervisor, through a pipe of its own
    threading.Thread(target=_end_with_supervisor, daemon=True).start()
    say = Say(os.fdopen(os.dup(sys.stdout.fileno()), "wb"))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing else is written there
    try:
        part.run(say)
    except Exception as error:
        known = as_krand_error(error)
        say("failed", what=" ".join(explain(known).split()))
        sys.exit(known.exit_code)


def _end_with_supervisor() -> None:
    """Nothing else is ever written to the pipe: when it ends, the supervisor has."""
    os.read(sys.stdin.fileno(), 1)  # not through the stream, whose lock would outlive the thread
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
