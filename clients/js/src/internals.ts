/** Every module, for tests alone: build/internals.js is not shipped. */

export { sha256 } from "@noble/hashes/sha2.js";
export * from "./bytes.js";
export * from "./positions.js";
export * from "./fetching.js";
export { signsOf, typed, whole } from "./form/numbers.js";
export * from "./index.js";
export * from "./invitations.js";
export * from "./ledger.js";
export * from "./messages.js";
export * from "./random.js";
export * from "./randomizer.js";
export * from "./schedule.js";
export * from "./sealing.js";
export * from "./sending.js";
export * from "./signatures.js";
export * from "./webcrypto.js";
export * from "./words.js";
