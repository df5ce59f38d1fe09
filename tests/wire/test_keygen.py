"""`krand keygen` makes a key pair, says what it made, and never destroys one by accident."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from krand.cli.main import krand
from krand.wire.keys import (
    fingerprint,
    read_private_key,
    read_public_key,
)


@pytest.fixture(autouse=True)
def empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(krand, ["keygen", *arguments], input=answer)


def test_a_key_pair_is_made_and_named() -> None:
    """Two files that belong together, and the fingerprint of the public one."""
    result = run("-o", "key.pem")
    assert result.exit_code == 0, result.output
    public = read_public_key(Path("key.pub.pem"))
    assert read_private_key(Path("key.pem")).public_key() == public
    for word in ("key.pem", "key.pub.pem", "not encrypted", fingerprint(public)):
        assert word in result.stdout
    assert "PRIVATE" not in result.output
    assert sorted(path.name for path in Path().iterdir()) == ["key.pem", "key.pub.pem"]


def test_programs_get_json() -> None:
    """One object with both places, the fingerprint, and whether there is a passphrase."""
    result = run("--output", "a.pem", "--json")
    assert json.loads(result.stdout) == {
        "private_key": "a.pem",
        "public_key": "a.pub.pem",
        "fingerprint": fingerprint(read_public_key(Path("a.pub.pem"))),
        "encrypted": False,
        "signing": False,
    }


def test_a_passphrase_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The private key opens with it; it is not printed."""
    monkeypatch.setenv("SOME_SECRET", "corréct horse")
    result = run("-o", "key.pem", "--passphrase-env", "SOME_SECRET", "--json")
    assert json.loads(result.stdout)["encrypted"] is True
    assert "horse" not in result.output
    read_private_key(Path("key.pem"), "corréct horse".encode())


def test_a_passphrase_can_be_typed() -> None:
    """It is asked for twice, not shown, and the question stays out of the JSON."""
    result = run("-o", "key.pem", "--passphrase", "--json", answer="horse\nhorse\n")
    assert json.loads(result.stdout)["encrypted"] is True
    assert "horse" not in result.output
    read_private_key(Path("key.pem"), b"horse")


def test_an_interrupted_question_makes_no_key() -> None:
    """No answer, no key."""
    assert run("-o", "key.pem", "--passphrase", answer="").exit_code == 130
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["-o", "key.pem", "--passphrase-env", "NOT_SET"], "passphrase-env"),
        (["-o", "key.pem", "--passphrase-env", "EMPTY"], "passphrase-env"),
        (["-o", "key.pem", "--passphrase-env", "FULL", "--passphrase"], "passphrase"),
        (["-o", "nowhere/key.pem"], "output"),
        (["-o", "."], "output"),
        (["-o", ""], "output"),
        ([], "output"),
    ],
)
def test_mistakes_are_named_and_make_no_key(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], field: str
) -> None:
    """Every mistake is the user's to mend, in JSON too, and leaves no file."""
    monkeypatch.delenv("NOT_SET", raising=False)
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.setenv("FULL", "x")
    result = run(*arguments, "--json")
    assert result.exit_code == 2
    error = json.loads(result.stdout)["error"]
    assert (error["kind"], error["field"]) == ("invalid_input", field)
    assert list(Path().iterdir()) == []


def test_a_key_is_replaced_only_by_force() -> None:
    """A second run is refused and changes nothing; with --force there is another pair."""
    run("-o", "key.pem")
    before = Path("key.pem").read_bytes(), Path("key.pub.pem").read_bytes()
    refused = run("-o", "key.pem")
    assert refused.exit_code == 2
    assert "must not exist yet" in refused.stderr
    assert (Path("key.pem").read_bytes(), Path("key.pub.pem").read_bytes()) == before
    assert run("-o", "key.pem", "--force").exit_code == 0
    assert Path("key.pem").read_bytes() != before[0]
    public = read_public_key(Path("key.pub.pem"))
    assert read_private_key(Path("key.pem")).public_key() == public
