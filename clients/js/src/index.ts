/** krand: anonymous telemetry and surveys from browsers, workers and Node. */

export {
  Client,
  type ClientOptions,
  type InvitationStatus,
  type OpenOptions,
  type PrepareOptions,
  type Preview,
  type Sent,
  type Submission,
  type SubmitOptions,
  supported,
} from "./client.js";
export { askedQuestions } from "./positions.js";
export type { Choice, Leveled, NumberQuestion, PickAny, Question, Scale, Words, YesNo } from "./questions.js";
export { KrandError, type ErrorCode } from "./errors.js";
export { IndexedDbLedger } from "./indexeddb.js";
export { MemoryLedger, type Change, type Entry, type Ledger, type LedgerState } from "./ledger.js";
export { Plan, type Lane, type Mixer } from "./plan.js";
export type { Retry, RetryOptions } from "./sending.js";
export { type PlanSignature } from "./signatures.js";
export type * from "./survey.js";
export { inLanguage, languagesOf, reworded } from "./translations.js";
