/** Invitations: one code is one submission a round, because the submission's id follows from it. */

import { sha256 } from "@noble/hashes/sha2.js";
import { concat, fromHex, number, utf8 } from "./bytes.js";
import { KrandError } from "./errors.js";
import { ID_LENGTH } from "./messages.js";
import type { Plan } from "./plan.js";

const PURPOSE = utf8("krand invitation\0");
/** 16 bytes as unpadded base64url; the last letter has 2 bits of them, and 4 zeros. */
const CODE = /^[A-Za-z0-9_-]{21}[AQgw]$/;

/** The id that a code gives in a round; null where the survey asks for no code. */
export function invitedId(plan: Plan, round: number, code: string | undefined): Uint8Array | null {
  if (!plan.survey.invitations) {
    if (code === undefined) return null;
    throw wrong("must not be given: everybody may answer this survey", "leave it out");
  }
  if (code === undefined) throw wrong("must be given", "open the link of your invitation");
  if (!CODE.test(code)) {
    const hint = "copy the whole link of your invitation";
    throw wrong("must be a code of 22 letters, digits, '-' and '_'", hint);
  }
  const named = concat(PURPOSE, fromHex(plan.hash), number(round, 2), decoded(code));
  return sha256(named).slice(0, ID_LENGTH);
}

function decoded(code: string): Uint8Array {
  const plain = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

function wrong(rule: string, hint: string): KrandError {
  return new KrandError("invalid-invitation", "invitation", rule, hint);
}
