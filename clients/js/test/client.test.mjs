import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { IDBFactory } from "fake-indexeddb";
import * as krand from "../build/internals.js";
import { ANSWERS, clientOf, invited, planFile, planOf, signaturesOf } from "./plans.mjs";

const URL_ = "https://collector.example/";
const CODE = "AAECAwQFBgcICQoLDA0ODw";
const OTHER_CODE = CODE.replace("AAE", "BAE");
const WAIT = { wait: async () => {} };

beforeEach(() => (globalThis.indexedDB = new IDBFactory()));

/** A collector that gives these answers in turn: a status with its JSON or bytes, or null for none. */
function collector(...answers) {
  const bodies = [];
  const fake = async (address, request) => {
    bodies.push(Buffer.from(request.body ?? []).toString("hex"));
    const [status, told, headers] = answers[Math.min(bodies.length, answers.length) - 1] ?? [];
    if (!status) throw new TypeError("network");
    const content = told instanceof Uint8Array ? told : JSON.stringify(told);
    return new Response(content, { status, headers });
  };
  return { fetch: fake, bodies };
}

const ACCEPTED = [202, { status: "accepted" }];
const KNOWN = [202, { status: "known" }];

for (const Ledger of [krand.MemoryLedger, krand.IndexedDbLedger]) {
  test(`${Ledger.name}: the first bytes stay until they are acknowledged`, async () => {
    const ledger = new Ledger();
    const round = (number) => new krand.LedgerRound(ledger, { plan: "ab", round: number });
    const first = round(1);
    assert.equal(await first.state(), "none");
    const made = (byte) => async () => Uint8Array.of(byte);
    const [one, two] = await Promise.all([first.keep(made(1)), round(1).keep(made(2))]);
    assert.deepEqual(one.body, two.body);
    assert.deepEqual([one.isNew, two.isNew].sort(), [false, true]);
    assert.equal(await first.state(), "pending");
    assert.deepEqual((await first.keep(made(3))).body, one.body);
    assert.deepEqual([await first.begin("x"), await first.begin("x")], [true, false]);
    await first.acknowledge();
    assert.equal(await first.state(), "delivered");
    await assert.rejects(first.keep(made(4)), { code: "already-submitted" });
    assert.equal(await round(2).state(), "none");
  });
}

test("retries send identical bytes, with waits that the collector may lengthen", async () => {
  const server = collector(null, [503, {}, { "retry-after": "7" }], [429, {}], ACCEPTED);
  const waits = [];
  const wait = async (seconds) => void waits.push(seconds);
  const sent = await krand.send(URL_, Uint8Array.of(1, 2), { fetch: server.fetch, wait });
  assert.equal(sent.status, "accepted");
  assert.deepEqual(server.bodies, ["0102", "0102", "0102", "0102"]);
  const ranges = [[0.5, 1.5], [8, 10], [2, 6]];
  ranges.forEach(([low, high], place) => assert.ok(low <= waits[place] && waits[place] < high));
});

test("after eight attempts it is not delivered, and devices do not come back together", async () => {
  const server = collector([500, {}]);
  const parts = [];
  const wait = async (seconds) => void parts.push(seconds / 2 ** parts.length);
  const sending = krand.send(URL_, Uint8Array.of(1), { fetch: server.fetch, wait });
  await assert.rejects(sending, { code: "not-delivered" });
  assert.equal(server.bodies.length, 8);
  assert.ok(new Set(parts).size > 4 && parts.every((part) => part >= 0.4 && part < 1.5), String(parts));
});

const refusals = [
  [403, "invitation", "unknown-invitation"], [410, "round", "closed"], [404, "plan", "wrong-plan"],
  [400, "submission", "refused"],
];
for (const [status, field, code] of refusals) {
  test(`an answer ${status} is the error ${code}, without a retry`, async () => {
    const server = collector([status, { field, rule: "no" }]);
    await assert.rejects(krand.send(URL_, Uint8Array.of(1), { fetch: server.fetch }), { code });
    assert.equal(server.bodies.length, 1);
  });
}

test("what a crash left behind is sent later, and a second answer is refused", async () => {
  const plan = await planOf(krand);
  const first = await clientOf(krand, plan, { url: URL_ }).prepare(ANSWERS);
  assert.equal(first.body.length, 19 + plan.messages * 54);
  const server = collector(ACCEPTED);
  const later = clientOf(krand, plan, { url: URL_, fetch: server.fetch });
  const sent = await later.resume();
  assert.deepEqual([sent.status, sent.wasKept], ["accepted", true]);
  assert.deepEqual(server.bodies, [Buffer.from(first.body).toString("hex")]);
  assert.equal(await later.resume(), null);
  await assert.rejects(later.prepare(ANSWERS), { code: "already-submitted" });
  assert.equal((await later.submit(ANSWERS)).status, "already-submitted");
  assert.equal(server.bodies.length, 1);
});

test("a code that was used elsewhere is told, also after a look at the submission", async () => {
  const plan = await planOf(krand, invited);
  const server = collector(KNOWN);
  const client = clientOf(krand, plan, { url: URL_, fetch: server.fetch });
  await client.prepare(ANSWERS, { invitation: CODE });
  const sending = client.submit(ANSWERS, { invitation: CODE });
  await assert.rejects(sending, { code: "used-invitation" });
  assert.equal(await client.state(1), "pending");
});

for (const Ledger of [krand.MemoryLedger, krand.IndexedDbLedger]) {
  test(`${Ledger.name}: after a used code the same messages go out under a new one`, async () => {
    const plan = await planOf(krand, invited);
    const server = collector(KNOWN, KNOWN, ACCEPTED);
    const client = clientOf(krand, plan, { url: URL_, fetch: server.fetch, ledger: new Ledger() });
    for (const how of ["submit", "resume"]) {
      const given = { invitation: CODE };
      const sending = how === "submit" ? client.submit(ANSWERS, given) : client.resume(given);
      await assert.rejects(sending, { code: "used-invitation" });
    }
    const sent = await client.submit(ANSWERS, { invitation: OTHER_CODE });
    assert.deepEqual([sent.status, sent.wasKept], ["accepted", true]);
    assert.equal(new Set(server.bodies.map((body) => body.slice(38))).size, 1);
    assert.equal(new Set(server.bodies.map((body) => body.slice(6, 38))).size, 2);
    assert.equal(await client.state(1), "delivered");
  });
}

test("a code that another tab delivered with is not called used", async () => {
  const plan = await planOf(krand, invited);
  const ledger = new krand.MemoryLedger();
  const key = { plan: plan.hash, round: 1 };
  const fetch = async () => {
    await new krand.LedgerRound(ledger, key).acknowledge(); // the other tab had its answer first
    return new Response(JSON.stringify(KNOWN[1]), { status: KNOWN[0] });
  };
  const client = clientOf(krand, plan, { url: URL_, fetch, ledger });
  assert.equal((await client.submit(ANSWERS, { invitation: CODE })).status, "known");
  assert.equal(await client.state(1), "delivered");
});

test("after an attempt whose outcome is unknown, known is success", async () => {
  const plan = await planOf(krand, invited);
  const options = { invitation: CODE, signal: undefined };
  const stop = new AbortController();
  const lost = { fetch: async () => (stop.abort(), Promise.reject(new TypeError("network"))) };
  const one = clientOf(krand, plan, { url: URL_, ...lost });
  await assert.rejects(one.submit(ANSWERS, { ...options, signal: stop.signal }), { code: "aborted" });
  const two = clientOf(krand, plan, { url: URL_, fetch: collector(KNOWN).fetch });
  assert.equal((await two.submit(ANSWERS, options)).status, "known");
});

test("after an answer that was lost, known is success", async (context) => {
  const own = globalThis.setTimeout;
  const soon = (work, delay) => own(work, delay < 10_000 ? 0 : delay); // waits, and no deadlines
  context.mock.method(globalThis, "setTimeout", soon);
  const plan = await planOf(krand, invited);
  const client = clientOf(krand, plan, { url: URL_, fetch: collector(null, KNOWN).fetch });
  assert.equal((await client.submit(ANSWERS, { invitation: CODE })).status, "known");
});

test("after a wrong code the same messages go out under the right one", async () => {
  const plan = await planOf(krand, invited);
  const server = collector([403, { field: "invitation" }], ACCEPTED);
  const client = clientOf(krand, plan, { url: URL_, fetch: server.fetch });
  const mistaken = client.submit(ANSWERS, { invitation: OTHER_CODE });
  await assert.rejects(mistaken, { code: "unknown-invitation" });
  await client.submit(ANSWERS, { invitation: CODE });
  const [one, two] = server.bodies;
  assert.equal(one.slice(38), two.slice(38));
  assert.notEqual(one.slice(6, 38), two.slice(6, 38));
});

test("a code is asked for where the survey asks for one, and only there", async () => {
  const code = "invalid-invitation";
  const closed = clientOf(krand, await planOf(krand, invited), { url: URL_ });
  await assert.rejects(closed.prepare(ANSWERS), { code });
  await assert.rejects(closed.prepare(ANSWERS, { invitation: "abc" }), { code });
  const open = clientOf(krand, await planOf(krand), { url: URL_ });
  await assert.rejects(open.prepare(ANSWERS, { invitation: CODE }), { code });
});

test("without storage nothing is sent", async () => {
  delete globalThis.indexedDB;
  const server = collector(ACCEPTED);
  const client = clientOf(krand, await planOf(krand), { url: URL_, fetch: server.fetch });
  await assert.rejects(client.submit(ANSWERS), { code: "no-storage" });
  assert.equal(server.bodies.length, 0);
});

const OPEN = [200, { open: true, round: 1 }];

test("Client.open refuses a plan that another one replaced, and a round that is not open", async () => {
  const { bytes, hash } = await planFile();
  const signatures = signaturesOf({ hash });
  const other = (await planFile()).bytes;
  const opened = (bytes, told) => {
    const { fetch } = collector([200, bytes], [200, signatures], [200, told]);
    return krand.Client.open(URL_, hash, { fetch });
  };
  assert.equal((await opened(bytes, OPEN[1])).plan.hash, hash);
  await assert.rejects(opened(other, OPEN[1]), { code: "wrong-plan" });
  for (const told of [{ open: false, round: 1 }, null, [], "open"]) {
    await assert.rejects(opened(bytes, told), { code: "closed" });
  }
  await assert.rejects(opened(bytes, { open: true, round: 2 }), { code: "invalid-round" });
  const unsigned = collector([200, bytes], [200, []]).fetch;
  await assert.rejects(krand.Client.open(URL_, hash, { fetch: unsigned }), { code: "wrong-signature" });
});

test("Client.open takes the address of any party, and sends to the plan's collector", async () => {
  const { bytes, hash } = await planFile((values) => (values.mixers[0].url = "https://one.example:8443/town"));
  const asked = [];
  const answers = [[200, bytes], [200, signaturesOf({ hash })], OPEN, ACCEPTED];
  const { fetch } = collector(...answers);
  const client = await krand.Client.open("https://two.example", hash, { fetch: (address, request) => (asked.push(address), fetch(address, request)) });
  await client.submit(ANSWERS);
  const [one, two] = ["https://one.example:8443/town", "https://two.example"].map((url) => `${url}/v1/plans/${hash}`);
  assert.deepEqual(asked, [two, `${two}/signatures`, `${one}/open`, `${one}/submissions`]);
});

test("what is previewed is what is sent, byte for byte, also after a look at other answers", async () => {
  const plan = await planOf(krand);
  const server = collector(ACCEPTED);
  const client = clientOf(krand, plan, { url: URL_, fetch: server.fetch });
  const shown = await client.preview(ANSWERS);
  const other = await client.preview({ pet: "cat" });
  const [again, twice] = await Promise.all([client.preview(ANSWERS), client.preview(ANSWERS)]);
  assert.equal(await client.state(1), "none");
  assert.deepEqual([again.body, twice.body], [shown.body, shown.body]);
  assert.notDeepEqual(other.body, shown.body);
  await client.submit(ANSWERS);
  assert.deepEqual(server.bodies, [krand.toHex(shown.body)]);
  assert.deepEqual([shown.truth, shown.messages, shown.messageLength, shown.sealedFor], [[0, 2, 5], 5, 54, ["the analyst"]]);
  const said = shown.lines.filter((line) => /: your answer/.test(line)).map((line) => line.split(":")[0]);
  assert.deepEqual(said, ["smokes = yes", "pet = dog", "tabs = 10 to 19"]);
  await assert.rejects(client.preview(ANSWERS), { code: "already-submitted" });
});

test("what was sealed before is shown as bytes alone, and is sent", async () => {
  const plan = await planOf(krand, invited);
  const server = collector(ACCEPTED);
  const earlier = clientOf(krand, plan, { url: URL_ });
  await earlier.prepare(ANSWERS, { invitation: CODE });
  const client = clientOf(krand, plan, { url: URL_, fetch: server.fetch });
  const shown = await client.preview({ pet: "cat" }, { invitation: OTHER_CODE });
  assert.deepEqual([shown.truth, shown.reported, shown.lines, shown.wasKept], [null, null, [], true]);
  await client.submit({ pet: "cat" }, { invitation: OTHER_CODE });
  assert.deepEqual(server.bodies, [krand.toHex(shown.body)]);
});

test("Client.open tries again as often as submit, and no more", async () => {
  const { bytes, hash } = await planFile();
  const told = { retries: 0 };
  const options = { ...WAIT, onRetry: () => told.retries++ };
  const server = collector(null, [503, {}], [429, {}, { "retry-after": "3" }], [200, bytes], [200, signaturesOf({ hash })], OPEN);
  const opened = await krand.Client.open(URL_, hash, { ...options, fetch: server.fetch });
  assert.deepEqual([opened.plan.hash, told.retries], [hash, 3]);
  const down = collector([500, {}]);
  const opening = krand.Client.open(URL_, hash, { ...options, fetch: down.fetch });
  await assert.rejects(opening, { code: "unreachable" });
  assert.equal(down.bodies.length, 8);
  const other = collector([404, {}]);
  await assert.rejects(krand.Client.open(URL_, hash, { fetch: other.fetch }), { code: "wrong-plan" });
  assert.equal(other.bodies.length, 1);
});

const locals = ["http://localhost:8080", "http://127.0.0.1", "http://127.9.8.7/x", "http://[::1]:1"];
const remotes = ["http://collector.example", "http://10.0.0.1", "http://localhost.example", "http://[2001:db8::1]"];
test("http:// is for a collector on the same machine", async () => {
  const plan = await planOf(krand);
  for (const url of locals) assert.equal(clientOf(krand, plan, { url }).url, url);
  for (const url of remotes) {
    assert.throws(() => clientOf(krand, plan, { url }), { code: "invalid-url", field: "url" });
    await assert.rejects(krand.Client.open(url, plan.hash), { code: "invalid-url" });
  }
});

test("a platform that fails to draw a key now and then can take part", async (context) => {
  const plan = await planOf(krand);
  const { subtle } = globalThis.crypto;
  const own = subtle.generateKey.bind(subtle);
  let draws = 0;
  subtle.generateKey = async (...given) => {
    if (draws++ % 4) return own(...given);
    throw new DOMException("refused", "OperationError");
  };
  context.after(() => delete subtle.generateKey);
  assert.equal(await krand.supported(), true);
  draws = 0;
  const { fetch, bodies } = collector(ACCEPTED);
  const client = clientOf(krand, plan, { url: URL_, fetch });
  assert.equal((await client.submit(ANSWERS)).status, "accepted");
  assert.equal(bodies.length, 1);
});

test("what a platform lacks is known before the first question", async (context) => {
  assert.equal(await krand.supported(), true);
  const { subtle } = globalThis.crypto;
  const own = subtle.generateKey.bind(subtle);
  subtle.generateKey = async (algorithm, ...rest) => {
    if (algorithm.name !== "X25519") return own(algorithm, ...rest);
    throw new DOMException("unknown", "NotSupportedError");
  };
  context.after(() => delete subtle.generateKey);
  assert.equal(await krand.supported(), false);
  delete subtle.generateKey;
  delete globalThis.indexedDB;
  assert.equal(await krand.supported(), false);
});

const WORDS = { type: "words", positions: 4, hashes: 2, at_most: 1 };
const aboutWords = (more) => (survey) => Object.assign(survey.question[0], WORDS, more);

for (const [name, change] of [
  ["hashes", aboutWords({ hashes: 4e9 })],
  ["hashes beyond its positions", aboutWords({ hashes: 5 })],
  ["words", aboutWords({ at_most: 101 })],
  ["positions", aboutWords({ positions: 1e6 + 1 })],
  ["positions together", aboutWords({ positions: 1e6 })],
  ["choices", (survey) => Object.assign(survey.question[1], { type: "pick_any", at_most: 4 })],
  ["copies", (survey) => Object.assign(survey, { copies: 10_001 })],
  ["rounds", (survey) => Object.assign(survey, { rounds: 10_001 })],
  ["mixers", (survey) => Object.assign(survey.trust, { mixers: 9 })],
]) {
  test(`a plan of more ${name} than a survey may have is refused for that`, async () => {
    const rule = /^must (be a whole number from 1 to \d+|have at most \d+ positions together)$/;
    await assert.rejects(planOf(krand, ({ survey }) => void change(survey)), { code: "wrong-plan", rule });
  });
}
