"""Where the pages are, and the token: made, kept, checked."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from krand.errors import InvalidInput
from krand.web.access import Address, is_same, kept_token


def test_a_token_is_new_every_time_unless_it_is_kept(tmp_path: Path) -> None:
    """Kept, it is readable by its owner only, and the next start has the same."""
    assert kept_token(None) != kept_token(None)
    assert len(kept_token(None)) >= 43
    path = tmp_path / "token"
    token = kept_token(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert kept_token(path) == token
    assert path.read_text(encoding="ascii") == f"{token}\n"


@pytest.mark.parametrize("content", ["", "short", "a" * 31, "ä" * 40, "a b" * 20])
def test_a_token_that_could_be_guessed_is_refused(tmp_path: Path, content: str) -> None:
    """An empty file must not open the pages to everybody."""
    path = tmp_path / "token"
    path.write_text(content, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(InvalidInput, match="at least 32"):
        kept_token(path)


@pytest.mark.skipif(os.name != "posix", reason="the system knows no such modes")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_token_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    """The refusal says how to mend it."""
    path = tmp_path / "token"
    path.write_text("a" * 43, encoding="utf-8")
    path.chmod(mode)
    with pytest.raises(InvalidInput, match="chmod 600"):
        kept_token(path)


def test_a_place_that_cannot_hold_a_token_is_refused(tmp_path: Path) -> None:
    """As krand refuses every such place."""
    for path in (tmp_path / "nowhere" / "token", tmp_path):
        with pytest.raises(InvalidInput) as refused:
            kept_token(path)
        assert refused.value.field == "token-file"


@pytest.mark.parametrize("given", ["", "a", "b" * 43, "ä\udcff", "a" * 44])
def test_only_the_token_is_the_token(given: str) -> None:
    """Whatever a browser may send in its place."""
    assert is_same("a" * 43, "a" * 43)
    assert not is_same(given, "a" * 43)


@pytest.mark.parametrize(
    ("host", "loopback", "home"),
    [
        ("127.0.0.1", True, "http://127.0.0.1:80/"),
        ("localhost", True, "http://localhost:80/"),
        ("::1", True, "http://[::1]:80/"),
        ("10.1.2.3", False, "http://10.1.2.3:80/"),
        ("0.0.0.0", False, "http://machine:80/"),
        ("::", False, "http://machine:80/"),
    ],
)
def test_addresses(monkeypatch: pytest.MonkeyPatch, host: str, loopback: bool, home: str) -> None:
    """Whether others can reach them, and what is printed."""
    monkeypatch.setattr("socket.gethostname", lambda: "machine")
    address = Address(host, 80, "t")
    assert address.is_loopback is loopback
    assert address.home == home
    token = "?token=t" if loopback else ""  # elsewhere it is typed
    assert address.entrance() == f"{home}{token}"
    assert Address(host, 80, "t", tls=True).home == home.replace("http:", "https:")


@pytest.mark.parametrize(
    ("bound", "asked", "ours"),
    [
        ("0.0.0.0", "10.1.2.3:8090", True),
        ("0.0.0.0", "[fe80::1]:8090", True),
        ("0.0.0.0", "machine:8090", True),
        ("0.0.0.0", "evil.example:8090", False),
        ("10.1.2.3", "10.1.2.3", True),
        ("survey.example", "survey.example:1", True),
        ("survey.example", "evil.example", False),
        ("127.0.0.1", "10.1.2.3", False),
    ],
)
def test_names_that_are_ours(
    monkeypatch: pytest.MonkeyPatch, bound: str, asked: str, ours: bool
) -> None:
    """Addresses cannot be made to point here by others; names can."""
    monkeypatch.setattr("socket.gethostname", lambda: "machine")
    assert Address(bound, 8090).is_ours(asked) is ours
