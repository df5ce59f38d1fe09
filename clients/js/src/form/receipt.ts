/** What a person keeps: which survey was answered, and the collector's signature of it. */

import { receiptIsValid, type Plan } from "../index.js";
import type { Texts } from "./texts.js";

export interface ReceiptFacts {
  title: string;
  plan: string;
  round: number;
  collector: string;
  signature?: string | undefined;
  key?: string | undefined;
}

/** "earlier": this browser answered before, and does not keep what it was given then. */
export type Verdict = "none" | "earlier" | "valid" | "invalid" | "unchecked";

/** Whether the collector's signature is what it should be. */
export async function verdictOn(plan: Plan, { signature, key, round }: ReceiptFacts): Promise<Verdict> {
  if (!signature) return "none";
  if (!key) return "unchecked";
  try {
    return (await receiptIsValid(plan, round, signature, key)) ? "valid" : "invalid";
  } catch {
    return "unchecked"; // this browser has no Ed25519
  }
}

/** What the verdict means, for people. */
export function verdictText(verdict: Verdict, texts: Texts): string {
  if (verdict === "none") return texts.receiptNone;
  if (verdict === "earlier") return texts.receiptEarlier;
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
