"""A plan promises what its survey asks for and its noise gives; whoever takes one finds out."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from krand import Client, generate_private_key, make_results, tally_responses
from krand import __version__ as krand_version
from krand.analysis.checks import promise_check
from krand.analysis.tally import empty_tally
from krand.cli.main import krand
from krand.collector.opening import open_spool
from krand.errors import InvalidInput
from krand.notebook.surveys import promise_line
from krand.planning import checking as promises
from krand.planning import checking as remembered
from krand.planning.checking import check_promise, recompute_promise, too_good, verify_promise
from krand.planning.mechanisms.devices import planned_from
from krand.survey.canonical import canonical_json
from krand.survey.plan import Plan
from krand.survey.plan_file import parse_plan
from krand.tables.randomizing import randomize_table
from krand.testing import UnsafeMemoryLedger, simulated_table, small_plan
from krand.wire.keys import generate_signing_key, write_key_pair
from plans import numerators_of, with_rooms

KEY = generate_private_key()


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that remembers nothing."""
    monkeypatch.setattr(remembered, "_HERE", set())


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hashes of the plans whose promise is computed anew."""
    hashes: list[str] = []

    def verified(plan: Plan) -> promises.Promise:
        hashes.append(plan.hash)
        return verify_promise(plan)

    monkeypatch.setattr(promises, "verify_promise", verified)
    return hashes


def edited(plan: Plan, **sensitivity: Any) -> bytes:
    """A plan file whose promise was edited with care: it is in canonical form."""
    values = json.loads(plan.bytes)
    values["promise"].update(sensitivity)
    return canonical_json(values)


def quieter() -> Plan:
    """Half the noise, and the promise as it was."""
    plan = small_plan()
    numerators = tuple(numerator // 2 for numerator in numerators_of(plan))
    return planned_from(plan.survey, numerators, plan.promise)


@pytest.mark.parametrize("change", [{"epsilon": 0.1}, {"crowd": 10}, {"colluding": 5}])
def test_a_promise_that_is_not_the_surveys_is_refused_at_once(
    change: dict[str, Any], computed: list[str]
) -> None:
    """By whoever reads the plan, a device too: field, rule and both values; nothing is computed."""
    (name, value), *_ = change.items()
    with pytest.raises(InvalidInput) as caught:
        parse_plan(edited(small_plan(), **change))
    assert (caught.value.field, caught.value.value) == (f"promise.{name}", value)
    asked = getattr(small_plan().survey.policy, {"crowd": "minimum_crowd"}.get(name, name))
    assert str(getattr(asked, "value", asked)) in caught.value.rule
    assert not computed


def test_a_promise_below_what_the_survey_asks_for_is_refused() -> None:
    """An honest δ of .5 is no plan for a survey that asks for 1e-3."""
    with pytest.raises(InvalidInput, match="must promise what its survey asks for"):
        parse_plan(edited(small_plan(), delta=0.5))


def commands(folder: Path) -> dict[str, list[str]]:
    """Every command that takes a plan, with files that are never looked at."""
    plan = ["--plan", str(folder / "plan.json")]
    spool = ["--spool", str(folder / "spool")]
    key, out = ["--key", str(folder / "c.pem")], ["-o", str(folder / "out")]
    (folder / "answers.json").write_text("{}", encoding="utf-8")
    (folder / "tally.json").write_text(
        json.dumps(empty_tally("0" * 64, small_plan().survey.linkage, 4).values()), encoding="utf-8"
    )
    write_key_pair(generate_signing_key(), folder / "c.pem", folder / "c.pub.pem")
    tally, answers = str(folder / "tally.json"), str(folder / "answers.json")
    ledger = ["--ledger", str(folder / "ledger"), "--collector", "http://127.0.0.1:1"]
    return {
        "randomize": ["people.csv", *plan, *out],
        "submit": [answers, *plan, *ledger],
        "serve": [*plan, *spool, "--port", "0"],
        "status": [*plan, *spool],
        "release": [*plan, *spool, *key, *out],
        "tally": ["responses.parquet", *plan, *out],
        "estimate": [tally, *plan, "-o", str(folder / "x.json")],
        "verify": [tally, *plan],
    }


def test_no_command_takes_a_plan_with_less_noise_than_it_promises(
    tmp_path: Path, forgetful: None
) -> None:
    """Exit code 2 and what was claimed, before anything else is read or written."""
    quieter().sealed_for(KEY.public_key()).save(tmp_path / "plan.json")
    for name, arguments in commands(tmp_path).items():
        done = CliRunner().invoke(krand, [name, *arguments])
        assert done.exit_code == 2, (name, done.output)
        assert "must not promise more than its noise gives" in done.stderr, name
        assert "is claimed, but recomputed it is" in done.stderr, name
    assert not (tmp_path / "ledger").exists()


def test_no_function_takes_such_a_plan_either(tmp_path: Path, forgetful: None) -> None:
    """What the commands rest on, called from Python."""
    plan = quieter().sealed_for(KEY.public_key())
    people = simulated_table(plan.survey, 100, seed=1)
    good = small_plan()
    randomize_table(good, people, tmp_path / "responses.parquet")
    tally = replace(tally_responses(good, [tmp_path / "responses.parquet"]), plan_hash=plan.hash)
    calls: list[Callable[[], object]] = [
        lambda: randomize_table(plan, people, tmp_path / "out.parquet"),
        lambda: make_results(plan, tally),
        lambda: open_spool(plan, tmp_path / "spool"),
    ]
    for call in calls:
        with pytest.raises(InvalidInput, match="must not promise more than its noise gives"):
            call()
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("room", [1, 2])
def test_room_for_too_few_messages_breaks_the_promise(room: int, forgetful: None) -> None:
    """Whatever the plan claims about overflows: what follows from its lanes' messages counts."""
    plan = small_plan()
    assert plan.blocks[-1].room > room
    rooms = [*(block.room for block in plan.blocks[:-1]), room]
    with pytest.raises(InvalidInput, match="must not promise more than its noise gives"):
        check_promise(replace(with_rooms(plan, rooms), overflow=0.0))


def test_each_process_computes_a_promise_once_and_a_mixer_always(
    forgetful: None, computed: list[str]
) -> None:
    """What a mixer signs or adds noise for, it computes itself, however often it was computed."""
    plan = small_plan()
    for _ in range(3):
        check_promise(plan)
    assert computed == [plan.hash]
    recompute_promise(plan)
    assert computed == [plan.hash] * 2


def test_no_file_stands_for_a_computed_promise(
    tmp_path: Path, forgetful: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the empty file, named by the plan's hash, that once meant that it had been checked."""
    for variable in ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    plan = quieter()
    for folder in (".cache/krand/promises", "krand/promises"):
        known = tmp_path / folder / krand_version
        known.mkdir(parents=True)
        (known / plan.hash).touch()
    with pytest.raises(InvalidInput, match="must not promise more than its noise gives"):
        check_promise(plan)


def test_a_device_pins_the_plans_hash(computed: list[str]) -> None:
    """The published hash is enough, and nothing is computed; another is an error with both."""
    plan = small_plan().sealed_for(KEY.public_key())
    Client(plan, UnsafeMemoryLedger(), expected_hash=plan.hash)
    assert not computed
    other = quieter().sealed_for(KEY.public_key())
    with pytest.raises(InvalidInput) as caught:
        Client(other, UnsafeMemoryLedger(), expected_hash=plan.hash)
    assert plan.hash in caught.value.rule
    assert caught.value.value == other.hash


def test_another_key_makes_another_plan() -> None:
    """The analyst's key is under the plan's hash, and can be read back."""
    plan = small_plan()
    sealed = plan.sealed_for(KEY.public_key())
    assert parse_plan(sealed.bytes) == sealed
    assert sealed.analyst_key == KEY.public_key().public_bytes_raw().hex()
    other = plan.sealed_for(generate_private_key().public_key())
    assert len({plan.hash, sealed.hash, other.hash}) == 3


@pytest.mark.parametrize("key", ["", "00" * 31, "zz" * 32, "AB" * 32, 5])
def test_a_key_that_is_none_is_refused(key: object) -> None:
    """32 bytes in hexadecimal, written in one way."""
    values = json.loads(small_plan().bytes) | {"analyst_key": key}
    with pytest.raises(InvalidInput):
        parse_plan(canonical_json(values))


def test_a_key_of_low_order_is_refused() -> None:
    """What was sealed for it everybody could open."""
    values = json.loads(small_plan().bytes) | {"analyst_key": "00" * 32}
    plan = parse_plan(canonical_json(values))
    with pytest.raises(InvalidInput, match="low order"):
        Client(plan, UnsafeMemoryLedger(), expected_hash=plan.hash)


def test_without_a_key_nothing_is_collected(tmp_path: Path) -> None:
    """Client, submit and serve say how to make the plan; a table needs no key."""
    plan = small_plan()
    with pytest.raises(InvalidInput, match="--analyst-key"):
        Client(plan, UnsafeMemoryLedger(), expected_hash=plan.hash)
    plan.save(tmp_path / "plan.json")
    given = commands(tmp_path)
    for name in ("submit", "serve"):
        done = CliRunner().invoke(krand, [name, *given[name]])
        assert done.exit_code == 2
        assert "krand plan survey.toml --analyst-key key.pub.pem" in done.stderr
    assert not (tmp_path / "spool").exists()
    people = simulated_table(plan.survey, 100, seed=1)
    assert randomize_table(plan, people, tmp_path / "responses.parquet").people == 100


def test_what_has_no_limit_is_said_in_words() -> None:
    """Where mixers add the noise, devices add none: ε₀ is infinite, and nobody reads "inf"."""
    told = small_plan().promise
    true = replace(told, local_epsilon=math.inf)
    faults = list(too_good(told, true))
    assert len(faults) == 1
    assert faults[0].endswith("but recomputed it is unlimited")
    says = promise_check(true, true, "this crowd").says
    assert "η = " in says
    assert "inf" not in says + promise_line(true)
    assert promise_line(true).endswith("no protection if all mixers and the analyst collude")
