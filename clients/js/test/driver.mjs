// Answers questions about the client, for tests in Python: JSON in, JSON out.

import * as cases from "./cases.mjs";
import * as krand from "../build/internals.js";

const URL_ = "https://collector.example";

const planOf = ({ plan, hash }) => krand.Plan.parse(new TextEncoder().encode(plan), hash);

async function prepare(asked) {
  const options = { url: URL_, ledger: new krand.MemoryLedger(), signatures: asked.signatures };
  if (asked.now) options.now = () => asked.now;
  const client = new krand.Client(await planOf(asked), options);
  try {
    const made = await client.prepare(asked.answers, { round: asked.round });
    return { body: krand.toHex(made.body) };
  } catch (error) {
    return { code: error.code, field: error.field };
  }
}

/** Sends to a collector that runs, and answers with what became of it. */
async function submit({ url, hash, answers }) {
  const client = await krand.Client.open(url, hash, { ledger: new krand.MemoryLedger() });
  return client.submit(answers);
}

const OWN = { prepare, submit };

async function answer({ ask, ...asked }) {
  const about = cases.ABOUT_VECTORS[ask];
  return about ? about(krand, asked) : OWN[ask](asked);
}

let text = "";
for await (const part of process.stdin) text += part;
const told = [];
for (const asked of JSON.parse(text)) told.push(await answer(asked));
process.stdout.write(JSON.stringify(told));
