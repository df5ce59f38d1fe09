/** Every module, for tests alone: build/internals.js is not shipped. */

export * from "./bytes.js";
export * from "./encoding.js";
export * from "./fetching.js";
export { chanceOf } from "./form/pictures.js";
export { atMost, shown, signsOf, times, typed, whole } from "./form/numbers.js";
export * from "./index.js";
export * from "./invitations.js";
export * from "./messages.js";
export * from "./random.js";
export * from "./randomizer.js";
export * from "./schedule.js";
export * from "./sealing.js";
export * from "./sending.js";
export * from "./sha256.js";
export * from "./signatures.js";
export * from "./webcrypto.js";
export * from "./words.js";
