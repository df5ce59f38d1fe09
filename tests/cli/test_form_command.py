"""`krand form` writes a site, or says what is missing."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from krand import generate_private_key, make_plan, parse_survey
from krand.cli.main import krand
from krand.testing import SMALL_SURVEY, FakeChain, small_plan
from krand.wire.plan_signatures import signature_bytes

COLLECTOR = "https://collector.example.org"
MIXERS = "[trust]\nnoise = 'mixers'\nmixers = 2\n"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(krand, ["form", *map(str, arguments), "--json"])


def refused(result: Result) -> dict[str, Any]:
    """The error that a command tells."""
    assert result.exit_code == 2, result.output
    value: dict[str, Any] = json.loads(result.stderr or result.stdout)
    return value


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    plan = small_plan().sealed_for(generate_private_key().public_key())
    plan.save(tmp_path / "plan.json")
    return tmp_path / "plan.json"


def test_a_site_is_written(plan_file: Path, tmp_path: Path) -> None:
    """The plan as it is, and a page that pins plan, script and style."""
    result = run(plan_file, "-o", tmp_path / "site", "--collector", f"{COLLECTOR}/")
    assert result.exit_code == 0, result.output
    site = tmp_path / "site"
    assert (site / "plan.json").read_bytes() == plan_file.read_bytes()
    page = (site / "index.html").read_text(encoding="utf-8")
    assert f'content="{hashlib.sha256(plan_file.read_bytes()).hexdigest()}"' in page
    assert f'name="krand-collector" content="{COLLECTOR}"' in page
    assert f"connect-src &#x27;self&#x27; {COLLECTOR};" in page
    for name, digest in re.findall(r'(?:href|src)="(\S+)" integrity="sha384-(\S+)"', page):
        assert hashlib.sha384((site / name).read_bytes()).digest() == b64decode(digest)
    assert json.loads(result.stdout)["files"] == sorted(path.name for path in site.iterdir())


def test_a_folder_is_replaced_only_if_it_is_a_form(plan_file: Path, tmp_path: Path) -> None:
    """And only where that is asked for."""
    given = (plan_file, "-o", tmp_path / "site", "--collector", COLLECTOR)
    assert run(*given).exit_code == 0
    assert "--force" in json.dumps(refused(run(*given)))
    assert run(*given, "--force").exit_code == 0
    (tmp_path / "site" / "diary.txt").write_text("mine", encoding="utf-8")
    refused(run(*given, "--force"))
    assert (tmp_path / "site" / "diary.txt").exists()


@pytest.mark.parametrize(
    "url", ["http://collector.example.org", "collector.example.org", "ftp://x"]
)
def test_a_collector_that_browsers_refuse(plan_file: Path, tmp_path: Path, url: str) -> None:
    """Encryption needs https, except on the same machine."""
    error = refused(run(plan_file, "-o", tmp_path / "site", "--collector", url))
    assert "collector" in json.dumps(error)
    local = run(plan_file, "-o", tmp_path / "here", "--collector", "http://127.0.0.1:8080")
    assert local.exit_code == 0
    assert not (tmp_path / "site").exists()


def test_a_plan_without_a_key_is_refused(tmp_path: Path) -> None:
    """Nothing could be sealed."""
    small_plan().save(tmp_path / "plan.json")
    error = refused(run(tmp_path / "plan.json", "-o", tmp_path / "site", "--collector", COLLECTOR))
    assert "--analyst-key" in json.dumps(error)


def test_mixers_must_have_signed(tmp_path: Path) -> None:
    """The first signature that is missing is named; with all of them they are on the site."""
    chain = FakeChain(make_plan(parse_survey(SMALL_SURVEY + MIXERS)))
    chain.plan.save(tmp_path / "plan.json")
    options: list[object] = []
    for number, signature in enumerate(chain.signatures):
        (tmp_path / f"{number}.sig.json").write_bytes(signature_bytes(signature))
        options += ["--signature", tmp_path / f"{number}.sig.json"]
    given = (tmp_path / "plan.json", "-o", tmp_path / "site", "--collector", COLLECTOR)
    assert "mixer 2" in json.dumps(refused(run(*given, *options[:2])))
    assert run(*given, *options).exit_code == 0
    written = json.loads((tmp_path / "site" / "signatures.json").read_bytes())
    assert [each["mixer"] for each in written] == [each.mixer for each in chain.signatures]


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_replaced_site_is_never_lost(
    plan_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the new one is in its place the old one is on the disk, and an error puts it back."""
    site = tmp_path / "site"
    given = (plan_file, "-o", site, "--collector")
    assert run(*given, COLLECTOR).exit_code == 0
    old, renamed, rename = files_of(site), [], Path.rename

    def failing(path: Path, target: Path) -> Path:
        renamed.append(path.name)
        if len(renamed) == 2:
            kept = [each for each in tmp_path.iterdir() if each.is_dir() and each != path]
            assert [files_of(each) for each in kept] == [old]
            raise OSError(28, "No space left on device")
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", failing)
        refused(run(*given, "https://new.example.org", "--force"))
    assert files_of(site) == old
    assert run(*given, "https://new.example.org", "--force").exit_code == 0
    assert b"https://new.example.org" in files_of(site)["index.html"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.json", "site"]
