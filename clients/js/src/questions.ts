/** What each kind of question is: its values in a plan, its positions, its answers and what they are called. */

import { refusing } from "./errors.js";
import type { Answer, Condition, Matrix } from "./survey.js";
import { normalized, wordPositions } from "./words.js";

const wrong = refusing("invalid-answer");

interface Asked {
  readonly name: string;
  readonly text: string;
  readonly help?: string;
  readonly required: boolean;
  readonly weight: number;
  /** Whom it is asked; absent where it is asked of everybody. */
  readonly asked_if?: Condition;
  /** The table whose row it is; its neighbours of the same matrix have the same answers. */
  readonly matrix?: Matrix;
}

export interface YesNo extends Asked {
  readonly type: "yes_no";
  /** Which answers have a position. */
  readonly counts: "yes" | "both";
}

export interface Choice extends Asked {
  readonly type: "choice";
  readonly choices: readonly string[];
}

export interface PickAny extends Asked {
  readonly type: "pick_any";
  readonly choices: readonly string[];
  readonly at_most?: number;
}

export interface NumberQuestion extends Asked {
  readonly type: "number";
  readonly edges: readonly number[];
  readonly open: boolean | "below" | "above";
  readonly integer: boolean;
  readonly unit?: string;
  /** What people give. */
  readonly asked_as: "figure" | "ranges";
}

export interface Scale extends Asked {
  readonly type: "scale";
  readonly lowest: number;
  readonly highest: number;
  readonly labels?: readonly string[];
  readonly box: number;
}

export interface Words extends Asked {
  readonly type: "words";
  readonly positions: number;
  readonly hashes: number;
  readonly at_most: number;
}

/** Questions whose answer is exactly one of some levels: these can be analysed jointly. */
export type Leveled = YesNo | Choice | NumberQuestion | Scale;
export type Question = Leveled | PickAny | Words;

/** The words around those of the survey; the form has its own. */
export interface LabelTexts {
  readonly yes: string;
  readonly no: string;
  readonly unanswered: string;
  readonly below: string;
  readonly orAbove: string;
  readonly toUnder: string;
  readonly to: string;
}

const ENGLISH: LabelTexts = {
  yes: "yes",
  no: "no",
  unanswered: "no answer",
  below: "below {high}",
  orAbove: "{low} or above",
  toUnder: "{low} to under {high}",
  to: "{low} to {high}",
};
const [MOST_HASHES, MOST_WORDS] = [16, 100];

export const isOpenBelow = ({ open }: NumberQuestion): boolean => open === true || open === "below";
export const isOpenAbove = ({ open }: NumberQuestion): boolean => open === true || open === "above";

/** How many positions the question has when it stands alone. */
export function positionsOf(question: Question): number {
  switch (question.type) {
    case "yes_no":
      return question.counts === "both" ? 2 : 1;
    case "choice":
    case "pick_any":
      return question.choices.length;
    case "number":
      return question.edges.length - 1 + Number(isOpenBelow(question)) + Number(isOpenAbove(question));
    case "scale":
      return question.highest - question.lowest + 1;
    case "words":
      return question.positions;
  }
}

/** How many different answers there are, no answer not counted. */
export const levelsOf = (question: Leveled): number => (question.type === "yes_no" ? 2 : positionsOf(question));

/** How many choices of a list somebody may pick. */
export const mostOf = ({ at_most, choices }: PickAny): number => at_most ?? choices.length;

/** Other numbers of a question that take memory or time, each with the most that it may be. */
export function sizesOf(question: Question): [string, unknown, number][] {
  const { name, type } = question;
  const most = positionsOf(question);
  if (type === "words") return [[`${name}: hashes`, question.hashes, Math.min(MOST_HASHES, most)], [`${name}: at_most`, question.at_most, MOST_WORDS]];
  return type === "pick_any" ? [[`${name}: at_most`, mostOf(question), most]] : [];
}

/** The positions inside the question's block that an answer sets; an error if it does not fit. */
export function setBy(surveyId: string, question: Question, answer: Answer): Set<number> {
  switch (question.type) {
    case "pick_any":
      return picked(question, answer);
    case "words":
      return hashed(surveyId, question, answer);
    default: {
      const level = levelOf(question, answer); // a yes_no may have no position for "no"
      return level < positionsOf(question) ? new Set([level]) : new Set();
    }
  }
}

/** Which of the question's answers it is, counted from 0. */
export function levelOf(question: Leveled, answer: Answer): number {
  switch (question.type) {
    case "yes_no":
      if (typeof answer !== "boolean") throw wrong(question.name, "must be true or false");
      return answer ? 0 : 1;
    case "choice":
      return placeOf(question.name, question.choices, answer);
    case "number":
      return rangeOf(question, answer);
    case "scale":
      return valueOf(question, answer);
  }
}

/** An answer of this level, as a person gives it. */
export function answerAt(question: Leveled, level: number): NonNullable<Answer> {
  switch (question.type) {
    case "yes_no":
      return level === 0;
    case "scale":
      return question.lowest + level;
    default:
      return labelOf(question, level);
  }
}

/** Which answer has this name in a condition. A range or a value of a scale begins with a number in it. */
export function placeNamed(question: Leveled | PickAny, name: string): number {
  switch (question.type) {
    case "yes_no":
      return name === "yes" ? 0 : 1;
    case "choice":
    case "pick_any":
      return placeOf(question.name, question.choices, name);
    default:
      return name.startsWith("below ") ? 0 : levelOf(question, parseFloat(name));
  }
}

/** What an answer is called; ranges by default as plans and results call them: "5 to under 10". */
export function labelOf(question: Question, level: number, texts = ENGLISH, shown = written): string {
  switch (question.type) {
    case "yes_no":
      return level === 1 ? texts.no : texts.yes;
    case "choice":
    case "pick_any":
      return question.choices[level]!;
    case "number":
      return rangeName(question, level, texts, shown);
    case "scale":
      return scaleLabel(question, question.lowest + level);
    case "words":
      return `№ ${level + 1}`;
  }
}

/** What no answer is called. */
export const silence = (texts = ENGLISH): string => texts.unanswered;

/** Whether the ends of a scale are named, and nothing in between. */
export const hasEndsAlone = ({ labels = [], lowest, highest }: Scale): boolean => labels.length === 2 && highest - lowest > 1;

/** 1, or "5: very good". */
function scaleLabel(question: Scale, value: number): string {
  const { labels = [], lowest, highest } = question;
  const between = hasEndsAlone(question) && value > lowest && value < highest;
  const label = between ? undefined : labels[value === highest ? labels.length - 1 : value - lowest];
  return label === undefined ? String(value) : `${value}: ${label}`;
}

function rangeName(question: NumberQuestion, level: number, texts: LabelTexts, shown: typeof written): string {
  const { edges } = question;
  const edge = level - Number(isOpenBelow(question));
  const [low, high] = [edges[edge], edges[edge + 1]];
  const named = (text: string, to = high): string =>
    text.replace("{low}", () => shown(low!)).replace("{high}", () => shown(to!));
  if (low === undefined) return named(texts.below);
  if (high === undefined) return named(texts.orAbove);
  if (!question.integer) return named(texts.toUnder);
  return high - 1 === low ? shown(low) : named(texts.to, high - 1);
}

/** A number as Python writes it, without decimals where there are none. */
function written(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 1e-4) return String(value);
  return value.toExponential().replace(/e-(\d)$/, "e-0$1");
}

/** Places of the choices of long lists, which are looked up often. */
const PLACES = new WeakMap<readonly string[], ReadonlyMap<string, number>>();

function placeOf(name: string, choices: readonly string[], answer: Answer): number {
  let places = PLACES.get(choices);
  if (!places) PLACES.set(choices, (places = new Map(choices.map((choice, place) => [choice, place]))));
  const place = typeof answer === "string" ? places.get(answer) : undefined;
  if (place === undefined) throw wrong(name, "must be one of its choices", "write it exactly as it stands in the plan");
  return place;
}

function rangeOf(question: NumberQuestion, answer: Answer): number {
  const { name, edges } = question;
  if (typeof answer === "string" && question.asked_as === "ranges") {
    for (let level = 0; level < levelsOf(question); level++) if (labelOf(question, level) === answer) return level;
    throw wrong(name, "must be a number, or one of its ranges", "write it as results call it");
  }
  if (typeof answer !== "number" || Number.isNaN(answer)) throw wrong(name, "must be a number");
  if (question.integer && !Number.isInteger(answer)) throw wrong(name, "must be a whole number");
  const edge = edges.findLastIndex((each) => each <= answer);
  if (edge < 0 && !isOpenBelow(question)) throw wrong(name, `must not be below ${edges[0]}`);
  if (edge === edges.length - 1 && !isOpenAbove(question)) throw wrong(name, `must be below ${edges[edge]}`);
  return edge + Number(isOpenBelow(question));
}

function valueOf({ name, lowest, highest }: Scale, answer: Answer): number {
  const fits = Number.isInteger(answer) && Number(answer) >= lowest && Number(answer) <= highest;
  if (!fits) throw wrong(name, `must be a whole number from ${lowest} to ${highest}`);
  return Number(answer) - lowest;
}

function picked(question: PickAny, answer: Answer): Set<number> {
  const { name, choices } = question;
  if (!Array.isArray(answer)) throw wrong(name, "must be a list of choices");
  const places = new Set(answer.map((item: Answer) => placeOf(name, choices, item)));
  if (places.size > mostOf(question)) throw wrong(name, `must be at most ${mostOf(question)} of its choices`);
  return places;
}

function hashed(surveyId: string, question: Words, answer: Answer): Set<number> {
  const { name, at_most, hashes, positions } = question;
  const words: readonly unknown[] | null = typeof answer === "string" ? [answer] : Array.isArray(answer) ? answer : null;
  if (!words?.every((word): word is string => typeof word === "string")) throw wrong(name, "must be a word or a list of words");
  const different = new Set(words.map((word) => normalized(name, word)));
  if (different.size > at_most) throw wrong(name, `must be at most ${at_most} words`);
  // The positions are divided evenly among the tables of the hash functions.
  const ends = Array.from({ length: hashes + 1 }, (_, place) => Math.floor((place * positions) / hashes));
  return new Set([...different].flatMap((word) => wordPositions(surveyId, name, word, ends)));
}
