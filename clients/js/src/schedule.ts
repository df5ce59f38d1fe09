/** Rounds of a schedule: when they are open, and for which of them together a promise is. */

import { KrandError } from "./errors.js";
import type { Plan } from "./plan.js";
import type { Survey } from "./survey.js";

/** How many rounds a quarter of a year has. */
const QUARTER = { day: 91, week: 13, month: 3 } as const;

/** What answers of one period cost, and what a campaign may cost in all. */
export interface Charge {
  readonly campaign: string;
  /** The rounds of the period. */
  readonly first: number;
  readonly last: number;
  readonly epsilon: number;
  readonly delta: number;
  readonly most: { readonly epsilon: number; readonly delta: number };
}

export const firstRound = (survey: Survey): number => survey.schedule?.first ?? 1;

/** The period of a round, by its number alone. */
export function periodOf({ schedule, rounds }: Survey, round: number): { first: number; last: number } {
  if (!schedule || schedule.promise === "campaign") return { first: schedule?.first ?? 1, last: rounds };
  const length = schedule.promise === "round" ? 1 : QUARTER[schedule.every];
  const before = Math.floor((round - 1) / length) * length;
  return { first: Math.max(schedule.first, before + 1), last: Math.min(rounds, before + length) };
}

/** How many promises the campaign has, each for rounds of its own: from round 1 on. */
export function periodsOf({ schedule, rounds }: Survey): number {
  if (!schedule || schedule.promise === "campaign") return 1;
  return Math.ceil(rounds / (schedule.promise === "round" ? 1 : QUARTER[schedule.every]));
}

/** What an answer in this round costs; undefined without a schedule. */
export function chargeOf({ survey }: Plan, round: number): Charge | undefined {
  if (!survey.schedule) return undefined;
  const { epsilon } = survey.policy;
  const delta = (survey.policy.delta ?? survey.policy.eta)!; // whoever is promised η has that δ
  const periods = periodsOf(survey);
  const most = { epsilon: periods * epsilon, delta: periods * delta };
  return { campaign: survey.schedule.campaign, ...periodOf(survey, round), epsilon, delta, most };
}

/** Whether a round is open by this clock, in milliseconds; always without a schedule. */
export function isOpen({ schedule }: Survey, round: number, now: number): boolean {
  if (!schedule) return true;
  const [opens, closes] = schedule.opens.slice(round - schedule.first).map((each) => Date.parse(each));
  return opens !== undefined && closes !== undefined && opens <= now && now < closes;
}

/**
 * The last day of the round that is open, or opens next, where the reader is; without a schedule, or after its end, the
 * survey's.
 */
export function lastDay({ schedule, closes }: Survey, now: number): string | undefined {
  const ends = schedule?.opens.slice(1).map((each) => Date.parse(each));
  const end = ends?.find((each) => each > now);
  return end === undefined ? closes : new Date(end - 1).toLocaleDateString("sv"); // 2027-01-10
}

/** Refuses a round outside its window: otherwise a collector could ask for a year in a day. */
export function checkOpen(survey: Survey, round: number, now: number): void {
  if (isOpen(survey, round, now)) return;
  const hint = "is the clock of this device right? Nothing was sent";
  throw new KrandError("outside-window", "round", "must be open by the clock of this device", hint);
}

/** Windows of all rounds of the plan, one after the other. */
export function windowsAreWhole(survey: Survey): boolean {
  const { schedule } = survey;
  if (!schedule) return survey.rounds === 1;
  const opens = schedule.opens.map((each) => Date.parse(each));
  const whole = Number.isInteger(schedule.first) && opens.length === survey.rounds - schedule.first + 2;
  return whole && opens.every((each, place) => place === 0 || each > opens[place - 1]!);
}

interface Charged {
  readonly plan: string;
  readonly round: number;
  readonly charge?: Charge;
}

/**
 * Refuses what would cost more than the campaign promised: another plan of it for rounds that were
 * paid for, or more in all than any of its plans allows.
 */
export function checkCharge({ plan, charge }: Charged, entries: readonly Charged[]): void {
  if (!charge) return;
  const others = entries.flatMap((entry) => (entry.charge?.campaign === charge.campaign ? [{ plan: entry.plan, ...entry.charge }] : []));
  const paid = new Map(others.map((each) => [`${each.plan} ${each.first}`, each as Charge]));
  const overlaps = others.some((each) => each.plan !== plan && !(each.last < charge.first || charge.last < each.first));
  paid.set(`${plan} ${charge.first}`, charge);
  const exceeds = (["epsilon", "delta"] as const).some((name) => {
    const all = [...paid.values()];
    const spent = all.reduce((sum, each) => sum + each[name], 0);
    return !(spent <= Math.min(...all.map((each) => each.most[name])) * (1 + 1e-9)); // also what is no number
  });
  if (!overlaps && !exceeds) return;
  const rule = `must not exceed the promise of the campaign ${charge.campaign}`;
  const hint = "this device has answered another plan of it; a changed survey begins with a new period";
  throw new KrandError("campaign-spent", "plan", rule, hint);
}
