/** What a position of a plan stands for, in words. */

import type { Leveled, NumberQuestion, Plan, Question } from "../index.js";
import { levelsOf, rangeName } from "../questions.js";
import { fill } from "./dom.js";
import { plain } from "./numbers.js";
import type { Texts } from "./texts.js";

function levelText(question: Question, level: number, texts: Texts): string {
  if (question.type === "yes_no") return level === 1 ? texts.no : texts.yes;
  if (question.type === "choice" || question.type === "pick_any") return question.choices[level]!;
  if (question.type === "scale") return String(question.lowest + level);
  if (question.type === "words") return fill(texts.position, { number: level + 1 });
  return rangeLabel(question, level, texts);
}

/** A range of numbers in the form's language, with its signs. */
export const rangeLabel = (question: NumberQuestion, level: number, texts: Texts): string =>
  rangeName(question, level, texts, (value) => plain(value, texts.signs));

const cellText = (question: Question, answer: string, texts: Texts): string =>
  fill(texts.cell, { question: question.text || question.name, answer });

/** What one cell of a group stands for. */
function groupText(questions: readonly Leveled[], place: number, texts: Texts): string {
  let rest = place + 1;
  const digits = [...questions].reverse().map((question) => {
    const size = levelsOf(question) + 1;
    const digit = rest % size;
    rest = Math.floor(rest / size);
    return digit;
  });
  return digits
    .reverse()
    .map((digit, at) => {
      const question = questions[at]!;
      const answer = digit ? levelText(question, digit - 1, texts) : texts.unanswered;
      return cellText(question, answer, texts);
    })
    .join("; ");
}

/** What a position stands for: "Do you smoke? – Yes". */
export function positionText(plan: Plan, position: number, texts: Texts): string {
  const { kind, questions, offset } = plan.layout.findLast((each) => each.offset <= position)!;
  const place = position - offset;
  if (kind === "together") return groupText(questions as readonly Leveled[], place, texts);
  return cellText(questions[0]!, levelText(questions[0]!, place, texts), texts);
}
