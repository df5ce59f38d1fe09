/** The platform's own cryptography: of browsers, workers and Node. */

import { KrandError } from "./errors.js";

const HINT = "open the page over https, in a current browser";
/** So many bad draws in a row happen once in 128⁸ = 2⁵⁶ at most. */
const DRAWS = 8;

/** The platform's WebCrypto. */
export function webcrypto(): Crypto {
  if (!globalThis.crypto?.subtle) throw new KrandError("unsupported", "browser", "must have WebCrypto", HINT);
  return globalThis.crypto;
}

/**
 * Work that draws a key, tried again where it fails: WebKitGTK 2.50 refuses keys that it has drawn
 * itself where a first byte is zero, of X25519 one in 256, of Ed25519 one in 128
 * (https://bugs.webkit.org/show_bug.cgi?id=307095).
 */
export async function drawing<T>(work: () => Promise<T>): Promise<T> {
  for (let left = DRAWS - 1; left > 0; left--) {
    try {
      return await work();
    } catch {
      // drawn again, or told below
    }
  }
  return work();
}

/** Whether the platform can do X25519, and Ed25519 where it is needed. */
export async function canDo(algorithm: "X25519" | "Ed25519"): Promise<boolean> {
  try {
    const { subtle } = webcrypto();
    const uses: KeyUsage[] = algorithm === "X25519" ? ["deriveBits"] : ["sign", "verify"];
    await drawing(() => subtle.generateKey({ name: algorithm }, false, uses));
    return true;
  } catch {
    return false;
  }
}
