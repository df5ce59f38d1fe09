/**
 * Free words become positions by hashing, the same word always the same few.
 *
 *     SHA-256( "krand words 2" 00, id, question, word, hash index, counter )
 *
 * The three texts are UTF-8, each after its length as 4 bytes; both numbers are 4 bytes.
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { concat, number, utf8 } from "./bytes.js";
import { refusing } from "./errors.js";

const wrong = refusing("invalid-answer");

const DOMAIN = utf8("krand words 2\0");
const LONGEST = 1_000;
const RANGE = 2n ** 64n;
/** White_Space of Unicode, exactly: `trim` also removes U+FEFF, and not U+0085. */
const SPACE = "[\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const OUTER_SPACE = new RegExp(`^${SPACE}|${SPACE}$`, "g");
const LONE_SURROGATE = /\p{Surrogate}/u;

/** The word as it is counted: compatibility forms, case and outer spaces do not matter. */
export function normalized(question: string, word: string): string {
  if (word.length > LONGEST && [...word].length > LONGEST) {
    throw wrong(question, "must be at most 1,000 characters long", "shorten the word");
  }
  if (LONE_SURROGATE.test(word)) {
    throw wrong(question, "must be valid Unicode text", "type the word again");
  }
  const plain = word.normalize("NFKC").toLowerCase().normalize("NFKC").replace(OUTER_SPACE, "");
  if (!plain) throw wrong(question, "must not be an empty word", "leave the answer out");
  return plain;
}

/** The positions of a normalized word inside its block, one in each table; a table begins where the one before ends. */
export function wordPositions(surveyId: string, question: string, plain: string, ends: readonly number[]): number[] {
  const texts = [surveyId, question, plain].map(utf8);
  const prefix = concat(DOMAIN, ...texts.flatMap((text) => [number(text.length, 4), text]));
  return ends.slice(1).map((end, index) => ends[index]! + place(prefix, index, end - ends[index]!));
}

/** A uniform place in a table: digests in the last, incomplete part of the range are passed over. */
function place(prefix: Uint8Array, index: number, size: number): number {
  const limit = RANGE - (RANGE % BigInt(size));
  for (let counter = 0; ; counter++) {
    const digest = sha256(concat(prefix, number(index, 4), number(counter, 4)));
    const found = new DataView(digest.buffer, digest.byteOffset).getBigUint64(0);
    if (found < limit) return Number(found % BigInt(size));
  }
}
