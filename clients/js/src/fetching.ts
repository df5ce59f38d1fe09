/** Addresses of a collector, and what it publishes about a plan. */

import { isHex } from "./bytes.js";
import { KrandError } from "./errors.js";
import { Plan } from "./plan.js";
import { answered, jsonIn, type SendOptions } from "./sending.js";
import type { PlanSignature } from "./signatures.js";

/** A plan with long lists takes its time on a slow network. */
const DOWNLOAD_SECONDS = 120;

/** The collector's address of a plan, or of something about it. */
export function addressOf(url: string, planHash: string, what = ""): string {
  return `${checkedUrl(url)}/v1/plans/${planHash}${what && `/${what}`}`;
}

/** Fetches a plan by its hash, and refuses another one. */
export async function fetchPlan(url: string, hash: string, options: SendOptions): Promise<Plan> {
  const name = hash.toLowerCase();
  if (!isHex(name, 32)) {
    const rule = "must be 64 hexadecimal digits";
    throw new KrandError("wrong-plan", "hash", rule, "copy it from the survey's announcement");
  }
  return Plan.parse(await fetched(addressOf(url, name), options), name);
}

/** The signatures that the collector has of a plan; the client checks them. */
export async function fetchSignatures(
  url: string,
  plan: Plan,
  options: SendOptions,
): Promise<readonly PlanSignature[]> {
  const found = jsonIn(await fetched(addressOf(url, plan.hash, "signatures"), options));
  return Array.isArray(found) ? (found as PlanSignature[]) : [];
}

/** What stands at an address; asked for as often as a submission is sent. */
export async function fetched(address: string, options: SendOptions): Promise<Uint8Array<ArrayBuffer>> {
  const { reply, attempt } = await answered(address, {}, { ...options, timeoutSeconds: DOWNLOAD_SECONDS });
  if (reply.status === 200) return reply.bytes;
  if (reply.status === 404) {
    const rule = "must be one that this collector serves";
    throw new KrandError("wrong-plan", "plan", rule, "compare the address and the hash");
  }
  const rule = `must be reachable, but it was not (${reply.problem}; attempt ${attempt})`;
  throw new KrandError("unreachable", "collector", rule, "check the connection, and try again");
}

/** The address without a slash at its end. */
export function checkedUrl(url: string): string {
  let parts: URL;
  try {
    parts = new URL(url);
  } catch {
    throw invalid("must be an address that starts with https:// or http://");
  }
  if (parts.protocol !== "https:" && parts.protocol !== "http:") {
    throw invalid("must be an address that starts with https:// or http://");
  }
  if (parts.protocol === "http:" && !isLoopback(parts.hostname)) {
    throw invalid("must begin with https://, or name this machine (localhost, 127.0.0.1, [::1])");
  }
  if (parts.search || parts.hash || parts.username || parts.password) {
    throw invalid("must have no query, no fragment and no user name");
  }
  return parts.href.replace(/\/+$/, "");
}

/** Whether what is sent to this host never leaves the machine; `URL` has brought it into its form. */
const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);

function invalid(rule: string): KrandError {
  return new KrandError("invalid-url", "url", rule, "for example https://collector.example");
}
