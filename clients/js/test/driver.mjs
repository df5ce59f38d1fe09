// Answers questions about the client, for tests in Python: JSON in, JSON out.

import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from "@hpke/core";
import * as hpke from "hpke";
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

/** Opens with the HPKE package that the client uses. */
async function openOwn({ key, info: bound, sealed }) {
  const suite = new hpke.CipherSuite(
    hpke.KEM_DHKEM_X25519_HKDF_SHA256, hpke.KDF_HKDF_SHA256, hpke.AEAD_AES_128_GCM,
  );
  const bytes = krand.fromHex(sealed);
  const options = { info: krand.fromHex(bound) };
  const pair = await cases.pairOf(krand, key);
  return krand.toHex(await suite.Open(pair, bytes.slice(0, 32), bytes.slice(32), options));
}

/** Opens with an HPKE package that the client does not use. */
async function openOther({ key, info: bound, sealed }) {
  const suite = new CipherSuite({
    kem: new DhkemX25519HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes128Gcm(),
  });
  const bytes = krand.fromHex(sealed);
  const recipientKey = await suite.kem.importKey("raw", krand.fromHex(key).buffer, false);
  const enc = bytes.slice(0, 32).buffer;
  const context = { recipientKey, enc, info: krand.fromHex(bound).buffer };
  return krand.toHex(new Uint8Array(await suite.open(context, bytes.slice(32).buffer)));
}

/** All layers of a message, the innermost first in `keys` and `infos`, by one of the packages. */
async function open({ package: name, keys, infos, sealed }) {
  const opened = { own: openOwn, other: openOther }[name];
  let content = sealed;
  for (let place = keys.length - 1; place >= 0; place--) {
    content = await opened({ key: keys[place], info: infos[place], sealed: content });
  }
  return content;
}

/** Sends to a collector that runs, and answers with what became of it. */
async function submit({ url, hash, answers }) {
  const client = await krand.Client.open(url, hash, { ledger: new krand.MemoryLedger() });
  return client.submit(answers);
}

const OWN = { open, prepare, submit };

async function answer({ ask, ...asked }) {
  const about = cases.ABOUT_VECTORS[ask];
  return about ? about(krand, asked) : OWN[ask](asked);
}

let text = "";
for await (const part of process.stdin) text += part;
const told = [];
for (const asked of JSON.parse(text)) told.push(await answer(asked));
process.stdout.write(JSON.stringify(told));
