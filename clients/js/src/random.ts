/**
 * Exact randomness. A *word* is 4 random bytes, most significant first; nothing here uses floating
 * point, so that a flip has exactly the probability that stands in the plan.
 */

import { KrandError } from "./errors.js";
import { webcrypto } from "./webcrypto.js";

/** Bytes drawn at a time; `getRandomValues` gives at most 65,536. */
const CHUNK = 16_384;
const WORDS = 2 ** 32;
/** A word is drawn again with a probability below 1/2: so often in a row, fewer than once in 2^128. */
const MOST_TRIES = 128;

export class Random {
  readonly #fill: (target: Uint8Array<ArrayBuffer>) => void;
  readonly #view: DataView<ArrayBuffer>;
  #used: number;

  /** `fill` fills a piece of memory with random bytes; `chunk` is how many are drawn at a time, a multiple of 4. */
  constructor(fill: (target: Uint8Array<ArrayBuffer>) => void, chunk = CHUNK) {
    this.#fill = fill;
    this.#view = new DataView(new ArrayBuffer(chunk));
    this.#used = chunk;
  }

  word(): number {
    if (this.#used === this.#view.byteLength) {
      this.#fill(new Uint8Array(this.#view.buffer));
      this.#used = 0;
    }
    const word = this.#view.getUint32(this.#used);
    this.#view.setUint32(this.#used, 0); // what was used is not kept
    this.#used += 4;
    return word;
  }

  /** So many bytes, a multiple of 4. */
  bytes(length: number): Uint8Array<ArrayBuffer> {
    const view = new DataView(new ArrayBuffer(length));
    for (let offset = 0; offset < length; offset += 4) view.setUint32(offset, this.word());
    return new Uint8Array(view.buffer);
  }

  /** A uniform whole number from 0 to just before n. */
  below(n: number): number {
    const limit = WORDS - (WORDS % n);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const word = this.word();
      if (word < limit) return word % n;
    }
    throw notRandom();
  }

  /** Puts a list in uniformly random order. */
  shuffle(list: unknown[]): void {
    for (let i = list.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [list[i], list[j]] = [list[j], list[i]];
    }
  }
}

/** The platform's cryptographic generator; nothing drawn is kept from one submission to the next. */
export function secureRandom(): Random {
  const source = webcrypto();
  return new Random((target) => void source.getRandomValues(target));
}

export function notRandom(): KrandError {
  const rule = "must be random, but the browser's random numbers repeat themselves";
  const hint = "nothing was made of your answers: restart the device, or answer on another one";
  return new KrandError("no-randomness", "randomness", rule, hint);
}
