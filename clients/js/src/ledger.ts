/**
 * The device's record of what it has answered: one submission for each plan and round.
 *
 * Two randomizations of the same answers would reveal more than one. Therefore a submission is kept
 * before any of it is sent, and every retry sends the same bytes. Once the collector has it, the
 * bytes are erased, and only the fact stays that the round was answered.
 */

import { KrandError } from "./errors.js";
import { checkCharge, type Charge } from "./schedule.js";

export interface LedgerKey {
  readonly plan: string;
  readonly round: number;
  /** With a schedule: what it costs. It stays with the entry. */
  readonly charge?: Charge;
}

export interface Kept {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Whether this call made it; otherwise it contains the first answers. */
  readonly isNew: boolean;
}

export type LedgerState = "none" | "pending" | "delivered";

export interface Ledger {
  /**
   * The submission of this round: the kept one, or a new one, kept before it is returned.
   * KrandError "already-submitted" if the round was delivered. With a charge: "campaign-spent" if a
   * new one would exceed the campaign's promise; and what is pending of earlier rounds is erased.
   */
  keep(key: LedgerKey, make: () => Promise<Uint8Array>): Promise<Kept>;
  /** Notes that it is about to be sent under this id; true if it never was before. */
  begin(key: LedgerKey, id: string): Promise<boolean>;
  /** Notes that nothing was taken under any id; false if the round was delivered in the meantime. */
  withdraw(key: LedgerKey): Promise<boolean>;
  /** Erases the bytes, and keeps that the round was answered. */
  acknowledge(key: LedgerKey): Promise<void>;
  state(key: LedgerKey): Promise<LedgerState>;
}

/** What is stored for a round; without a body it was delivered. */
export interface Entry extends LedgerKey {
  readonly body?: Uint8Array<ArrayBuffer>;
  /** The id under which it was sent last. */
  readonly sentAs?: string;
}

/** The entry after `begin` under this id; the same one if it was sent under it, or delivered. */
export function begun(entry: Entry | undefined, id: string): Entry | undefined {
  return entry?.body && entry.sentAs !== id ? { ...entry, sentAs: id } : entry;
}

/** The entry after `withdraw`. */
export function withdrawn(entry: Entry | undefined): Entry | undefined {
  return entry?.body ? { ...keyOf(entry), body: entry.body } : entry;
}

/** What stays of an entry whose bytes are erased. */
export const keyOf = ({ plan, round, charge }: LedgerKey): LedgerKey =>
  charge ? { plan, round, charge } : { plan, round };

/** The entries of a campaign's closed rounds that still wait, without their bytes: they stay charged. */
export const erased = ({ round, charge }: LedgerKey, entries: readonly Entry[]): Entry[] =>
  charge ? entries.filter((each) => each.body && each.charge?.campaign === charge.campaign && each.round < round).map(keyOf) : [];

export function stateOf(entry: Entry | undefined): LedgerState {
  if (!entry) return "none";
  return entry.body ? "pending" : "delivered";
}

/** The kept submission of an entry; an error if it was delivered. */
export function keptIn(entry: Entry): Kept {
  if (entry.body) return { body: entry.body, isNew: false };
  const hint = "the collector has the first answers, and they stay; the new ones were not sent";
  const rule = "must not have been answered on this device before";
  throw new KrandError("already-submitted", "round", rule, hint);
}

/** Forgets everything when the page or process ends: for tests, and where nothing may be stored. */
export class MemoryLedger implements Ledger {
  readonly #entries = new Map<string, Entry>();

  async keep(key: LedgerKey, make: () => Promise<Uint8Array>): Promise<Kept> {
    for (const entry of erased(key, [...this.#entries.values()])) this.#entries.set(nameOf(entry), entry);
    const known = this.#entries.get(nameOf(key));
    if (known) return keptIn(known);
    const body = new Uint8Array(await make());
    const other = this.#entries.get(nameOf(key)); // made by another call in the meantime
    if (other) return keptIn(other);
    checkCharge(key, [...this.#entries.values()]);
    this.#entries.set(nameOf(key), { ...key, body });
    return { body, isNew: true };
  }

  async begin(key: LedgerKey, id: string): Promise<boolean> {
    const known = this.#entries.get(nameOf(key));
    const entry = begun(known, id);
    if (entry) this.#entries.set(nameOf(key), entry);
    return entry !== known;
  }

  async withdraw(key: LedgerKey): Promise<boolean> {
    const entry = withdrawn(this.#entries.get(nameOf(key)));
    if (entry) this.#entries.set(nameOf(key), entry);
    return stateOf(entry) === "pending";
  }

  async acknowledge(key: LedgerKey): Promise<void> {
    this.#entries.set(nameOf(key), keyOf(key));
  }

  async state(key: LedgerKey): Promise<LedgerState> {
    return stateOf(this.#entries.get(nameOf(key)));
  }
}

const nameOf = ({ plan, round }: LedgerKey): string => `${plan} ${round}`;
