/** How many positions and levels each kind of question has. */

import type { Leveled, NumberQuestion, PickAny, Question, Words } from "./survey.js";

export const isOpenBelow = (question: NumberQuestion): boolean =>
  question.open === true || question.open === "below";

export const isOpenAbove = (question: NumberQuestion): boolean =>
  question.open === true || question.open === "above";

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
export function levelsOf(question: Leveled): number {
  return question.type === "yes_no" ? 2 : positionsOf(question);
}

/** How many choices of a list somebody may pick. */
export const mostOf = ({ at_most, choices }: PickAny): number => at_most ?? choices.length;

interface Table {
  readonly offset: number;
  readonly size: number;
}

/** The positions of every hash function inside the block of a words question. */
export function tablesOf({ positions, hashes }: Words): readonly Table[] {
  const start = (place: number): number => Math.floor((place * positions) / hashes);
  return Array.from({ length: hashes }, (_, place) => ({
    offset: start(place),
    size: start(place + 1) - start(place),
  }));
}

/** How ranges are called: names in braces are filled in. */
export interface RangeTexts {
  readonly below: string;
  readonly orAbove: string;
  readonly toUnder: string;
  readonly to: string;
}

export const RANGES: RangeTexts = {
  below: "below {high}",
  orAbove: "{low} or above",
  toUnder: "{low} to under {high}",
  to: "{low} to {high}",
};

/** A range of numbers, by default as plans and results call it: "5 to under 10". */
export function rangeName(question: NumberQuestion, level: number, texts = RANGES, shown = written): string {
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
export function written(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 1e-4) return String(value);
  return value.toExponential().replace(/e-(\d)$/, "e-0$1");
}
