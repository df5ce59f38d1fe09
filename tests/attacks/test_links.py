"""Links planted in a collector's folders: whoever runs krand there must not be led elsewhere.

`krand status` and `krand release` are often run as root, on a folder that belongs to the user of
the collector. Whoever controls that user must not gain what root may do.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from collecting import exact_plan, submitted
from command_line import refused
from krand.client.ledger import Ledger
from krand.collector.opening import config_of, open_spool
from krand.collector.sqlite import disk
from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey.plan import Plan
from krand.wire.keys import generate_signing_key, write_key_pair

PEOPLE = 20
STRANGER, SERVICE = 65_533, 65_532
"""Users who are nobody in particular."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and owners as POSIX has them")
needs_root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root can give files away"
)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return exact_plan(PEOPLE, Linkage.BIT)


@pytest.fixture
def at(tmp_path: Path, plan: Plan) -> Path:
    """A spool whose crowd is complete, and a file that nobody may change."""
    submission_format = config_of(plan).format
    with open_spool(plan, tmp_path / "spool") as spool:
        spool.add([submitted(number, submission_format) for number in range(PEOPLE)])
        spool.close_batch()
    (tmp_path / "plan.json").write_bytes(plan.bytes)
    write_key_pair(generate_signing_key(), tmp_path / "collector.pem", tmp_path / "collector.pub")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    victim.chmod(0o644)
    return tmp_path


def error_of(at: Path, command: str) -> dict[str, str]:
    """The error of a command that must refuse."""
    more = {"release": ("--key", at / "collector.pem", "-o", at / "out")}
    usual = (command, "--plan", at / "plan.json", "--spool", at / "spool")
    return refused(*usual, *more.get(command, ()))


def check_refused(at: Path, command: str, rule: str) -> None:
    error = error_of(at, command)
    assert error["field"] == "spool"
    assert rule in error["rule"]
    assert error["value"].startswith(str(at / "spool"))
    assert error["hint"]
    assert (at / "victim").read_text() == "precious"
    assert stat.S_IMODE((at / "victim").stat().st_mode) == 0o644


COMMANDS = pytest.mark.parametrize("command", ["status", "release"])
FILES = pytest.mark.parametrize(
    "name", ["spool.sqlite", "spool.mark", "spool.sqlite-wal", "spool.sqlite-shm"]
)


PLANTED: dict[str, tuple[Callable[[Path, Path], None], str]] = {
    "a link to a file elsewhere": (
        lambda path, at: path.symlink_to(at / "victim"),
        "must be a regular file",
    ),
    "a link to nowhere": (
        lambda path, at: path.symlink_to(at / "planted"),
        "must be a regular file",
    ),
    "a second name of a file elsewhere": (
        lambda path, at: path.hardlink_to(at / "victim"),
        "must have one name only",
    ),
    "a pipe": (lambda path, _: os.mkfifo(path), "must be a regular file"),
}
"""What somebody may put in the place of a file of the spool, and the rule that it breaks."""


@pytest.mark.slow
@COMMANDS
@FILES
@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_file(at: Path, command: str, name: str, what: str) -> None:
    """It is refused by name; no file elsewhere is changed or made."""
    plant, rule = PLANTED[what]
    (at / "spool" / name).unlink(missing_ok=True)
    plant(at / "spool" / name, at)
    check_refused(at, command, rule)
    assert not (at / "planted").exists()


@COMMANDS
def test_a_folder_that_is_a_link(at: Path, command: str) -> None:
    """It may lead somewhere else tomorrow; the error names the folder itself."""
    (at / "spool").rename(at / "elsewhere")
    (at / "spool").symlink_to(at / "elsewhere")
    check_refused(at, command, "not a link")


@COMMANDS
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_may_write_to(at: Path, command: str, mode: int) -> None:
    """They could plant a link at any moment."""
    (at / "spool").chmod(mode)
    check_refused(at, command, "nobody else may write to")


@COMMANDS
@pytest.mark.parametrize("left", ["nothing", "folder", "mark", "empty file"])
def test_a_spool_that_does_not_exist(at: Path, command: str, left: str) -> None:
    """Looking at it makes nothing."""
    spool = at / "spool"
    mark = (spool / "spool.mark").read_bytes()
    for path in spool.iterdir():
        path.unlink()
    if left == "nothing":
        spool.rmdir()
    if left == "mark":
        (spool / "spool.mark").write_bytes(mark)
    if left == "empty file":
        (spool / "spool.sqlite").touch()
    before = sorted(at.rglob("*")), [path.lstat().st_size for path in at.rglob("*")]
    check_refused(at, command, "must be a collector's folder")
    assert (sorted(at.rglob("*")), [path.lstat().st_size for path in at.rglob("*")]) == before


def give_to_service(folder: Path) -> None:
    """The folder and its files belong to the user of the collector."""
    for path in (folder, *folder.iterdir()):
        os.chown(path, SERVICE, SERVICE)


@needs_root
@COMMANDS
def test_a_strangers_file(at: Path, command: str) -> None:
    """In a folder of the collector's user, root touches that user's files and its own."""
    give_to_service(at / "spool")
    os.chown(at / "spool" / "spool.mark", STRANGER, STRANGER)
    check_refused(at, command, "must belong to the user who runs this")


@needs_root
def test_root_leaves_the_collector_its_spool(at: Path, plan: Plan) -> None:
    """What root makes in the folder of the collector's user is that user's."""
    give_to_service(at / "spool")
    (at / "spool" / "spool.mark").unlink()
    with open_spool(plan, at / "spool", create=False) as spool:
        spool.probe()
        found = {path.name: path.stat().st_uid for path in (at / "spool").iterdir()}
    assert set(found.values()) == {SERVICE}
    assert set(found) >= {"spool.mark", "spool.sqlite", "spool.sqlite-wal"}


def as_user(user: int, work: Callable[[], None]) -> str:
    """What InvalidInput says when the work is done by another user, in a child."""
    reader, writer = os.pipe()
    if not (child := os.fork()):
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            work()
        except InvalidInput as error:
            os.write(writer, f"{error.field}: {error.rule}".encode())
        except BaseException as error:
            os.write(writer, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@needs_root
def test_a_strangers_folder() -> None:
    """Whoever is not root uses folders of their own, or root's."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        spool = Path(name) / "spool"
        spool.mkdir()
        os.chown(spool, STRANGER, STRANGER)
        refused = as_user(SERVICE, lambda: disk.check_folder(spool))
        assert refused == "spool: must belong to the user who runs this, or to root"
        for owner in (SERVICE, 0):
            os.chown(spool, owner, owner)
            assert as_user(SERVICE, lambda: disk.check_folder(spool)) == ""


def test_a_file_exchanged_while_it_is_opened(
    at: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the check and SQLite: the exchange is noticed before anything is written."""
    real, other = at / "spool" / "spool.sqlite", at / "other.sqlite"
    other.write_bytes(real.read_bytes())
    original = disk.sqlite3.connect

    def exchanged(*arguments: object, **options: object) -> object:
        real.rename(at / "kept")
        real.symlink_to(other)
        opened = original(*arguments, **options)
        real.unlink()
        (at / "kept").rename(real)
        return opened

    before = other.read_bytes()
    monkeypatch.setattr(disk.sqlite3, "connect", exchanged)
    if disk.OWN_HANDLES.is_dir():
        with pytest.raises(InvalidInput, match="must stay the same file"):
            open_spool(plan, at / "spool", create=False)
    assert other.read_bytes() == before


@pytest.mark.parametrize("name", ["batch-000001.parquet", "batch-000001.manifest.json"])
def test_a_link_in_the_output(at: Path, name: str) -> None:
    """A batch is not written through a link, and not taken for written because of one."""
    (at / "out").mkdir()
    (at / "out" / name).symlink_to(at / "planted")
    error = error_of(at, "release")
    assert (error["field"], error["rule"]) == ("output", "must not be a link")
    assert not (at / "planted").exists()


def test_an_output_that_everybody_may_write_to(at: Path) -> None:
    """Whoever removes the file removes the only copy."""
    (at / "out").mkdir()
    (at / "out").chmod(0o777)
    error = error_of(at, "release")
    assert (error["field"], error["hint"]) == ("output", f"chmod o-w {at / 'out'}")
    assert list((at / "out").iterdir()) == []


def test_a_ledger_is_not_made_through_a_link(tmp_path: Path) -> None:
    """A link that leads nowhere is refused; one to a ledger elsewhere is its owner's choice."""
    (tmp_path / "ledger").symlink_to(tmp_path / "planted")
    with pytest.raises(InvalidInput, match="ledger"):
        Ledger(tmp_path / "ledger")
    assert not (tmp_path / "planted").exists()
    Ledger(tmp_path / "planted")
    Ledger(tmp_path / "ledger")
