/** What a position of a plan stands for, in words. */

import { fill } from "./dom.js";
import type { PlanValues, Question } from "./survey.js";
import type { Texts } from "./texts.js";

const plain = (value: number, texts: Texts): string => String(value).replace(".", texts.signs.decimal);

/** How many different answers a question of a group has. */
function levelsOf(question: Question): number {
  if (question.type === "yes_no") return 2;
  if (question.type === "choice") return question.choices!.length;
  if (question.type === "scale") return question.highest! - question.lowest! + 1;
  const ends = question.open === true ? 2 : question.open ? 1 : 0;
  return question.edges!.length - 1 + ends;
}

function levelText(question: Question, level: number, texts: Texts, grouped: boolean): string {
  if (question.type === "yes_no") return grouped && level === 1 ? texts.no : texts.yes;
  if (question.type === "choice" || question.type === "pick_any") return question.choices![level]!;
  if (question.type === "scale") return String(question.lowest! + level);
  if (question.type === "words") return fill(texts.position, { number: level + 1 });
  return rangeName(question, level, texts);
}

/** A range of numbers: "5 to under 10". */
function rangeName(question: Question, level: number, texts: Texts): string {
  const edges = question.edges!;
  const below = question.open === true || question.open === "below";
  const edge = level - (below ? 1 : 0);
  if (edge < 0) return fill(texts.below, { high: plain(edges[0]!, texts) });
  const low = plain(edges[edge]!, texts);
  if (edge === edges.length - 1) return fill(texts.orAbove, { low });
  if (!question.integer) return fill(texts.toUnder, { low, high: plain(edges[edge + 1]!, texts) });
  const high = edges[edge + 1]! - 1;
  return high === edges[edge] ? low : fill(texts.to, { low, high: plain(high, texts) });
}

function inBlock(questions: Question[], place: number, texts: Texts): string {
  if (questions.length === 1) return levelText(questions[0]!, place, texts, false);
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
      const answer = digit ? levelText(question, digit - 1, texts, true) : texts.unanswered;
      return fill(texts.cell, { question: question.text || question.name, answer });
    })
    .join("; ");
}

/** Position → "Do you smoke?: yes". */
export function positionText(plan: PlanValues, position: number, texts: Texts): string {
  const block = plan.blocks.findLast((each) => each.offset <= position)!;
  const questions = block.questions.map((name) => plan.survey.question.find((each) => each.name === name)!);
  const answer = inBlock(questions, position - block.offset, texts);
  if (questions.length > 1) return answer;
  return fill(texts.cell, { question: questions[0]!.text || questions[0]!.name, answer });
}
