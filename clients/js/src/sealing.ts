/**
 * Layers of seals: for the analyst inside, around it for mixer h, then h - 1, down to mixer 2.
 *
 * HPKE (RFC 9180), base mode: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM.
 */

import {
  AEAD_AES_128_GCM,
  CipherSuite,
  KDF_HKDF_SHA256,
  KEM_DHKEM_X25519_HKDF_SHA256,
  type Key,
} from "hpke";
import { concat, fromHex } from "./bytes.js";
import { KrandError } from "./errors.js";
import { layerInfo } from "./messages.js";
import type { Plan } from "./plan.js";
import { drawing, webcrypto } from "./webcrypto.js";

const ANALYST = 0;

interface Layer {
  readonly hop: number;
  readonly key: Key;
}

export class Sealer {
  readonly #suite: CipherSuite;
  readonly #layers: readonly Layer[];
  readonly #plan: Plan;
  readonly #round: number;

  private constructor(suite: CipherSuite, layers: readonly Layer[], plan: Plan, round: number) {
    this.#suite = suite;
    this.#layers = layers;
    this.#plan = plan;
    this.#round = round;
  }

  /** Prepares the keys of a round. */
  static async of(plan: Plan, round: number): Promise<Sealer> {
    webcrypto();
    const suite = new CipherSuite(KEM_DHKEM_X25519_HKDF_SHA256, KDF_HKDF_SHA256, AEAD_AES_128_GCM);
    const layers = await Promise.all(
      keysOf(plan, round).map(async ({ hop, key }) => ({ hop, key: await imported(suite, key) })),
    );
    return new Sealer(suite, layers, plan, round);
  }

  /** A message of a lane in all its layers; sealing it again gives different bytes. */
  async seal(lane: number, plaintext: Uint8Array): Promise<Uint8Array> {
    let sealed = plaintext;
    for (const { hop, key } of this.#layers) {
      const info = layerInfo(hop, this.#plan.hash, this.#round, lane);
      const { encapsulatedSecret, ciphertext } = await this.#sealed(hop, key, sealed, info);
      sealed = concat(encapsulatedSecret, ciphertext);
    }
    return sealed;
  }

  async #sealed(hop: number, key: Key, content: Uint8Array, info: Uint8Array) {
    try {
      return await drawing(() => this.#suite.Seal(key, content, { info }));
    } catch {
      const field = hop === ANALYST ? "analyst.key" : `key of mixer ${hop}`;
      const rule = "must be a key that messages can be sealed for, not a point of low order";
      throw new KrandError("wrong-plan", field, rule, "get the plan again from its organiser");
    }
  }
}

/** Hop and key of every layer, the innermost first. The collector, mixer 1, has none. */
function keysOf(plan: Plan, round: number): { hop: number; key: string }[] {
  const outer = plan.mixers.map((mixer, place) => ({ hop: place + 1, key: mixer.keys[round - 1] ?? "" }));
  return [{ hop: ANALYST, key: plan.analyst.key }, ...outer.slice(1).reverse()];
}

async function imported(suite: CipherSuite, key: string): Promise<Key> {
  try {
    return await suite.DeserializePublicKey(fromHex(key));
  } catch {
    const hint = "use a current browser: Chrome 133, Firefox 130, Safari 17 or newer";
    throw new KrandError("unsupported", "browser", "must have X25519 in WebCrypto", hint);
  }
}
