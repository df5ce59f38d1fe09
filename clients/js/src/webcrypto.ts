/** Where cryptography comes from: the browser's own WebCrypto, or that of Node. */

import { KrandError } from "./errors.js";

const HINT = "open the page over https, in a current browser";

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

/** Whether the platform can do X25519, and Ed25519 where it is needed. */
export async function canDo(algorithm: "X25519" | "Ed25519"): Promise<boolean> {
  try {
    const { subtle } = await webcrypto();
    const uses: KeyUsage[] = algorithm === "X25519" ? ["deriveBits"] : ["sign", "verify"];
    await subtle.generateKey({ name: algorithm }, false, uses);
    return true;
  } catch {
    return false;
  }
}
