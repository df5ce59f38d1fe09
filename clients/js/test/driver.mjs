// Answers questions about the client, for tests in Python: JSON in, JSON out.

import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from "@hpke/core";
import * as krand from "../build/internals.js";

const URL_ = "https://collector.example";

const planOf = ({ plan, hash }) => krand.Plan.parse(new TextEncoder().encode(plan), hash);

/** A source of exactly these bytes. */
function given(hex) {
  const bytes = krand.fromHex(hex);
  let used = 0;
  return new krand.Random((target) => {
    if (used + 4 > bytes.length) throw new Error("no more random bytes");
    target.set(bytes.subarray(used, (used += 4)));
  }, 4);
}

async function encode(asked) {
  const client = new krand.Client(await planOf(asked), { url: URL_ });
  try {
    return { positions: client.encode(asked.answers) };
  } catch (error) {
    return { code: error.code, field: error.field };
  }
}

async function messages(asked) {
  const plan = await planOf(asked);
  const lanes = krand.messagesOf(plan, asked.positions, given(asked.random));
  return lanes.flatMap(({ plaintexts }) => plaintexts.map(krand.toHex));
}

async function prepare(asked) {
  const options = { url: URL_, ledger: new krand.MemoryLedger(), signatures: asked.signatures };
  const client = new krand.Client(await planOf(asked), options);
  try {
    const made = await client.prepare(asked.answers, { round: asked.round });
    return { body: krand.toHex(made.body) };
  } catch (error) {
    return { code: error.code, field: error.field };
  }
}

const info = async ({ hop, hash, round, lane }) =>
  krand.toHex(krand.layerInfo(hop, hash, round, lane));

/** Opens with an HPKE package that the client does not use. */
async function open({ key, info: bound, sealed }) {
  const suite = new CipherSuite({
    kem: new DhkemX25519HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes128Gcm(),
  });
  const bytes = krand.fromHex(sealed);
  const recipientKey = await suite.kem.importKey("raw", krand.fromHex(key).buffer, false);
  const enc = bytes.slice(0, 32).buffer;
  const context = { recipientKey, enc, info: krand.fromHex(bound).buffer };
  return krand.toHex(new Uint8Array(await suite.open(context, bytes.slice(32).buffer)));
}

/** How many of so many words are below each numerator. */
async function flips({ numerators, draws }) {
  const random = await krand.secureRandom();
  return numerators.map((numerator) => {
    let flipped = 0;
    for (let draw = 0; draw < draws; draw++) if (random.word() < numerator) flipped++;
    return flipped;
  });
}

const KNOWN = { encode, messages, prepare, info, open, flips };

let text = "";
for await (const part of process.stdin) text += part;
const told = [];
for (const asked of JSON.parse(text)) told.push(await KNOWN[asked.ask](asked));
process.stdout.write(JSON.stringify(told));
