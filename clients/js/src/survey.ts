/** The survey as it stands in a plan: names and values are those of the file. */

import type { Question } from "./questions.js";

export type Answer = boolean | number | string | readonly string[] | null | undefined;
export type Answers = Readonly<Record<string, Answer>>;

/** People who gave one of these answers, by their names, to an earlier question. */
export interface Condition {
  readonly question: string;
  readonly is: readonly string[];
}

export interface Matrix {
  readonly name: string;
  readonly text: string;
}

export interface Together {
  readonly questions: readonly string[];
  readonly weight?: number;
}

export interface Policy {
  readonly epsilon: number;
  readonly delta?: number;
  readonly eta?: number;
  readonly minimum_crowd: number;
  readonly colluding: number;
  readonly max_local_epsilon?: number;
}

export interface Trust {
  readonly noise: "devices" | "mixers";
  readonly mixers: number;
  /** The mixers that the analyst runs too, by their places in the chain: 1 is the collector. */
  readonly analyst_runs: readonly number[];
}

/** Choices or labels as they stand in the survey, each with its translation; "same" for names. */
type Items = Readonly<Record<string, string>> | "same";

/** A question, a statement or a whole matrix in another language. */
export interface QuestionTexts {
  readonly text?: string;
  readonly help?: string;
  readonly choices?: Items;
  readonly labels?: Items;
  readonly unit?: string;
}

/** Everything of a survey that people read, in another language. */
export interface Translation {
  readonly title?: string;
  readonly organiser?: string;
  readonly contact?: string;
  readonly introduction?: string;
  readonly thanks?: string;
  readonly question?: Readonly<Record<string, QuestionTexts>>;
}

/** When each round is open. */
export interface Schedule {
  readonly promise: "campaign" | "quarter" | "round";
  readonly every: "day" | "week" | "month";
  /** What stays the same when the survey is changed. */
  readonly campaign: string;
  /** The first round of this plan. */
  readonly first: number;
  /** When each round opens, and last when the last one closes: instants of UTC. */
  readonly opens: readonly string[];
}

export interface Survey {
  readonly id: string;
  readonly title?: string;
  readonly organiser?: string;
  readonly contact?: string;
  readonly introduction?: string;
  readonly thanks?: string;
  readonly language: string;
  /** The last day, in UTC, on which answers are taken: YYYY-MM-DD. */
  readonly closes?: string;
  readonly invitations: boolean;
  readonly linkage: "bit" | "record";
  readonly copies: number;
  readonly rounds: number;
  readonly policy: Policy;
  readonly question: readonly Question[];
  readonly together: readonly Together[];
  readonly trust: Trust;
  /** Its texts in other languages, by their tags; absent where it has one. */
  readonly translations?: Readonly<Record<string, Translation>>;
  /** Absent where the organiser opens and closes rounds. */
  readonly schedule?: Schedule;
}
