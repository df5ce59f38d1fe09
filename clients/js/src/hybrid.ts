/**
 * X-Wing: ML-KEM-768 with X25519, HPKE's KEM 0x647a. A file of its own, loaded only for surveys whose
 * seal it is.
 *
 * Where the platform has it, its own WebCrypto does it; elsewhere ML-KEM comes from @noble/post-quantum,
 * and X25519 from WebCrypto as ever. This client only seals, so that nothing here opens.
 */

import { sha3_256 } from "@noble/hashes/sha3.js";
import { ml_kem768 } from "@noble/post-quantum/ml-kem.js";
import { KEM_MLKEM768_X25519, type KEM, type KEMFactory, type Key } from "hpke";

const MLKEM_KEY_BYTES = 1184;
const CURVE = { name: "X25519" };
const LABEL = Uint8Array.of(0x5c, 0x2e, 0x2f, 0x2f, 0x5e, 0x5c); // \.//^\

interface RawKey extends Key {
  readonly raw: Uint8Array<ArrayBuffer>;
}

let chosen: Promise<KEMFactory> | undefined;

/** The platform's own, if it really works, or the one below; tried once. */
export const hybridKem = (): Promise<KEMFactory> => (chosen ??= choice());

async function choice(): Promise<KEMFactory> {
  try {
    const native = KEM_MLKEM768_X25519();
    const { publicKey } = await native.GenerateKeyPair(false);
    await native.Encap(publicKey);
    return () => native;
  } catch {
    return portableKem;
  }
}

export const portableKem = (): KEM<RawKey> => ({
  id: 0x647a,
  type: "KEM",
  name: "MLKEM768-X25519",
  Nsecret: 32,
  Nenc: 1120,
  Npk: 1216,
  Nsk: 32,
  DeserializePublicKey: async (key) => {
    const raw = new Uint8Array(key);
    return { algorithm: { name: "MLKEM768-X25519" }, extractable: true, type: "public", raw };
  },
  SerializePublicKey: async ({ raw }) => raw,
  Encap: encapsulated,
  Decap: notHere,
  DeriveKeyPair: notHere,
  GenerateKeyPair: notHere,
  SerializePrivateKey: notHere,
  DeserializePrivateKey: notHere,
});

async function encapsulated({ raw }: RawKey) {
  const { subtle } = globalThis.crypto;
  const lattice = ml_kem768.encapsulate(raw.subarray(0, MLKEM_KEY_BYTES));
  const recipient = raw.slice(MLKEM_KEY_BYTES);
  const pair = (await subtle.generateKey(CURVE, false, ["deriveBits"])) as CryptoKeyPair;
  const own = new Uint8Array(await subtle.exportKey("raw", pair.publicKey));
  const other = await subtle.importKey("raw", recipient, CURVE, false, []);
  const shared = await subtle.deriveBits({ ...CURVE, public: other }, pair.privateKey, 256);
  const parts = [lattice.sharedSecret, new Uint8Array(shared), own, recipient, LABEL];
  return { shared_secret: sha3_256(joined(parts)), enc: joined([lattice.cipherText, own]) };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function notHere(): never {
  throw new Error("this client only seals");
}
