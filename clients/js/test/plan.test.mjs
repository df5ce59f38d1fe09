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

const changes = {
  "another format": (values) => (values.format = "krand-plan-4"),
  "no analyst's key": (values) => delete values.analyst_key,
  "a block that is elsewhere": (values) => (values.blocks[1].offset = 2),
  "too few positions": (values) => (values.positions = 6),
  "another number of messages": (values) => (values.messages = 6),
  "noise above one half": (values) => (values.blocks[0].noise_numerator = 2 ** 31),
  "no noise": (values) => (values.blocks[0].noise_numerator = 0),
  "another promise": (values) => (values.promise.epsilon = 3),
  "a worse promise": (values) => (values.promise.delta = 2e-3),
  "mixers that are not named": (values) =>
    (values.survey.trust = { noise: "mixers", mixers: 2, batches: 1 }),
  "no survey": (values) => delete values.survey,
};

for (const [name, change] of Object.entries(changes)) {
  test(`a plan is refused with ${name}`, async () => {
    await assert.rejects(planOf(krand, change), refused("wrong-plan"));
  });
}
