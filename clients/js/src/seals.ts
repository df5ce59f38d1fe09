/** The kinds of seal that a survey may ask for, and what follows from each: one row for each version. */

import type { Survey } from "./survey.js";

export interface Seal {
  /** The first byte of messages and submissions; it is in `info` too. */
  readonly version: number;
  /** HPKE's numbers of KEM, KDF and AEAD, which `info` names; version 2 has one suite and names none. */
  readonly suite: string;
  /** Bytes of a public key. */
  readonly keyBytes: number;
  /** Bytes of the encapsulated key, with which a sealed message begins. */
  readonly encBytes: number;
}

const SEALS: Readonly<Record<string, Seal>> = {
  x25519: { version: 2, suite: "", keyBytes: 32, encBytes: 32 },
  "mlkem768-x25519": { version: 3, suite: "647a00010001", keyBytes: 1216, encBytes: 1120 },
};

/** Absent in a survey means X25519; undefined for a kind that this client does not know. */
export const sealOf = ({ seal = "x25519" }: Survey): Seal => SEALS[seal]!;
