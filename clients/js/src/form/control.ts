/** What a question's control offers to the page around it. */

import type { Question } from "../index.js";
import type { Answer } from "./survey.js";
import type { Texts } from "./texts.js";

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
