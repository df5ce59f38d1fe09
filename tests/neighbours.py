"""The parties beside a mixer, by hand: what they serve and say is up to a test.

    beside = Neighbours(chain)                  # five people's messages, as place 1 mixed them
    async with beside.running() as worker:      # place 2 of the chain, which asks them

They are honest unless a test says otherwise. `live` and `collect` are lives in processes of their
own, which a test ends at any system call.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import world
from krand.batches import chain as links
from krand.mixing import mixer
from krand.partners import documents
from krand.testing import FakeCollector
from krand.wire import signed
from parties import Chain, Party, until

PLACE = 2
"""Of the mixer between them."""
ASKED = re.compile(r"/(\d)/v1/plans/([0-9a-f]{64})/rounds/(\d+)(/batch|/link/(\d)\?nonce=(.*))?")

Answer = tuple[int, bytes]


class Neighbours:
    """Place 1, which has mixed, and place 3, which has fetched nothing yet."""

    def __init__(self, chain: Chain, people: int = 5) -> None:
        self.chain, self.party = chain, chain.parties[PLACE - 1]
        self.first, self.batch = mixed_by_hand(chain, people)
        self.chain_served: bytes | None = links.chain_bytes([self.first])
        self.held: Callable[[], links.SignedLink | None] = self._seen
        self.sign: Callable[[Any], bytes] = self._signed
        self.after: bytes | None = None
        self.asked: Counter[str] = Counter()
        self._link: links.SignedLink | None = None

    @property
    def output(self) -> Path:
        """What the mixer serves."""
        return self.party.at / "public" / self.chain.plan.hash / "1.batch"

    @property
    def key(self) -> Path:
        return self.party.at / "keys" / self.chain.plan.hash / "1.key"

    @property
    def link(self) -> links.SignedLink | None:
        """The mixer's own link, as it shows it."""
        path = self.output.with_suffix(".chain")
        return links.parse_chain(path.read_bytes())[-1] if path.exists() else None

    def forget(self) -> None:
        """As if the mixer had never been heard of."""
        self._link = None
        self.asked.clear()

    def _seen(self) -> links.SignedLink | None:
        """The first link that the mixer has shown stays."""
        self._link = self._link or self.link
        return self._link

    def _signed(self, record: Any) -> bytes:
        return self.chain.parties[0].identity.sign(record).content

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Any]:
        """The mixer between them, in this process."""
        with self.serving() as addresses:
            async with self.party.running(addresses) as worker:
                yield worker

    @contextmanager
    def serving(self) -> Iterator[dict[str, str]]:
        """Both of them; their addresses."""
        beside = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, content = beside.answer(self.path, self.headers.get("Range", ""))
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Nothing is logged."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = Thread(target=server.serve_forever, daemon=True)
            thread.start()
            url = f"http://127.0.0.1:{server.server_port}"
            before, _, after, *_ = (each.identity.public for each in self.chain.parties)
            try:
                yield {before: f"{url}/1", after: f"{url}/3"}
            finally:
                server.shutdown()

    def answer(self, path: str, span: str) -> Answer:
        """Status and content."""
        found = ASKED.fullmatch(path)
        assert found is not None, path
        place, plan, number, what, wanted, nonce = found.groups()
        kind = "held" if wanted else "batch" if what else "chain"
        self.asked[f"{kind} {place}"] += 1
        if kind == "held":
            link = self.held()
            record = documents.Held(
                plan=plan,
                round=int(number),
                place=int(wanted),
                nonce=nonce,
                link=link and link.values,
            )
            return 200, self.sign(record)
        if kind == "batch":
            start = int(span.removeprefix("bytes=").split("-")[0])
            return 206, self.batch[start:]
        content = self.chain_served if place == "1" else self.after
        return (404, b"{}") if content is None else (200, content)


def mixed_by_hand(chain: Chain, people: int) -> tuple[links.SignedLink, bytes]:
    """What so many people sent, as the collector would mix it, and its link."""
    plan, collector = chain.plan, FakeCollector(chain.plan, 1, chain.signatures)
    for person in world.people(plan.survey.id, people):
        chain.device(FakeCollector.url, transport=collector).submit(dict(person))
    came, output = chain.at / "came", chain.at / "came.mixed"
    done = mixer.mix(
        plan, 1, 1, collector.counts, collector.close(came), output, key=None, workers=1
    )
    link = links.Link(
        plan=plan.hash,
        round=1,
        place=1,
        people=people,
        lanes=done.lanes,
        input="",
        output=done.output,
        previous="",
    )
    return chain.parties[0].identity.sign(link), output.read_bytes()


def chain_of(*signed: links.SignedLink) -> bytes:
    """The file with these links."""
    return links.chain_bytes(signed)


def relinked(link: links.SignedLink, chain: Chain, **changes: Any) -> links.SignedLink:
    """The link of place 1 with other values, signed again."""
    values = {**link.values, **changes}
    return chain.parties[0].identity.sign(signed.signed_in(links.Link, values).record)


def live(at: str, addresses: str) -> None:
    """A mixer, until it serves its batch."""
    asyncio.run(_live(Party(Path(at)), json.loads(addresses)))


def collect(at: str) -> None:
    """A collector that is its own analyst, and closes the round at once, until it is reported."""
    asyncio.run(_live(Party(Path(at)), {}, collects=True))


async def _live(party: Party, addresses: dict[str, str], collects: bool = False) -> None:
    async with party.running(addresses) as worker:
        (current,) = worker.rounds.values()
        await until(lambda: current.state == "OPEN" or not collects or current.row.link)
        if collects and current.state == "OPEN":
            worker.close()
        await until(lambda: worker.is_over if collects else current.left.is_set())
