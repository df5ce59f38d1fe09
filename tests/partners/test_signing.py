"""Keys are for one plan, which keeps its promise; whoever asks for much waits."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chaos import Clock, quick_folder
from command_line import run
from golden import Golden
from mixing.by_hand import holds_key
from partners.in_threads import (
    DAY,
    START,
    SURVEY,
    Answer,
    Asking,
    Between,
    Organiser,
    Service,
    asked,
    rule,
    serving,
    until,
)


def sent(organiser: Organiser, service: Service, text: str, by: Asking | None = None) -> str:
    """What a plan is answered in the end, with a route to the same parties."""
    route = json.loads((organiser.own / "route.json").read_bytes())
    del route["signature"]
    route["plan"] = hashlib.sha256(text.encode()).hexdigest()
    asking = by or organiser.asking
    body = {"plan": text, "route": asking.signed(b"krand route\0", route)}
    answer = settled(lambda: asking.ask(service, "POST", "/v1/plans", body))
    return "200" if answer[0] == 200 else rule(answer)


def settled(ask: Callable[[], Answer]) -> Answer:
    """What is answered when the service has done what it has to do first."""
    return until(lambda: next((answer for answer in [ask()] if answer[0] != 202), None))  # type: ignore[return-value]


def steeper(text: str) -> str:
    """Nearly all weight at the centre of the noise, which protects hardly anybody."""
    first, second = map(int, re.findall(r'"laws":\[\["(\d+)","(\d+)"', text)[0])
    return text.replace(f'"{first}","{second}"', f'"{first + 2 * (second - 1)}","1"')


def council(folder: Path, service: Service) -> tuple[Organiser, str]:
    """An organiser who has keys, and a plan with them that the partner has not seen."""
    organiser = Organiser(folder)
    with Between(service.port) as between:
        between.lost = "/v1/plans"
        link = service.link.replace(str(service.port), str(between.port))
        organiser.pair(link, options="--no-wait", run=run)
    return organiser, (organiser.own / "plan.json").read_text(encoding="utf-8")


AT_ONCE: dict[str, Callable[[str], str]] = {
    "that promises more": lambda text: re.sub(r'("delta":)[^,]*', r"\g<1>0.00001", text),
    "of another survey": lambda text: text.replace('"title":"Fair?"', '"title":"Just?"'),
    "with another name for it": lambda text: text.replace('"university"', '"data protection"'),
    "with another key of it": lambda text: re.sub(
        r'(keys":\["[0-9a-f]{60})....', r"\g<1>0000", text
    ),
}
COMPUTED: dict[str, Callable[[str], str]] = {
    "with weaker noise": steeper,
}


def test_keys_serve_one_plan_that_keeps_its_promise(
    tmp_path: Path, clock: Clock, golden: Golden
) -> None:
    """Whatever is sent first and could not be signed, and whatever is sent afterwards."""
    university, found = Service(tmp_path / "university"), []
    with serving(university):
        organiser, text = council(tmp_path / "council", university)
        for name, change in AT_ONCE.items():
            changed = change(text)
            assert changed != text, name
            found.append(f"a plan {name}: {sent(organiser, university, changed)}")
        found.append(f"a stranger's: {sent(organiser, university, text, Asking())}")
        for name, change in COMPUTED.items():
            other, own = council(tmp_path / name, university)
            changed = change(own)
            assert changed != own, name
            found.append(f"a plan {name}: {sent(other, university, changed)}")
            found.append(f"the right one then: {sent(other, university, own)}")
        assert asked(university.port, "GET", "/v1/plans")[1]["entries"] == []
        assert sent(organiser, university, text) == "200"
        second = text.replace(organiser.plan.analyst_key, Asking().public)
        found.append(f"a second one: {sent(organiser, university, second)}")
        until(lambda: len(asked(university.port, "GET", "/v1/plans")[1]["entries"]) == 1)
    golden("partners/plans-not-signed", "\n".join(found))


def test_keys_that_no_plan_needs_are_erased(tmp_path: Path, clock: Clock) -> None:
    """When somebody pairs anew, and on the survey's last day; each is listed."""
    university, asking, keys = Service(tmp_path / "university"), Asking(), []
    with serving(university):
        for number in (1, 2):
            keys.append(given(asking, university, pairing=f"{number}" * 32))
            assert given(asking, university, pairing=f"{number}" * 32) == keys[-1], "asked again"
        assert set(keys[0]).isdisjoint(keys[1])
        held = [holds_key(university.store, key) for key in (*keys[0], *keys[1])]
        assert held == [False, False, True, True], "keys of the first and the second request"
        university.stop()
        clock.set(START + 33 * DAY)
        university.start("--clock-is-right")
        until(lambda: not holds_key(university.store, keys[1][0]), what="erasing")
        wanted = [(1, "unused"), (2, "unused")] * 2
        until(lambda: listed(university) == wanted, what="a list of all four")


def listed(service: Service) -> list[tuple[int, str]]:
    """The keys that were erased without a plan."""
    unused = asked(service.port, "GET", "/v1/unused")[1]["erasures"]
    return [(one["round"], one["reason"]) for one in unused]


def given(asking: Asking, service: Service, **changes: Any) -> list[str]:
    """The keys that somebody gets in the end."""
    text = SURVEY.replace("MIXERS", "2")
    body = {"survey": text, "organiser": "x", "hop": 2, "pairing": "5a" * 16, **changes}
    status, values = settled(lambda: asking.ask(service, "POST", "/v1/keys", body))
    assert status == 200, rule((status, values))
    keys: list[str] = values["keys"]
    return keys


def test_one_identity_has_few_open_requests(tmp_path: Path, clock: Clock) -> None:
    """Otherwise a stranger could fill the disk, or keep others waiting."""
    university, asking = Service(tmp_path / "university"), Asking()
    answers = []
    with serving(university):
        for number in range(5):
            text = SURVEY.replace("MIXERS", "2").replace('"team"', f'"team-{number}"')
            body = {"survey": text, "organiser": "x", "hop": 2, "pairing": "5a" * 16}
            answers.append(asking.ask(university, "POST", "/v1/keys", body))
        assert [status for status, _ in answers] == [202] * 4 + [403]
        assert "at most 4 open requests" in rule(answers[-1])


def test_an_older_copy_of_the_list_of_plans_is_refused(tmp_path: Path, clock: Clock) -> None:
    """It would have forgotten a plan of the survey; the anchor lies on another disk."""
    with quick_folder() as disk:
        if disk.stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("skipped: there is one disk only")
        university = Service(tmp_path / "university", options=f"--anchor {disk / 'anchors'}")
        with serving(university):
            university.stop()
            backup = shutil.copytree(university.store, tmp_path / "backup")
            university.start()
            Organiser(tmp_path / "council").pair(university.link)
            university.stop()
            shutil.rmtree(university.store)
            backup.rename(university.store)
            university.begin()
            assert "must have every plan that its anchor knows" in str(university.ended)
