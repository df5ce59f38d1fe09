"""Running the collector: uvicorn, told to keep nothing about anybody."""

from __future__ import annotations

import json
import logging
import sys
from typing import TYPE_CHECKING, Any

from krand.errors import InvalidInput, MissingComponent

if TYPE_CHECKING:
    from krand.collect.spool import Spool

__all__ = ["JsonLines", "serve"]

MOST_CONNECTIONS = 4_096
KEEP_ALIVE_SECONDS = 5
SHUTDOWN_SECONDS = 30


class JsonLines(logging.Formatter):
    """One object a line: level and event. No time, no trace, no arguments of a request."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps({"level": record.levelname.lower(), "event": record.getMessage()})


def serve(spool: Spool, host: str, port: int) -> None:
    """Serve until told to stop; what has arrived by then is stored and acknowledged."""
    try:
        import uvicorn

        from krand.collect.http import make_app
    except ImportError as error:
        raise MissingComponent(error.name or "starlette", "serve") from None
    _log_to_stderr()
    options: dict[str, Any] = {
        "access_log": False,
        "log_config": None,
        "proxy_headers": False,  # whoever forwards a request, we do not want to know for whom
        "server_header": False,
        "date_header": False,
        "limit_concurrency": MOST_CONNECTIONS,
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "timeout_graceful_shutdown": SHUTDOWN_SECONDS,
        "ws": "none",
    }
    server = uvicorn.Server(uvicorn.Config(make_app(spool), host=host, port=port, **options))
    server.run()
    if not server.started:
        raise InvalidInput("port", "must be free to listen on", port)


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
