"""`krand mix` and `krand pair`, as operators and organisers type them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import world
from chaos import Program, free_port
from command_line import done, refused, run, told
from golden import Golden
from partners.mixers import Mixer, Organiser

LINK = "https://mix.example.org#" + "5a" * 32


def team(at: Path) -> Path:
    """A survey that leaves open who mixes."""
    text = world.survey_file("trio").read_text("utf-8").replace("mixers = 3", "mixers = 1")
    (at / "team.toml").write_text(text, encoding="utf-8")
    return at / "team.toml"


def test_a_text_to_copy_asks_a_partner_for_help(tmp_path: Path, golden: Golden) -> None:
    """It says what to run and what to send back; the command is tried by the next test."""
    team(tmp_path)
    first = told("pair team.toml", at=tmp_path)
    assert told("pair team.toml", at=tmp_path) == first
    golden("ask-a-partner", first["text"], hide={first["identity"]: "IDENTITY"})


def test_three_parties_by_commands(tmp_path: Path) -> None:
    """The line that krand mix prints is what krand pair takes; requests are accepted by number."""
    team(tmp_path)
    port = free_port()
    words = f"mix university --name University --local --listen 127.0.0.1:{port} --json"
    with Program(words, errors=tmp_path / "log", at=tmp_path) as university:
        university.wait("serving")
        (link,) = re.findall(r"http://\S+#[0-9a-f]{64}", university.said())
        pairing = f"pair team.toml {link} --local --no-wait --json"
        waits = run(pairing, at=tmp_path)
        assert (waits.exit_code, "its operator has to accept it" in waits.output) == (75, True)
        shown = university.wait("waiting")
        (listed,) = told("mix university accept", at=tmp_path)["waiting"]
        assert listed == {key: shown[key] for key in listed}
        assert shown["link"] in waits.output
        said = done("mix university accept", at=tmp_path).output
        assert all(text in said for text in (shown["link"], shown["title"], "accept 1", "ε = 1"))
        done("mix university accept 1", at=tmp_path)
        plan = told("pair team.toml --local", at=tmp_path)["plan"]
        university.wait("signed")
        status = told("mix university --status", at=tmp_path)
        assert [each["state"] for each in status["requests"]] == ["SIGNED"]
        assert [each["plan"] for each in status["surveys"]] == [plan]
    assert told("pair team.toml --local", at=tmp_path)["plan"] == plan
    again = refused("mix university --name Other", at=tmp_path)
    assert again["field"] == "name"


def test_requests_are_decided_while_no_mixer_runs(tmp_path: Path) -> None:
    """The same words, by whoever has the folder."""
    (tmp_path / "mixer").mkdir(mode=0o700)
    site = 'name = "mixer"\nfolder = "."\nroles = ["mixer"]\naddress = "https://mixer.example"\n'
    (tmp_path / "mixer" / "site.toml").write_text(site, encoding="utf-8")
    mixer = Mixer(tmp_path / "mixer")
    for _ in range(2):
        mixer.asked(Organiser().keys_request())
    mixer.close()
    assert len(told("mix accept", at=tmp_path)["waiting"]) == 2
    assert told("mix accept 1", at=tmp_path)["state"] == "READY"
    assert told('mix refuse 2 --reason "no time"', at=tmp_path)["reason"] == "no time"
    assert "No request waits." in done("mix accept", at=tmp_path).output
    shown = done("mix --status", at=tmp_path).output
    assert "accepted; no signed plan yet" in shown
    assert "refused: no time" in shown
    assert refused("mix accept 2", at=tmp_path)["field"] == "number"


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ("mix", "name"),
        ("mix --name University", "url"),
        ("mix --name University --url http://mix.example.org", "url"),
        ("mix --name University --url https://10.0.0.1", "url"),
        ("mix --name University --url https://mix.example.org --listen 8080", "listen"),
        ("mix nowhere accept", "folder"),
        ("pair team.toml https://mix.example.org", "link"),
        (f"pair team.toml {LINK}", "url"),
        (f"pair team.toml {LINK} {LINK} --url https://council.example", "link"),
        (f"pair team.toml {LINK} --url https://council.example:8443", "url"),
        (f"pair team.toml {LINK} --analyst me", "analyst"),
    ],
)
def test_what_is_refused(tmp_path: Path, words: str, field: str) -> None:
    team(tmp_path)
    assert refused(words, at=tmp_path)["field"] == field
    assert not (tmp_path / "mixer").exists()


def test_the_first_run_writes_a_site_file(tmp_path: Path) -> None:
    """Which says how to accept organisations without being asked."""
    words = "mix b --name B --url https://mix.example.org --listen 127.0.0.1:0 --json"
    with Program(words, errors=tmp_path / "log", at=tmp_path) as mixer:
        mixer.wait("serving")
        assert "https://mix.example.org#" in mixer.said()
    text = (tmp_path / "b" / "site.toml").read_text(encoding="utf-8")
    assert 'address = "https://mix.example.org"' in text
    decided = text.replace("# [", "[").replace("# accept", "accept").replace("# org", "org")
    decided = decided.replace("# largest", "largest").replace("0123…", "5a" * 32)
    (tmp_path / "b" / "site.toml").write_text(decided, encoding="utf-8")
    assert told("run b/site.toml --check", at=tmp_path)["surveys"] == []
