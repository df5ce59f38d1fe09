/** The plan: a survey with its noise, pinned by its hash. A device reads it and computes nothing. */

import { isHex, toHex } from "./bytes.js";
import { KrandError } from "./errors.js";
import { layoutOf, type Block as LaidOut } from "./layout.js";
import { lanesOf, type Lane } from "./lanes.js";
import { firstRound, windowsAreWhole } from "./schedule.js";
import type { Survey } from "./survey.js";
import { sha256 } from "./webcrypto.js";

const FORMAT = "krand-plan-1";
/** Of a public key. */
const KEY_BYTES = 32;
const HINT = "get the plan with the hash that was published";
/** Noise is a number of 2^32 parts, below one half. */
const MOST_NOISE = 2 ** 31 - 1;

/** A block as it stands in the plan. */
export interface PlanBlock {
  readonly name: string;
  readonly kind: string;
  readonly questions: readonly string[];
  readonly offset: number;
  readonly positions: number;
  readonly most_ones: number;
  readonly noise_numerator: number;
  /** Where devices flip single bits: how many messages its lane has. */
  readonly messages?: number;
}

export interface PlanPromise {
  readonly epsilon: number;
  readonly delta: number;
  readonly eta: number;
  readonly local_epsilon: number | null;
  readonly method: string;
  readonly crowd: number;
  readonly colluding: number;
  readonly assumptions: readonly string[];
}

export interface Mixer {
  readonly name: string;
  readonly identity: string;
  readonly keys: readonly string[];
}

/** What the client reads of a plan file. */
interface PlanValues {
  readonly format: string;
  readonly analyst_key?: string;
  readonly survey: Survey;
  readonly positions: number;
  readonly blocks: readonly PlanBlock[];
  readonly messages: number;
  readonly mixing?: { readonly mixers: readonly Mixer[] };
  readonly promise: PlanPromise;
}

export class Plan {
  /** The SHA-256 of the plan file, in hexadecimal: the plan's name. */
  readonly hash: string;
  readonly survey: Survey;
  readonly positions: number;
  readonly blocks: readonly PlanBlock[];
  readonly lanes: readonly Lane[];
  /** How many messages every submission consists of. */
  readonly messages: number;
  readonly analystKey: string;
  readonly promise: PlanPromise;
  /** Only where mixers add noise; the collector comes first. */
  readonly mixing?: { readonly mixers: readonly Mixer[] };
  /** Blocks with their questions, as `encode` needs them. */
  readonly layout: readonly LaidOut[];

  private constructor(hash: string, values: PlanValues) {
    this.hash = hash;
    this.survey = values.survey;
    this.positions = values.positions;
    this.blocks = values.blocks;
    this.messages = values.messages;
    this.analystKey = checkedKey(values.analyst_key);
    this.promise = values.promise;
    if (values.mixing) this.mixing = values.mixing;
    this.layout = layoutOf(values.survey);
    const rooms = this.flipsBits ? values.blocks.map(({ messages }) => messages ?? 0) : [];
    this.lanes = lanesOf(values.survey, this.layout, rooms);
  }

  /** Whether devices flip single bits, so that lanes have room for flips. */
  get flipsBits(): boolean {
    return this.survey.linkage === "bit" && this.survey.trust.noise === "devices";
  }

  /** How many parties beside the analyst run mixers; those of one name are one party. */
  get otherParties(): number {
    const runs = this.survey.trust.analyst_runs;
    const places = Array.from({ length: this.survey.trust.mixers }, (_, place) => place + 1);
    const others = places.filter((place) => !runs.includes(place));
    return new Set(others.map((place) => this.mixing?.mixers[place - 1]?.name ?? place)).size;
  }

  /** Whether mixers add noise: then all of them must have signed the plan. */
  get needsSignatures(): boolean {
    return this.survey.trust.noise !== "devices" || this.mixing !== undefined;
  }

  /** The plan in these bytes; one with another hash or of another format is refused. */
  static async parse(bytes: Uint8Array, expectedHash: string): Promise<Plan> {
    const hash = toHex(await sha256(bytes));
    if (hash !== expectedHash.toLowerCase()) {
      throw wrong("plan", `must have the hash that is expected, ${expectedHash}`, HINT);
    }
    const values = parsed(bytes);
    if (values === null || values.format !== FORMAT) {
      const hint = "it was made by another version of krand; use the client of that version";
      throw wrong("plan", `must have the format ${FORMAT}`, hint);
    }
    return coherent(() => new Plan(hash, values));
  }

  /** The same plan, under its own hash, with the questions of `inLanguage`. */
  worded(survey: Survey): Plan {
    const layout = layoutOf(survey);
    return Object.assign(Object.create(Plan.prototype) as Plan, this, { survey, layout });
  }

  /** Refuses a round that was not planned. */
  checkRound(round: number): void {
    const [first, last] = [firstRound(this.survey), this.survey.rounds];
    if (!Number.isInteger(round) || round < first || round > last) {
      throw new KrandError("invalid-round", "round", `must be from ${first} to ${last}`);
    }
  }
}

function parsed(bytes: Uint8Array): PlanValues | null {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as PlanValues;
  } catch {
    throw wrong("plan", "must be a plan made by krand", HINT);
  }
}

/** A plan whose parts fit together: whatever does not can be no plan of krand. */
function coherent(build: () => Plan): Plan {
  let plan: Plan;
  try {
    plan = build();
    checkBlocks(plan);
    if (!windowsAreWhole(plan.survey)) throw wrong("schedule", "must have a window for each round", HINT);
    checkMessages(plan);
    checkPromise(plan);
    checkMixers(plan);
  } catch (error) {
    if (error instanceof KrandError) throw error;
    throw wrong("plan", "must be a plan made by krand", HINT); // a part is missing
  }
  return plan;
}

/** Positions follow from the survey; the plan must say the same. */
function checkBlocks({ blocks, layout, positions, survey }: Plan): void {
  const least = survey.trust.noise === "devices" ? 1 : 0;
  const alike = layout.every((block, place) => {
    const told = blocks[place];
    return (
      told?.name === block.name &&
      told.kind === block.kind &&
      told.offset === block.offset &&
      told.positions === block.positions &&
      told.most_ones === block.mostOnes &&
      isWhole(told.noise_numerator, least, MOST_NOISE)
    );
  });
  const end = layout.reduce((sum, block) => sum + block.positions, 0);
  if (!alike || layout.length !== blocks.length || end !== positions) {
    throw wrong("blocks", "must be those of the plan's survey", HINT);
  }
  const numerators = new Set(blocks.map((block) => block.noise_numerator));
  if (survey.linkage === "record" && numerators.size > 1) {
    throw wrong("noise_numerator", "must be the same for all bits of whole records", HINT);
  }
}

/** A submission consists of its lanes, and of nothing else. */
function checkMessages({ lanes, messages }: Plan): void {
  const sum = lanes.reduce((total, lane) => total + lane.messages, 0);
  if (!lanes.every((lane) => isWhole(lane.messages, 1, 2 ** 32)) || sum !== messages) {
    throw wrong("messages", `must be those of all lanes, ${sum}`, HINT);
  }
}

/** What a promise repeats from the survey must be the same there. */
function checkPromise({ promise, survey }: Plan): void {
  const { policy } = survey;
  const kept =
    promise.epsilon === policy.epsilon &&
    promise.crowd === policy.minimum_crowd &&
    promise.colluding === policy.colluding &&
    (policy.delta === undefined
      ? policy.eta !== undefined && promise.eta <= policy.eta
      : promise.delta <= policy.delta);
  if (!kept) throw wrong("promise", "must be what the plan's survey asks for", HINT);
}

/** All mixers are there, and every identity and every key is there once. */
function checkMixers(plan: Plan): void {
  if (!plan.needsSignatures) return;
  const { survey, mixing, analystKey } = plan;
  const mixers = mixing?.mixers ?? [];
  if (survey.trust.noise === "devices" || mixers.length !== survey.trust.mixers) {
    throw wrong("mixers", `must be ${survey.trust.mixers}, as many as the survey asks for`, HINT);
  }
  mixers.forEach(({ name, identity, keys }, place) => {
    const wanted = place === 0 ? 0 : survey.rounds;
    const whole = keys.length === wanted && keys.every((key) => isHex(key, KEY_BYTES));
    if (!whole || !isHex(identity, KEY_BYTES)) {
      const rule = `must have an identity and ${wanted} keys of ${KEY_BYTES} bytes`;
      throw wrong(`mixer ${place + 1} (${name})`, rule, HINT);
    }
  });
  checkOnce("mixers.identity", mixers.map((mixer) => mixer.identity));
  checkOnce("mixers.keys", [analystKey, ...mixers.flatMap((mixer) => mixer.keys)]);
}

function checkOnce(field: string, values: readonly string[]): void {
  if (new Set(values).size !== values.length) throw wrong(field, "must all be different", HINT);
}

function checkedKey(key: unknown): string {
  if (isHex(key, KEY_BYTES)) return key;
  const rule = `must be the ${KEY_BYTES} bytes of a public key, in hexadecimal`;
  throw wrong("analyst_key", rule, "only a plan for sealed collection has one");
}

function isWhole(value: unknown, low: number, high: number): boolean {
  return Number.isInteger(value) && Number(value) >= low && Number(value) <= high;
}

function wrong(field: string, rule: string, hint: string): KrandError {
  return new KrandError("wrong-plan", field, rule, hint);
}
