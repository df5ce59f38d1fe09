/** Asks a collector until it answers: sends the same bytes until they are acknowledged. */

import { KrandError, type ErrorCode } from "./errors.js";
import { webcrypto } from "./webcrypto.js";

const ATTEMPTS = 8;
const FIRST_WAIT = 1;
const LONGEST_WAIT = 60;
/** The longest wait that a collector may ask for (Retry-After), in seconds. */
const LONGEST_ASKED = 600;
const TIMEOUT_SECONDS = 20;
const LONGEST_RULE = 200;

/** A failed attempt, and the wait before the next one. */
export interface Retry {
  readonly attempt: number;
  readonly attempts: number;
  readonly problem: string;
  readonly waitSeconds: number;
}

export interface RetryOptions {
  /** Called before each wait. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** Stops waiting and asking; what was kept stays kept. */
  readonly signal?: AbortSignal | undefined;
}

export interface SendOptions extends RetryOptions {
  readonly fetch: typeof fetch;
  /** How long one attempt may take. */
  readonly timeoutSeconds?: number;
  /** Waits so many seconds; tests do not. */
  readonly wait?: (seconds: number, signal?: AbortSignal) => Promise<void>;
}

/** The collector has the submission. */
interface Delivered {
  readonly status: "accepted" | "known";
  /** Whether it was the first attempt of this call. */
  readonly atOnce: boolean;
}

/** What the client sends with every request: nothing that tells one person from another. */
const ANONYMOUS: RequestInit = {
  credentials: "omit",
  referrerPolicy: "no-referrer",
  cache: "no-store",
  redirect: "error",
};

/** Sends a submission; returns only when the collector has it. */
export async function send(address: string, body: Uint8Array, options: SendOptions): Promise<Delivered> {
  const { reply, attempt } = await answered(address, posting(body), options);
  if (reply.status === 202) return delivered(reply, attempt === 1);
  if (!mayRetry(reply.status)) throw refusal(reply);
  const rule = `must reach the collector, but ${ATTEMPTS} attempts failed (${reply.problem})`;
  throw new KrandError("not-delivered", "submission", rule, "nothing is lost: send it again");
}

const posting = (body: Uint8Array): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/octet-stream" },
  body: new Uint8Array(body),
});

/** Asks once, for what the page can do without: null if there is no answer that says yes. */
export async function askedOnce(address: string, body: Uint8Array, get: typeof fetch): Promise<Record<string, unknown> | null> {
  const reply = await asked(address, posting(body), { fetch: get });
  return reply.status === 200 ? toldIn(reply.bytes) : null;
}

/** The last answer to a request: one that is worth no retry, or that of the last attempt. */
export async function answered(
  address: string,
  request: RequestInit,
  options: SendOptions,
): Promise<{ reply: Reply; attempt: number }> {
  const wait = options.wait ?? waited;
  let reply: Reply = NO_ANSWER;
  for (let attempt = 1, base = FIRST_WAIT; attempt <= ATTEMPTS; attempt++) {
    checkAborted(options.signal);
    if (attempt > 1) {
      const waitSeconds = reply.askedSeconds + base * jitter();
      options.onRetry?.({ attempt: attempt - 1, attempts: ATTEMPTS, problem: reply.problem, waitSeconds });
      await wait(waitSeconds, options.signal);
      checkAborted(options.signal);
      base = Math.min(2 * base, LONGEST_WAIT);
    }
    reply = await asked(address, request, options);
    if (!mayRetry(reply.status)) return { reply, attempt };
  }
  return { reply, attempt: ATTEMPTS };
}

interface Reply {
  /** As in HTTP; 0 if there was no answer. */
  readonly status: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly problem: string;
  readonly askedSeconds: number;
}

const NO_ANSWER: Reply = { status: 0, bytes: new Uint8Array(), problem: "no answer", askedSeconds: 0 };

const mayRetry = (status: number): boolean =>
  status === 0 || status === 408 || status === 429 || status >= 500;

async function asked(address: string, request: RequestInit, options: SendOptions): Promise<Reply> {
  const deadline = new AbortController();
  const stop = (): void => deadline.abort();
  const timer = setTimeout(stop, 1_000 * (options.timeoutSeconds ?? TIMEOUT_SECONDS));
  options.signal?.addEventListener("abort", stop);
  try {
    const response = await options.fetch(address, {
      ...ANONYMOUS,
      ...request,
      signal: deadline.signal,
    });
    return await replyOf(response);
  } catch {
    return NO_ANSWER;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", stop);
  }
}

async function replyOf(response: Response): Promise<Reply> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const rule = response.ok ? "" : toldIn(bytes)["rule"];
  const problem = typeof rule === "string" ? rule.slice(0, LONGEST_RULE) : "";
  return {
    status: response.status,
    bytes,
    problem: `${response.status} ${problem}`.trim(),
    askedSeconds: wanted(response.headers.get("retry-after")),
  };
}

/** The JSON object in an answer; empty if there is none. */
function toldIn(bytes: Uint8Array): Record<string, unknown> {
  const value = jsonIn(bytes);
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** The JSON in an answer; null if there is none. */
export function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

/** A Retry-After in seconds; dates are ignored, because they need a correct clock. */
function wanted(header: string | null): number {
  return /^\d+$/.test(header ?? "") ? Math.min(Number(header), LONGEST_ASKED) : 0;
}

function delivered({ bytes }: Reply, atOnce: boolean): Delivered {
  return { status: toldIn(bytes)["status"] === "known" ? "known" : "accepted", atOnce };
}

function refusal({ status, problem, bytes }: Reply): KrandError {
  if (status === 403 && toldIn(bytes)["field"] === "invitation") {
    const hint = "copy the whole link of your invitation, or ask who sent it";
    return refused("unknown-invitation", "invitation", "must be one of this survey", hint);
  }
  if (status === 410) {
    return refused("closed", "round", "must be open", "the survey takes no more answers");
  }
  if (status === 404) {
    const hint = "is this the collector of this survey?";
    return refused("wrong-plan", "plan", "must be the one that is being collected", hint);
  }
  const rule = `must be accepted by the collector (${problem})`;
  return refused("refused", "submission", rule, "is this the collector of this plan and round?");
}

function refused(code: ErrorCode, field: string, rule: string, hint: string): KrandError {
  return new KrandError(code, field, rule, hint);
}

/** From one half to just below three halves, so that clients do not retry together. */
function jitter(): number {
  const [word] = webcrypto().getRandomValues(new Uint32Array(1));
  return 0.5 + word! / 2 ** 32;
}

function checkAborted(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  const rule = "was stopped before the collector answered";
  throw new KrandError("aborted", "request", rule, "nothing is lost: try again");
}

function waited(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, 1_000 * seconds);
    signal?.addEventListener("abort", finish);
  });
}
