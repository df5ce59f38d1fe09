/** The ledger of a browser, in IndexedDB: shared by all tabs and workers of an origin. */

import { KrandError } from "./errors.js";
import { checkCharge } from "./schedule.js";
import {
  begun,
  erased,
  keptIn,
  keyOf,
  stateOf,
  withdrawn,
  type Entry,
  type Kept,
  type Ledger,
  type LedgerKey,
  type LedgerState,
} from "./ledger.js";

const DATABASE = "krand";
const STORE = "submissions";
const VERSION = 1;

export class IndexedDbLedger implements Ledger {
  /**
   * The bytes are made first, and then one transaction decides: if another tab was faster, its
   * bytes are the ones that count, and ours were never sent.
   */
  async keep(key: LedgerKey, make: () => Promise<Uint8Array>): Promise<Kept> {
    const known = await this.#changed(key, (entry) => entry);
    if (known) return keptIn(known);
    const made: Entry = { ...keyOf(key), body: new Uint8Array(await make()) };
    const stored = await this.#changed(key, (entry, entries) => {
      if (!entry) checkCharge(key, entries);
      return entry ?? made;
    });
    return stored === made ? { body: made.body!, isNew: true } : keptIn(stored!);
  }

  async begin(key: LedgerKey, id: string): Promise<boolean> {
    let isFirst = false;
    await this.#changed(key, (entry) => {
      const after = begun(entry, id);
      isFirst = after !== entry;
      return after;
    });
    return isFirst;
  }

  async withdraw(key: LedgerKey): Promise<boolean> {
    return stateOf(await this.#changed(key, withdrawn)) === "pending";
  }

  async acknowledge(key: LedgerKey): Promise<void> {
    await this.#changed(key, () => keyOf(key));
  }

  async state(key: LedgerKey): Promise<LedgerState> {
    return stateOf(await this.#changed(key, (entry) => entry));
  }

  /** Reads an entry and writes what `change` makes of it, in one transaction, onto the disk. */
  async #changed(
    key: LedgerKey,
    change: Change,
  ): Promise<Entry | undefined> {
    const database = await opened();
    try {
      return await transacted(database, key, change);
    } catch (error) {
      throw error instanceof KrandError ? error : refused(error);
    } finally {
      database.close();
    }
  }
}

/** What becomes of an entry; all others are needed for what has a charge. */
type Change = (entry: Entry | undefined, entries: readonly Entry[]) => Entry | undefined;

function transacted(database: IDBDatabase, key: LedgerKey, change: Change): Promise<Entry | undefined> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, "readwrite", { durability: "strict" });
    const store = transaction.objectStore(STORE);
    const reading = store.getAll(key.charge ? null : [key.plan, key.round]) as IDBRequest<Entry[]>;
    let entry: Entry | undefined;
    let refusal: unknown;
    reading.onsuccess = () => {
      const entries = reading.result;
      const known = entries.find(({ plan, round }) => plan === key.plan && round === key.round);
      try {
        entry = change(known, entries);
      } catch (error) {
        refusal = error;
        return transaction.abort();
      }
      if (entry && entry !== known) store.put(entry);
      for (const other of erased(key, entries)) store.put(other);
    };
    transaction.oncomplete = () => resolve(entry);
    transaction.onabort = () => reject(refusal ?? transaction.error);
  });
}

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    try {
      const opening = indexedDB.open(DATABASE, VERSION);
      opening.onupgradeneeded = () => {
        opening.result.createObjectStore(STORE, { keyPath: ["plan", "round"] });
      };
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(refused(opening.error));
      opening.onblocked = () => reject(refused(null));
    } catch (error) {
      reject(refused(error)); // no IndexedDB at all, or forbidden
    }
  });
}

function refused(error: unknown): KrandError {
  const reason = error instanceof Error ? ` (${error.name})` : "";
  const rule = `must be able to keep the submission before it is sent${reason}`;
  const hint =
    "allow this site to store data, which some browsers refuse in private windows; outside of browsers, give a ledger";
  return new KrandError("no-storage", "ledger", rule, hint);
}
