"""`krand verify`: what is true holds, and whatever was made worse is caught by name."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from collecting import exact_plan, submitted
from command_line import done, refused, run
from krand.analysis.checks import State, differences, same, state_of
from krand.analysis.results import Results, ResultsOptions, make_results
from krand.analysis.tally import Tally
from krand.batches.chain import Manifest, manifest_bytes
from krand.cli.exit_codes import CHECK_FAILED
from krand.collector.opening import config_of, open_spool
from krand.collector.release import release_sealed
from krand.planning.checking import not_below
from krand.planning.mechanisms.devices import planned_from
from krand.promise import Linkage
from krand.survey.canonical import canonical_json, sha256_of
from krand.survey.plan import FORMAT as PLAN_FORMAT
from krand.survey.plan import Plan
from krand.wire.keys import read_signing_key
from plans import numerators_of
from report.examples import Example, bit_example, record_example, refused_example

pytestmark = pytest.mark.usefixtures("remembered", "here")
Edit = Callable[[dict[str, Any]], object]


HERE = Path()
TALLY = "tally.json --plan plan.json"


def checks(*words: object, code: int = 0) -> dict[str, str]:
    """The state of every check of the last file, by name."""
    result = run("verify", *words, "--json")
    assert result.exit_code == code, result.output
    found = json.loads(result.stdout)
    assert (found["state"] == "failed") == (code == CHECK_FAILED)
    last = found["files"][-1]
    assert last["state"] == state_of(State(entry["state"]) for entry in last["checks"])
    assert all(entry["says"] for entry in last["checks"])
    return {entry["name"]: entry["state"] for entry in last["checks"]}


def failing(*words: object) -> set[str]:
    """The checks that fail; there must be some."""
    found = checks(*words, code=CHECK_FAILED)
    return {name for name, state in found.items() if state == "failed"}


def edited(example: Example, edit: Edit) -> str:
    """The name of a file with its results, edited."""
    values = example.values
    edit(values)
    Path("results.json").write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
    return "results.json"


# --- what is true ----------------------------------------------------------------------------


@pytest.mark.check
@pytest.mark.parametrize("example", [bit_example, record_example])
def test_what_krand_wrote_holds(example: Callable[[], Example]) -> None:
    """A plan, its tally and its results, together: every check, and the results come out again."""
    example().write(HERE)
    files = "plan.json tally.json results.json"
    found = checks(files)
    for name in ("plan_hash", "same_plan", "plan.promise", "promise", "counts", "from_tally"):
        assert found[name] == "passed"
    text = done("verify", files).stdout
    assert "✗" not in text
    assert " 0 failed, and 5 could not be made." in text
    assert done("verify", files, "--quiet").output == ""


@pytest.mark.check
def test_results_alone_are_enough() -> None:
    """The plan is inside; with the tally, nothing else is needed either."""
    record_example().write(HERE)
    alone = checks("results.json")
    missing = {name for name, state in alone.items() if state == "not_checked"}
    assert missing == {"same_plan", "from_tally", "provenance", "counted_again"}
    assert checks("tally.json results.json")["from_tally"] == "passed"


def test_a_plan_file_tells_its_name() -> None:
    """The same hash as sha256sum prints."""
    example = record_example()
    example.write(HERE)
    text = done("verify plan.json").stdout.replace("\n", "")
    assert hashlib.sha256(example.plan.bytes).hexdigest() in text
    assert set(checks("plan.json")) == {
        *("canonical", "survey", "positions", "noise", "precision", "messages"),
        *("shifts", "nothing_else", "promise", "policy"),
    }


@pytest.mark.check
def test_honest_results_of_a_broken_promise_fail_by_its_policy_alone() -> None:
    """They say themselves that the promise is not kept; a program is told by the exit code."""
    refused_example().write(HERE)
    assert failing("results.json") == {"policy"}
    text = run("verify results.json").stdout
    assert "✗ failed" in text
    assert " 1 failed" in text


# --- a plan made worse -----------------------------------------------------------------------


def plan_values(example: Example) -> dict[str, Any]:
    return json.loads(example.plan.bytes)


def less_noise(example: Example) -> dict[str, Any]:
    """A plan with nine tenths of the noise and everything that follows, but the old promise."""
    plan = example.plan
    less = tuple(numerator * 9 // 10 for numerator in numerators_of(plan))
    return json.loads(planned_from(plan.survey, less, plan.promise).bytes)


PLAN_EDITS: list[tuple[set[str], Edit]] = [
    ({"promise"}, lambda v: v["promise"].update(delta=v["promise"]["delta"] / 2)),
    ({"promise"}, lambda v: v["promise"].update(eta=v["promise"]["eta"] * 0.9)),
    ({"promise"}, lambda v: v["promise"].update(local_epsilon=1.0)),
    ({"promise"}, lambda v: v["promise"].update(epsilon=0.1)),
    ({"promise"}, lambda v: v["promise"].update(crowd=10**9)),
    ({"promise"}, lambda v: v["promise"]["assumptions"].pop()),
    ({"precision"}, lambda v: v["blocks"][0].update(sigma=1.0)),
    (
        {"precision", "nothing_else"},
        lambda v: v["blocks"][0].update(margins=[{"question": "x"}]),
    ),
    ({"messages"}, lambda v: v.update(messages=1)),
    ({"messages"}, lambda v: v.update(overflow=1e-9)),
    ({"messages", "nothing_else"}, lambda v: v.pop("overflow")),
    ({"shifts"}, lambda v: v["shifts"][0].update(too_high=0.5)),
    ({"shifts", "nothing_else"}, lambda v: v.pop("shifts")),
    ({"nothing_else"}, lambda v: v.update(more=1)),
    ({"positions"}, lambda v: v["blocks"][0].update(most_ones=7)),
    ({"positions"}, lambda v: v["blocks"].pop()),
    ({"noise"}, lambda v: v["blocks"][0].update(noise_numerator=0)),
    ({"noise"}, lambda v: v["blocks"][0].update(noise_numerator=1)),
    ({"survey"}, lambda v: v["survey"].update(copies=0)),
]


@pytest.mark.parametrize(("expected", "edit"), PLAN_EDITS)
def test_an_edited_plan_is_caught(expected: set[str], edit: Edit) -> None:
    """By the check of what was edited and no other; the file is as canonical as any.

    A bound may be stated a few percent above the true one, so a little less is still true.
    """
    values = plan_values(record_example())
    edit(values)
    Path("plan.json").write_bytes(canonical_json(values))
    assert failing("plan.json") == expected


def test_less_noise_than_promised_is_caught() -> None:
    """Everything else follows from the smaller noise; the promise does not, nor is it enough."""
    for example in (bit_example(), record_example()):
        Path("plan.json").write_bytes(canonical_json(less_noise(example)))
        assert failing("plan.json") == {"promise", "policy"}


def test_a_plan_with_another_line_end_has_another_name() -> None:
    """Every byte counts; and the plan that was given is the one that must be found."""
    example = record_example()
    Path("plan.json").write_bytes(example.plan.bytes)
    Path("other.json").write_bytes(example.plan.bytes + b"\n")
    assert failing("other.json") == {"canonical"}
    Path("bit.json").write_bytes(bit_example().plan.bytes)
    assert failing("bit.json --plan plan.json") == {"same_plan"}


# --- results made worse ----------------------------------------------------------------------


def other_people(values: dict[str, Any]) -> None:
    """Everywhere, as somebody would who wants the crowd to look larger."""
    values.update(people=values["people"] * 2, crowd=values["crowd"] * 2)
    for question in values["questions"]:
        question["people"] = values["people"]


def without_assumption(values: dict[str, Any]) -> None:
    values["promise"]["assumptions"].pop(0)


EDITS: list[tuple[str, Edit]] = [
    ("promise", lambda v: v["promise"].update(delta=v["promise"]["delta"] / 10)),
    ("promise", lambda v: v["promise"].update(eta=v["promise"]["eta"] / 10)),
    ("promise", lambda v: v["promise"].update(local_epsilon=0.5)),
    ("promise", without_assumption),
    ("promise", lambda v: v.update(rejected={"wrong_length": 9})),
    ("plan_hash", lambda v: v["plan"]["blocks"][0].update(noise_numerator=2**20)),
    ("crowd", lambda v: v.update(crowd=v["crowd"] // 2)),
    ("standard_errors", other_people),
    ("shares", other_people),
    ("coalitions", lambda v: v["coalitions"].pop()),
    ("coalitions", lambda v: v["coalitions"][1].update(delta=v["coalitions"][1]["delta"] / 2)),
    ("coalitions", lambda v: v["coalitions"][-1].update(epsilon=1.0)),
    ("coalitions", lambda v: v["coalitions"][-1].update(remains="promise")),
]


@pytest.mark.parametrize(("expected", "edit"), EDITS)
@pytest.mark.parametrize("example", [record_example, bit_example])
def test_edited_results_are_caught(
    example: Callable[[], Example], expected: str, edit: Edit
) -> None:
    """By the check of what was edited, in both linkages.

    Changes of single values that some check must always find are all tried by `test_forgeries`.
    """
    assert expected in failing(edited(example(), edit))


TABLE = ResultsOptions(joint=(("smokes", "colour"),))


def swapped(tally: Tally, bit: int) -> Tally:
    """As if those who reported nothing had reported one bit (of value `bit`), and those nothing."""
    table, counts = tally.table.copy(), tally.counts.copy()
    table[0], table[bit] = tally.table[bit], tally.table[0]
    counts[-bit.bit_length()] += int(tally.table[0] - tally.table[bit])
    return replace(tally, table=table, counts=counts)


def forged_results(plan: Plan, tally: Tally) -> Results:
    """Made by somebody's own program, which leaves out the checks of the tally."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("krand.analysis.results.check_tally", lambda *_: None)
        return make_results(plan, tally, TABLE)


def test_cells_of_records_must_add_up_to_their_questions() -> None:
    """A table of whole records that comes from other responses is whole; its sums are not right."""
    example = record_example()
    forged = forged_results(example.plan, swapped(example.tally, 8))

    def edit(values: dict[str, Any]) -> None:
        values["joint"][0] = json.loads(json.dumps(forged.values()))["joint"][0]

    assert failing(edited(example, edit)) == {"joint_tables"}


def test_a_table_that_was_asked_for_must_be_there() -> None:
    """Without it the questions of a group cannot be checked either."""
    found = failing(edited(bit_example(), lambda v: v["joint"].clear()))
    assert found == {"counts", "joint_tables"}


def test_a_count_moved_to_another_possible_one_needs_all_its_numbers_moved() -> None:
    """One report more is possible; share and intervals then give it away."""
    example = bit_example()
    step = 1 / (1 - 2 * example.plan.blocks[-1].noise)

    def edit(values: dict[str, Any]) -> None:
        row = values["questions"][-1]["rows"][0]
        row["count"] += step

    assert failing(edited(example, edit)) == {"shares", "intervals", "consistent"}


def test_messages_that_nobody_sent_are_caught() -> None:
    """Everybody sends as many as the plan says; one more or less belongs to nobody."""
    example = bit_example()
    example.write(HERE)
    for more in (1, -1):
        tally = replace(example.tally, nulls=example.tally.nulls + more)
        nulls = tally.lane_nulls.copy()
        nulls[0] += more
        tally = replace(tally, lane_nulls=nulls)
        tally.save("tally.json")
        assert "counts" in failing(TALLY)


def test_results_forged_throughout_are_caught_by_their_tally() -> None:
    """Whole results of other counts hold by themselves; beside the tally they do not."""
    example = record_example()
    example.write(HERE)
    forged_results(example.plan, swapped(example.tally, 1)).save("results.json")
    checks("results.json")
    assert failing("tally.json results.json") == {"from_tally"}


def test_results_with_less_noise_inside_are_caught() -> None:
    """The hash is that of the edited plan, so nothing but the promise is left to give it away."""

    def edit(values: dict[str, Any]) -> None:
        values["plan"] = less_noise(record_example())
        values["plan_hash"] = sha256_of(values["plan"])

    found = failing(edited(record_example(), edit))
    assert {"plan.promise", "plan.policy", "promise", "policy", "standard_errors"} <= found
    assert "plan_hash" not in found


# --- tallies ---------------------------------------------------------------------------------

TALLY_EDITS: list[tuple[str, dict[str, Any]]] = [
    ("plan", {"plan_hash": "0" * 64}),
    ("round", {"round": 2}),
    ("crowd", {"crowd": 10}),
    ("crowd", {"batches": ("a", "a")}),
    ("counts", {"responses": 150_001}),
    ("counts", {"people": 49_999, "crowd": 49_999}),
    ("policy", {"rejected": {"wrong_length": 40_000}}),
]


@pytest.mark.parametrize(("expected", "change"), TALLY_EDITS)
def test_an_edited_tally_is_caught(expected: str, change: dict[str, Any]) -> None:
    """By the check of what was edited."""
    example = record_example()
    example.write(HERE)
    replace(example.tally, **change).save("tally.json")
    assert expected in failing(TALLY)


@pytest.mark.parametrize("part", ["counts", "table", "histogram"])
def test_counts_of_records_must_agree(part: str) -> None:
    """Bits, vectors and the histogram are three views of the same responses."""
    example = record_example()
    example.write(HERE)
    values = example.tally.values()
    values[part][1] += 1
    Path("tally.json").write_text(json.dumps(values), encoding="utf-8")
    assert failing(TALLY) == {"counts"}


# --- batches ---------------------------------------------------------------------------------

CROWD = 30


@pytest.fixture
def batch(here: Path) -> Path:
    """The manifest of a released batch; plan, keys and the batch itself beside it."""
    plan = exact_plan(CROWD, Linkage.BIT)
    plan.save("plan.json")
    for name in ("collector", "other"):
        done(f"keygen --signing -o {name}.pem")
    signer, shape = read_signing_key("collector.pem", None), config_of(plan).format
    with open_spool(plan, here / "spool") as spool:
        spool.add([submitted(number, shape) for number in range(CROWD)])
        spool.close_batch()
        (released,) = release_sealed(spool, here / "out", signer)
    return released.manifest


OF_BATCH = "--plan plan.json --collector-key collector.pub.pem"


def test_a_released_batch_holds(batch: Path) -> None:
    """Signature, plan, crowd, and the file beside it."""
    assert set(checks(batch, OF_BATCH)) == {
        *("signature", "plan", "round", "crowd", "messages", "batch_hash", "batch_shape"),
    }


def test_one_byte_of_a_batch_is_caught(batch: Path) -> None:
    """By its hash alone: a message looks like any other."""
    data = batch.parent / batch.name.replace(".manifest.json", ".parquet")
    content = bytearray(data.read_bytes())
    content[100] ^= 1
    data.write_bytes(content)
    assert failing(batch, OF_BATCH) == {"batch_hash"}
    data.write_bytes(content[:50])
    assert failing(batch, OF_BATCH) == {"batch_hash", "batch_shape"}
    data.unlink()
    assert failing(batch, OF_BATCH) == {"batch_hash"}


def test_another_key_is_caught(batch: Path) -> None:
    """Whoever else signs is not the collector."""
    assert failing(batch, OF_BATCH.replace("collector.pub", "other.pub")) == {"signature"}


def test_an_edited_manifest_is_caught(batch: Path) -> None:
    """More people than came: the signature gives it away."""
    values = json.loads(batch.read_bytes())
    values["submissions"] += 1
    batch.write_bytes(canonical_json(values))
    assert "signature" in failing(batch, OF_BATCH)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"plan": "0" * 64}, {"plan"}),
        ({"round": 2}, {"round"}),
        ({"submissions": CROWD - 1}, {"crowd", "messages"}),
        ({"submissions": 10 * CROWD}, {"messages"}),
        ({"messages": 0}, {"messages", "batch_shape"}),
        ({"batch_sha256": "0" * 64}, {"batch_hash"}),
    ],
)
def test_a_collector_that_signs_nonsense_is_caught(
    batch: Path, change: dict[str, Any], expected: set[str]
) -> None:
    """The signature holds; what it is for does not."""
    values = json.loads(batch.read_bytes())
    del values["signature"], values["format"]
    key = read_signing_key("collector.pem", None)
    batch.write_bytes(manifest_bytes(Manifest(**{**values, **change}), key))
    assert failing(batch, OF_BATCH) == expected


# --- what cannot be checked ------------------------------------------------------------------


def test_what_is_needed_and_missing_is_named(batch: Path) -> None:
    """A tally or a manifest without a plan: exit code 2, not a check that fails."""
    assert refused("verify", batch, "--collector-key collector.pub.pem")["field"] == "plan"
    without_key = checks(batch, "--plan plan.json")
    assert [name for name, state in without_key.items() if state != "passed"] == ["signature"]
    record_example().write(HERE)
    assert refused("verify tally.json")["field"] == "plan"


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"PAR1", b"{}", b'{"format": []}', b'{"format": "krand-plan-6"}', b"[" * 10**5]
    + [b'{"format": "krand-%s-1"}' % kind for kind in (b"plan", b"results", b"manifest")]
    + [b'{"format": "krand-%s-2"}' % kind for kind in (b"plan", b"results", b"manifest")],
)
def test_files_of_no_kind_are_refused(content: bytes) -> None:
    """Also those that say what they are and are not."""
    Path("x.json").write_bytes(content)
    Path("plan.json").write_bytes(record_example().plan.bytes)
    done("keygen --signing -o collector.pem")
    found = refused("verify x.json", OF_BATCH)["field"]
    assert found in ("files", "plan", "results", "manifest")
    assert refused("verify absent.json")["field"] == "files"


def test_another_format_is_named() -> None:
    """In a plan, and in the plan inside results: what was found, and what is checked here."""
    old = plan_values(bit_example()) | {"format": "krand-plan-2"}
    Path("plan.json").write_text(json.dumps(old), encoding="utf-8")
    results = edited(bit_example(), lambda values: values.update(plan=old))
    for file in ("plan.json", results):
        said = " ".join(run("verify", file).stderr.split())
        assert "it says 'krand-plan-2'" in said
        assert PLAN_FORMAT in said


def test_results_of_another_format_are_refused_by_name() -> None:
    """Beside the formats that this krand checks."""
    path = edited(bit_example(), lambda values: values.update(format="krand-results-2"))
    error = refused("verify", path)
    assert error["field"] == "files"
    assert "it says 'krand-results-2'; this krand checks" in error["message"]


@pytest.mark.check
@pytest.mark.parametrize(
    ("example", "parts"),
    [(record_example, None), (bit_example, ("questions", "words", "joint"))],
)
def test_no_damage_ends_in_a_traceback(
    example: Callable[[], Example], parts: tuple[str, ...] | None
) -> None:
    """Whatever single value of results is replaced: a check, or a clear refusal."""
    damages = itertools.cycle([None, "x", -1, 10**30, [], {}, 0.5])
    for path in _places(example().values):
        if parts is not None and path[0] not in parts:
            continue
        for damage in itertools.islice(damages, 1 if parts else 2):
            values = example().values
            holder = values
            for step in path[:-1]:
                holder = holder[step]
            holder[path[-1]] = damage
            Path("results.json").write_text(json.dumps(values), encoding="utf-8")
            result = run("verify results.json --json")
            assert result.exit_code in (0, CHECK_FAILED, 2), (path, damage, result.output)


def _places(values: dict[str, Any]) -> list[tuple[Any, ...]]:
    """A sample of all places in the file: every name once."""
    found: dict[tuple[str, ...], tuple[Any, ...]] = {}

    def walk(value: Any, path: tuple[Any, ...]) -> None:
        if path:
            names = tuple(step for step in path if isinstance(step, str))[-2:]
            found.setdefault(names, path)
        if isinstance(value, dict):
            for name, entry in value.items():
                walk(entry, (*path, name))
        elif isinstance(value, list) and value:
            walk(value[0], (*path, 0))

    walk(values, ())
    return list(found.values())


def test_the_same_but_for_rounding() -> None:
    """What other machines change is forgiven, what matters is not."""
    assert same(1.0, 1.0 + 1e-9)
    assert not same(1.0, 1.0 + 2e-5)
    assert same(None, None)
    assert not same(None, 1.0)
    assert not_below(1e-6, 1e-6 * (1 + 1e-9))
    assert not not_below(9.9e-7, 1e-6)
    assert list(differences({"a": [1, 2]}, {"a": [1, 3]})) == ["a[1] is 2 instead of 3"]
    assert list(differences({"a": 1}, {})) == ["a is there"]
    assert list(differences([True], [1])) == ["[0] is True instead of 1"]
