"""`krand mix`: what the operators of mixers type, from keys to the end of a round."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from krand.cli.main import krand
from krand.mixing.keys import read_descriptor
from krand.mixing.mixer import first_mix
from krand.mixing.store import MixerStore
from krand.survey.plan import Plan
from krand.terminal.output import Output
from krand.wire.keys import generate_private_key
from krand.wire.plan_signatures import check_signatures, read_signature
from mixing.chains import batch_id, mixed_plan_for, random_answers, sealed_people


def run(*arguments: str) -> Result:
    return CliRunner().invoke(krand, list(arguments))


def values(*arguments: str) -> dict[str, Any]:
    found = run(*arguments, "--json")
    assert found.exit_code == 0, found.output
    value = json.loads(found.stdout)
    assert isinstance(value, dict)
    return value


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two mixers with keys, and a plan that names them."""
    monkeypatch.chdir(tmp_path)
    for hop, rounds in ((1, 0), (2, 2)):
        values(
            *f"mix keygen --store store-{hop} --anchor anchor-{hop} --name m{hop}".split(),
            *f"--rounds {rounds} -o m{hop}.json".split(),
        )
    bare = mixed_plan_for(mixers=2).plan
    mixers = tuple(read_descriptor(f"m{hop}.json") for hop in (1, 2))
    plan = bare.mixed_by(mixers).sealed_for(generate_private_key().public_key())
    Path("plan.json").write_bytes(plan.bytes)
    return tmp_path


def plan_in(place: Path) -> Plan:
    from krand.survey.plan_file import read_plan

    return read_plan(place / "plan.json")


def test_from_keys_to_a_closed_round(place: Path) -> None:
    """Check, sign, mix, mix again with the same result, close."""
    plan = plan_in(place)
    for hop in (1, 2):
        own = f"--store store-{hop} --anchor anchor-{hop}".split()
        assert values("mix", "check", "plan.json", *own) == {"plan": plan.hash, "hop": hop}
        values("mix", "sign", "plan.json", *own, "-o", f"m{hop}.sig.json")
    check_signatures(plan, [read_signature(f"m{hop}.sig.json") for hop in (1, 2)])
    with MixerStore(place / "store-1", place / "anchor-1") as store:
        messages = sealed_people(plan, random_answers(4))
        files = first_mix(store, plan, 1, batch_id(), messages, place / "first")
    own = ["--store", "store-2", "--anchor", "anchor-2"]
    call = ("mix", "run", str(files.data), "--plan", "plan.json", *own, "-o", "mixed")
    done = values(*call)
    assert done["messages_in"] == files.link.messages_out
    assert done["messages_out"] == done["messages_in"] + done["dummies"]
    before = Path(done["batch"]).read_bytes()
    assert values(*call) == done
    assert Path(done["batch"]).read_bytes() == before
    assert values("mix", "close", "--round", "1", *own) == {"closed": 1}
    with MixerStore(place / "store-2", place / "anchor-2") as store:
        assert list(store.keys.opening) == [2]


def test_people_see_how_far_a_run_is(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar counts every message that came and every dummy, and is about as long."""
    plan, seen = plan_in(place), []

    @contextmanager
    def bar(self: Output, title: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
        seen.append(total)
        yield seen.append

    monkeypatch.setattr(Output, "counting", bar)
    with MixerStore(place / "store-1", place / "anchor-1") as store:
        messages = sealed_people(plan, random_answers(4))
        files = first_mix(store, plan, 1, batch_id(), messages, place / "first")
    own = ["--store", "store-2", "--anchor", "anchor-2", "-o", "mixed", "--workers", "1"]
    done = values("mix", "run", str(files.data), "--plan", "plan.json", *own)
    total, *steps = seen
    assert sum(steps) == done["messages_in"] + done["dummies"]
    assert abs(total - sum(steps)) < 0.2 * total


def test_people_read_what_was_done(place: Path) -> None:
    """Text instead of JSON."""
    found = run(*["mix", "check", "plan.json", "--store", "store-2", "--anchor", "anchor-2"])
    assert found.output == "This is mixer 2 of 2. The plan keeps its promise.\n"
    found = run(*["mix", "close", "--round", "2", "--store", "store-2", "--anchor", "anchor-2"])
    assert found.output == "Round 2 is closed; its key is erased.\n"


def test_keys_are_not_replaced(place: Path) -> None:
    """Neither a store nor a description."""
    for store, output in (("store-1", "new.json"), ("new", "m1.json")):
        call = f"mix keygen --store {store} --no-anchor --name m --rounds 1 -o {output}"
        found = run(*call.split())
        assert found.exit_code == 2
        assert "must not exist yet" in found.output
    assert not (place / "new").exists()


def test_a_store_without_an_anchor_is_a_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither or both are refused, and nothing is written; --no-anchor says what it means."""
    monkeypatch.chdir(tmp_path)
    call = ["mix", "keygen", "--store", "s", "--name", "m", "--rounds", "1", "-o", "m.json"]
    for choice in ([], ["--anchor", "a", "--no-anchor"]):
        found = run(*call, *choice)
        assert found.exit_code == 2
        assert "anchor: must be given, or --no-anchor, and not both" in found.output
        assert not list(tmp_path.iterdir())
    found = run(*call, "--no-anchor", "--quiet")
    assert found.exit_code == 0
    assert "restored from a copy" in found.stderr
    with MixerStore(tmp_path / "s") as store:
        assert store.name == "m"


def test_mistakes_are_named(place: Path) -> None:
    """No store, no anchor, no batch: exit code 2 and the field."""
    values("keygen", "-o", "key.pem")
    for call, field in (
        ("mix check plan.json --store nowhere", "store"),
        ("mix check plan.json --store store-2", "anchor"),
        ("mix run no.parquet --plan plan.json --store store-2 --anchor anchor-2 -o out", "batch"),
        ("tally no.parquet --plan plan.json --key key.pem -o out.json", "batch"),
    ):
        found = run(*call.split())
        assert (found.exit_code, found.output.split(":")[1].strip()) == (2, field), found.output
