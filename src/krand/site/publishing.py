"""What a party publishes: files in its folder `public`, which are all that its listener may read.

    public/plans.json      what `GET /v1/plans` answers
    public/H/plan.json     the plan whose hash is H, and beside it signatures.json; each file that
                           browsers ask for is there a second time, as NAME.gz
    public/H/about.json    what the listener has to know of the plan, as `About`
    public/H/index.html …  the form, the same bytes at every party
    public/H/N.chain       the chain that ends with this party's link, and N.batch beside it

Each file is replaced in one step, so nothing is told to the listener, and nothing is reloaded.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krand.collector.public import check_origins
from krand.files import OWNER_FOLDER, read_whole, write_atomically
from krand.site.about import ABOUT, PLANS, About, about_in, read_about
from krand.survey.canonical import canonical_json
from krand.web.form.site import site_of
from krand.wire.mixers import origin_of
from krand.wire.plan_signatures import PlanSignature
from krand.wire.submissions import format_of

if TYPE_CHECKING:
    from krand.survey.plan import Plan

SIGNED, ENDED = "signed", "ended"


def publish_plan(
    public: Path,
    plan: Plan,
    signatures: Sequence[PlanSignature],
    place: int,
    *,
    day: str,
    origins: Iterable[str] = (),
) -> None:
    """Show a plan that all of its mixers signed, and its form. It can be called again.

    `origins` are pages elsewhere (`krand.save_form`) that may ask, beside those of the mixers.
    """
    folder = public / plan.hash
    folder.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
    assert plan.analyst is not None
    pages = site_of(plan, signatures)
    for name, page in pages.items():
        write_atomically("public", folder / name, page.content)
        write_atomically("public", folder / f"{name}.gz", gzip.compress(page.content, mtime=0))
    own = (origin_of(mixer.url) for mixer in plan.mixers if mixer.url)
    about = About(
        place=place,
        parties=(*(mixer.identity for mixer in plan.mixers), plan.analyst.identity),
        length=format_of(plan).length if place == 1 else 0,
        invitations=plan.survey.invitations and place == 1,
        origins=check_origins([*own, *origins]),
        pages={
            name: {**dict(page.headers), "Content-Type": page.content_type}
            for name, page in pages.items()
        },
        listed={
            "plan": plan.hash,
            "survey": plan.survey.id,
            "organiser": plan.survey.organiser,
            "day": day,
            "state": SIGNED,
        },
    )
    if (before := read_about(public, plan.hash)) is not None:
        about = replace(about, open=before.open, round=before.round, listed=before.listed)
    _write(public, plan.hash, about)


def set_open(public: Path, plan_hash: str, is_open: bool, round_number: int) -> None:
    """Show whether a round is open; nothing tells how many came."""
    _change(public, plan_hash, open=is_open, round=round_number)


def set_ended(public: Path, plan_hash: str) -> None:
    """Show that nothing happens with the plan any more; plan and signatures stay."""
    about = read_about(public, plan_hash)
    if about is not None:
        _change(public, plan_hash, open=False, listed={**about.listed, "state": ENDED})


def _change(public: Path, plan_hash: str, **values: Any) -> None:
    about = read_about(public, plan_hash)
    if about is not None and (changed := replace(about, **values)) != about:
        _write(public, plan_hash, changed)


def _write(public: Path, plan_hash: str, about: About) -> None:
    write_atomically("public", public / plan_hash / ABOUT, canonical_json(asdict(about)))
    every = [about_in(read_whole("public", path)) for path in sorted(public.glob(f"*/{ABOUT}"))]
    listed = {"plans": tuple(one.listed for one in every)}
    write_atomically("public", public / PLANS, canonical_json(listed))
