"""A collector inside another program: it runs in a thread, and ends with its block."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from krand.collector.opening import open_spool
from krand.collector.serving import listen, make_server
from krand.errors import Unavailable

if TYPE_CHECKING:
    from krand.survey.plan import Plan

__all__ = ["run_collector"]

LOOPBACK = "127.0.0.1"
LOOK_SECONDS = 0.01


@contextmanager
def run_collector(
    plan: Plan,
    spool: str | Path,
    *,
    round_number: int = 1,
    host: str = LOOPBACK,
    port: int = 0,
    id_key: str | Path | None = None,
) -> Iterator[str]:
    """Take submissions over HTTP until the block ends; the value is the collector's address.

    `spool` is the folder that `krand release` reads afterwards; port 0 is any free one. The form,
    invitations, receipts and metrics are for the command `krand serve`.

    >>> import krand
    >>> from krand.testing import small_plan
    >>> plan = small_plan().sealed_for(krand.generate_private_key().public_key())
    >>> with krand.run_collector(plan, "spool", id_key="spool.key") as url:
    ...     client = krand.Client(plan, krand.Ledger("ledger"), expected_hash=plan.hash)
    ...     receipt = client.submit(url, {"pet": "dog", "smokes": False})
    """
    key = None if id_key is None else Path(id_key)
    with closing(listen(host, port)) as listener:
        server = make_server(open_spool(plan, Path(spool), round_number, id_key=key))
        sockets = {"sockets": [listener]}
        thread = threading.Thread(target=server.run, kwargs=sockets, name="collector", daemon=True)
        thread.start()
        try:
            while not server.started:
                thread.join(LOOK_SECONDS)
                if not thread.is_alive():
                    raise Unavailable("the collector did not start")
            yield f"http://{host}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
