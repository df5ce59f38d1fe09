/** The ledger of a browser, in IndexedDB: shared by all tabs and workers of an origin. */

import { KrandError } from "./errors.js";
import type { Change, Entry, Ledger } from "./ledger.js";

const DATABASE = "krand";
const STORE = "submissions";
const VERSION = 1;

export class IndexedDbLedger implements Ledger {
  async change(change: Change): Promise<void> {
    const database = await opened();
    try {
      await transacted(database, change);
    } catch (error) {
      throw error instanceof KrandError ? error : refused(error);
    } finally {
      database.close();
    }
  }
}

/** One transaction, onto the disk. */
function transacted(database: IDBDatabase, change: Change): Promise<void> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, "readwrite", { durability: "strict" });
    const store = transaction.objectStore(STORE);
    const reading = store.getAll() as IDBRequest<Entry[]>;
    let refusal: unknown;
    reading.onsuccess = () => {
      try {
        for (const entry of change(reading.result)) store.put(entry);
      } catch (error) {
        refusal = error;
        transaction.abort();
      }
    };
    transaction.oncomplete = () => resolve();
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
