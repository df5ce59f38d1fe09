/** Whether a device can take part at all, to be asked before the first question. */

import type { Plan } from "./plan.js";
import { canDo } from "./webcrypto.js";

/** X25519 and IndexedDB are there; for a plan with mixers also Ed25519. */
export async function supported(plan?: Plan): Promise<boolean> {
  if (!globalThis.indexedDB || !(await canDo("X25519"))) return false;
  return !plan?.needsSignatures || canDo("Ed25519");
}
