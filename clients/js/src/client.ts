/** A person's device: answers in, sealed messages out, once per round. */

import { toHex } from "./bytes.js";
import { encode, type Answers } from "./encoding.js";
import { KrandError } from "./errors.js";
import { addressOf, checkedUrl, fetched, fetchPlan, fetchSignatures } from "./fetching.js";
import { IndexedDbLedger } from "./indexeddb.js";
import { invitedId } from "./invitations.js";
import type { Kept, Ledger, LedgerKey } from "./ledger.js";
import { ENC_LENGTH, ID_LENGTH, idOf, messagesIn, submissionBytes, withId } from "./messages.js";
import type { Plan } from "./plan.js";
import { notRandom, secureRandom } from "./random.js";
import { messagesOf, reportedIn, type LaneMessages } from "./randomizer.js";
import { chargeOf, checkOpen, firstRound } from "./schedule.js";
import { Sealer } from "./sealing.js";
import { askedOnce, jsonIn, send, type RetryOptions } from "./sending.js";
import { checkSignatures, type PlanSignature } from "./signatures.js";
import { canDo } from "./webcrypto.js";

export interface ClientOptions {
  /** The collector's address. */
  readonly url: string;
  /** Where submissions are kept; IndexedDB if it is left out. */
  readonly ledger?: Ledger;
  /** The plan's signatures, one of each mixer; the collector is the first. */
  readonly signatures?: readonly PlanSignature[];
  readonly fetch?: typeof fetch;
  /** The clock, in milliseconds since 1970; that of the device if it is left out. */
  readonly now?: () => number;
}

const STATUSES = ["unused", "used", "unknown"] as const;
export type InvitationStatus = (typeof STATUSES)[number];

export interface PrepareOptions {
  /**
   * Counted from 1. If it is left out, the round that is open.
   */
  readonly round?: number | undefined;
  /** The code of an invitation, where the survey asks for one. */
  readonly invitation?: string | undefined;
}

export interface OpenOptions extends Omit<ClientOptions, "url" | "signatures">, RetryOptions {}

export interface SubmitOptions extends PrepareOptions, RetryOptions {}

/** What is sent, noisy and sealed. */
export interface Submission {
  readonly planHash: string;
  readonly round: number;
  /** Exactly the bytes that are sent. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The sealed messages in them, in the order of the plan's lanes. */
  readonly messages: readonly Uint8Array[];
  /** Whether it was made and kept earlier; then it contains the first answers. */
  readonly wasKept: boolean;
  /**
   * The positions that are 1 in it, after the noise; one list for each copy of a record. Nobody can
   * tell once it is sealed: null if it was made earlier.
   */
  readonly reported: readonly (readonly number[])[] | null;
}

/** What became of a submission. */
export interface Sent {
  readonly planHash: string;
  readonly round: number;
  /**
   * "known": the collector had it already, from an attempt whose answer was lost.
   * "already-submitted": this round was answered on this device before; the first answers stay, and
   * nothing was sent now.
   */
  readonly status: "accepted" | "known" | "already-submitted";
  readonly wasKept: boolean;
}

export class Client {
  readonly plan: Plan;
  readonly url: string;
  readonly ledger: Ledger;
  readonly #fetch: typeof fetch;
  readonly #now: () => number;
  readonly #signatures: readonly PlanSignature[];
  #checked: Promise<void> | undefined;

  constructor(plan: Plan, options: ClientOptions) {
    this.plan = plan;
    this.url = checkedUrl(options.url);
    this.ledger = options.ledger ?? new IndexedDbLedger();
    this.#fetch = options.fetch ?? globalFetch;
    this.#now = options.now ?? Date.now;
    this.#signatures = options.signatures ?? [];
  }

  /**
   * Fetches the plan with this hash and its signatures from the collector, and checks both. It tries
   * again as often as `submit` does.
   */
  static async open(url: string, hash: string, options: OpenOptions = {}): Promise<Client> {
    const asking = { ...options, fetch: options.fetch ?? globalFetch };
    const plan = await fetchPlan(url, hash, asking);
    const signatures = await fetchSignatures(url, plan, asking);
    const client = new Client(plan, { ...options, url, signatures });
    await client.ready();
    return client;
  }

  /** Checks the mixers' signatures, once; nothing is made or sent before. */
  ready(): Promise<void> {
    this.#checked ??= checkSignatures(this.plan, this.#signatures);
    return this.#checked;
  }

  /** The positions that answers set, or a KrandError that names the question, rule and hint. */
  encode(answers: Answers): number[] {
    return encode(this.plan.survey, this.plan.layout, answers);
  }

  /**
   * The round that is open: the collector tells the number, and the plan's windows and the clock of
   * this device must agree. Without a schedule there is one.
   */
  async openRound(retry: RetryOptions = {}): Promise<number> {
    if (!this.plan.survey.schedule) return firstRound(this.plan.survey);
    const address = addressOf(this.url, this.plan.hash, "open");
    const status = jsonIn(await fetched(address, { ...retry, fetch: this.#fetch })) as { round?: unknown; open?: unknown } | null;
    if (!status?.open) throw new KrandError("closed", "round", "must be open", "try again when the next round has begun");
    const round = Number(status.round);
    this.#key(round);
    return round;
  }

  /**
   * The submission of this round, kept before it is returned; later calls give identical bytes,
   * whatever the answers: a second randomization would reveal more than the plan promises.
   */
  async prepare(answers: Answers, options: PrepareOptions = {}): Promise<Submission> {
    let reported: number[][] | null = null;
    const note = (lanes: readonly LaneMessages[]): void => void (reported = reportedIn(lanes));
    const round = options.round ?? (await this.openRound());
    const { body, isNew } = await this.#kept(answers, { ...options, round }, note);
    const { hash: planHash, messages: count } = this.plan;
    const messages = messagesIn(body, count);
    const shown = isNew ? reported : null;
    return { planHash, round, body, messages, wasKept: !isNew, reported: shown };
  }

  /**
   * What the collector tells about an invitation before anything is made of it: whether it is one of
   * this survey, and whether it was used some time ago. Null if it does not tell.
   */
  async invitationStatus(invitation: string, round = 1): Promise<InvitationStatus | null> {
    const id = await invitedId(this.plan, this.#key(round).round, invitation);
    const address = addressOf(this.url, this.plan.hash, "invitation");
    const told = id && (await askedOnce(address, id, this.#fetch));
    return STATUSES.find((status) => status === told?.["status"]) ?? null;
  }

  /**
   * Prepares and sends; returns when the collector has it. After an error, call it again. If the round
   * was answered before, nothing is sent, and the status says so.
   */
  async submit(answers: Answers, given: SubmitOptions = {}): Promise<Sent> {
    const round = given.round ?? (await this.openRound(given));
    const options = { ...given, round };
    const kept = await this.#kept(answers, options).catch(ignoreDelivered);
    if (kept) return this.#sent(kept, options);
    const { plan: planHash } = this.#key(round);
    return { planHash, round, status: "already-submitted", wasKept: false };
  }

  /**
   * Sends what was prepared, or what a crash or a closed page left behind; null if there is nothing
   * to send. With an invitation it goes out under the id of this one.
   */
  async resume(options: SubmitOptions = {}): Promise<Sent | null> {
    const { invitation } = options;
    const round = options.round ?? (await this.openRound(options));
    const key = this.#key(round);
    await this.ready();
    const id = invitation === undefined ? null : await invitedId(this.plan, round, invitation);
    if ((await this.ledger.state(key)) !== "pending") return null;
    const kept = await this.ledger.keep(key, neverMade).catch(ignoreDelivered);
    return kept && this.#sent(under(kept, id), { ...options, round });
  }

  async #kept(
    answers: Answers,
    { round = 1, invitation }: PrepareOptions,
    note?: (lanes: readonly LaneMessages[]) => void,
  ): Promise<Kept> {
    const key = this.#key(round);
    const positions = this.encode(answers);
    await this.ready();
    const id = await invitedId(this.plan, round, invitation);
    const kept = await this.ledger.keep(key, () => this.#made(positions, round, id, note));
    return under(kept, id);
  }

  async #made(
    positions: readonly number[],
    round: number,
    id: Uint8Array | null,
    note?: (lanes: readonly LaneMessages[]) => void,
  ) {
    const [random, sealer] = [await secureRandom(), await Sealer.of(this.plan, round)];
    const lanes = messagesOf(this.plan, positions, random);
    note?.(lanes);
    const drawn = id ?? random.bytes(ID_LENGTH);
    const sealed: Uint8Array[] = [];
    for (const { lane, plaintexts } of lanes) {
      for (const plaintext of plaintexts) sealed.push(await sealer.seal(lane.number, plaintext));
    }
    // Every seal begins with a fresh key. The same one twice would let others compare two messages.
    const keys = new Set(sealed.map((message) => toHex(message.subarray(0, ENC_LENGTH))));
    if (keys.size < sealed.length) throw notRandom();
    return submissionBytes(round, drawn, sealed);
  }

  async #sent(kept: Kept, { round, onRetry, signal }: SubmitOptions): Promise<Sent> {
    const key = this.#key(round);
    const address = addressOf(this.url, this.plan.hash, "submissions");
    const isFirst =
      this.plan.survey.invitations && (await this.ledger.begin(key, toHex(idOf(kept.body))));
    const found = await send(address, kept.body, { fetch: this.#fetch, onRetry, signal });
    // It was never sent under this id, and the collector has the id: from somebody else.
    const isUsed = isFirst && found.atOnce && found.status === "known";
    if (isUsed && (await this.ledger.withdraw(key))) throw usedInvitation();
    await this.ledger.acknowledge(key);
    return { planHash: key.plan, round: key.round, status: found.status, wasKept: !kept.isNew };
  }

  #key(round = 1): LedgerKey {
    this.plan.checkRound(round);
    checkOpen(this.plan.survey, round, this.#now());
    const charge = chargeOf(this.plan, round);
    return charge ? { plan: this.plan.hash, round, charge } : { plan: this.plan.hash, round };
  }
}

const globalFetch: typeof fetch = (...given) => globalThis.fetch(...given);

function usedInvitation(): KrandError {
  const rule = "must not have been used before";
  const hint = "these answers were not counted; they are kept, and can be sent with another code";
  return new KrandError("used-invitation", "invitation", rule, hint);
}

/** After a mistyped code the same messages go out under the id of the right one. */
const under = (kept: Kept, id: Uint8Array | null): Kept =>
  id ? { ...kept, body: withId(kept.body, id) } : kept;

function neverMade(): never {
  throw new KrandError("internal", "ledger", "must hold what is pending");
}

/** It was delivered earlier, or by another tab in the meantime. */
function ignoreDelivered(error: unknown): null {
  if (error instanceof KrandError && error.code === "already-submitted") return null;
  throw error;
}

/**
 * Whether a device can take part at all, to be asked before the first question: IndexedDB, X25519 and Ed25519 are
 * there.
 */
export async function supported(): Promise<boolean> {
  return !!globalThis.indexedDB && (await canDo("X25519")) && canDo("Ed25519");
}
