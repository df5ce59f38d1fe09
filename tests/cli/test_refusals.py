"""What commands refuse, and with which words: one line that names the option, and nothing else.

Each table is kept as one golden text of a command: every line that is typed, and its answer.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import world
from chaos import files_in
from command_line import refused, run
from golden import Golden

PARTNER = "https://uni.example#" + "ab" * 32
OWN = "--url https://council.example"
RANDOMIZE = "randomize people.csv --plan tiny.json -o x.parquet"
INVITE = "invite plan.json --count 2 --url https://form.example/ -o x.csv"
CROWD = "--crowd 1000 --bits 5 --epsilon 1"
REFUSED = {
    "krand": [
        *("nosie", "Report", "xyzzy", "--versoin", "noise extra", "noise --crwod 3"),
        "noise --crowd 1000 --epsilon 1",
    ],
    "plan": [
        *("plan absent.toml", "plan folder", "plan survey.toml -o ''", "plan people.csv"),
        *("plan survey.toml -o nowhere/x.json", "plan mistaken.toml"),
    ],
    "import": [
        *("import absent.xlsx -o x.toml", "import people.csv -o x.toml"),
        *("import form.xlsx -o x.json", "import form.xlsx -o x.toml --noise-of nobody"),
    ],
    "invite": [
        *("invite plan.json", INVITE, INVITE.replace("plan", "invited").replace("2", "-1")),
        *(INVITE.replace("plan", "invited").replace("https", "ftp"), f"{INVITE} --mail a.csv"),
    ],
    "keygen": ["keygen people.csv", "keygen a b"],
    "randomize": [
        *("randomize absent.csv --plan tiny.json -o x.parquet", f"{RANDOMIZE} --round 2"),
        *("randomize people.csv --plan absent.json -o x.parquet", f"{RANDOMIZE} --separator ''"),
        *("randomize bad.csv --plan tiny.json -o x.parquet", f"{RANDOMIZE} --language fr"),
        *("randomize eleven.csv --plan tiny.json -o x.parquet", "randomize people.csv"),
        *("randomize folder --plan tiny.json -o x.parquet", RANDOMIZE.replace("tiny", "plan")),
        *("randomize twice.csv --plan tiny.json -o x.parquet", f"{RANDOMIZE} extra"),
    ],
    "report": [
        *("report absent.json -o x.html", "report plan.json -o x.html", "report results.json"),
        *("report results.json -o x.pdf", "report results.json -o nowhere/x.html"),
        *("report results.json -o x.html --language tlh", "report tally.json -o x.html"),
        *("report results.json -o x.html --invited 0", "report half.json -o x.html"),
        *("report results.json -o x.html --invited none.json", "report folder -o x.html"),
    ],
    "compare": [
        *("compare", "compare results.json", "compare results.json results.json"),
        *("compare tally.json tally.json", "compare results.json absent.json"),
        "compare results.json results-2.json --question nonsense",
        "compare results.json results-2.json --confidence 2",
    ],
    "verify": ["verify", "verify absent.json", "verify people.csv", "verify folder"],
    "noise": [
        *(f"noise {CROWD}", f"noise {CROWD} --delta 1e-6 --eta .1", f"noise {CROWD} --delta 2"),
        *(f"noise {CROWD} --delta 1e-6 --linkage both", f"noise {CROWD} --delta 1e-6 --copies 0"),
        f"noise {CROWD} --delta 1e-6 --max-set-bits 6",
        "noise --crowd 1 --bits 5 --epsilon 1 --delta 1e-6",
        "noise --crowd 1000 --bits 0 --epsilon 1 --delta 1e-6",
        "noise --crowd 1000 --bits 5 --epsilon -1 --delta 1e-6",
    ],
    "privacy": [
        *(f"privacy {CROWD}", f"privacy {CROWD} --noise .5", f"privacy {CROWD} --noise 0"),
        f"privacy {CROWD} --noise .1 --rounds 0",
    ],
    "demo": [
        *("demo -o .", "demo --seed -1 -o shown", "demo --seed 18446744073709551616 -o shown"),
        *("demo --survey absent.toml -o shown", "demo --crowd 0 -o shown", "demo --crowd 1e13"),
    ],
    "run": [
        *("run absent.toml", "run empty.toml", "run people.csv", "run mistaken.toml"),
        *("run site.toml", "run site.toml --port 8080", "run tiny.toml", "run tiny.toml --close"),
        *("run tiny.toml --erase", "run survey.toml --check --end", "run two.toml --port 99999"),
    ],
    "mix": [
        *("mix", "mix --name uni", "mix --name uni --url http://uni.example"),
        *("mix --name uni --url https://10.0.0.1", "mix --name uni --url https://uni.example:444"),
        *("mix --name ' uni' --url https://uni.example", f"mix --name {'x' * 101} {OWN}"),
        *(f"mix --name uni {OWN} --listen here", f"mix --name uni {OWN} --listen 0.0.0.0:8080"),
        *("mix accept 3", "mix accept no", "mix refuse", "mix folder --status", "mix --tls-key a"),
    ],
    "pair": [
        *("pair absent.toml", f"pair mistaken.toml {PARTNER}", f"pair two.toml {PARTNER[:-1]}"),
        *(
            "pair two.toml missing.json",
            f"pair two.toml {PARTNER.replace('uni.example', '10.0.0.1')}",
        ),
        *(f"pair two.toml {PARTNER.replace('https', 'http')}", f"pair two.toml {PARTNER}"),
        f"pair two.toml {PARTNER.replace('#', ':444#')}",
        f"pair two.toml {PARTNER} {PARTNER} {OWN}",
        f"pair survey.toml {PARTNER} {PARTNER} {OWN}",
        f"pair two.toml {PARTNER} --url http://council.example",
        f"pair tiny.toml {PARTNER} {OWN}",
        *("pair two.toml --analyst institute", f"pair two.toml --analyst {PARTNER}"),
    ],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything of weeks, of tiny what a table needs, and files that are not what they should."""
    at = world.files("weeks", tmp_path_factory.mktemp("refused") / "here")
    shutil.copy(world.survey_file("mixers"), at / "survey.toml")
    shutil.copy(world.survey_file("tiny"), at / "tiny.toml")
    shutil.copy(world.plan_file("tiny"), at / "tiny.json")
    rows = "fair,lunch,tools\n" + "yes,soup,\n" * 11
    asked = {name: (at / name).read_text("utf-8") for name in ("survey.toml", "tiny.toml")}
    two = asked["survey.toml"].replace("mixers = 3", "mixers = 2")
    texts = {
        "two.toml": f"closes = 2099-12-31\n{two}",
        "people.csv": f"{rows}no,salad,\n",
        "eleven.csv": rows,
        "bad.csv": f"{rows}no,cake,\n",
        "twice.csv": "fair,fair,lunch,tools\n" + "yes,no,,\n" * 12,
        "mistaken.toml": MISTAKEN,
        "half.json": (at / "results.json").read_text("utf-8")[:1000],
        "empty.toml": "",
        "site.toml": 'name = "s"\nsurveys = ["absent.toml"]\n',
        "form.xlsx": "no workbook",
    }
    for name, text in texts.items():
        (at / name).write_text(text, encoding="utf-8")
    (at / "folder").mkdir()
    invited = world.survey("tiny").changed(invitations=True)
    replace(world.plan("tiny"), survey=invited).save(at / "invited.json")
    return at


MISTAKEN = """\
id = "habits"
copies = 0
[policy]
epsilon = -1
delta = 1e-5
minimum_crowd = 100
[[question]]
name = "engine"
type = "choise"
choices = ["a", "b"]
"""


@pytest.fixture
def place(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which commands are run; none of them leaves anything there."""
    before = kept(made)
    monkeypatch.chdir(made)
    monkeypatch.setenv("NOT_SET", "")
    yield made
    assert kept(made) == before, "a command that was refused has written something"


def kept(folder: Path) -> dict[str, bytes]:
    """All files but those that pairing makes before it asks anybody."""
    made = ("two.krand/", "survey.krand/", "tiny.krand/")
    found = files_in(folder)
    return {name: content for name, content in found.items() if not name.startswith(made)}


@pytest.mark.parametrize("command", REFUSED)
def test_what_a_command_refuses(command: str, place: Path, golden: Golden) -> None:
    """Exit code 2, nothing on stdout, one line with its hint; programs get field and value."""
    told = []
    for line in REFUSED[command]:
        error = refused(line)
        assert error["kind"] == "invalid_input", line
        assert error["field"], line
        told += [f"$ krand {line}", f"error: {error['message']}", ""]
    hide = {r"x{101}": "<101 letters>"}
    golden(f"refusals/{command}", "\n".join(told), hide)


def test_all_mistakes_of_a_survey_are_named_with_their_lines(place: Path) -> None:
    """In one go; for programs each with path, line, rule, value and hint."""
    error = refused("plan mistaken.toml")
    assert [(each["path"], each["line"], each["value"]) for each in error["problems"]] == [
        ("copies", 2, 0),
        ("policy.epsilon", 4, -1),
        ("question[0].type", 9, "choise"),
    ]
    assert all(each["rule"] and each["hint"] for each in error["problems"])
    text = run("plan mistaken.toml").stderr
    assert all(words in text for words in ("3 mistakes", "line 2", "line 4", "line 9"))
