/**
 * What was entered and not yet sent, so that a reload loses nothing: encrypted in IndexedDB by a key
 * that the browser does not give out, and erased when the answers are sent.
 */

import { secureRandom } from "../random.js";
import type { Answers } from "./survey.js";

const NAME = "krand-form";
const STORE = "drafts";

interface Kept {
  plan: string;
  key: CryptoKey;
  iv: Uint8Array<ArrayBuffer>;
  data: ArrayBuffer;
}

interface Found {
  answers: Answers;
  /** Whether they were given to this plan, not to one that stood at the same address before. */
  samePlan: boolean;
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export class Draft {
  private key: CryptoKey | null = null;
  private last: Promise<void> = Promise.resolve();
  private erased = false;

  /** One for each address of a form. */
  constructor(
    private readonly place: string,
    private readonly plan: string,
  ) {}

  async read(): Promise<Found | null> {
    const kept = await this.within<Kept | undefined>("readonly", (store) => store.get(this.place));
    if (!kept) return null;
    try {
      const bytes = await crypto.subtle.decrypt({ name: "AES-GCM", iv: kept.iv }, kept.key, kept.data);
      return { answers: JSON.parse(new TextDecoder().decode(bytes)), samePlan: kept.plan === this.plan };
    } catch {
      return null;
    }
  }

  /** One after the other, so that the last one stays; what fails is kept in memory only. */
  save(answers: Answers): Promise<void> {
    const bytes = new TextEncoder().encode(JSON.stringify(answers));
    this.last = this.last.then(() => this.write(bytes)).catch(() => undefined);
    return this.last;
  }

  /** Nothing is kept from now on. */
  async erase(): Promise<void> {
    this.erased = true;
    await this.last;
    await this.clear();
  }

  async clear(): Promise<void> {
    this.key = null;
    await this.within("readwrite", (store) => store.delete(this.place)).catch(() => undefined);
  }

  private async write(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    if (this.erased) return;
    this.key ??= await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
    const iv = secureRandom().bytes(12);
    const data = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, this.key, bytes);
    const kept: Kept = { plan: this.plan, key: this.key, iv, data };
    if (!this.erased) await this.within("readwrite", (store) => store.put(kept, this.place));
  }

  private async within<T>(mode: IDBTransactionMode, use: (store: IDBObjectStore) => IDBRequest): Promise<T> {
    const opening = indexedDB.open(NAME, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    const database = await settled(opening);
    try {
      return (await settled(use(database.transaction(STORE, mode).objectStore(STORE)))) as T;
    } finally {
      database.close();
    }
  }
}
