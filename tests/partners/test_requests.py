"""What a service answers to whom: requests are signed, good once, and of somebody who may ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chaos import Clock
from golden import Golden
from partners.in_threads import START, Asking, Organiser, Service, asked, rule, serving


@pytest.fixture(scope="module")
def paired(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Organiser, Service]]:
    """An organiser, and a partner that has signed its plan."""
    folder = tmp_path_factory.mktemp("requests")
    university = Service(folder / "university")
    with Clock(folder, START), serving(university):
        organiser = Organiser(folder / "council")
        organiser.pair(university.link)
        yield organiser, university


def test_a_request_is_good_once_and_only_as_it_was_signed(
    paired: tuple[Organiser, Service],
) -> None:
    """A copy, another body, path, method, recipient or sender: none of them counts."""
    organiser, service = paired
    me, path, body = (
        organiser.asking,
        f"/v1/plans/{organiser.plan.hash}/heartbeat",
        b'{"nonce":"5a"}',
    )
    path_of_route = f"/v1/plans/{organiser.plan.hash}/route"

    def heard(headers: dict[str, str], sent: bytes = body, to: str = path) -> int:
        return asked(service.port, "POST", to, sent, headers)[0]

    good = me.headers(service, "POST", path, body)
    stranger = Asking().headers(service, "POST", path, body)
    changed = {
        "another body": (good, body.replace(b"5", b"6"), path),
        "another path": (good, body, path_of_route),
        "another method": (me.headers(service, "PATCH", path, body), body, path),
        "another recipient": (
            me.headers(service, "POST", path, body, recipient=Asking().public),
            body,
            path,
        ),
        "somebody else's name": ({**stranger, "krand-identity": me.public}, body, path),
        "a nonce of its own": (
            me.headers(service, "POST", path, body, nonce="5a" * 56),
            body,
            path,
        ),
        "no signature": ({k: v for k, v in good.items() if "signature" not in k}, body, path),
    }
    found = {name: heard(*sent) for name, sent in changed.items() if name != "another body"}
    assert found == dict.fromkeys(found, 401), "what nobody signed is not answered"
    assert heard(good) == 422, "a forged one does not use up what the real one needs"
    assert heard(good) == 401, "a request is good once"
    fresh = me.headers(service, "POST", path, body)
    assert heard(fresh, body.replace(b"5", b"6")) == 401, "the body is the one that was signed"
    assert heard(fresh) == 401, "and the request is used up"


def test_who_may_ask_for_what(paired: tuple[Organiser, Service], golden: Golden) -> None:
    """Strangers learn who answers, and which plans were signed; nothing of theirs is stored."""
    organiser, service = paired
    plan, stranger = organiser.plan.hash, Asking()
    batch = organiser.collected()
    chain = batch.with_suffix(".chain.json").read_bytes()
    sizes = {path: path.stat().st_size for path in service.store.rglob("*.sqlite")}
    said = []
    for who, name in ((stranger, "a stranger"), (organiser.asking, "the organiser")):
        for method, path, body in (
            ("POST", f"/v1/plans/{plan}/batches", chain),
            ("POST", f"/v1/plans/{'0' * 64}/batches", chain),
            ("POST", f"/v1/plans/{plan}/rounds/3/close", b""),
            ("POST", f"/v1/plans/{plan}/heartbeat", b'{"nonce":"%s"}' % (b"5a" * 16)),
            ("POST", "/v1/plans", b'{"plan":"{}","route":{}}'),
            ("POST", "/v1/keys", b"[]"),
            ("POST", "/v1/keys", b"x" * (2**20 + 1)),
            ("GET", "/v1/plans/x", b""),
        ):
            status, values = who.ask(service, method, path, body)
            told = rule((status, values)) if status >= 400 else f"{status} {', '.join(values)}"
            shown = f"{method} {path.replace(plan, 'PLAN').replace('0' * 64, 'ANOTHER')}"
            said.append(f"{name}: {shown}: {told}")
        if who is stranger:
            now = {path: path.stat().st_size for path in service.store.rglob("*.sqlite")}
            assert now == sizes, "a stranger has made something grow"
    for path in ("/v1/plans", f"/v1/plans/{plan}/erasures", "/v1/about", "/v1/unused"):
        said.append(
            f"anybody: GET {path.replace(plan, 'PLAN')}: {[*asked(service.port, 'GET', path)[1]]}"
        )
    golden("partners/who-may-ask", "\n".join(said))
    page = asked(service.port, "GET", "/")[1]["text"]
    assert organiser.plan.hash in page
    assert "3 people" not in page
