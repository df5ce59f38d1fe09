"""The files of a form: the same at every party, and a page that may connect to little."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import krand
import steps
import world
from krand.testing import FakeChain, small_plan

TRIO, ALONE = FakeChain(world.plan("trio")), FakeChain(small_plan())


def policy_in(folder: Path) -> str:
    (found,) = re.findall(
        'Security-Policy" content="([^"]*)"', (folder / "index.html").read_text(encoding="utf-8")
    )
    return str(found).replace("&#x27;", "'")


@pytest.mark.parametrize("chain", [TRIO, ALONE], ids=["three mixers", "one mixer"])
def test_a_page_may_connect_to_its_host_and_to_the_collector(
    chain: FakeChain, tmp_path: Path
) -> None:
    """To what the collector serves of this plan; and it runs no other script."""
    krand.save_form(chain.plan, tmp_path / "form", chain.signatures)
    policy = dict(part.split(" ", 1) for part in policy_in(tmp_path / "form").split("; "))
    collector = f"{chain.plan.mixers[0].url}/v1/plans/{chain.plan.hash}/"
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": f"'self' {collector}",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert krand.read_plan(tmp_path / "form" / "plan.json") == chain.plan


def test_a_form_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    """All signatures, an address that others can find, and a folder with nothing else in it."""
    plan, signatures, folder = TRIO.plan, TRIO.signatures, tmp_path / "form"
    with pytest.raises(krand.InvalidInput, match="signature of mixer 3"):
        krand.save_form(plan, folder, signatures[:2])
    own = steps.named(small_plan())
    with pytest.raises(krand.InvalidInput, match="must say where its collector is"):
        krand.save_form(own, folder, steps.signed(own))
    with pytest.raises(krand.InvalidInput, match="must name its mixers and its analyst"):
        krand.save_form(replace(plan, mixers=(), analyst=None), folder, ())
    assert not folder.exists()
    krand.save_form(plan, folder, signatures)
    before = (folder / "index.html").read_bytes()
    with pytest.raises(krand.InvalidInput, match="must not exist yet"):
        krand.save_form(plan, folder, signatures)
    krand.save_form(plan, folder, signatures, overwrite=True)
    assert (folder / "index.html").read_bytes() == before
    (folder / "notes.txt").write_text("what I must not forget")
    with pytest.raises(krand.InvalidInput, match="must not exist yet"):
        krand.save_form(plan, folder, signatures, overwrite=True)
