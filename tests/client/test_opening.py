"""An address and a hash are enough; and what would be sent is shown before it is sent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import krand
import steps
from krand.testing import (
    MIXED_SURVEY,
    FakeChain,
    FakeCollector,
    UnsafeMemoryLedger,
    small_plan,
    small_survey,
    unsafe_exact_plan,
)
from vectors import CASES, client_of, during, plan_of, signatures_in

PLAN = steps.named(small_plan())
EXACT = steps.named(unsafe_exact_plan(small_survey()))
TWO = CASES["two mixers, second round"]


def opened(collector: FakeCollector, plan: krand.Plan, **given: Any) -> krand.Client:
    ledger = given.pop("ledger", None) or UnsafeMemoryLedger()
    return krand.Client.open(collector.url, plan.hash, ledger, transport=collector, **given)


def test_address_and_hash_are_enough() -> None:
    """Plan and signatures are fetched; with another hash, or without a signature, nothing is."""
    chain = FakeChain(krand.make_plan(krand.parse_survey(MIXED_SURVEY)))
    opened(chain.collector, chain.plan).submit({})
    assert chain.collector.people == 1
    with pytest.raises(krand.InvalidInput, match="must be one that this collector serves"):
        opened(chain.collector, PLAN)
    chain.collector.signatures = chain.signatures[1:]
    with pytest.raises(krand.InvalidInput, match="signature of mixer 1"):
        opened(chain.collector, chain.plan)


def test_any_party_tells_the_plan_and_the_collector_takes_the_answers() -> None:
    """A partner's address is enough; where the plan has none, all is at the one that was given."""
    chain = FakeChain(krand.make_plan(krand.parse_survey(MIXED_SURVEY)))
    collector, second = (mixer.url for mixer in chain.plan.mixers[:2])
    known = {"transport": chain.collector}
    client = krand.Client.open(second, chain.plan.hash, UnsafeMemoryLedger(), **known)
    assert client.url == collector != second
    assert client.submit({}) == 1
    alone = FakeCollector(PLAN, 1, steps.signed(PLAN))
    assert opened(alone, PLAN).url == alone.url


class Swapped(FakeCollector):
    """Serves something else where a plan, its signatures or the open round should stand."""

    def __init__(self, what: str, content: bytes) -> None:
        super().__init__(plan_of(TWO), 2, signatures_in(TWO["signatures"]))
        self.what, self.content = what, content

    def get(self, url: str) -> Any:
        told, ending = super().get(url), url.partition(self.plan.hash)[2].strip("/")
        return replace(told, content=self.content) if ending == self.what else told


@pytest.mark.parametrize(
    ("what", "content", "rule"),
    [
        ("", PLAN.bytes, "must have the hash that is expected"),
        ("", TWO["plan"].encode() + b"\n", "must be unchanged since it was made"),
        ("", b"[" * 10_000, "must be a plan made by krand"),
        ("signatures", b"{}", "must be a list of signatures"),
        ("signatures", b"[7]", "krand-plan-signature-1"),
        ("signatures", b"[]", "signature of mixer 1"),
        ("open", b'{"open": false, "round": 2}', "round: must be open"),
        ("open", b'{"open": true, "round": 3}', "round: must be from 1 to 2"),
        ("open", b'{"open": true, "round": 1}', "must be open by this device's clock"),
    ],
)
def test_whatever_else_stands_there_is_refused(what: str, content: bytes, rule: str) -> None:
    plan = plan_of(TWO)
    with pytest.raises(krand.InvalidInput, match=rule):
        opened(Swapped(what, content), plan, now=during(plan, 2))


def test_the_round_that_is_open_is_answered() -> None:
    """Not the first one, whatever is open."""
    plan = plan_of(TWO)
    collector = FakeCollector(plan, 2, signatures_in(TWO["signatures"]))
    client = opened(collector, plan, now=during(plan, 2))
    assert client.preview({}).round == 2
    client.submit({})
    assert [entry.round for entry in client.ledger.entries()] == [2]
    assert (collector.people, collector.refused) == (1, [])


def test_opening_is_tried_as_often_as_sending() -> None:
    class Down(FakeCollector):
        def get(self, url: str) -> Any:
            raise OSError("no network")

    collector, told = Down(PLAN), list[int]()
    with pytest.raises(krand.NotDelivered, match="in 8 attempts"):
        opened(collector, PLAN, failed=lambda each: told.append(each.attempt))
    assert (told, len(collector.waited)) == ([*range(1, 8)], 7)


class Recorder(FakeCollector):
    bodies: tuple[bytes, ...] = ()

    def post(self, url: str, body: bytes) -> Any:
        self.bodies += (body,)
        return super().post(url, body)


@pytest.mark.parametrize("case", ["every kind", "three mixers, third round", "a record"])
def test_what_is_previewed_is_what_is_sent(case: str) -> None:
    """Byte for byte, also after a look at other answers; and it says what its messages say."""
    given, plan = CASES[case], plan_of(CASES[case])
    number = given["round"]
    collector = Recorder(plan, number)
    client = client_of(given, url=collector.url, transport=collector)
    shown = client.preview(given["answers"], number)
    other = client.preview({}, number)
    again = client.preview(given["answers"], number)
    assert shown.body == again.body != other.body
    assert client.ledger.entries() == ()
    client.submit(given["answers"], number)
    assert collector.bodies == (shown.body,)
    assert shown.truth == tuple(given["true_positions"])
    assert len(shown.body) == given["submission_length"]


def test_a_preview_says_it_in_words() -> None:
    """Question and answer, what noise added and removed, how much and for whom it is sealed."""
    client = opened(Recorder(EXACT, 1, steps.signed(EXACT)), EXACT)
    shown = client.preview({"smokes": True, "pet": "dog"})
    assert shown.reported == (shown.truth,)
    told = str(shown)
    for said in ("smokes = yes: your answer", "pet = dog: your answer", "sealed for the analyst;"):
        assert said in told, told
    assert f"{len(shown.body):,} bytes" in told
    noisy = [client_of(CASES["every kind"]).preview({"smokes": True}) for _ in range(40)]
    means = {line.rpartition(": ")[2] for each in noisy for line in each.lines}
    removed = "your answer, left out because of the noise"
    assert means == {"your answer", "not your answer, added by the noise", removed}


def test_what_was_sealed_before_can_be_sent_and_not_be_read(tmp_path: Path) -> None:
    """By another program; what is shown is still what is sent. Once delivered, nothing is."""
    collector = Recorder(PLAN, 1, steps.signed(PLAN))
    first = opened(collector, PLAN, ledger=krand.Ledger(tmp_path / "ledger"))
    first.prepare({"pet": "dog"})
    later = opened(collector, PLAN, ledger=krand.Ledger(tmp_path / "ledger"))
    shown = later.preview({"pet": "cat"})
    assert (shown.truth, shown.reported, shown.lines) == (None, None, ())
    assert "nobody here can read it any more" in str(shown)
    later.submit({"pet": "cat"})
    assert collector.bodies == (shown.body,)
    with pytest.raises(krand.AlreadySubmitted):
        later.preview({"pet": "cat"})


def test_a_preview_of_a_wrong_answer_is_refused() -> None:
    client = opened(FakeCollector(PLAN, 1, steps.signed(PLAN)), PLAN)
    with pytest.raises(krand.InvalidInput, match="pet: must be one of"):
        client.preview({"pet": "bird"})
