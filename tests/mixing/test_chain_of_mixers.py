"""A chain of mixers with stores, for rooms whose tests still look inside."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from krand.batches.chain import chain_bytes, dummies_allowed
from krand.batches.sealed import file_sha256, write_sealed
from krand.mixing.mixer import MixedFiles, MixOptions, first_mix, mix_batch
from krand.mixing.store import MixerStore
from krand.survey.plan import Plan
from krand.wire.layers import length_at
from krand.wire.signed import sign
from mixing.chains import Party, batch_id, rows_in

ALONE = MixOptions(workers=1)


@dataclass
class Chain:
    """Three mixers with their stores, and folders for what leaves them."""

    party: Party
    stores: tuple[Path, ...]
    folder: Path

    @property
    def plan(self) -> Plan:
        return self.party.plan

    def first(
        self, messages: np.ndarray, name: str = "", round_number: int = 1, out: str = "1"
    ) -> MixedFiles:
        with MixerStore(self.stores[0]) as store:
            name = name or batch_id()
            return first_mix(
                store, self.plan, round_number, name, messages, self.folder / out, ALONE
            )

    def next(
        self, hop: int, files: MixedFiles, options: MixOptions = ALONE, out: str = ""
    ) -> MixedFiles:
        target = self.folder / (out or str(hop))
        with MixerStore(self.stores[hop - 1]) as store:
            return mix_batch(store, self.plan, files.data, files.chain, target, options)

    def forged(self, files: MixedFiles, lanes: list[tuple[int, np.ndarray]]) -> MixedFiles:
        """A lying first mixer passes these messages on; numbers in its link agree with them."""
        data, chain = self.folder / "forged.parquet", self.folder / "forged.chain.json"
        with data.open("wb") as stream:
            write_sealed(stream, length_at(self.plan, 2), files.link.batch_id, lanes)
        sizes = Counter[int]()
        for number, rows in lanes:
            sizes[number] += len(rows)
        counts = tuple(
            replace(
                before,
                dummies=(most := dummies_allowed(self.plan, lane)[1]),
                messages_out=sizes[lane.number],
                refused=before.messages_in + most - sizes[lane.number],
                repeats=0,
            )
            for lane, before in zip(self.plan.lanes, files.link.lanes, strict=True)
        )
        link = replace(
            files.link,
            lanes=counts,
            repeats=0,
            dummies=sum(one.dummies for one in counts),
            messages_out=sum(one.messages_out for one in counts),
            refused={"x": sum(one.refused for one in counts)},
            output_sha256=file_sha256(data),
        )
        chain.write_bytes(chain_bytes([sign(link, self.party.identities[0])]))
        return MixedFiles(data=data, chain=chain, link=link)


def lanes_of(files: MixedFiles) -> list[tuple[int, np.ndarray]]:
    return [
        (number, np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1))
        for number, rows in rows_in(files).items()
    ]
