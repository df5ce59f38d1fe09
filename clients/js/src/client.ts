/** A person's device: answers in, sealed messages out, once per round. */

import { toHex, type Bytes } from "./bytes.js";
import { KrandError } from "./errors.js";
import { addressOf, checkedUrl, fetched, fetchPlan, fetchSignatures } from "./fetching.js";
import { IndexedDbLedger } from "./indexeddb.js";
import { invitedId } from "./invitations.js";
import { LedgerRound, type Kept, type Ledger, type LedgerState } from "./ledger.js";
import { ENC_LENGTH, ID_LENGTH, idOf, messageLengthIn, sameMessages, submissionBytes, withId } from "./messages.js";
import type { Plan } from "./plan.js";
import { encode, meaningOf } from "./positions.js";
import { notRandom, secureRandom } from "./random.js";
import { messagesOf, reportedIn } from "./randomizer.js";
import { chargeOf, checkOpen, firstRound } from "./schedule.js";
import { Sealer } from "./sealing.js";
import { askedOnce, jsonIn, send, type RetryOptions } from "./sending.js";
import { checkSignatures, type PlanSignature } from "./signatures.js";
import type { Answers } from "./survey.js";
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
  readonly body: Bytes;
  /** Whether it was made and kept earlier; then it contains the first answers. */
  readonly wasKept: boolean;
}

/** A submission as it would be sent, and what it means. */
export interface Preview extends Submission {
  readonly messages: number;
  /** Bytes of each message in all its layers. */
  readonly messageLength: number;
  /** Who opens a layer, the first one first; the analyst is last. */
  readonly sealedFor: readonly string[];
  /** The positions that the answers set; null if it was sealed earlier: nobody can read it any more. */
  readonly truth: readonly number[] | null;
  /** The positions that are 1 in it, after the noise; one list for each copy of a record. Null as before. */
  readonly reported: readonly (readonly number[])[] | null;
  /** The same in plain words, and which of it the noise added or left out. */
  readonly lines: readonly string[];
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

interface Made {
  readonly body: Bytes;
  readonly reported: number[][];
}

export class Client {
  readonly plan: Plan;
  readonly url: string;
  readonly #ledger: Ledger;
  readonly #fetch: typeof fetch;
  readonly #now: () => number;
  readonly #signatures: readonly PlanSignature[];
  /** What would be sent, by the round and the positions that somebody asked about. */
  readonly #previewed = new Map<string, Promise<Made>>();
  #checked: Promise<void> | undefined;

  constructor(plan: Plan, options: ClientOptions) {
    this.plan = plan;
    this.url = checkedUrl(options.url);
    this.#ledger = options.ledger ?? new IndexedDbLedger();
    this.#fetch = options.fetch ?? globalFetch;
    this.#now = options.now ?? Date.now;
    this.#signatures = options.signatures ?? [];
  }

  /**
   * Fetches the plan with this hash and its signatures from any party of the survey, and checks
   * everything: a round is open, by the collector's word and the clock of this device. What is sent
   * goes to the plan's collector; to `url` where the plan does not say where that is. It tries again
   * as often as `submit` does.
   */
  static async open(url: string, hash: string, options: OpenOptions = {}): Promise<Client> {
    const asking = { ...options, fetch: options.fetch ?? globalFetch };
    const plan = await fetchPlan(url, hash, asking);
    const signatures = await fetchSignatures(url, plan, asking);
    const client = new Client(plan, { ...options, url: plan.mixers[0]!.url || url, signatures });
    await client.ready();
    await client.#toldOpen(options);
    return client;
  }

  /** Checks the mixers' signatures, once; nothing is made or sent before. */
  ready(): Promise<void> {
    this.#checked ??= checkSignatures(this.plan, this.#signatures);
    return this.#checked;
  }

  /** The positions that answers set, or a KrandError that names the question, rule and hint. */
  encode(answers: Answers): number[] {
    return encode(this.plan, answers);
  }

  /** The round that is open. Without a schedule there is one, and nobody is asked. */
  async openRound(retry: RetryOptions = {}): Promise<number> {
    return this.plan.survey.schedule ? this.#toldOpen(retry) : firstRound(this.plan.survey);
  }

  /** What this device has of a round: nothing, what waits to be sent, or that it was delivered. */
  state(round: number): Promise<LedgerState> {
    return this.#round(round).state();
  }

  /**
   * Exactly what `submit` would send for these answers, and what it means; nothing is kept. It is
   * sent, byte for byte, if one goes on with this client and the same answers. Other answers give
   * another submission.
   */
  async preview(answers: Answers, options: PrepareOptions = {}): Promise<Preview> {
    const round = options.round ?? (await this.openRound());
    const truth = this.encode(answers);
    const id = invitedId(this.plan, round, options.invitation);
    const kept = await this.#round(round).kept();
    const known = kept ? await this.#previewed.get(`${round} ${truth}`) : await this.#made(truth, round);
    const made = known && (!kept || sameMessages(known.body, kept.body)) ? known : null;
    const body = under(kept?.body ?? made!.body, id);
    const { hash: planHash, messages, mixers } = this.plan;
    const reported = made ? made.reported : null;
    return {
      planHash,
      round,
      body,
      wasKept: !!kept,
      messages,
      messageLength: messageLengthIn(body, messages),
      sealedFor: [...mixers.slice(1).map(({ name }) => name), "the analyst"],
      truth: made ? truth : null,
      reported,
      lines: (reported ?? []).flatMap((copy) => this.#told(copy, truth)),
    };
  }

  /**
   * The submission of this round, kept before it is returned; later calls give identical bytes,
   * whatever the answers: a second randomization would reveal more than the plan promises.
   */
  async prepare(answers: Answers, options: PrepareOptions = {}): Promise<Submission> {
    const round = options.round ?? (await this.openRound());
    const { body, isNew } = await this.#kept(answers, round, options.invitation);
    return { planHash: this.plan.hash, round, body, wasKept: !isNew };
  }

  /**
   * What the collector tells about an invitation before anything is made of it: whether it is one of
   * this survey, and whether it was used some time ago. Null if it does not tell.
   */
  async invitationStatus(invitation: string, round?: number): Promise<InvitationStatus | null> {
    const id = invitedId(this.plan, round ?? (await this.openRound()), invitation);
    const address = addressOf(this.url, this.plan.hash, "invitation");
    const told = id && (await askedOnce(address, id, this.#fetch));
    return STATUSES.find((status) => status === told?.["status"]) ?? null;
  }

  /**
   * Prepares and sends; returns when the collector has it. After an error, call it again. If the round
   * was answered before, nothing is sent, and the status says so.
   */
  async submit(answers: Answers, options: SubmitOptions = {}): Promise<Sent> {
    const round = options.round ?? (await this.openRound(options));
    const kept = await this.#kept(answers, round, options.invitation).catch(ignoreDelivered);
    if (kept) return this.#sent(kept, round, options);
    return { planHash: this.plan.hash, round, status: "already-submitted", wasKept: false };
  }

  /**
   * Sends what was prepared, or what a crash or a closed page left behind; null if there is nothing
   * to send. With an invitation it goes out under the id of this one.
   */
  async resume(options: SubmitOptions = {}): Promise<Sent | null> {
    const { invitation } = options;
    const round = options.round ?? (await this.openRound(options));
    await this.ready();
    const id = invitation === undefined ? null : invitedId(this.plan, round, invitation);
    const kept = await this.#round(round).kept().catch(ignoreDelivered);
    return kept && this.#sent({ ...kept, body: under(kept.body, id) }, round, options);
  }

  /** What the collector tells of the plan's rounds; windows and the clock of this device must agree. */
  async #toldOpen(retry: RetryOptions): Promise<number> {
    const address = addressOf(this.url, this.plan.hash, "open");
    const told = jsonIn(await fetched(address, { ...retry, fetch: this.#fetch })) as { round?: unknown; open?: unknown } | null;
    if (!told?.open) throw new KrandError("closed", "round", "must be open", "the survey is over, or the next round has not begun");
    const round = Number(told.round);
    this.#round(round);
    return round;
  }

  async #kept(answers: Answers, round: number, invitation: string | undefined): Promise<Kept> {
    const ledger = this.#round(round);
    const truth = this.encode(answers);
    await this.ready();
    const id = invitedId(this.plan, round, invitation);
    const kept = await ledger.keep(async () => (await this.#made(truth, round)).body);
    return { ...kept, body: under(kept.body, id) };
  }

  /** The submission for these positions, made once: whoever looks at it sends the same. */
  #made(truth: readonly number[], round: number): Promise<Made> {
    const name = `${round} ${truth}`;
    const made = this.#previewed.get(name) ?? this.#make(truth, round);
    this.#previewed.set(name, made);
    made.catch(() => this.#previewed.delete(name));
    return made;
  }

  async #make(truth: readonly number[], round: number): Promise<Made> {
    await this.ready();
    const [random, sealer] = [secureRandom(), await Sealer.of(this.plan, round)];
    const lanes = messagesOf(this.plan, truth, random);
    const drawn = this.plan.survey.invitations ? new Uint8Array(ID_LENGTH) : random.bytes(ID_LENGTH);
    const sealed: Uint8Array[] = [];
    for (const { lane, plaintexts } of lanes) {
      for (const plaintext of plaintexts) sealed.push(await sealer.seal(lane.number, plaintext));
    }
    // Every seal begins with a fresh key. The same one twice would let others compare two messages.
    const keys = new Set(sealed.map((message) => toHex(message.subarray(0, ENC_LENGTH))));
    if (keys.size < sealed.length) throw notRandom();
    return { body: submissionBytes(round, drawn, sealed), reported: reportedIn(lanes) };
  }

  async #sent(kept: Kept, round: number, { onRetry, signal }: SubmitOptions): Promise<Sent> {
    const ledger = this.#round(round);
    const address = addressOf(this.url, this.plan.hash, "submissions");
    const isFirst = this.plan.survey.invitations && (await ledger.begin(toHex(idOf(kept.body))));
    const found = await send(address, kept.body, { fetch: this.#fetch, onRetry, signal });
    // It was never sent under this id, and the collector has the id: from somebody else.
    const isUsed = isFirst && found.atOnce && found.status === "known";
    if (isUsed && (await ledger.withdraw())) throw usedInvitation();
    await ledger.acknowledge();
    this.#previewed.clear();
    return { planHash: this.plan.hash, round, status: found.status, wasKept: !kept.isNew };
  }

  /** Each position that is sent as 1, or that noise left out of the answers. */
  #told(copy: readonly number[], truth: readonly number[]): string[] {
    const all = [...new Set([...copy, ...truth])].sort((one, other) => one - other);
    return all.map((position) => {
      const said = meaningOf(this.plan, position).map(({ question, answer }) => `${question} = ${answer}`).join(", ");
      if (!truth.includes(position)) return `${said}: not your answer, added by the noise`;
      return copy.includes(position) ? `${said}: your answer` : `${said}: your answer, left out because of the noise`;
    });
  }

  /** A round in the ledger, if it was planned and is open by the clock. */
  #round(round: number): LedgerRound {
    this.plan.checkRound(round);
    checkOpen(this.plan.survey, round, this.#now());
    const charge = chargeOf(this.plan, round);
    return new LedgerRound(this.#ledger, { plan: this.plan.hash, round, ...(charge && { charge }) });
  }
}

const globalFetch: typeof fetch = (...given) => globalThis.fetch(...given);

function usedInvitation(): KrandError {
  const rule = "must not have been used before";
  const hint = "these answers were not counted; they are kept, and can be sent with another code";
  return new KrandError("used-invitation", "invitation", rule, hint);
}

/** After a mistyped code the same messages go out under the id of the right one. */
const under = (body: Bytes, id: Uint8Array | null): Bytes => (id ? withId(body, id) : body);

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
