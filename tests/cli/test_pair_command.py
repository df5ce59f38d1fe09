"""krand pair, krand mix serve and krand mix accept, as an organiser and an operator type them."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from collecting import asked, until
from command_line import done, refused, run, told
from components import require_program
from krand.errors import Unavailable
from krand.partners.identity import (
    Address,
    fingerprint,
    make_identity,
    parse_address,
    read_identity,
)
from krand.partners.pairing import earlier_request
from krand.partners.talking import Conversation
from krand.survey.survey_folder import SurveyFolder
from partners.mixer_services import survey_text
from partners.processes import Served, mixer_serving
from partners.services import usual_certificate

CLOSES = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service whose operator decides about everything."""
    store = tmp_path_factory.mktemp("asking") / "mixer"
    with mixer_serving(store, "--name", "university", "--no-anchor") as served:
        yield served


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "survey.toml").write_text(survey_text(f"s{id(tmp_path)}", CLOSES), "utf-8")
    return tmp_path


def paired(served: Served, more: str = "") -> str:
    own = "--no-anchor --no-wait --address https://127.0.0.1:9"
    return f"pair survey.toml --mixer {served.address} {own} {more}"


def waiting(served: Served, here: Path) -> dict:
    """The request of this folder's organiser."""
    own = read_identity(SurveyFolder(here / "survey.krand").identity).public
    listed = told(f"mix accept --store {served.store}")["waiting"]
    (found,) = (each for each in listed if each["words"] == fingerprint(own).words)
    return found


def test_the_operator_accepts_what_waits(asking: Served, here: Path) -> None:
    """The organiser is told whom to wait for; the same command goes on, and is then done."""
    result = run(paired(asking), at=here)
    assert result.exit_code == 75
    assert "its operator has to accept it first: krand mix accept" in result.stderr
    request = waiting(asking, here)
    listed = run(f"mix accept --store {asking.store}").stdout
    assert f"   in words:  {request['words']}" in listed
    assert f"   in digits: {request['digits']}" in listed
    assert request["words"] in result.stderr, "the organiser reads them out"
    assert told(f"mix accept {request['number']} --store {asking.store}")["stage"] == "accepted"
    found = done(paired(asking), at=here)
    for line in (
        "university, mixer 2 of 2, has promised:",
        f"  It is {asking.words}.",
        "Every mixer is needed",
        "Open the survey: krand run survey.krand/site.toml",
    ):
        assert line in found.stdout
    assert told(paired(asking), at=here)["mixers"][0]["fingerprint"] == asking.words


def test_a_refusal_reaches_the_organiser(asking: Served, here: Path) -> None:
    """With the operator's reason."""
    run(paired(asking), at=here)
    number = waiting(asking, here)["number"]
    done(f"mix accept {number} --store {asking.store} --refuse 'we do not know you'")
    error = refused(paired(asking), at=here)
    assert error["hint"] == "we do not know you"
    assert "mixer 2" in error["field"]
    error = refused(f"mix accept {number} --store {asking.store}")
    assert error["rule"] == "must be that of a request that waits"


@pytest.mark.check
def test_two_organisers_of_one_name_are_told_apart(
    asking: Served, here: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """By their fingerprints: the operator is warned of the second."""
    other = tmp_path_factory.mktemp("other")
    text = (here / "survey.toml").read_text("utf-8")
    for folder, name in ((here, "The  Council"), (other, "the council")):
        (folder / "survey.toml").write_text(f'organiser = "{name}"\n{text}', "utf-8")
        run(paired(asking), at=folder)
    first, second = waiting(asking, here), waiting(asking, other)
    assert first["words"] in second["same_name"]
    assert second["words"] in first["same_name"]
    assert (
        "Careful: somebody else called the council"
        in run(f"mix accept --store {asking.store}").stdout
    )


def test_an_address_without_an_identity_is_confirmed(asking: Served, here: Path) -> None:
    """Nobody is trusted at first sight, unless people have compared the words or say --yes."""
    line = f"pair survey.toml --mixer {asking.url} --no-anchor --no-wait"
    result = run(line, at=here)
    assert result.exit_code == 2
    assert f"  in words:  {asking.words}" in result.stderr
    assert "must name the identity behind #, or --yes must be given" in result.stderr
    assert run(f"{line} --yes", at=here).exit_code == 75
    request = earlier_request(SurveyFolder(here / "survey.krand"))
    assert f"{asking.url}/#{request.partners[0].identity}" == asking.address
    assert run(line, at=here).exit_code == 75  # it is known from now on


@pytest.mark.check
def test_an_organiser_keeps_its_identity(asking: Served, here: Path) -> None:
    """In the next survey partners know it again."""
    own = make_identity(here / "council.pem").public
    run(paired(asking, "--identity council.pem"), at=here)
    assert read_identity(SurveyFolder(here / "survey.krand").identity).public == own
    make_identity(here / "other.pem")
    error = refused(paired(asking, "--identity other.pem"), at=here)
    assert error["field"] == "identity"


NOBODY = "https://127.0.0.1:9/#" + "ab" * 32
PAIR = f"pair survey.toml --mixer {NOBODY}"
WRONG_PAIR = {
    PAIR: "anchor",
    f"{PAIR} --anchor a --no-anchor": "anchor",
    f"{PAIR} --anchor anchor --no-wait": "anchor",
    f"{PAIR} --mixer {NOBODY} --no-anchor": "mixer",
    "pair survey.toml --invite union --no-anchor": "address",
    f"{PAIR} --no-anchor --address http://organiser.example": "address",
    f"{PAIR} --no-anchor --analyst {NOBODY}": "link",
    f"{PAIR} --no-anchor --public-key key.pub.pem --analyst {NOBODY}-{'0' * 32}": "public_key",
    "pair survey.toml --mixer https://127.0.0.1:9/#abc --no-anchor": "address",
    "pair survey.toml --mixer missing.json --no-anchor": "mixer",
    f"{PAIR} --no-anchor --form-at here --no-wait": "form_at",
    f"pair survey.toml --invite {'x' * 101} --no-anchor --address https://uni.example": "invite",
    f"{PAIR} --no-anchor --form-at 127.0.0.1:65530 --no-wait": "form_at",
}


@pytest.mark.parametrize("line", WRONG_PAIR)
def test_wrong_options_of_pair_are_named(here: Path, line: str) -> None:
    """Before anybody is asked."""
    assert refused(line, at=here)["field"] == WRONG_PAIR[line]


def test_an_organiser_has_a_name_that_can_be_read_out(here: Path) -> None:
    """Before anybody is asked: it is that of the first mixer."""
    text = (here / "survey.toml").read_text("utf-8")
    (here / "survey.toml").write_text(f'organiser = "A\u00a0B"\n{text}', "utf-8")
    assert refused(f"{PAIR} --no-anchor", at=here)["field"] == "organiser"


LINK = "https://127.0.0.1:9/#" + "ab" * 32 + "-" + "0" * 32
OWN = "--host 127.0.0.1 --port 0 --no-anchor"
WRONG_SERVE = {
    "mix serve --name uni --host 127.0.0.1 --port 0": "anchor",
    "mix serve --name uni --host 127.0.0.1 --port 0 --anchor anchors": "anchor",
    "mix serve --name uni --anchor anchors --no-anchor": "anchor",
    f"mix serve {OWN}": "name",
    f"mix serve {OWN} --name {'x' * 101}": "name",
    f"mix serve {OWN} --name ' uni'": "name",
    f"mix serve {OWN} --join {LINK}": "address",
    f"mix serve {OWN} --join {NOBODY} --address https://uni.example": "link",
    f"mix serve {OWN} --name uni --address http://uni.example": "address",
    f"mix serve {OWN} --name uni --tls-key key.pem": "tls_key",
    f"mix serve {OWN} --name uni --tls-cert survey.toml": "tls_cert",
    f"mix serve {OWN} --name uni --tls-cert survey.toml --behind-proxy": "tls_cert",
    f"mix serve {OWN} --name uni --policy survey.toml": "survey.toml",
    "mix accept": "store",
    "mix accept --refuse no": "store",
}


@pytest.mark.parametrize("line", WRONG_SERVE)
def test_wrong_options_of_a_service_are_named(here: Path, line: str) -> None:
    """Nothing is served then."""
    result = run(line, "--json", at=here)
    assert result.exit_code == 2, result.output
    assert refused(line, at=here)["field"] == WRONG_SERVE[line]


@pytest.mark.check
def test_a_service_begins_where_it_ended(tmp_path: Path) -> None:
    """After a kill, with the folder alone: the same identity, name and anchors."""
    options = ("--name", "union", "--no-anchor")
    with mixer_serving(tmp_path / "mixer", *options) as first:
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
    with mixer_serving(tmp_path / "mixer") as second:
        assert second.words == first.words
        second.process.send_signal(signal.SIGTERM)
        assert second.process.wait() == 0
    error = refused(f"mix serve --store {tmp_path / 'mixer'} --name other {OWN}")
    assert error["field"] == "name"
    for path in (tmp_path / "mixer").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.check
def test_a_clock_that_was_set_stops_the_service(tmp_path: Path) -> None:
    """With a code that says so; the operator's word lets it go on."""
    with mixer_serving(tmp_path / "mixer", "--name", "union", "--no-anchor"):
        records = tmp_path / "mixer" / "service.sqlite"
        until(lambda: _last_seen(records))
    with closing(sqlite3.connect(tmp_path / "mixer" / "service.sqlite")) as database, database:
        database.execute("UPDATE facts SET value = '1000.0' WHERE name = 'last seen'")
    result = run(f"mix serve --store {tmp_path / 'mixer'} {OWN}")
    assert result.exit_code == 75
    assert "start the service again with --clock-is-right" in " ".join(result.stderr.split())
    with mixer_serving(tmp_path / "mixer", "--clock-is-right") as served:
        assert served.process.poll() is None


def _last_seen(records: Path) -> list[object]:
    with closing(sqlite3.connect(records)) as database:
        found = "SELECT value FROM facts WHERE name = 'last seen'"
        return database.execute(found).fetchall()


@pytest.mark.check
def test_behind_a_proxy_there_is_no_tls(tmp_path: Path) -> None:
    """The proxy has it; the service listens on this machine."""
    options = ("--name", "union", "--no-anchor", "--behind-proxy")
    with mixer_serving(tmp_path / "mixer", *options) as served:
        port = int(served.url.rpartition(":")[2])
        assert b"a mixer of anonymous surveys" in asked(port, "GET", "/").content
        address = Address(served.url, served.address.rpartition("#")[2])
        own = make_identity(tmp_path / "own.pem")
        assert Conversation(own, address).about().name == "union"


@pytest.mark.check
def test_a_certificate_of_an_authority_is_for_partners_and_for_everybody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A partner and a program that knows nothing of krand reach the service by it."""
    usual, authority = usual_certificate(tmp_path, "127.0.0.1"), tmp_path / "authority.pem"
    own = make_identity(tmp_path / "own.pem")
    options = ("--name", "union", "--no-anchor", "--tls-cert", usual, "--tls-key", usual)
    with mixer_serving(tmp_path / "mixer", *options) as served:
        address = parse_address(served.address)
        with pytest.raises(Unavailable, match="its certificate is not accepted"):
            Conversation(own, address).about()
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        assert Conversation(own, address).about().name == "union"
        curl = [require_program("curl"), "--silent", "--fail", "--cacert", authority]
        page = subprocess.run([*curl, f"{served.url}/"], capture_output=True, check=True)
        assert b"a mixer of anonymous surveys" in page.stdout


@pytest.mark.check
@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs a second disk")
def test_anchors_lie_where_the_operator_says(tmp_path: Path) -> None:
    """On another disk; without them the service does not begin again."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(dir="/dev/shm") as disk:
        anchors = Path(disk) / "anchors"
        with mixer_serving(tmp_path / "mixer", "--name", "union", "--anchor", anchors):
            assert anchors.is_dir()
        with mixer_serving(tmp_path / "mixer") as again:
            assert again.process.poll() is None
        shutil.rmtree(anchors)
        assert refused(f"mix serve --store {tmp_path / 'mixer'} {OWN}")["field"] == "anchor"
