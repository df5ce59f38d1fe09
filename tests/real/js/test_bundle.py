"""The committed bundle is what its sources build, and is small."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

from javascript import FOLDER, STATIC, built_internals, node
from krand import __version__

LARGEST = 20_000


def test_rebuilding_gives_the_committed_files(tmp_path: Path) -> None:
    node("build.mjs", "--into", str(tmp_path))
    built = sorted(path.name for path in tmp_path.iterdir())
    assert "krand.js" in built
    for name in built:
        assert (tmp_path / name).read_bytes() == (STATIC / name).read_bytes(), (
            f"run: make js ({name})"
        )


def test_the_client_is_small() -> None:
    assert len(gzip.compress((STATIC / "krand.js").read_bytes(), mtime=0)) <= LARGEST


def test_packages_in_the_bundles_are_named_with_licences() -> None:
    licences = (STATIC / "LICENSES.txt").read_text(encoding="utf-8")
    wanted = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))["dependencies"]
    for package, version in wanted.items():
        assert f"{package} {version}\n" in licences


def test_the_client_evaluates_no_text_and_needs_no_page() -> None:
    code = (STATIC / "krand.js").read_text(encoding="utf-8")
    for forbidden in (
        r"\beval\(",
        r"new Function",
        r"\bdocument\.",
        r"\bwindow\.",
        r"Math\.random",
    ):
        assert not re.search(forbidden, code), forbidden


def test_both_packages_have_one_version() -> None:
    for name in ("package.json", "package-lock.json"):
        found = json.loads((FOLDER / name).read_text(encoding="utf-8"))
        assert found["version"] == __version__


def test_the_lock_file_names_no_registry() -> None:
    lock = (FOLDER / "package-lock.json").read_text(encoding="utf-8")
    assert "resolved" not in lock
    assert "http" not in re.sub(r'"url": "[^"]*"', "", lock)
    assert all("integrity" in entry for name, entry in json.loads(lock)["packages"].items() if name)


def test_types_are_right_and_nodes_own_tests_pass() -> None:
    built_internals()
    node("node_modules/typescript/bin/tsc", "--noEmit")
    files = sorted(str(path) for path in (FOLDER / "test").glob("*.test.mjs"))
    assert "# fail 0" in node("--test", "--test-reporter=tap", *files)
