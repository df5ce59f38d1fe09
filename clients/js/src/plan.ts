/** The plan: a survey with its noise, pinned by its hash. A device reads it and computes nothing. */

import { sha256 } from "@noble/hashes/sha2.js";
import { isHex, toHex } from "./bytes.js";
import { KrandError, refusing } from "./errors.js";
import { levelsOf, positionsOf, sizesOf, type Leveled, type Question } from "./questions.js";
import { firstRound, windowsAreWhole } from "./schedule.js";
import type { Survey } from "./survey.js";

const wrong = refusing("wrong-plan");

const FORMAT = "krand-plan-1";
/** Of a public key. */
const KEY_BYTES = 32;
const HINT = "get the plan with the hash that was published";
/** Of one lane. */
const MOST_MESSAGES = 1e6;
/** Of a whole survey. */
const MOST_POSITIONS = 1e6;
const MOST_COPIES = 1e4;
const MOST_ROUNDS = 1e4;
const MOST_MIXERS = 8;
/** So plain that it can stand in a page's security policy, and is written in one way. */
const ADDRESS =
  /^(https:\/\/([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[::1\])|http:\/\/(localhost|127(\.[0-9]{1,3}){3}|\[::1\]))(:(?!443\b)[1-9][0-9]{0,4})?(\/[A-Za-z0-9._~-]+)*$/;
const LONGEST_ADDRESS = 300;
/** Noise is a number of 2^32 parts, below one half. */
const MOST_NOISE = 2 ** 31 - 1;

/** Messages at the same places of all submissions, about the same positions. */
export interface Lane {
  readonly number: number;
  /** The name of the question or group; empty where one lane has everything. */
  readonly block: string;
  readonly offset: number;
  readonly positions: number;
  readonly messages: number;
}

/** The positions of a question, or of a group of questions that are analysed jointly. */
export interface Block {
  readonly name: string;
  /** Of a group: all of its questions, which have one answer each. */
  readonly questions: readonly Question[];
  readonly isGroup: boolean;
  readonly offset: number;
}

export interface Mixer {
  readonly name: string;
  readonly identity: string;
  readonly keys: readonly string[];
  /** Where it serves the form; empty where a single mixer says none. */
  readonly url: string;
}

/** Who counts. */
export interface Analyst {
  /** What messages are sealed for. */
  readonly key: string;
  readonly identity: string;
}

export class Plan {
  /** The SHA-256 of the plan file, in hexadecimal: the plan's name. */
  readonly hash: string;
  /** Its policy is the promise. */
  readonly survey: Survey;
  /** Noise of devices for every question or group, as a part of 2^32; none where mixers add the noise. */
  readonly numerators: readonly number[];
  readonly lanes: readonly Lane[];
  readonly analyst: Analyst;
  /** In the order of the chain: the collector comes first. */
  readonly mixers: readonly Mixer[];

  private constructor(hash: string, { survey, numerators = [], lanes, analyst, mixers }: Plan) {
    this.hash = hash;
    this.survey = survey;
    this.numerators = numerators;
    this.lanes = lanes.map((lane, number) => ({ ...lane, number }));
    this.analyst = analyst;
    this.mixers = mixers;
  }

  /** What the lanes are about: where answers to a question or group begin. Records are one lane, question after question. */
  get blocks(): readonly Block[] {
    const { question: questions, together, linkage } = this.survey;
    let next = 0;
    if (linkage === "record") {
      return questions.map((question) => {
        const offset = next;
        next += positionsOf(question);
        return { name: question.name, questions: [question], isGroup: false, offset };
      });
    }
    const first = this.lanes.filter(({ block }, place) => this.lanes[place - 1]?.block !== block);
    return first.map(({ block: name, offset }) => {
      const group = together.find((each) => each.questions.join("+") === name);
      const members = questions.filter((each) => each.name === name);
      const inGroup = group?.questions.map((member) => questions.find((each) => each.name === member)!);
      return { name, questions: inGroup ?? members, isGroup: !!group, offset };
    });
  }

  /** How many positions all answers have. */
  get positions(): number {
    return this.lanes.reduce((sum, lane) => sum + lane.positions, 0);
  }

  /** How many messages every submission consists of. */
  get messages(): number {
    return this.lanes.reduce((sum, lane) => sum + lane.messages, 0);
  }

  /** Whether devices flip single bits, so that lanes have room for flips. */
  get flipsBits(): boolean {
    return this.survey.linkage === "bit" && this.survey.trust.noise === "devices";
  }

  /** The plan in these bytes; one with another hash or of another format is refused. */
  static parse(bytes: Uint8Array, expectedHash: string): Plan {
    const hash = toHex(sha256(bytes));
    if (hash !== expectedHash.toLowerCase()) {
      throw wrong("plan", `must have the hash that is expected, ${expectedHash}`, HINT);
    }
    try {
      const values = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Plan & { format?: unknown };
      if (values.format !== FORMAT) {
        const hint = "it was made by another version of krand; use the client of that version";
        throw wrong("plan", `must have the format ${FORMAT}`, hint);
      }
      const plan = new Plan(hash, values);
      checkSizes(plan.survey);
      checkNoise(plan);
      checkLanes(plan);
      if (!windowsAreWhole(plan.survey)) throw wrong("schedule", "must have a window for each round", HINT);
      checkMixers(plan);
      return plan;
    } catch (error) {
      throw error instanceof KrandError ? error : wrong("plan", "must be a plan made by krand", HINT); // a part is missing
    }
  }

  /** The same plan, under its own hash, with the questions of `inLanguage`. */
  worded(survey: Survey): Plan {
    return Object.assign(Object.create(Plan.prototype) as Plan, this, { survey });
  }

  /** Refuses a round that was not planned. */
  checkRound(round: number): void {
    const [first, last] = [firstRound(this.survey), this.survey.rounds];
    if (!Number.isInteger(round) || round < first || round > last) {
      throw new KrandError("invalid-round", "round", `must be from ${first} to ${last}`);
    }
  }
}

/** Nothing is larger than a survey of krand may be, so that nothing takes memory or time without end. */
function checkSizes(survey: Survey): void {
  const { copies, rounds, trust, question: questions } = survey;
  const sizes: [string, unknown, number][] = [
    ["copies", copies, MOST_COPIES],
    ["rounds", rounds, MOST_ROUNDS],
    ["trust.mixers", trust.mixers, MOST_MIXERS],
  ];
  for (const question of questions) sizes.push([question.name, positionsOf(question), MOST_POSITIONS], ...sizesOf(question));
  for (const [field, value, most] of sizes) {
    if (!isWhole(value, 1, most)) throw wrong(field, `must be a whole number from 1 to ${most}`, HINT);
  }
  const all = questions.reduce((sum, question) => sum + positionsOf(question), 0);
  if (all > MOST_POSITIONS) throw wrong("question", `must have at most ${MOST_POSITIONS} positions together`, HINT);
}

/** Where devices add noise, all bits of every question or group have some; whole records have one noise. */
function checkNoise({ blocks, numerators, survey }: Plan): void {
  const wanted = survey.trust.noise === "devices" ? blocks.length : 0;
  if (numerators.length !== wanted || !numerators.every((each) => isWhole(each, 1, MOST_NOISE))) {
    throw wrong("numerators", `must be ${wanted} whole numbers, one for each question or group`, HINT);
  }
  if (survey.linkage === "record" && new Set(numerators).size > 1) {
    throw wrong("numerators", "must be the same for all bits of whole records", HINT);
  }
}

/** One after the other, lanes have all positions of what is asked, and everything that is asked has a lane. */
function checkLanes({ lanes, blocks, survey, positions }: Plan): void {
  const isRecord = survey.linkage === "record";
  const alone = survey.question.filter(({ name }) => !survey.together.some((group) => group.questions.includes(name)));
  const asked = [...alone.map(({ name }) => name), ...survey.together.map((group) => group.questions.join("+"))];
  const whole = blocks.every((block, place) => {
    const end = blocks[place + 1]?.offset ?? positions;
    return block.questions.length > 0 && asked.includes(block.name) && end - block.offset === sizeOf(block);
  });
  let end = 0;
  const fit = lanes.every(({ offset, messages, positions: own }) => {
    const fits = offset === end && isWhole(own, 1, positions) && isWhole(messages, 1, MOST_MESSAGES);
    end += own;
    return fits;
  });
  const flipped = isRecord || survey.trust.noise === "devices"; // then a block has one lane
  const count = isRecord ? 1 : blocks.length;
  const copies = isRecord ? lanes[0]?.messages : survey.copies;
  if (!fit || !whole || asked.length !== blocks.length || copies !== survey.copies || (flipped && lanes.length !== count)) {
    throw wrong("lanes", "must be those of the plan's survey", HINT);
  }
}

/** One choice over the cells of a group; the cell in which nothing is answered is no position. */
const sizeOf = ({ isGroup, questions }: Block): number =>
  isGroup ? questions.reduce((product, each) => product * (levelsOf(each as Leveled) + 1), 1) - 1 : positionsOf(questions[0]!);

/** All mixers are there, and every identity and every key is there once. */
function checkMixers(plan: Plan): void {
  const { survey, mixers, analyst } = plan;
  for (const [name, value] of [["key", analyst?.key], ["identity", analyst?.identity]] as const) {
    const rule = `must be the ${KEY_BYTES} bytes of a public key, in hexadecimal`;
    if (!isHex(value, KEY_BYTES)) throw wrong(`analyst.${name}`, rule, "only a plan that people send to has one");
  }
  if (mixers.length !== survey.trust.mixers) {
    throw wrong("mixers", `must be ${survey.trust.mixers}, as many as the survey asks for`, HINT);
  }
  mixers.forEach(({ name, identity, keys, url }, place) => {
    const wanted = place === 0 ? 0 : survey.rounds;
    const whole = keys.length === wanted && keys.every((key) => isHex(key, KEY_BYTES));
    if (!whole || !isHex(identity, KEY_BYTES)) {
      const rule = `must have an identity and ${wanted} keys of ${KEY_BYTES} bytes`;
      throw wrong(`mixer ${place + 1} (${name})`, rule, HINT);
    }
    const alone = mixers.length === 1 && url === "";
    if (!alone && !(typeof url === "string" && url.length <= LONGEST_ADDRESS && ADDRESS.test(url))) {
      throw wrong(`mixer ${place + 1} (${name})`, "must have an address: https://host or https://host/path", HINT);
    }
    if (identity === analyst.identity && !survey.trust.analyst_runs.includes(place + 1)) {
      throw wrong("analyst.identity", "must not be a mixer's, unless the survey's analyst_runs names its place", HINT);
    }
  });
  checkOnce("mixers.identity", mixers.map((mixer) => mixer.identity));
  checkOnce("mixers.url", mixers.map(({ url }) => url && new URL(url).origin));
  checkOnce("mixers.keys", [analyst.key, ...mixers.flatMap((mixer) => mixer.keys)]);
}

function checkOnce(field: string, values: readonly string[]): void {
  if (new Set(values).size !== values.length) throw wrong(field, "must all be different", HINT);
}

function isWhole(value: unknown, low: number, high: number): boolean {
  return Number.isInteger(value) && Number(value) >= low && Number(value) <= high;
}
