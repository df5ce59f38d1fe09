/** Everything the client throws on purpose; `code` says what happened, for programs. */

export type ErrorCode =
  | "invalid-answer" // an answer does not fit its question
  | "invalid-invitation" // not a code at all, missing, or given where none is asked for
  | "invalid-round"
  | "outside-window"
  | "campaign-spent"
  | "invalid-url"
  | "wrong-plan" // another hash, another format, or not coherent
  | "wrong-signature" // a mixer did not sign this plan
  | "unsupported" // the browser lacks what the client needs
  | "no-randomness" // the device's random numbers are not random, so noise would hide nothing
  | "no-storage" // the device refuses to keep the submission, so nothing may be sent
  | "unreachable" // the plan or the signatures could not be fetched
  | "closed"
  | "already-submitted"
  | "used-invitation"
  | "unknown-invitation"
  | "refused" // the collector refuses the submission for another reason
  | "not-delivered" // all attempts failed; the ledger keeps the submission
  | "aborted" // the caller's signal; the ledger keeps the submission
  | "internal";

/**
 * Names the field, the rule, and what to do about it.
 *
 * The message never contains an answer: programs log messages.
 */
export class KrandError extends Error {
  override readonly name = "KrandError";
  readonly code: ErrorCode;
  readonly field: string;
  readonly rule: string;
  readonly hint: string;

  constructor(code: ErrorCode, field: string, rule: string, hint = "") {
    super(`${field}: ${rule}${hint && `; ${hint}`}`);
    this.code = code;
    this.field = field;
    this.rule = rule;
    this.hint = hint;
  }
}

/** Makes errors of one code. */
export const refusing =
  (code: ErrorCode) =>
  (field: string, rule: string, hint = ""): KrandError =>
    new KrandError(code, field, rule, hint);
