/** Sends the same bytes to the collector until they are acknowledged. */

import { isHex } from "./bytes.js";
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

export interface SendOptions {
  readonly fetch: typeof fetch;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Waits so many seconds; tests do not. */
  readonly wait?: (seconds: number, signal?: AbortSignal) => Promise<void>;
}

/** The collector has the submission. */
export interface Delivered {
  readonly status: "accepted" | "known";
  /** The collector's signature, in hexadecimal, where it gives receipts. */
  readonly receipt?: string;
  /** Whether it was the first attempt of this call. */
  readonly atOnce: boolean;
}

/** What the client sends with every request: nothing that tells one person from another. */
export const ANONYMOUS: RequestInit = {
  credentials: "omit",
  referrerPolicy: "no-referrer",
  cache: "no-store",
  redirect: "error",
};

/** Sends a submission; returns only when the collector has it. */
export async function send(address: string, body: Uint8Array, options: SendOptions): Promise<Delivered> {
  const wait = options.wait ?? waited;
  let problem = "";
  let pause = 0;
  for (let attempt = 1, base = FIRST_WAIT; attempt <= ATTEMPTS; attempt++) {
    checkAborted(options.signal);
    if (attempt > 1) {
      const waitSeconds = pause + base * (await jitter());
      options.onRetry?.({ attempt: attempt - 1, attempts: ATTEMPTS, problem, waitSeconds });
      await wait(waitSeconds, options.signal);
      checkAborted(options.signal);
      base = Math.min(2 * base, LONGEST_WAIT);
    }
    const reply = await posted(address, body, options);
    if (reply.status === 202) return delivered(reply, attempt === 1);
    if (!mayRetry(reply.status)) throw refusal(reply);
    [problem, pause] = [reply.problem, reply.askedSeconds];
  }
  const rule = `must reach the collector, but ${ATTEMPTS} attempts failed (${problem})`;
  throw new KrandError("not-delivered", "submission", rule, "nothing is lost: send it again");
}

interface Reply {
  /** As in HTTP; 0 if there was no answer. */
  readonly status: number;
  readonly problem: string;
  readonly askedSeconds: number;
  readonly told: Record<string, unknown>;
}

const mayRetry = (status: number): boolean =>
  status === 0 || status === 408 || status === 429 || status >= 500;

async function posted(address: string, body: Uint8Array, options: SendOptions): Promise<Reply> {
  const deadline = new AbortController();
  const stop = (): void => deadline.abort();
  const timer = setTimeout(stop, 1_000 * TIMEOUT_SECONDS);
  options.signal?.addEventListener("abort", stop);
  try {
    const response = await options.fetch(address, {
      ...ANONYMOUS,
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: new Uint8Array(body),
      signal: deadline.signal,
    });
    return await replyOf(response);
  } catch {
    return { status: 0, problem: "no answer", askedSeconds: 0, told: {} };
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", stop);
  }
}

async function replyOf(response: Response): Promise<Reply> {
  const told = object(await response.json().catch(() => null));
  const rule = object(told["error"])["rule"];
  const problem = typeof rule === "string" ? rule.slice(0, LONGEST_RULE) : "";
  return {
    status: response.status,
    problem: `${response.status} ${problem}`.trim(),
    askedSeconds: asked(response.headers.get("retry-after")),
    told,
  };
}

/** A Retry-After in seconds; dates are ignored, because they need a correct clock. */
function asked(header: string | null): number {
  return /^\d+$/.test(header ?? "") ? Math.min(Number(header), LONGEST_ASKED) : 0;
}

function delivered({ told }: Reply, atOnce: boolean): Delivered {
  const { status, receipt } = told;
  const taken = { status: status === "known" ? status : "accepted", atOnce } as const;
  return isHex(receipt, 64) ? { ...taken, receipt } : taken;
}

function refusal({ status, problem, told }: Reply): KrandError {
  const field = object(told["error"])["field"];
  if (status === 403 && field === "invitation") {
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
async function jitter(): Promise<number> {
  const [word] = (await webcrypto()).getRandomValues(new Uint32Array(1));
  return 0.5 + word! / 2 ** 32;
}

function checkAborted(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  const rule = "was stopped before the collector acknowledged it";
  throw new KrandError("aborted", "submission", rule, "nothing is lost: send it again");
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

function object(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
