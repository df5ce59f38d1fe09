import assert from "node:assert/strict";
import { test } from "node:test";
import * as krand from "../build/internals.js";
import { planFile, planOf } from "./plans.mjs";

const refused = (code) => (error) => error instanceof krand.KrandError && error.code === code;

test("a plan is read with its lanes", async () => {
  const plan = await planOf(krand);
  assert.deepEqual(plan.lanes.map(({ offset, positions, messages }) => [offset, positions, messages]), [
    [0, 1, 1], [1, 3, 2], [4, 3, 2],
  ]);
});

test("a plan with another hash is refused", async () => {
  const { bytes } = await planFile();
  await assert.rejects(krand.Plan.parse(bytes, "0".repeat(64)), refused("wrong-plan"));
});

test("the chance of a right guess is rounded up, and never to always", () => {
  for (const epsilon of [0.01, 0.5, 1, 2, 4.6, 5, 8, 12]) {
    for (const delta of [0, 1e-6, 0.01]) {
      const chance = (Math.exp(epsilon) + delta) / (1 + Math.exp(epsilon));
      const { right, of } = krand.chanceOf({ epsilon, delta });
      assert.ok(right / of >= chance && (right - 1) / of < chance && right < of);
      assert.ok(of === 100 || chance > 1 - 10 / of);
    }
  }
  assert.deepEqual(krand.chanceOf({ epsilon: 1, delta: 1e-6 }), { right: 74, of: 100 });
  assert.equal(krand.chanceOf({ epsilon: 40, delta: 0 }), null);
});
