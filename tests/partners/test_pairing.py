"""`krand pair`: keys of all mixers, one plan, signatures of all; who decides, and what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chaos import Clock
from command_line import run
from golden import Golden
from partners.in_threads import (
    EVERYBODY,
    SURVEY,
    Answer,
    Asking,
    Between,
    Organiser,
    Service,
    asked,
    down,
    serving,
    unchanged,
)

ASKS = EVERYBODY.replace('"everybody"', '"ask"')


def said(result: Any) -> str:
    """The last words of a command, which are the error's."""
    return f"{result.exit_code} " + " ".join(result.stderr.rpartition("error: ")[2].split())


def test_the_same_command_goes_on_and_another_one_waits(
    tmp_path: Path, clock: Clock, golden: Golden
) -> None:
    """One plan however often; a second plan of the survey has to be accepted, with new keys."""
    university = Service(tmp_path / "university")
    with serving(university):
        organiser = Organiser(tmp_path / "council")
        organiser.pair(university.link)
        first = organiser.plan
        assert [mixer.name for mixer in first.mixers] == ["The works council", "university"]
        signatures = len([*organiser.own.rglob("*.sig.json")])
        assert signatures == 2, "all mixers have signed"
        organiser.pair(university.link)
        assert organiser.plan.hash == first.hash, "the same command makes the same plan"
        other = tmp_path / "again" / "team.krand"
        again = Organiser(tmp_path / "again")
        waits = said(again.pair(university.link, options="--no-wait", run=run))
        assert waits.startswith("75 "), waits
        assert not [*other.rglob("2.sig.json")]
        listed = university.accept().output
        golden("partners/second-plan-waits", f"{waits}\n\n{listed}", WORDS)
        university.accept(2)
        again.pair(university.link)
        second = again.plan
        keys = [set(plan.mixers[1].keys) for plan in (first, second)]
        assert keys[0].isdisjoint(keys[1]), "keys are in one plan"
        entries = asked(university.port, "GET", "/v1/plans")[1]["entries"]
        assert [entry["plan"] for entry in entries] == [first.hash, second.hash]


WORDS = {
    r"(in words:|fingerprint|your words,) [a-z ]*": r"\1 <words>",
    r"in digits: .*": "in digits: <digits>",
    r"\b[0-9a-f]{128}\b": "<signature>",
}
"""What is drawn anew for each identity."""


def lines(text: str, **changes: object) -> str:
    """The policy with other limits."""
    for name, value in changes.items():
        kept = [line for line in text.splitlines() if not line.startswith(name)]
        text = "\n".join([*kept, f"{name} = {value}"])
    return text


POLICIES: dict[str, str] = {
    "an operator who decides": ASKS,
    "a list without this organiser": f'accept = "listed"\norganisations = ["{"5a" * 32}"]',
    "a smaller epsilon": lines(EVERYBODY, largest_epsilon=1.5),
    "a smaller delta": lines(EVERYBODY, largest_delta=1e-5),
    "more mixers": lines(EVERYBODY, fewest_mixers=3),
    "fewer messages": lines(EVERYBODY, most_messages=10),
    "fewer rounds": lines(EVERYBODY, most_rounds=1),
    "an earlier last day": lines(EVERYBODY, latest_closing=10),
}


def test_a_policy_decides_whose_plans_are_signed(
    tmp_path: Path, clock: Clock, golden: Golden
) -> None:
    """Nobody whom it does not accept gets keys, and no plan outside of its limits a signature."""
    found = []
    for number, (name, policy) in enumerate(POLICIES.items()):
        service = Service(tmp_path / f"mixer-{number}", policy=policy)
        with serving(service):
            organiser = Organiser(tmp_path / f"council-{number}")
            result = organiser.pair(service.link, options="--no-wait", run=run)
            found.append(f"{name}: {said(result)}")
            assert not [*organiser.own.rglob("2.sig.json")], name
            if policy == ASKS:
                service.accept(1, "--refuse", "'we do not know you'")
                result = organiser.pair(service.link, run=run)
                found.append(f"one who refused: {said(result)}")
                known = Organiser(tmp_path / "known")
                known.pair(service.link, options="--no-wait", run=run)
                service.accept(2)
                known.pair(service.link)
    golden("partners/policies", "\n".join(found), WORDS)


MISTAKES = {
    "no limits": 'accept = "everybody"',
    "nobody": 'accept = "nobody"',
    "no list": 'accept = "listed"',
    "a list of nonsense": 'accept = "listed"\norganisations = ["ab", 5]',
    "a list for nothing": f'accept = "ask"\norganisations = ["{"5a" * 32}"]',
    "a misspelt key": 'accept = "ask"\nacept = 1',
    "limits of another kind": 'accept = "ask"\n[limits]\nlargest_epsilon = 0\nmost_rounds = 1.5',
}


def test_mistakes_in_a_policy_are_all_named(tmp_path: Path, golden: Golden) -> None:
    """A service does not start with a policy that its operator did not mean."""
    found = []
    for name, text in MISTAKES.items():
        service = Service(tmp_path / "mixer", policy=text)
        service.begin()
        (error,) = service.ended
        found.append(f"{name}:\n{error}")
        service.stop()
    golden("partners/policy-mistakes", "\n".join(found))


Changed = Callable[[dict[str, Any]], dict[str, Any]]


def at(path: str, change: Changed) -> Callable[[str, Answer], Answer]:
    """A partner that answers something else at one path."""

    def changed(asked: str, answer: Answer) -> Answer:
        status, values = answer
        return (status, change(values) if asked.endswith(path) and status == 200 else values)

    return changed


def with_part(name: str, **values: object) -> Changed:
    return lambda old: {**old, name: {**old[name], **values}}


OTHER = Asking().public
WRONG: dict[str, Callable[[str, Answer], Answer]] = {
    "nobody there": down,
    "nonsense": at("/keys", lambda _: {"keys": 7}),
    "keys of another identity": at("/keys", lambda old: {**old, "identity": OTHER}),
    "keys for too few rounds": at("/keys", lambda old: {**old, "keys": old["keys"][:1]}),
    "the key of everybody": at("/keys", lambda old: {**old, "keys": ["00" * 32] * 2}),
    "another plan's signature": at("/plans", with_part("signature", plan="0" * 64)),
    "somebody else's signature": at("/plans", with_part("signature", mixer=OTHER)),
    "a forged signature": at("/plans", with_part("signature", signature="0" * 128)),
    "an old heartbeat": at("/heartbeat", lambda old: {**old, "nonce": "0" * 32}),
    "a heartbeat of other keys": at("/heartbeat", lambda old: {**old, "keys": "0" * 64}),
}


def test_a_partner_that_answers_something_wrong_is_named(
    tmp_path: Path, clock: Clock, golden: Golden
) -> None:
    """The survey does not open with it, and nothing wrong is kept."""
    university, found = Service(tmp_path / "university"), []
    with serving(university), Between(university.port) as between:
        link = university.link.replace(str(university.port), str(between.port))
        organiser = Organiser(tmp_path / "council")
        for name, change in WRONG.items():
            between.change = change
            result = organiser.pair(link, options="--no-wait", run=run)
            assert not (organiser.own / "site.toml").exists()
            found.append(f"{name}: {said(result)}")
        between.change = unchanged
        organiser.pair(link)
        assert (organiser.own / "site.toml").exists()
        stranger = link.replace(university.identity, OTHER)
        other = Organiser(tmp_path / "other").pair(stranger, options="--no-wait", run=run)
        found.append(f"somebody else at the address: {said(other)}")
    golden("partners/wrong-answers", "\n".join(found), {**WORDS, OTHER: "<another>"})


DEVICES = "minimum_crowd = 100\n[trust]\nnoise = 'devices'"
UNFIT: dict[str, tuple[str, int]] = {
    "one mixer too many": (SURVEY, 2),
    "no last day": (re.sub(r"rounds = 2\n|\[schedule\]\n.*\n.*\n", "", SURVEY), 1),
    "noise of devices": (re.sub(r"\[trust\]\n.*\n.*", DEVICES, SURVEY), 1),
    "one party twice": (SURVEY.replace("MIXERS", "3"), 2),
}


def test_what_no_partner_would_take_is_refused_at_once(tmp_path: Path, golden: Golden) -> None:
    """Before anybody is asked."""
    nobody, found = f"http://127.0.0.1:9/#{'5a' * 32}", []
    for name, (text, partners) in UNFIT.items():
        organiser = Organiser(tmp_path / name, text=text.replace("MIXERS", "2"))
        result = organiser.pair(*[nobody] * partners, options="--no-wait", run=run)
        found.append(f"{name}: {said(result)}")
    golden("partners/not-to-be-paired", "\n".join(found))
