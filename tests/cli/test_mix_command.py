"""`krand mix`: what the operators of mixers type, from keys to the end of a round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from command_line import done, refused, told
from krand.mixing.keys import read_descriptor
from krand.mixing.mixer import MixedFiles, first_mix
from krand.mixing.store import MixerStore
from krand.survey.plan import Plan
from krand.terminal.output import Output
from krand.wire.keys import generate_private_key
from krand.wire.plan_signatures import check_signatures, read_signature
from mixing.chains import batch_id, mixed_plan_for, random_answers, sealed_people

OWN = "--store store-2 --anchor anchor-2"
KEYGEN = "mix keygen --name m --rounds 1"


@pytest.fixture
def plan(here: Path) -> Plan:
    """Of two mixers, whose keys are here."""
    for hop, rounds in ((1, 0), (2, 2)):
        own = f"--store store-{hop} --anchor anchor-{hop} --name m{hop} --rounds {rounds}"
        done("mix keygen", own, f"-o m{hop}.json")
    mixers = tuple(read_descriptor(f"m{hop}.json") for hop in (1, 2))
    bare = mixed_plan_for(mixers=2).plan
    plan = bare.mixed_by(mixers).sealed_for(generate_private_key().public_key())
    Path("plan.json").write_bytes(plan.bytes)
    return plan


def first_batch(plan: Plan) -> MixedFiles:
    """What the first mixer hands on of four people."""
    with MixerStore(Path("store-1"), Path("anchor-1")) as store:
        messages = sealed_people(plan, random_answers(4))
        return first_mix(store, plan, 1, batch_id(), messages, Path("first"))


def test_from_keys_to_a_closed_round(plan: Plan) -> None:
    """Check, sign, mix, mix again with the same result, close."""
    for hop in (1, 2):
        own = f"--store store-{hop} --anchor anchor-{hop}"
        assert told("mix check plan.json", own) == {"plan": plan.hash, "hop": hop}
        done("mix sign plan.json", own, f"-o m{hop}.sig.json")
    check_signatures(plan, [read_signature(f"m{hop}.sig.json") for hop in (1, 2)])
    files = first_batch(plan)
    call = ("mix run", files.data, "--plan plan.json -o mixed", OWN)
    made = told(*call)
    assert made["messages_in"] == files.link.messages_out
    assert made["messages_out"] == made["messages_in"] + made["dummies"]
    before = Path(made["batch"]).read_bytes()
    assert told(*call) == made
    assert Path(made["batch"]).read_bytes() == before
    assert told("mix close --round 1", OWN) == {"closed": 1}
    with MixerStore(Path("store-2"), Path("anchor-2")) as store:
        assert list(store.keys.opening) == [2]


def test_people_see_how_far_a_run_is(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar counts every message that came and every dummy, and is about as long."""
    seen = []

    @contextmanager
    def bar(self: Output, title: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
        seen.append(total)
        yield seen.append

    monkeypatch.setattr(Output, "counting", bar)
    made = told("mix run", first_batch(plan).data, "--plan plan.json -o mixed --workers 1", OWN)
    total, *steps = seen
    assert sum(steps) == made["messages_in"] + made["dummies"]
    assert abs(total - sum(steps)) < 0.2 * total


def test_people_read_what_was_done(plan: Plan) -> None:
    """Text instead of JSON."""
    said = "This is mixer 2 of 2. The plan keeps its promise.\n"
    assert done("mix check plan.json", OWN).output == said
    assert done("mix close --round 2", OWN).output == "Round 2 is closed; its key is erased.\n"


def test_keys_are_not_replaced(plan: Plan) -> None:
    """Neither a store nor a description."""
    for places in ("--store store-1 -o new.json", "--store new -o m1.json"):
        assert "must not exist yet" in refused(KEYGEN, "--no-anchor", places)["rule"]
    assert not Path("new").exists()


def test_a_store_without_an_anchor_is_a_choice(here: Path) -> None:
    """Neither or both are refused, and nothing is written; --no-anchor says what it means."""
    call = f"{KEYGEN} --store s -o m.json"
    for choice in ("", "--anchor a --no-anchor"):
        error = refused(call, choice)
        rule = "must be given, or --no-anchor, and not both"
        assert (error["field"], error["rule"]) == ("anchor", rule)
        assert not list(here.iterdir())
    assert "restored from a copy" in done(call, "--no-anchor --quiet").stderr
    with MixerStore(here / "s") as store:
        assert store.name == "m"


def test_mistakes_are_named(plan: Plan) -> None:
    """No store, no anchor, no batch: exit code 2 and the field."""
    done("keygen -o key.pem")
    for line, field in (
        ("mix check plan.json --store nowhere", "store"),
        ("mix check plan.json --store store-2", "anchor"),
        (f"mix run no.parquet --plan plan.json -o out {OWN}", "batch"),
        ("tally no.parquet --plan plan.json --key key.pem -o out.json", "batch"),
    ):
        assert refused(line)["field"] == field
