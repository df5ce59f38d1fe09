/** The bytes on the wire: plaintexts, what a layer is bound to, and the submission. */

import { concat, fromHex, number, utf8 } from "./bytes.js";

/** The first byte of messages and submissions; it is in `info` too. */
const VERSION = 1;
const PURPOSE = utf8("krand message");
const [KIND_NULL, KIND_TOKEN, KIND_VECTOR] = [0, 1, 2] as const;

/** Bytes of the encapsulated key, with which a sealed message begins. */
export const ENC_LENGTH = 32;
export const ID_LENGTH = 16;
const HEAD_LENGTH = 1 + 2 + ID_LENGTH;

/** An empty message: it fills a lane up to its number of messages. */
export const empty = (): Uint8Array => concat(Uint8Array.of(VERSION, KIND_NULL), number(0, 4));

/** A position that was reported as 1. */
export const token = (position: number): Uint8Array =>
  concat(Uint8Array.of(VERSION, KIND_TOKEN), number(position, 4));

/** A whole noisy record. */
export const vector = (packed: Uint8Array): Uint8Array =>
  concat(Uint8Array.of(VERSION, KIND_VECTOR), packed);

export const isToken = (plaintext: Uint8Array): boolean => plaintext[1] === KIND_TOKEN;
export const isVector = (plaintext: Uint8Array): boolean => plaintext[1] === KIND_VECTOR;

/** The position in a token. */
export const positionIn = (plaintext: Uint8Array): number =>
  plaintext.slice(2).reduce((found, byte) => 256 * found + byte, 0);

/** What a layer is bound to: purpose, version, hop, plan, round, lane. */
export function layerInfo(hop: number, planHash: string, round: number, lane: number): Uint8Array {
  const where = concat(fromHex(planHash), number(round, 2), number(lane, 4));
  return concat(PURPOSE, Uint8Array.of(VERSION, hop), where);
}

/** The bytes that are sent; a retry sends the same. */
export function submissionBytes(
  round: number,
  id: Uint8Array,
  messages: readonly Uint8Array[],
): Uint8Array<ArrayBuffer> {
  return concat(Uint8Array.of(VERSION), number(round, 2), id, ...messages);
}

/** The id in the bytes of a submission. */
export const idOf = (body: Uint8Array): Uint8Array => body.slice(HEAD_LENGTH - ID_LENGTH, HEAD_LENGTH);

/** The same messages under another id. */
export function withId(body: Uint8Array, id: Uint8Array): Uint8Array<ArrayBuffer> {
  const changed = new Uint8Array(body);
  changed.set(id, HEAD_LENGTH - ID_LENGTH);
  return changed;
}

/** Bytes of each of so many sealed messages in a submission. */
export const messageLengthIn = (body: Uint8Array, count: number): number => (body.length - HEAD_LENGTH) / count;

/** Whether two submissions have the same messages, whatever their ids. */
export const sameMessages = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, place) => (place >= HEAD_LENGTH - ID_LENGTH && place < HEAD_LENGTH) || byte === other[place]);
