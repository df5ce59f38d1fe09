import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import * as krand from "../build/internals.js";
import { ANSWERS, planOf } from "./plans.mjs";

const client = async () => new krand.Client(await planOf(krand), { url: "https://collector.example" });

test("answers set their positions; missing ones and null set none", async () => {
  const { encode } = { encode: (answers) => made.encode(answers) };
  const made = await client();
  assert.deepEqual(encode(ANSWERS), [0, 2, 5]);
  assert.deepEqual(encode({ smokes: false, pet: null }), []);
  assert.deepEqual(encode({ tabs: 20 }), [6]);
  assert.deepEqual(encode({ tabs: 0 }), [4]);
});

const wrong = [
  { smokes: "yes" }, { smokes: 1 }, { pet: "bird" }, { pet: ["cat"] }, { tabs: -1 }, { tabs: 1.5 },
  { tabs: "3" }, { tabs: NaN }, { other: true }, { constructor: true },
];

test("a wrong answer is an error that names the question and never the answer", async () => {
  const made = await client();
  for (const answers of wrong) {
    assert.throws(() => made.encode(answers), (error) => {
      assert.equal(error.code, "invalid-answer");
      assert.ok(["answers", Object.keys(answers)[0]].includes(error.field));
      return !error.message.includes("bird");
    });
  }
});

test("SHA-256 without waiting is SHA-256", () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000]) {
    const message = Uint8Array.from({ length }, (_, place) => (place * 7 + length) & 0xff);
    const expected = createHash("sha256").update(message).digest("hex");
    assert.equal(krand.toHex(krand.sha256Now(message)), expected);
  }
});

test("words are normalized as the format says", () => {
  const pairs = [
    [" Straße\t", "straße"], ["ΣΊΣΥΦΟΣ", "σίσυφος"], ["ﬁ", "fi"], ["İ", "i\u0307"],
    ["\u0085x\u3000", "x"], ["\ufeffx", "\ufeffx"], ["\u001cx", "\u001cx"], ["Ａ", "a"],
  ];
  for (const [word, plain] of pairs) assert.equal(krand.normalized("q", word), plain);
  for (const word of ["", " \u2003", "\ud800", "x".repeat(1001)]) {
    assert.throws(() => krand.normalized("q", word), { code: "invalid-answer", field: "q" });
  }
  assert.equal(krand.normalized("q", "😀".repeat(1000)).length, 2000);
});
