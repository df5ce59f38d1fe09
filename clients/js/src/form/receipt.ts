/** What a person keeps: which survey was answered, and the collector's signature of it. */

import type { Texts } from "./texts.js";

export interface ReceiptFacts {
  title: string;
  plan: string;
  round: number;
  collector: string;
  signature?: string | undefined;
  key?: string | undefined;
}

export type Verdict = "none" | "valid" | "invalid" | "unchecked";

const bytesOf = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** "krand receipt", 00, the plan's hash, the round: the same for everybody. */
function signed(plan: string, round: number): Uint8Array<ArrayBuffer> {
  const purpose = new TextEncoder().encode("krand receipt\0");
  return Uint8Array.from([...purpose, ...bytesOf(plan), round >> 8, round & 255]);
}

/** Whether the collector's signature is what it should be. */
export async function verdictOn({ signature, key, plan, round }: ReceiptFacts): Promise<Verdict> {
  if (!signature) return "none";
  if (!key) return "unchecked";
  try {
    const imported = await crypto.subtle.importKey("raw", bytesOf(key), { name: "Ed25519" }, false, ["verify"]);
    const valid = await crypto.subtle.verify({ name: "Ed25519" }, imported, bytesOf(signature), signed(plan, round));
    return valid ? "valid" : "invalid";
  } catch {
    return "unchecked";
  }
}

/** What the verdict means, for people. */
export function verdictText(verdict: Verdict, texts: Texts): string {
  if (verdict === "none") return texts.receiptNone;
  const said = { valid: texts.receiptValid, invalid: texts.receiptInvalid, unchecked: texts.receiptUnchecked }[verdict];
  return `${said} ${texts.receiptProves}`;
}

/** The receipt's lines: name and value. */
export function receiptLines(facts: ReceiptFacts, texts: Texts): [string, string][] {
  const lines: [string, string | undefined][] = [
    [texts.receiptPlan, facts.plan],
    [texts.receiptRound, String(facts.round)],
    [texts.receiptCollector, facts.collector],
    [texts.receiptSignature, facts.signature],
    [texts.receiptKey, facts.signature && facts.key],
  ];
  return lines.filter((line): line is [string, string] => !!line[1]);
}

/** The file that a person can save. */
export function receiptFile(facts: ReceiptFacts, verdict: Verdict, texts: Texts): string {
  const lines = receiptLines(facts, texts).map(([name, value]) => `${name}: ${value}`);
  return [facts.title, texts.receipt, "", ...lines, "", verdictText(verdict, texts), ""].join("\n");
}
