/**
 * Exact randomness. A *word* is 4 random bytes, most significant first; nothing here uses floating
 * point, so that a flip has exactly the probability that stands in the plan.
 */

import { KrandError } from "./errors.js";
import { webcrypto } from "./webcrypto.js";

/** Fills a piece of memory with random bytes. */
type Fill = (target: Uint8Array<ArrayBuffer>) => void;

/** Bytes drawn at a time; `getRandomValues` gives at most 65,536. */
const CHUNK = 16_384;
const WORDS = 2 ** 32;
/** A word is drawn again with a probability below 1/2: so often in a row, fewer than once in 2^128. */
const MOST_TRIES = 128;
/** So many equal words in a row are not chance: among 2^32 words they are less likely than 2^-64. */
const STUCK = 4;
/** Bytes that are drawn to compare others with, and never used. */
const PROBE = 32;

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
  return new Random(watched((target) => void source.getRandomValues(target)));
}

/**
 * A source that is checked at the start and at every draw: with bytes that are stuck or come again,
 * noise would hide nothing.
 */
function watched(fill: Fill): Fill {
  const probe = new Uint8Array(PROBE);
  fill(probe);
  if (isStuck(probe)) throw notRandom();
  return (target) => {
    fill(target);
    const comesAgain = probe.every((byte, place) => byte === target[place]);
    if (isStuck(target) || comesAgain) throw notRandom();
  };
}

/** Whether the same word stands there several times in a row. */
function isStuck(bytes: Uint8Array<ArrayBuffer>): boolean {
  const view = new DataView(bytes.buffer);
  for (let place = 4, equal = 1; place < bytes.length; place += 4) {
    equal = view.getUint32(place) === view.getUint32(place - 4) ? equal + 1 : 1;
    if (equal === STUCK) return true;
  }
  return false;
}

export function notRandom(): KrandError {
  const rule = "must be random, but the browser's random numbers repeat themselves";
  const hint = "nothing was made of your answers: restart the device, or answer on another one";
  return new KrandError("no-randomness", "randomness", rule, hint);
}
