/** Addresses of a collector, and what it publishes about a plan. */

import { isHex } from "./bytes.js";
import { KrandError } from "./errors.js";
import { Plan } from "./plan.js";
import { ANONYMOUS } from "./sending.js";
import type { PlanSignature } from "./signatures.js";

/** The collector's address of something about a plan. */
export function addressOf(url: string, planHash: string, what: string): string {
  return `${checkedUrl(url)}/v1/${planHash}/${what}`;
}

/** Fetches a plan by its hash, and refuses another one. */
export async function fetchPlan(url: string, hash: string, get: typeof fetch): Promise<Plan> {
  const name = hash.toLowerCase();
  if (!isHex(name, 32)) {
    const rule = "must be 64 hexadecimal digits";
    throw new KrandError("wrong-plan", "hash", rule, "copy it from the survey's announcement");
  }
  const response = await fetched(addressOf(url, name, "plan"), get);
  return Plan.parse(new Uint8Array(await response.arrayBuffer()), name);
}

/** The signatures that the collector has of a plan; the client checks them. */
export async function fetchSignatures(
  url: string,
  plan: Plan,
  get: typeof fetch,
): Promise<readonly PlanSignature[]> {
  if (!plan.needsSignatures) return [];
  const response = await fetched(addressOf(url, plan.hash, "signatures"), get);
  const found: unknown = await response.json().catch(() => null);
  return Array.isArray(found) ? (found as PlanSignature[]) : [];
}

async function fetched(address: string, get: typeof fetch): Promise<Response> {
  const response = await get(address, ANONYMOUS).catch(() => null);
  if (response?.ok) return response;
  if (response?.status === 404) {
    const rule = "must be one that this collector serves";
    throw new KrandError("wrong-plan", "plan", rule, "compare the address and the hash");
  }
  const reason = response ? `it answered ${response.status}` : "there was no answer";
  const hint = "check the connection, and try again";
  throw new KrandError("unreachable", "collector", `must be reachable, but ${reason}`, hint);
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
  if (parts.search || parts.hash || parts.username || parts.password) {
    throw invalid("must have no query, no fragment and no user name");
  }
  return parts.href.replace(/\/+$/, "");
}

function invalid(rule: string): KrandError {
  return new KrandError("invalid-url", "url", rule, "for example https://collector.example");
}
