/**
 * Exact randomness. A *word* is 4 random bytes, most significant first; nothing here uses floating
 * point, so that a flip has exactly the probability that stands in the plan.
 */

import { webcrypto } from "./webcrypto.js";

/** Fills a piece of memory with random bytes. */
export type Fill = (target: Uint8Array<ArrayBuffer>) => void;

/** Bytes drawn at a time; `getRandomValues` gives at most 65,536. */
const CHUNK = 16_384;
const WORDS = 2 ** 32;

export class Random {
  readonly #fill: Fill;
  readonly #buffer: Uint8Array<ArrayBuffer>;
  readonly #view: DataView;
  #used: number;

  /** `chunk` is how many bytes are drawn at a time, a multiple of 4. */
  constructor(fill: Fill, chunk = CHUNK) {
    this.#fill = fill;
    this.#buffer = new Uint8Array(chunk);
    this.#view = new DataView(this.#buffer.buffer);
    this.#used = chunk;
  }

  word(): number {
    if (this.#used === this.#buffer.length) {
      this.#fill(this.#buffer);
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
    for (;;) {
      const word = this.word();
      if (word < limit) return word % n;
    }
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
export async function secureRandom(): Promise<Random> {
  const source = await webcrypto();
  return new Random((target) => void source.getRandomValues(target));
}
