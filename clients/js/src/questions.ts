/** How many positions and levels each kind of question has. */

import type { Leveled, NumberQuestion, Question, Words } from "./survey.js";

export const isOpenBelow = (question: NumberQuestion): boolean =>
  question.open === true || question.open === "below";

export const isOpenAbove = (question: NumberQuestion): boolean =>
  question.open === true || question.open === "above";

export function isLeveled(question: Question): question is Leveled {
  return question.type !== "pick_any" && question.type !== "words";
}

/** How many positions the question has when it stands alone. */
export function positionsOf(question: Question): number {
  switch (question.type) {
    case "yes_no":
      return 1;
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

/** The most positions that one true answer sets. */
export function mostOnesOf(question: Question): number {
  if (question.type === "pick_any") return question.at_most ?? question.choices.length;
  if (question.type !== "words") return 1;
  return tablesOf(question).reduce((sum, { size }) => sum + Math.min(question.at_most, size), 0);
}

export interface Table {
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
