/** Where cryptography comes from: the browser's own WebCrypto, or that of Node. */

import { KrandError } from "./errors.js";

const HINT = "open the page over https, in a current browser";
/** So many bad draws in a row happen once in 128⁸ = 2⁵⁶ at most. */
const DRAWS = 8;

/** The platform's WebCrypto. */
export async function webcrypto(): Promise<Crypto> {
  if (!globalThis.crypto) await defineInNode();
  if (!globalThis.crypto?.subtle) {
    throw new KrandError("unsupported", "browser", "must have WebCrypto", HINT);
  }
  return globalThis.crypto;
}

/** Node 18 has WebCrypto, but not the global that every later version and every browser has. */
async function defineInNode(): Promise<void> {
  const versions = (globalThis as { process?: { versions?: { node?: string } } }).process?.versions;
  if (!versions?.node) return;
  const name = "node:crypto"; // not a literal in the import: bundlers for browsers leave it alone
  const { webcrypto } = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as {
    webcrypto: Crypto;
  };
  Object.defineProperty(globalThis, "crypto", { value: webcrypto, configurable: true });
}

export async function sha256(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const { subtle } = await webcrypto();
  return new Uint8Array(await subtle.digest("SHA-256", new Uint8Array(bytes)));
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
    const { subtle } = await webcrypto();
    const uses: KeyUsage[] = algorithm === "X25519" ? ["deriveBits"] : ["sign", "verify"];
    await drawing(() => subtle.generateKey({ name: algorithm }, false, uses));
    return true;
  } catch {
    return false;
  }
}
