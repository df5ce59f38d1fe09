/** Ed25519: the mixers' signatures of a plan. */

import { concat, fromHex, isHex, utf8, type Bytes } from "./bytes.js";
import { KrandError, refusing } from "./errors.js";
import type { Plan } from "./plan.js";
import { canDo, webcrypto } from "./webcrypto.js";

const wrong = refusing("wrong-signature");

const FORMAT = "krand-plan-signature-1";
const PLAN_PURPOSE = utf8("krand plan\0");

/** A mixer's signature of a plan; all values in hexadecimal. */
export interface PlanSignature {
  readonly format: typeof FORMAT;
  readonly plan: string;
  readonly mixer: string;
  readonly signature: string;
}

/**
 * Refuses a plan that not all of its mixers signed. Signatures of other plans and by others are
 * ignored.
 */
export async function checkSignatures(plan: Plan, signatures: readonly PlanSignature[]): Promise<void> {
  await checkSupport();
  const signed = concat(PLAN_PURPOSE, fromHex(plan.hash));
  for (const { name, identity } of plan.mixers) {
    const field = `signature of ${name}`;
    const own = signatures.filter((each) => isFor(each, plan.hash, identity));
    if (!own.length) {
      throw wrong(field, "must be given for this plan", "every party of a plan serves its signatures");
    }
    for (const { signature } of own) {
      if (!(await isSigned(identity, signature, signed))) {
        throw wrong(field, "must be valid for this plan", "the file is damaged or forged");
      }
    }
  }
}

function isFor(signature: PlanSignature | null, plan: string, mixer: string): boolean {
  return signature?.format === FORMAT && signature.plan === plan && signature.mixer === mixer;
}

async function isSigned(key: string, signature: string, signed: Bytes): Promise<boolean> {
  if (!isHex(signature, 64)) return false;
  try {
    const { subtle } = webcrypto();
    const known = await subtle.importKey("raw", fromHex(key), "Ed25519", false, ["verify"]);
    return await subtle.verify("Ed25519", known, fromHex(signature), signed);
  } catch {
    return false; // 32 bytes that are no key
  }
}

async function checkSupport(): Promise<void> {
  if (await canDo("Ed25519")) return;
  const hint = "use a current browser: Chrome 137, Firefox 129, Safari 17 or newer";
  throw new KrandError("unsupported", "browser", "must have Ed25519 in WebCrypto", hint);
}
