"""kill -9 of any party while batches pass between three organisations, and a full disk."""

from __future__ import annotations

import json
import random
import resource
from collections import Counter
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from chaos import until
from command_line import told
from components import require
from effort import EFFORT
from krand import Client, InvalidInput, NotDelivered
from real.processes.organisations import (
    DAY,
    HOUR,
    MIDNIGHT,
    Partner,
    Seen,
    Site,
    SiteClock,
    kill,
    paired,
)

for name in ("uvicorn", "starlette", "mnemonic"):
    require(name)

ROUNDS, KILLS, PEOPLE = 2 + EFFORT, 6 * EFFORT, 3
UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


def test_every_batch_arrives_once_whoever_is_killed(tmp_path: Path) -> None:
    """While a plan is signed, of which there is one, and while batches pass, each once."""
    chance, kills = random.Random(), Counter[str]()
    with ExitStack() as stack:
        partners = {name: Partner(tmp_path, name) for name in ("university", "union")}
        for partner in partners.values():
            stack.callback(partner.end)
        survey = paired(
            tmp_path, [*partners.values()], ROUNDS, lambda: while_pairing(chance, partners)
        )
        clock = SiteClock(str(tmp_path / "clock"))
        clock.set(MIDNIGHT + HOUR)
        site, seen = Site(survey, clock), Seen(tmp_path)
        for each in partners.values():
            until(lambda each=each: each.signed() == [site.plan.hash], what="one plan")
        stack.callback(site.end)
        for number in range(1, ROUNDS + 1):
            clock.set(MIDNIGHT + (number - 1) * DAY + HOUR)
            answered(site, number, clock)
            union = partners["union"].process
            if number == ROUNDS:
                resource.prlimit(
                    partners["union"].process, resource.RLIMIT_FSIZE, (1, UNLIMITED[1])
                )
            clock.set(MIDNIGHT + number * DAY + 1)
            if number == ROUNDS:
                break
            quota = KILLS * number // (ROUNDS - 1)

            def passed(number: int = number, quota: int = quota) -> bool:
                """After so many kills; whoever is killed is somebody who is there."""
                seen.look()
                if kills.total() < quota:
                    kills.update(filter(None, [killed(chance, site, partners)]))
                return kills.total() >= quota and number in site.results()

            until(passed, 900, what=f"results of round {number}")
        log = partners["university"].log
        until(lambda: "the receiver's disk cannot be used now" in log.read_text(), what="a word")
        assert ROUNDS not in site.results()
        resource.prlimit(union, resource.RLIMIT_FSIZE, UNLIMITED)
        until(lambda: seen.look() or ROUNDS in site.results(), 600)
        plan, results = site.plan, site.results()
        assert {number: each.people for number, each in results.items()} == dict.fromkeys(
            range(1, ROUNDS + 1), PEOPLE
        )
        assert seen.twice() == []
        chains = [*(site.folder / "analyst" / "incoming").glob("*.chain.json")]
        assert len(chains) == ROUNDS
        for path in chains:
            checked = told("verify", path, "--plan", site.folder / "plan.json")
            assert checked["state"] == "passed", json.dumps(checked)
        assert plan.mixers[2].name == "union"
    print(f"\n{kills.total()} kills while {ROUNDS} batches passed: {dict(kills)}")


def while_pairing(chance: random.Random, partners: dict[str, Partner]) -> None:
    """Partners die while they make keys, or check and sign the plan."""
    for _ in range(2 * EFFORT):
        partner = chance.choice([*partners.values()])
        for _ in range(chance.randrange(20)):
            partner.signed()
        kill(partner.process)
        partner.again()


def answered(site: Site, number: int, clock: SiteClock) -> None:
    """Everybody answers, as soon as the round is open."""
    for _ in range(PEOPLE):
        until(partial(sent, site, site.device(clock.steady), number), what=f"round {number}")


def sent(site: Site, device: Client, number: int) -> bool:
    """Whether the collector takes that round, and has taken this person's answer."""
    with suppress(InvalidInput, NotDelivered, OSError):
        if device.open_round() == number:
            return device.submit({"fair": True}, number) == number
    return False


def killed(chance: random.Random, site: Site, partners: dict[str, Partner]) -> str:
    """Somebody, at once or a little later; whoever is started by an operator is started again."""
    parts = {part: process for part, process in site.parts().items() if part != "collector"}
    name = chance.choice(["site", *partners, *parts])
    for _ in range(chance.randrange(200)):
        site.results()
    with suppress(ProcessLookupError):
        if name in parts:
            kill(parts[name])
        else:
            party = site if name == "site" else partners[name]
            kill(party.process)
            party.again()
        return name
    return ""
