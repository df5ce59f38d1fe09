"""`krand form` writes a site, or says what is missing."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64decode
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from collecting import files_in
from command_line import done, refused, run, told
from krand import generate_private_key, make_plan, parse_survey
from krand.survey.about import About
from krand.testing import SMALL_SURVEY, FakeChain, small_plan
from krand.wire.plan_signatures import signature_bytes

COLLECTOR = "https://collector.example.org"
FORM = f"form plan.json -o site --collector {COLLECTOR}"
NEW = "https://new.example.org"
MIXERS = "[trust]\nnoise = 'mixers'\nmixers = 2\n"


@pytest.fixture
def plan_file(here: Path) -> Path:
    plan = small_plan()
    survey = replace(plan.survey, about=About(language="de"))
    plan = replace(plan, survey=survey).sealed_for(generate_private_key().public_key())
    plan.save(here / "plan.json")
    return here / "plan.json"


def test_a_site_is_written(plan_file: Path) -> None:
    """The plan as it is, and a page that pins plan, script, style and texts."""
    written = told(f"form plan.json -o site --collector {COLLECTOR}/")["files"]
    site = files_in(Path("site"))
    assert site["plan.json"] == plan_file.read_bytes()
    page = site["index.html"].decode()
    assert f'content="{hashlib.sha256(plan_file.read_bytes()).hexdigest()}"' in page
    assert f'name="krand-collector" content="{COLLECTOR}"' in page
    assert f"connect-src &#x27;self&#x27; {COLLECTOR};" in page
    for name, digest in re.findall(r'(?:href|src)="(\S+)" integrity="sha384-(\S+)"', page):
        assert hashlib.sha384(site[name]).digest() == b64decode(digest)
    (listed,) = re.findall('name="krand-languages" content="(.*)">', page)
    digest = json.loads(unescape(listed))["de"].removeprefix("sha384-")
    assert hashlib.sha384(site["form.de.json"]).digest() == b64decode(digest)
    assert written == sorted(site)


def test_a_folder_is_replaced_only_if_it_is_a_form(plan_file: Path) -> None:
    """And only where that is asked for."""
    done(FORM)
    assert "--force" in json.dumps(refused(FORM))
    done(FORM, "--force")
    Path("site/diary.txt").write_text("mine", encoding="utf-8")
    refused(FORM, "--force")
    assert Path("site/diary.txt").exists()


@pytest.mark.parametrize(
    "url", ["http://collector.example.org", "collector.example.org", "ftp://x"]
)
def test_a_collector_that_browsers_refuse(plan_file: Path, url: str) -> None:
    """Encryption needs https, except on the same machine."""
    assert "collector" in json.dumps(refused(f"form plan.json -o site --collector {url}"))
    done("form plan.json -o here --collector http://127.0.0.1:8080")
    assert not Path("site").exists()


def test_a_plan_without_a_key_is_refused(here: Path) -> None:
    """Nothing could be sealed."""
    small_plan().save(here / "plan.json")
    assert "--analyst-key" in json.dumps(refused(FORM))


def test_mixers_must_have_signed(here: Path) -> None:
    """The first signature that is missing is named; with all of them they are on the site."""
    chain = FakeChain(make_plan(parse_survey(SMALL_SURVEY + MIXERS)))
    chain.plan.save(here / "plan.json")
    for number, signature in enumerate(chain.signatures):
        (here / f"{number}.sig.json").write_bytes(signature_bytes(signature))
    assert "mixer 2" in json.dumps(refused(FORM, "--signature 0.sig.json"))
    done(FORM, "--signature 0.sig.json --signature 1.sig.json")
    written = json.loads((here / "site" / "signatures.json").read_bytes())
    assert [each["mixer"] for each in written] == [each.mixer for each in chain.signatures]


def test_a_replaced_site_is_never_lost(
    plan_file: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the new one is in its place the old one is on the disk, and an error puts it back."""
    done(FORM)
    again = f"form plan.json -o site --force --collector {NEW}"
    old, renamed, rename = files_in(here / "site"), [], Path.rename

    def failing(path: Path, target: Path) -> Path:
        renamed.append(path.name)
        if len(renamed) == 2:
            kept = [each for each in here.iterdir() if each.is_dir() and each.name != path.name]
            assert [files_in(each) for each in kept] == [old]
            raise OSError(28, "No space left on device")
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", failing)
        assert run(again).exit_code == 2
    assert files_in(here / "site") == old
    done(again)
    assert NEW.encode() in files_in(here / "site")["index.html"]
    assert sorted(path.name for path in here.iterdir()) == ["plan.json", "site"]
