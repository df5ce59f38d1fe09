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
