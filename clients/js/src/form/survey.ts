/** What the form reads of a plan: the survey's texts, its questions, and the promise. */

export interface Question {
  name: string;
  text: string;
  type: "yes_no" | "choice" | "pick_any" | "number" | "scale" | "words";
  help?: string;
  required?: boolean;
  choices?: string[];
  at_most?: number;
  edges?: number[];
  open?: boolean | "below" | "above";
  integer?: boolean;
  unit?: string;
  lowest?: number;
  highest?: number;
  labels?: string[];
}

export interface Promised {
  epsilon: number;
  delta: number;
  eta: number;
  local_epsilon: number | null;
  assurance: "certified" | "outlier";
  crowd: number;
  colluding: number;
  assumptions: string[];
}

export interface Survey {
  id: string;
  title?: string;
  organiser?: string;
  contact?: string;
  introduction?: string;
  thanks?: string;
  language?: string;
  closes?: string;
  invitations?: boolean;
  linkage: "bit" | "record";
  copies: number;
  rounds: number;
  policy: { delta?: number; eta?: number; minimum_crowd?: number };
  question: Question[];
  together: { questions: string[] }[];
  trust?: { noise: "devices" | "mixers" | "both"; mixers: number };
}

export interface Block {
  name: string;
  kind: string;
  questions: string[];
  offset: number;
  positions: number;
}

export interface PlanValues {
  survey: Survey;
  blocks: Block[];
  promise: Promised;
  flips?: Promised;
  messages: number;
  mixing?: { mixers: { name: string; identity: string }[] };
}

export type Answer = boolean | number | string | string[];
/** null: the person prefers not to say; a question without an entry was not touched. */
export type Answers = Record<string, Answer | null>;

export const titleOf = (survey: Survey): string => survey.title || survey.id;

/** Whether a question is in no group: then a "no" and no answer cannot be told apart. */
export const standsAlone = (survey: Survey, name: string): boolean =>
  !survey.together.some((group) => group.questions.includes(name));
