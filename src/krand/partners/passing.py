"""Batches on their way through a mixer's service: received whole, mixed, passed on.

Files say how far a batch is, so that the service can be killed anywhere. A batch that has arrived
is in `incoming` with its chain; once its output is recorded and in `outgoing`, it is removed there.
What is in `outgoing` is sent until the next party has signed a receipt of its hash, and is removed
then.

A store that was restored together with its anchor looks like any other. But whoever comes next has
receipts: before a batch is mixed for the first time, the next party is asked for one of its id. If
there is one, or a part of such a batch, it has left before with other noise, and nothing more is
mixed here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from krand.batches.batch import CHAIN_ENDING, batch_beside, chain_beside
from krand.batches.chain import Link, read_chain
from krand.errors import InvalidInput, Unavailable
from krand.mixing.store import MixerStore
from krand.mixing.watching import Event, Happened, Watch, WatchOptions
from krand.partners.deliveries import Deliveries, Told
from krand.partners.documents import batch_name
from krand.partners.identity import Address
from krand.partners.records import PairingRecord, Records, RoundState
from krand.partners.service_folder import ServiceFolder
from krand.partners.signing import route_in
from krand.partners.talking import Talks, has_batch
from krand.partners.uploads import Uploads

FILE = "deliveries.sqlite"


class Passing:
    """The batches of all plans that the service has signed."""

    def __init__(
        self,
        folder: ServiceFolder,
        records: Records,
        talk: Callable[[Address], Talks],
        options: WatchOptions,
        refused: Callable[[str, str], None],
        report: Callable[[str], None],
    ) -> None:
        """`refused` is told what was refused and by which rule; `report` writes the log."""
        self._folder, self._records, self._talk = folder, records, talk
        self._options, self._refused, self._report = options, refused, report
        self._uploads: dict[str, Uploads] = {}
        self._watches: dict[str, Watch] = {}
        self._unmixable: set[Path] = set()
        """Batches that were refused since the start."""
        self.deliveries = Deliveries(folder.path / FILE, talk, tell=self._told)

    def uploads(self, pairing: PairingRecord) -> Uploads:
        """What has arrived for a plan, from the party before."""
        if pairing.plan not in self._uploads:
            made = Uploads(
                self._folder.incoming(pairing.key),
                self._folder.plan(pairing),
                pairing.hop,
                self._folder.identity,
                wanted=lambda link: self._check_wanted(pairing, link),
            )
            self._uploads.setdefault(pairing.plan, made)  # two threads may want it
        return self._uploads[pairing.plan]

    def work(self, pairing: PairingRecord) -> None:
        """Mix what has arrived, and hand on what was mixed."""
        if self._waiting(pairing) and not pairing.why:
            self._mix(pairing)
        self._pass_on(pairing)

    def rounds_to_mix(self, pairing: PairingRecord) -> set[int]:
        """Rounds of which a whole batch waits to be mixed."""
        chains = [] if pairing.why else self._waiting(pairing)
        found = (_last_link(chain) for chain in chains if chain not in self._unmixable)
        return {link.round for link in found if link is not None}

    def forget(self, pairing: PairingRecord) -> None:
        """Remove batches that nobody can mix any more, since their key is erased."""
        for chain in self._waiting(pairing):
            if chain in self._unmixable or pairing.why:
                _remove(chain)
        self.uploads(pairing).forget_unfinished()

    def stop(self) -> None:
        """End soon: give up what is being mixed, and end after the chunk that is being sent."""
        self.deliveries.stop()
        for watch in self._watches.values():
            watch.stop()

    def _check_wanted(self, pairing: PairingRecord, link: Link) -> None:
        """Refuse a new batch that could not be mixed, before a byte of it is stored."""
        self._folder.policy.limits.check_messages(link.total("out"))
        if self._records.rounds(pairing).get(link.round) is RoundState.CLOSED:
            rule = "must be a round whose key is not erased"
            raise InvalidInput("round", rule, link.round, "what was not mixed in time is lost")

    def _waiting(self, pairing: PairingRecord) -> list[Path]:
        """The chains of whole batches that have arrived."""
        chains = _chains_in(self._folder.incoming(pairing.key))
        return [chain for chain in chains if batch_beside(chain).exists()]

    def _mix(self, pairing: PairingRecord) -> None:
        with self._folder.open_store(pairing) as store:
            self._tidy(pairing, store)
        for event in self._watch(pairing).look():
            if event.happened is Happened.REFUSED:
                data = self._folder.incoming(pairing.key) / event.batch
                self._unmixable.add(chain_beside(data))
        with self._folder.open_store(pairing) as store:
            self._tidy(pairing, store)

    def _watch(self, pairing: PairingRecord) -> Watch:
        if pairing.key not in self._watches:
            self._watches[pairing.key] = Watch(
                lambda: self._folder.open_store(pairing),
                self._folder.plan(pairing),
                self._folder.incoming(pairing.key),
                self._folder.outgoing(pairing.key),
                lambda event: self._happened(pairing, event),
                replace(self._options, before=lambda link: self._ask_next(pairing, link)),
            )
        return self._watches[pairing.key]

    def _tidy(self, pairing: PairingRecord, store: MixerStore) -> None:
        """Remove batches whose output is where it is sent from, and the store's copy of that."""
        for chain in _chains_in(self._folder.incoming(pairing.key)):
            link = _last_link(chain)
            known = None if link is None else store.mixed(link.output)
            if known is not None and known.published:
                store.forget_output(known)
                _remove(chain)

    def _ask_next(self, pairing: PairingRecord, link: Link) -> None:
        """Refuse a batch that the next party has from this mixer already."""
        pairing = self._records.of_plan(pairing.plan) or pairing
        station = route_in(pairing).record.after(pairing.hop)
        if not station.url:
            return
        try:
            with closing(self._talk(station.address)) as talk:
                has_it = has_batch(talk, station, link.plan, _name_of(link))
        except InvalidInput as error:  # whatever it is, it does not say that the batch is new
            raise Unavailable(f"{station.name} does not say what it has: {error}") from None
        if has_it:
            rule = "must not have left this mixer before"
            hint = (
                f"{station.name} has it from here: this store and its anchor are older copies, and"
                " noise would be drawn twice. Nothing more of this plan is mixed"
            )
            self._records.change(pairing, why=f"round {link.round}: {rule}; {hint}")
            raise InvalidInput("batch", rule, f"round {link.round}", hint)

    def _pass_on(self, pairing: PairingRecord) -> None:
        outgoing = _chains_in(self._folder.outgoing(pairing.key))
        if not outgoing:
            return
        station = route_in(pairing).record.after(pairing.hop)
        known = {each.delivery.batch_id for each in self.deliveries.waiting()}
        received = {one.record.batch_id for one in self.deliveries.receipts(pairing.plan)}
        for chain in outgoing:
            link = _last_link(chain)
            if link is not None and _name_of(link) in received:
                _remove(chain)
            elif link is None or (_name_of(link) not in known and batch_beside(chain).exists()):
                self.deliveries.add(batch_beside(chain), chain, station)

    def _happened(self, pairing: PairingRecord, event: Event) -> None:
        name = f"a batch of the survey {pairing.survey_id}"
        if event.happened is Happened.REFUSED:
            error = event.error
            rule = f"{error.field}: {error.rule}" if isinstance(error, InvalidInput) else str(error)
            self._refused(name, rule)
        self._report(f"{name} {event.happened.value}" + (f": {event.error}" if event.error else ""))

    def _told(self, told: Told) -> None:
        name = f"batch {told.delivery.batch_id} for {told.delivery.station.name}"
        if told.problem is not None:
            self._report(f"{name} is tried again: {told.problem}")
        else:
            self._report(f"{name} has arrived")


def _name_of(link: Link) -> str:
    return batch_name(link.plan, link.round)


def _chains_in(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{CHAIN_ENDING}"))


def _last_link(chain: Path) -> Link | None:
    """What the party before has signed; None if the file is no chain."""
    try:
        links = read_chain(chain)
    except InvalidInput:
        return None
    return links[-1].record if links else None


def _remove(chain: Path) -> None:
    """Remove a batch, and its chain last: what names it stays until it is gone."""
    batch_beside(chain).unlink(missing_ok=True)
    chain.unlink(missing_ok=True)
