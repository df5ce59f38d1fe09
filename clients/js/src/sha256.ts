/**
 * SHA-256 without waiting (FIPS 180-4): words are hashed while answers are checked, and WebCrypto
 * answers later only. Nothing else uses it; tests compare it with WebCrypto.
 */

/** The first 32 bits of the fractional parts of roots of the first primes, exactly. */
function roots(count: number, power: number): Uint32Array {
  const found = new Uint32Array(count);
  for (let candidate = 2, known = 0; known < count; candidate++) {
    if (isPrime(candidate)) found[known++] = Math.floor((candidate ** power % 1) * 2 ** 32);
  }
  return found;
}

function isPrime(candidate: number): boolean {
  for (let factor = 2; factor * factor <= candidate; factor++) {
    if (candidate % factor === 0) return false;
  }
  return true;
}

const START = roots(8, 1 / 2);
const ROUND = roots(64, 1 / 3);

export function sha256Now(message: Uint8Array): Uint8Array {
  const state = Uint32Array.from(START);
  const padded = pad(message);
  for (let offset = 0; offset < padded.byteLength; offset += 64) mix(state, padded, offset);
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, place) => digest.setUint32(4 * place, word));
  return new Uint8Array(digest.buffer);
}

/** The message, a one, zeros, and its length in bits, in whole blocks of 64 bytes. */
function pad(message: Uint8Array): DataView {
  const padded = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(message.length) * 8n);
  return view;
}

const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

function schedule(block: DataView, offset: number): Uint32Array {
  const words = new Uint32Array(64);
  for (let t = 0; t < 16; t++) words[t] = block.getUint32(offset + 4 * t);
  for (let t = 16; t < 64; t++) {
    const early = words[t - 15]!;
    const late = words[t - 2]!;
    const first = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
    const second = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
    words[t] = words[t - 16]! + first + words[t - 7]! + second;
  }
  return words;
}

function mix(state: Uint32Array, block: DataView, offset: number): void {
  const words = schedule(block, offset);
  let [a, b, c, d, e, f, g, h] = state as unknown as [
    number, number, number, number, number, number, number, number,
  ];
  for (let t = 0; t < 64; t++) {
    const one = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + one + choice + ROUND[t]! + words[t]!) | 0;
    const zero = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + zero + majority) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, place) => (state[place]! += value));
}
