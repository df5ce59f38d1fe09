// A small plan, made here: tests of the client need no Python.

import { generateKeyPairSync, sign, webcrypto } from "node:crypto";

const ANSWERS = { smokes: true, pet: "dog", tabs: 12 };

function question(name, type, more = {}) {
  return { name, text: "", type, weight: 1, required: false, ...more };
}

const lane = (block, offset, positions, messages) => ({ block, offset, positions, messages });

async function analystKey() {
  const pair = await webcrypto.subtle.generateKey({ name: "X25519" }, true, ["deriveBits"]);
  const raw = await webcrypto.subtle.exportKey("raw", pair.publicKey);
  return Buffer.from(raw).toString("hex");
}

const collectorKeys = generateKeyPairSync("ed25519");
const identity = Buffer.from(collectorKeys.publicKey.export({ format: "jwk" }).x, "base64url").toString("hex");

/** What the collector, the only mixer of these plans, signs. */
function signaturesOf({ hash }) {
  const signed = Buffer.concat([Buffer.from("krand plan\0"), Buffer.from(hash, "hex")]);
  const signature = sign(null, signed, collectorKeys.privateKey).toString("hex");
  return [{ format: "krand-plan-signature-1", plan: hash, mixer: identity, signature }];
}

/** A client that was given the signatures of a plan. */
const clientOf = (krand, plan, options) => new krand.Client(plan, { signatures: signaturesOf(plan), ...options });

/** Bytes and hash of a plan; `change` may alter its values first. */
async function planFile(change = () => {}) {
  const policy = { epsilon: 2, delta: 1e-3, minimum_crowd: 100, colluding: 1 };
  const values = {
    format: "krand-plan-1",
    analyst: { key: await analystKey(), identity: "5b".repeat(32) },
    survey: {
      id: "pets", language: "en", invitations: false, linkage: "bit", copies: 1, rounds: 1, policy,
      question: [
        question("smokes", "yes_no", { counts: "yes" }),
        question("pet", "choice", { choices: ["cat", "dog", "none"] }),
        question("tabs", "number", { edges: [0, 10, 20], open: "above", integer: true, asked_as: "figure" }),
      ],
      together: [],
      trust: { noise: "devices", mixers: 1, analyst_runs: [] },
    },
    numerators: [2 ** 30, 2 ** 30, 2 ** 30],
    mixers: [{ name: "collector", identity, keys: [], url: "" }],
    lanes: [lane("smokes", 0, 1, 1), lane("pet", 1, 3, 2), lane("tabs", 4, 3, 2)],
  };
  change(values);
  const bytes = new TextEncoder().encode(JSON.stringify(values));
  const digest = await webcrypto.subtle.digest("SHA-256", bytes);
  return { bytes, hash: Buffer.from(digest).toString("hex") };
}

/** A plan that was parsed. */
async function planOf(krand, change) {
  const { bytes, hash } = await planFile(change);
  return krand.Plan.parse(bytes, hash);
}

const invited = (values) => void (values.survey.invitations = true);

export { ANSWERS, clientOf, invited, planFile, planOf, signaturesOf };
