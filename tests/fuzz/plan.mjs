// What the JavaScript client makes of plans: a line of base64 in, a line of JSON out.

import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import * as krand from "../../clients/js/build/internals.js";

async function understood(bytes) {
  try {
    const plan = await krand.Plan.parse(bytes, createHash("sha256").update(bytes).digest("hex"));
    const { hash, positions, messages } = plan;
    const lanes = plan.lanes.map((lane) => [lane.block, lane.offset, lane.positions, lane.messages]);
    return { accepted: { hash, positions, messages, lanes } };
  } catch (error) {
    return error instanceof krand.KrandError ? { refused: error.code } : { failed: String(error?.stack) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await understood(Buffer.from(line, "base64")))}\n`);
}
