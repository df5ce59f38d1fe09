/**
 * The device's record of what it has answered: one submission for each plan and round.
 *
 * Two randomizations of the same answers would reveal more than one. Therefore a submission is kept
 * before any of it is sent, and every retry sends the same bytes. Once the collector has it, the
 * bytes are erased, and only the fact stays that the round was answered.
 */

import type { Bytes } from "./bytes.js";
import { KrandError } from "./errors.js";
import { checkCharge, type Charge } from "./schedule.js";

export interface LedgerKey {
  readonly plan: string;
  readonly round: number;
  /** With a schedule: what it costs. It stays with the entry. */
  readonly charge?: Charge;
}

/** What is stored for a round; without a body it was delivered. */
export interface Entry extends LedgerKey {
  readonly body?: Bytes;
  /** The id under which it was sent last. */
  readonly sentAs?: string;
}

/** Which entries to write, given all that are there; what it throws leaves them as they are. */
export type Change = (entries: readonly Entry[]) => readonly Entry[];

/** Where entries are stored. */
export interface Ledger {
  /** Reads all entries and writes what `change` gives, in one step; resolves when it is stored. */
  change(change: Change): Promise<void>;
}

export interface Kept {
  readonly body: Bytes;
  /** Whether this call made it; otherwise it contains the first answers. */
  readonly isNew: boolean;
}

export type LedgerState = "none" | "pending" | "delivered";

/** One round in a ledger. */
export class LedgerRound {
  readonly #ledger: Ledger;
  readonly #key: LedgerKey;

  constructor(ledger: Ledger, { plan, round, charge }: LedgerKey) {
    this.#ledger = ledger;
    this.#key = charge ? { plan, round, charge } : { plan, round };
  }

  async state(): Promise<LedgerState> {
    const entry = await this.#changed((found) => found);
    return !entry ? "none" : entry.body ? "pending" : "delivered";
  }

  /** The submission of this round that waits; null if there is none, an error if it was delivered. */
  async kept(): Promise<Kept | null> {
    const entry = await this.#changed((found) => found);
    return entry ? keptIn(entry) : null;
  }

  /**
   * The kept submission, or a new one, kept before it is returned. It is made first, and then one
   * step decides: if another tab was faster, its bytes are the ones that count, and ours were never
   * sent. With a charge, what is pending of the campaign's earlier rounds is erased.
   */
  async keep(make: () => Promise<Bytes>): Promise<Kept> {
    const known = await this.kept();
    if (known) return known;
    const made: Entry = { ...this.#key, body: await make() };
    const stored = await this.#changed((found, entries) => {
      if (!found) checkCharge(this.#key, entries);
      return found ?? made;
    });
    return stored === made ? { body: made.body!, isNew: true } : keptIn(stored!);
  }

  /** Notes that it is about to be sent under this id; true if it never was before. */
  async begin(id: string): Promise<boolean> {
    let isFirst = false;
    await this.#changed((found) => {
      isFirst = !!found?.body && found.sentAs !== id;
      return isFirst ? { ...found!, sentAs: id } : found;
    });
    return isFirst;
  }

  /** Notes that nothing was taken under any id; false if the round was delivered in the meantime. */
  async withdraw(): Promise<boolean> {
    const left = await this.#changed((found) => (found?.body ? { ...this.#key, body: found.body } : found));
    return !!left?.body;
  }

  /** Erases the bytes, and keeps that the round was answered. */
  async acknowledge(): Promise<void> {
    await this.#changed(() => this.#key);
  }

  async #changed(change: (found: Entry | undefined, entries: readonly Entry[]) => Entry | undefined): Promise<Entry | undefined> {
    let entry: Entry | undefined;
    await this.#ledger.change((entries) => {
      const found = entries.find(({ plan, round }) => plan === this.#key.plan && round === this.#key.round);
      entry = change(found, entries);
      return [...(entry && entry !== found ? [entry] : []), ...this.#erased(entries)];
    });
    return entry;
  }

  /** The campaign's closed rounds that still wait, without their bytes: they stay charged. */
  #erased(entries: readonly Entry[]): Entry[] {
    const { round: now, charge: own } = this.#key;
    if (!own) return [];
    const left = entries.filter((each) => each.body && each.charge?.campaign === own.campaign && each.round < now);
    return left.map(({ plan, round, charge }) => ({ plan, round, charge: charge! }));
  }
}

/** The kept submission of an entry; an error if it was delivered. */
function keptIn(entry: Entry): Kept {
  if (entry.body) return { body: entry.body, isNew: false };
  const hint = "the collector has the first answers, and they stay; the new ones were not sent";
  throw new KrandError("already-submitted", "round", "must not have been answered on this device before", hint);
}

/** Forgets everything when the page or process ends: for tests, and where nothing may be stored. */
export class MemoryLedger implements Ledger {
  readonly #entries = new Map<string, Entry>();

  async change(change: Change): Promise<void> {
    for (const entry of change([...this.#entries.values()])) this.#entries.set(`${entry.plan} ${entry.round}`, entry);
  }
}
