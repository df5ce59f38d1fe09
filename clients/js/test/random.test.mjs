import assert from "node:assert/strict";
import { test } from "node:test";
import * as krand from "../build/internals.js";
import { clientOf, planOf } from "./plans.mjs";

/** A source that gives these words, and then fails. */
function given(words) {
  let used = 0;
  return new krand.Random((target) => {
    if (used === words.length) throw new Error("no more words");
    new DataView(target.buffer).setUint32(0, words[used++]);
  }, 4);
}

test("below(n) passes over words of the incomplete part", () => {
  const limit = 2 ** 32 - (2 ** 32 % 3);
  assert.equal(given([limit, limit - 1]).below(3), 2);
});

test("a position is flipped exactly if its word is below the noise", async () => {
  const plan = await planOf(krand);
  const q = 2 ** 30;
  const words = [q - 1, q, 0, q, q, q - 1, 2 ** 32 - 1];
  assert.deepEqual(krand.reportedPositions(plan, [0, 1], given(words)), [1, 2, 5]);
});

test("a lane keeps a random choice of its tokens, or fills up with nulls", async () => {
  const plan = await planOf(krand);
  const q = 2 ** 30;
  const flips = [q, 0, 0, 0, q, q, q];
  // pet: three tokens 1, 2, 3 for two messages; j = 0 of 3, then j = 1 of 2. tabs: two nulls.
  const lanes = krand.messagesOf(plan, [], given([...flips, 0, 1, 0]));
  const hex = lanes.map(({ plaintexts }) => plaintexts.map(krand.toHex));
  const empty = "010000000000";
  assert.deepEqual(hex, [[empty], ["010100000003", "010100000002"], [empty, empty]]);
});

test("every order of three is equally likely", async () => {
  const random = await krand.secureRandom();
  const counts = new Map();
  for (let draw = 0; draw < 60_000; draw++) {
    const list = [1, 2, 3];
    random.shuffle(list);
    counts.set(String(list), (counts.get(String(list)) ?? 0) + 1);
  }
  assert.equal(counts.size, 6);
  for (const count of counts.values()) assert.ok(Math.abs(count - 10_000) < 6 * 92); // 6 σ
});

const realBytes = globalThis.crypto.getRandomValues.bind(globalThis.crypto);
const repeated = Uint8Array.from({ length: 65_536 }, (_, place) => (place * place) >> 3);
const broken = {
  "all ones": (target) => target.fill(0xff),
  "all zeros": (target) => target.fill(0),
  "the same bytes at every draw": (target) => target.set(repeated.subarray(0, target.length)),
  "stuck after a while": (target) => {
    realBytes(target);
    if (target.length > 32) target.fill(0, target.length / 2);
  },
};

for (const [name, fill] of Object.entries(broken)) {
  test(`nothing is made with random numbers that are broken: ${name}`, async (context) => {
    const plan = await planOf(krand);
    context.mock.method(globalThis.crypto, "getRandomValues", (target) => (fill(target), target));
    const ledger = new krand.MemoryLedger();
    const client = clientOf(krand, plan, { url: "https://collector.example", ledger });
    await assert.rejects(client.prepare({}), { code: "no-randomness" });
    assert.equal(await client.state(1), "none");
  });
}

test("nothing is made with a key that was drawn twice", async (context) => {
  const plan = await planOf(krand);
  const { subtle } = globalThis.crypto;
  const own = await subtle.generateKey({ name: "X25519" }, true, ["deriveBits"]);
  context.mock.method(subtle, "generateKey", async () => own);
  const client = clientOf(krand, plan, { url: "https://collector.example", ledger: new krand.MemoryLedger() });
  await assert.rejects(client.prepare({}), { code: "no-randomness" });
});

test("below(n) gives up on words that are drawn again too often", () => {
  const ones = new krand.Random((target) => void target.fill(0xff));
  assert.throws(() => ones.below(3), { code: "no-randomness" });
});
