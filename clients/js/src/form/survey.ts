/** What the form needs to know of a survey beyond the client's own values. */

import type { Answer as Given, Survey } from "../index.js";

/** What was answered to one question. */
export type Answer = NonNullable<Given>;

/** null: the person prefers not to say; a question without an entry was not touched. */
export type Answers = Record<string, Answer | null>;

export const titleOf = (survey: Survey): string => survey.title || survey.id;

/** Whether a question is in no group: then a "no" and no answer cannot be told apart. */
export const standsAlone = (survey: Survey, name: string): boolean =>
  !survey.together.some((group) => group.questions.includes(name));
