"""The bundle in chromium, under a strict policy: its ledger, two tabs, a crash, a worker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

import steps
from chaos import PATIENCE
from javascript import STATIC
from krand.testing import FakeCollector, small_plan
from origin import Origin, running_origin

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ANSWERS = {"smokes": True, "pet": "dog"}
OTHER_ANSWERS = {"smokes": False, "pet": "cat"}
WORKER = b"""
import { Client, supported } from "/krand.js";
onmessage = async ({ data: { url, hash, answers } }) => {
  const client = await Client.open(url, hash);
  postMessage([await supported(client.plan), await client.submit(answers)]);
};
"""
# What is in IndexedDB is read without the client: it must not be believed about itself.
STORED = """() => new Promise((resolve, reject) => {
  const opening = indexedDB.open("krand");
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const reading = opening.result.transaction("submissions").objectStore("submissions").getAll();
    reading.onsuccess = () => resolve(
      reading.result.map(({ body, ...rest }) => ({ ...rest, body: body ? [...body] : null })),
    );
  };
})"""
SUBMIT = """async ([hash, answers]) => {
  const { Client } = await import("/krand.js");
  const client = await Client.open(location.origin, hash);
  return client.submit(answers).catch(({ code, field }) => ({ code, field }));
}"""
PREPARE = """async ([hash, answers]) => {
  const { Client } = await import("/krand.js");
  const client = await Client.open(location.origin, hash);
  const { body, wasKept } = await client.prepare(answers);
  return [[...body], wasKept];
}"""
RESUME = """async ([hash]) => {
  const { Client } = await import("/krand.js");
  return (await Client.open(location.origin, hash)).resume();
}"""
# Both tabs begin at the same moment.
BEGIN_RACE = """async ([hash, answers]) => {
  const { Client } = await import("/krand.js");
  const client = await Client.open(location.origin, hash);
  globalThis.racing = new Promise((resolve) => {
    const start = new BroadcastChannel("start");
    start.onmessage = () => resolve(
      client.submit(answers).catch(({ code, field }) => ({ code, field })),
    );
  });
}"""
IN_WORKER = """([hash, answers]) => new Promise((resolve, reject) => {
  const policy = trustedTypes.createPolicy("worker", { createScriptURL: (url) => url });
  const worker = new Worker(policy.createScriptURL("/worker.js"), { type: "module" });
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = ({ message }) => reject(new Error(message));
  worker.postMessage({ url: location.origin, hash, answers });
})"""


@dataclass(frozen=True, kw_only=True)
class Device:
    """A browser's profile, and the collector that its pages send to."""

    context: BrowserContext
    origin: Origin
    collector: FakeCollector
    violations: list[str]

    def page(self) -> Page:
        """A new tab; what it complains about is collected."""
        page = self.context.new_page()
        page.on("console", lambda message: self.violations.append(message.text))
        page.on("pageerror", lambda error: self.violations.append(str(error)))
        page.goto(self.origin.url)
        return page

    def run(self, page: Page, script: str, *given: Any) -> Any:
        """What the script gives, for the collector's plan."""
        return page.evaluate(script, [self.collector.plan.hash, *given])


@pytest.fixture
def device(browser: Browser) -> Iterator[Device]:
    plan = steps.named(small_plan())
    scripts = {"krand.js": (STATIC / "krand.js").read_bytes(), "worker.js": WORKER}
    collector = FakeCollector(plan, 1, steps.signed(plan))
    with running_origin(scripts, collector) as origin:
        context = browser.new_context()
        made = Device(context=context, origin=origin, collector=collector, violations=[])
        yield made
        context.close()
        assert made.violations == []


def test_a_submission_is_kept_before_it_is_sent_and_erased_after(device: Device) -> None:
    page, other = device.page(), device.page()
    kept: list[bytes] = []

    def look(route: Any) -> None:
        kept.extend(stored(other))
        route.continue_()

    page.route("**/submissions", look)
    receipt = device.run(page, SUBMIT, ANSWERS)
    assert receipt["status"] == "accepted"
    assert kept == device.origin.bodies
    assert device.collector.people == 1
    assert page.evaluate(STORED) == [{"plan": device.collector.plan.hash, "round": 1, "body": None}]


def stored(page: Page) -> list[bytes]:
    """The bodies that the profile keeps."""
    return [bytes(entry["body"]) for entry in page.evaluate(STORED) if entry["body"]]


def test_a_second_answer_is_told_and_nothing_is_sent(device: Device) -> None:
    page = device.page()
    device.run(page, SUBMIT, ANSWERS)
    page.reload()
    told = device.run(page, SUBMIT, OTHER_ANSWERS)
    assert (told["status"], told["wasKept"]) == ("already-submitted", False)
    assert len(device.origin.bodies) == 1


def test_two_tabs_send_one_submission(device: Device) -> None:
    """Whichever keeps first: both send its bytes, or one hears that the other delivered them."""
    pages = [device.page(), device.page()]
    for page, answers in zip(pages, (ANSWERS, OTHER_ANSWERS), strict=True):
        device.run(page, BEGIN_RACE, answers)
    device.page().evaluate("() => new BroadcastChannel('start').postMessage(0)")
    told = [page.evaluate("() => globalThis.racing") for page in pages]
    assert all(each.get("status") in ("accepted", "known", "already-submitted") for each in told), (
        told
    )
    assert [each.get("status") for each in told].count("accepted") == 1
    assert device.collector.people == 1
    assert len(set(device.origin.bodies)) == 1


def test_after_a_crash_the_same_bytes_are_sent(device: Device) -> None:
    """Between keeping and sending."""
    page = device.page()
    body, was_kept = device.run(page, PREPARE, ANSWERS)
    page.close()
    again, kept_again = device.run(device.page(), PREPARE, OTHER_ANSWERS)
    assert (was_kept, kept_again, again) == (False, True, body)
    later = device.page()
    receipt = device.run(later, RESUME)
    assert (receipt["status"], receipt["wasKept"]) == ("accepted", True)
    assert device.origin.bodies == [bytes(body)]
    assert device.run(later, RESUME) is None


def test_after_a_crash_in_the_middle_of_sending_it_counts_once(device: Device) -> None:
    """The collector has the submission, and the page closes before it hears so."""
    page = device.page()
    device.origin.silent = True
    page.evaluate(f"(given) => void ({SUBMIT})(given)", [device.collector.plan.hash, ANSWERS])
    assert device.origin.taken.wait(PATIENCE)
    page.close()
    device.origin.silent = False
    assert device.collector.people == 1
    receipt = device.run(device.page(), RESUME)
    assert receipt["status"] == "known"
    first, second = device.origin.bodies
    assert first == second
    assert device.collector.people == 1


def test_a_worker_can_submit(device: Device) -> None:
    """A module worker; the page then knows that the round was answered."""
    page = device.page()
    able, receipt = device.run(page, IN_WORKER, ANSWERS)
    assert (able, receipt["status"]) == (True, "accepted")
    assert device.collector.people == 1
    assert device.run(page, SUBMIT, ANSWERS)["status"] == "already-submitted"
