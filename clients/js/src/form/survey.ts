/** What the form needs to know of a survey beyond the client's own values, and what its controls give to a page. */

import type { Answer as AnyAnswer, Question, Survey } from "../index.js";
import type { Texts } from "./texts.js";

/** What was answered to one question. */
export type Answer = NonNullable<AnyAnswer>;

/** null: the person prefers not to say; a question without an entry was not touched. */
export type Answers = Record<string, Answer | null>;

export const titleOf = (survey: Survey): string => survey.title || survey.id;

/** Whether a question is in no group: then a "no" and no answer cannot be told apart. */
export const standsAlone = (survey: Survey, name: string): boolean =>
  !survey.together.some((group) => group.questions.includes(name));

/** Questions that share a page: the rows of a matrix, and any other one alone. */
export function pagesOf(questions: readonly Question[]): Question[][] {
  const pages: Question[][] = [];
  for (const question of questions) {
    const last = pages.at(-1);
    if (question.matrix && last?.[0]!.matrix?.name === question.matrix.name) last.push(question);
    else pages.push([question]);
  }
  return pages;
}

/** Whether some questions are asked of some people alone. */
export const hasConditions = (survey: Survey): boolean => survey.question.some(({ asked_if }) => asked_if);

/** What was read: an answer, null for "prefer not to say", or nothing yet. */
export type Read = { answer: Answer | null | undefined } | { error: string; at: HTMLElement };

export interface Control {
  element: HTMLElement;
  read(): Read;
}

export interface Asked<Q extends Question = Question> {
  question: Q;
  /** What was answered before. */
  answer: Answer | null | undefined;
  texts: Texts;
  /** The id of the question's text and of its hints. */
  labelId: string;
  hintId: string;
  changed: () => void;
}

/** What was answered to each question of a page. */
export type Given = [Question, Answer | null | undefined][];

/** All that a page asks: one question, or the rows of a matrix. */
export interface PageControl {
  element: HTMLElement;
  read(): { given: Given } | { error: string; at: HTMLElement };
  inputsOf(question: Question): HTMLInputElement[];
}
