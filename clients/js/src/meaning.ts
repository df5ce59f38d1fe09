/** What a position of a plan stands for, in words. */

import type { Plan } from "./plan.js";
import { levelsOf, rangeName, RANGES, written, type RangeTexts } from "./questions.js";
import type { Leveled, Question } from "./survey.js";

/** The words around those of the survey; the form has its own. */
export interface MeaningTexts extends RangeTexts {
  readonly yes: string;
  readonly no: string;
  readonly unanswered: string;
}

const ENGLISH: MeaningTexts = { ...RANGES, yes: "yes", no: "no", unanswered: "no answer" };

interface Meaning {
  readonly question: string;
  readonly answer: string;
}

function levelText(question: Question, level: number, texts: MeaningTexts, shown: typeof written): string {
  if (question.type === "yes_no") return level === 1 ? texts.no : texts.yes;
  if (question.type === "choice" || question.type === "pick_any") return question.choices[level]!;
  if (question.type === "scale") return String(question.lowest + level);
  if (question.type === "words") return `№ ${level + 1}`;
  return rangeName(question, level, texts, shown);
}

/** The answer that a position stands for; in a group, one to each of its questions. */
export function meaningOf({ blocks }: Plan, position: number, texts = ENGLISH, shown = written): Meaning[] {
  const { questions, isGroup, offset } = blocks.findLast((each) => each.offset <= position)!;
  const meaning = (question: Question, level: number): Meaning => ({
    question: question.text || question.name,
    answer: level < 0 ? texts.unanswered : levelText(question, level, texts, shown),
  });
  if (!isGroup) return [meaning(questions[0]!, position - offset)];
  let rest = position - offset + 1; // digit 0 of each question is no answer
  const cells = questions.toReversed().map((question) => {
    const size = levelsOf(question as Leveled) + 1;
    const digit = rest % size;
    rest = Math.floor(rest / size);
    return meaning(question, digit - 1);
  });
  return cells.reverse();
}
