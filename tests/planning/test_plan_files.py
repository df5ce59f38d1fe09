"""A plan is its file; whoever takes one finds out whether it promises what its noise gives."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

import krand
import steps
import world
from command_line import done, refused, run
from forge import canonical
from krand.testing import UnsafeMemoryLedger

KEY = krand.generate_private_key()


def quieter(at: Path, name: str = "tiny", sealed: bool = True) -> Path:
    """A plan with the noise of a weaker promise for the survey itself."""
    true = json.loads(world.plan_file(name).read_bytes())
    asked = world.survey_file(name).read_text(encoding="utf-8").replace("= 8.0", "= 12.0")
    less = krand.make_plan(krand.parse_survey(asked))
    values = json.loads((steps.named(less, KEY) if sealed else less).bytes)
    values["survey"] = true["survey"]
    (at / "plan.json").write_bytes(canonical(values))
    return at / "plan.json"


COMMANDS = (
    "randomize people.csv -o out",
    "tally responses.parquet -o out",
)


def test_no_command_takes_a_plan_with_less_noise_than_it_promises(tmp_path: Path) -> None:
    """Exit code 2 and what was asked for, before anything is written; though a true plan of the
    same survey has been checked in this process."""
    done(f"tally {world.responses('tiny')} --plan {world.plan_file('tiny')} -o t.json", at=tmp_path)
    quieter(tmp_path)
    (tmp_path / "people.csv").write_text("fair\nyes\n", encoding="utf-8")
    for command in COMMANDS:
        error = refused(f"{command} --plan plan.json", at=tmp_path)
        for words in ("must have noise that keeps its survey's policy", "asked for δ = 0.01"):
            assert words in error["message"], f"{command}: {error['message']}, not {words!r}"
    assert not (tmp_path / "out").exists()
    assert run("verify plan.json", at=tmp_path).exit_code == 1


def test_no_function_takes_such_a_plan_either(tmp_path: Path) -> None:
    plan = krand.read_plan(quieter(tmp_path, sealed=False))
    tally = replace(
        krand.tally_responses(world.plan("tiny"), [world.responses("tiny")]), plan_hash=plan.hash
    )
    calls: list[Callable[[], object]] = [
        lambda: krand.randomize_table(plan, world.table("tiny", 20), tmp_path / "out.parquet"),
        lambda: krand.make_results(plan, tally),
    ]
    for call in calls:
        with pytest.raises(
            krand.InvalidInput, match="must have noise that keeps its survey's policy"
        ):
            call()
    assert not (tmp_path / "out.parquet").exists()


def test_room_for_too_few_messages_breaks_the_promise(tmp_path: Path) -> None:
    """What does not fit, of 20,000 people, takes more than is left of δ."""
    values = json.loads(world.plan_file("kinds").read_bytes())
    values["lanes"][-1]["messages"] -= 3
    (tmp_path / "plan.json").write_bytes(canonical(values))
    (tmp_path / "people.csv").write_text("smokes\nyes\n", encoding="utf-8")
    error = refused("randomize people.csv -o out --plan plan.json", at=tmp_path)
    assert "must have noise that keeps its survey's policy" in error["message"], error


MOVED: dict[str, tuple[str, dict[str, Any]]] = {
    "lanes[1].offset": ("tiny", {"offset": 2}),
    "lanes[1].positions": ("tiny", {"positions": 2}),
    "lanes[1].block": ("tiny", {"block": "fair"}),
    "lanes[0].messages": ("trio", {"messages": 2}),
    "lanes[0].law": ("trio", {"law": 9}),
    "lanes[0].padding": ("trio", {"padding": 1}),
}


@pytest.mark.parametrize("field", MOVED)
def test_lanes_are_those_of_survey_and_noise_for_who_reads_them(field: str, tmp_path: Path) -> None:
    """A device too: field, rule and value."""
    name, change = MOVED[field]
    values = json.loads(world.plan_file(name).read_bytes())
    number = int(field[6])
    values["lanes"][number] |= change
    (tmp_path / "plan.json").write_bytes(canonical(values))
    with pytest.raises(krand.InvalidInput) as caught:
        krand.read_plan(tmp_path / "plan.json")
    (value,) = change.values()
    assert (caught.value.field, caught.value.value) == (field, value)


def test_noise_is_that_of_its_survey_for_who_reads_it(tmp_path: Path) -> None:
    """As many numerators as questions, one for whole records; every law once, and used."""
    for name, field, wrong in (
        ("tiny", "numerators", lambda noise: noise[:-1]),
        ("copies", "numerators", lambda noise: [noise[0] + 1, *noise[1:]]),
        ("trio", "laws", lambda laws: [*laws, laws[0]]),
        ("mixers", "laws", lambda laws: [*laws[:-1], laws[0]]),
        ("tiny", "mixers", lambda _: [asdict(krand.Mixer(name="a", identity="ab" * 32))]),
    ):
        values = json.loads(world.plan_file(name).read_bytes())
        values[field] = wrong(values[field])
        (tmp_path / "plan.json").write_bytes(canonical(values))
        with pytest.raises(krand.InvalidInput) as caught:
            krand.read_plan(tmp_path / "plan.json")
        assert caught.value.field == field, (name, caught.value)


def test_a_device_pins_the_hash_of_the_plan(tmp_path: Path) -> None:
    """The published hash is enough; another is an error with both."""
    plan = steps.named(world.plan("tiny"), KEY)
    steps.device(plan, expected_hash=plan.hash.upper())
    other = krand.read_plan(quieter(tmp_path))
    with pytest.raises(krand.InvalidInput) as caught:
        steps.device(other, expected_hash=plan.hash)
    assert plan.hash in caught.value.rule
    assert caught.value.value == other.hash


def test_without_parties_nothing_is_collected(tmp_path: Path) -> None:
    """A client says how to make the plan; a table needs none. They make another plan."""
    plan = world.plan("tiny")
    with pytest.raises(krand.InvalidInput, match="with_parties"):
        krand.Client(plan, UnsafeMemoryLedger(), expected_hash=plan.hash)
    values = json.loads(steps.named(plan, KEY).bytes)
    for dropped in ({"mixers": []}, {"mixers": values["mixers"], "analyst": None}):
        changed = {key: each for key, each in {**values, **dropped}.items() if each is not None}
        (tmp_path / "half.json").write_bytes(canonical(changed))
        with pytest.raises(krand.InvalidInput, match="mixers: must be there together with"):
            krand.read_plan(tmp_path / "half.json")
    made = krand.randomize_table(plan, world.table("tiny", 20), tmp_path / "responses.parquet")
    assert made.people == 20
    sealed = [steps.named(plan, key) for key in (KEY, krand.generate_private_key())]
    assert len({plan.hash, *(each.hash for each in sealed)}) == 3


@pytest.mark.parametrize("key", ["", "00" * 31, "zz" * 32, "AB" * 32, 5, "00" * 32])
def test_a_key_that_is_none_is_refused(key: object, tmp_path: Path) -> None:
    """32 bytes in hexadecimal, written in one way; what is sealed for the last one all can open."""
    values = json.loads(steps.named(world.plan("tiny")).bytes)
    values["analyst"]["key"] = key
    (tmp_path / "plan.json").write_bytes(canonical(values))

    def taken() -> object:
        return steps.device(krand.read_plan(tmp_path / "plan.json"))

    with pytest.raises(krand.InvalidInput):
        taken()


@pytest.mark.parametrize("name", ["tiny", "trio", "copies"])
def test_a_plan_is_its_file(name: str, tmp_path: Path) -> None:
    """Canonical JSON; its hash is what `sha256sum` prints; what was planned again is the same."""
    content = world.plan_file(name).read_bytes()
    plan = krand.read_plan(world.plan_file(name))
    assert plan.bytes == content == canonical(json.loads(content))
    assert plan.hash == hashlib.sha256(content).hexdigest()
    assert plan == world.plan(name)
    done("plan", world.survey_file(name), "-o plan.json", at=tmp_path)
    assert (tmp_path / "plan.json").read_bytes() == krand.make_plan(world.survey(name)).bytes


TOUCHED: dict[str, Callable[[bytes], bytes]] = {
    "a line end": lambda text: text + b"\n",
    "a space": lambda text: text.replace(b'"messages":', b'"messages": '),
    "the last byte": lambda text: text[:-1],
    "another format": lambda text: text.replace(b"krand-plan-1", b"krand-plan-2"),
    "a list": lambda _: b"[]",
    "no text": lambda _: b"\xff",
    "nothing": lambda _: b"null",
    "nothing at all": lambda _: b"",
    "another key": lambda text: text.replace(b'"delta":', b'"gamma":', 1),
    "another place": lambda text: text.replace(b'"offset":1', b'"offset":2'),
}


@pytest.mark.parametrize("how", TOUCHED)
def test_a_plan_that_was_touched_is_refused(how: str, tmp_path: Path) -> None:
    """Down to the last byte: a plan is what its hash says."""
    changed = TOUCHED[how](world.plan_file("tiny").read_bytes())
    assert changed != world.plan_file("tiny").read_bytes()
    (tmp_path / "plan.json").write_bytes(changed)
    with pytest.raises(krand.InvalidInput) as caught:
        krand.read_plan(tmp_path / "plan.json")
    if how == "another format":
        assert "it was made by another version of krand" in str(caught.value)


def test_weights_of_dummies_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    """A mixer that draws from them would draw something else than was promised."""
    values = json.loads(world.plan_file("trio").read_bytes())
    law = values["laws"][0]
    law[1] = str(int(law[1]) + 1)
    (tmp_path / "plan.json").write_bytes(canonical(values))
    with pytest.raises(krand.InvalidInput, match="2\\^63"):
        krand.read_plan(tmp_path / "plan.json")


def test_a_plan_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(krand.InvalidInput, match="plan"):
        krand.read_plan(tmp_path / "none.json")
