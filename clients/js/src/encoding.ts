/**
 * From a person's answers to the positions they set.
 *
 * A missing answer, or null, sets nothing. Everything else must fit its question: a wrong answer is
 * an error that names the question, never a guess.
 */

import { KrandError } from "./errors.js";
import type { Block, Plan } from "./plan.js";
import { isOpenAbove, isOpenBelow, levelsOf, mostOf, positionsOf, rangeName } from "./questions.js";
import type { Leveled, NumberQuestion, PickAny, Question, Scale, Survey, Words } from "./survey.js";
import { normalized, wordPositions } from "./words.js";

export type Answer = boolean | number | string | readonly string[] | null | undefined;
export type Answers = Readonly<Record<string, Answer>>;

/** The positions that the answers set, in rising order. */
export function encode({ survey, blocks }: Plan, answers: Answers): number[] {
  checkNames(survey, answers);
  const asked = askedAnswers(survey, answers);
  return blocks.flatMap((block) => {
    const inside = [...blockPositions(survey, block, asked)].sort((a, b) => a - b);
    return inside.map((position) => block.offset + position);
  });
}

/** Which questions these answers lead to, in the order of the survey. */
export function askedQuestions(survey: Survey, answers: Answers): readonly Question[] {
  const asked = new Map<string, Question>();
  for (const question of survey.question) {
    const condition = question.asked_if;
    const gate = condition && asked.get(condition.question);
    if (!condition || (gate && gave(gate, answerTo(gate, answers), condition.is))) {
      asked.set(question.name, question);
    }
  }
  return [...asked.values()];
}

/**
 * The answers to questions that were asked; others are dropped unread, even wrong ones. A gate that
 * was not asked has no answer, and a wrong answer to a gate is none of those that a condition names.
 */
function askedAnswers(survey: Survey, answers: Answers): Answers {
  const asked = new Set(askedQuestions(survey, answers).map(({ name }) => name));
  return Object.fromEntries(Object.entries(answers).filter(([name]) => asked.has(name)));
}

/** Whether somebody gave one of the named answers to a question, and no wrong one. */
function gave(gate: Question, answer: Answer, names: readonly string[]): boolean {
  if (answer === null || gate.type === "words") return false;
  try {
    const given = gate.type === "pick_any" ? picked(gate, answer) : new Set([levelOf(gate, answer)]);
    return names.some((name) => given.has(placeNamed(gate, name)));
  } catch {
    return false;
  }
}

/** Which answer has this name. A range or a value of a scale begins with a number in it. */
function placeNamed(question: Leveled | PickAny, name: string): number {
  switch (question.type) {
    case "yes_no":
      return name === "yes" ? 0 : 1;
    case "choice":
    case "pick_any":
      return choiceOf(question.name, question.choices, name);
    default:
      return name.startsWith("below ") ? 0 : levelOf(question, parseFloat(name));
  }
}

/** Whether an answer fits its question, whether or not this is asked; an error says why not. */
export function checkAnswer(survey: Survey, name: string, answer: Answer): void {
  checkNames(survey, { [name]: answer });
  const question = survey.question.find((each) => each.name === name)!;
  if (answer !== null && answer !== undefined) questionPositions(survey.id, question, answer);
}

/** An answer to a question that is not in the survey is a mistake. */
function checkNames(survey: Survey, answers: Answers): void {
  const known = survey.question.map((question) => question.name);
  if (typeof answers !== "object" || answers === null || Array.isArray(answers)) {
    throw wrong("answers", "must be an object with an answer for each question");
  }
  for (const name of Object.keys(answers)) {
    if (!known.includes(name)) {
      const hint = `the questions are ${known.join(", ")}`;
      throw wrong("answers", "must be answers to questions of the survey", hint);
    }
  }
}

function blockPositions(survey: Survey, block: Block, answers: Answers): Set<number> {
  if (block.isGroup) return cell(block.questions as readonly Leveled[], answers);
  const question = block.questions[0]!;
  const answer = answerTo(question, answers);
  return answer === null ? new Set() : questionPositions(survey.id, question, answer);
}

/** Only the object's own entries are answers, whatever a question is called. */
function answerTo(question: Question, answers: Answers): NonNullable<Answer> | null {
  return Object.hasOwn(answers, question.name) ? (answers[question.name] ?? null) : null;
}

/** The cell of a group: digit 0 of each question is no answer, and no answer at all is no cell. */
function cell(members: readonly Leveled[], answers: Answers): Set<number> {
  let found = 0;
  for (const question of members) {
    const answer = answerTo(question, answers);
    const digit = answer === null ? 0 : levelOf(question, answer) + 1;
    found = found * (levelsOf(question) + 1) + digit;
  }
  return found ? new Set([found - 1]) : new Set();
}

function questionPositions(id: string, question: Question, answer: Answer): Set<number> {
  switch (question.type) {
    case "pick_any":
      return picked(question, answer);
    case "words":
      return hashed(id, question, answer);
    default: {
      const level = levelOf(question, answer); // a yes_no may have no position for "no"
      return level < positionsOf(question) ? new Set([level]) : new Set();
    }
  }
}

/** Which of the question's answers it is, counted from 0. */
function levelOf(question: Leveled, answer: Answer): number {
  switch (question.type) {
    case "yes_no":
      if (typeof answer !== "boolean") throw wrong(question.name, "must be true or false");
      return answer ? 0 : 1;
    case "choice":
      return choiceOf(question.name, question.choices, answer);
    case "number":
      return rangeOf(question, answer);
    case "scale":
      return valueOf(question, answer);
  }
}

/** Places of the choices of long lists, which are looked up often. */
const PLACES = new WeakMap<readonly string[], ReadonlyMap<string, number>>();

function choiceOf(name: string, choices: readonly string[], answer: Answer): number {
  let places = PLACES.get(choices);
  if (!places) {
    places = new Map(choices.map((choice, place) => [choice, place]));
    PLACES.set(choices, places);
  }
  const place = typeof answer === "string" ? places.get(answer) : undefined;
  if (place === undefined) {
    throw wrong(name, "must be one of its choices", "write it exactly as it stands in the plan");
  }
  return place;
}

function rangeOf(question: NumberQuestion, answer: Answer): number {
  const { name, edges } = question;
  if (typeof answer === "string" && question.asked_as === "ranges") return rangeNamed(question, answer);
  if (typeof answer !== "number" || Number.isNaN(answer)) throw wrong(name, "must be a number");
  if (question.integer && !Number.isInteger(answer)) throw wrong(name, "must be a whole number");
  const edge = lastEdge(edges, answer);
  if (edge < 0 && !isOpenBelow(question)) throw wrong(name, `must not be below ${edges[0]}`);
  if (edge === edges.length - 1 && !isOpenAbove(question)) {
    throw wrong(name, `must be below ${edges[edge]}`);
  }
  return edge + Number(isOpenBelow(question));
}

function rangeNamed(question: NumberQuestion, answer: string): number {
  for (let level = 0; level < levelsOf(question); level++) {
    if (rangeName(question, level) === answer) return level;
  }
  throw wrong(question.name, "must be a number, or one of its ranges", "write it as results call it");
}

/** The place of the last edge that is not above the answer; -1 if all are. */
function lastEdge(edges: readonly number[], answer: number): number {
  let [low, high] = [0, edges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle]! <= answer) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function valueOf({ name, lowest, highest }: Scale, answer: Answer): number {
  const fits = Number.isInteger(answer) && Number(answer) >= lowest && Number(answer) <= highest;
  if (!fits) throw wrong(name, `must be a whole number from ${lowest} to ${highest}`);
  return Number(answer) - lowest;
}

function picked(question: PickAny, answer: Answer): Set<number> {
  const { name, choices } = question;
  if (!Array.isArray(answer)) throw wrong(name, "must be a list of choices");
  const places = new Set(answer.map((item: Answer) => choiceOf(name, choices, item)));
  const most = mostOf(question);
  if (places.size > most) throw wrong(name, `must be at most ${most} of its choices`);
  return places;
}

function hashed(id: string, question: Words, answer: Answer): Set<number> {
  const words: readonly unknown[] | null =
    typeof answer === "string" ? [answer] : Array.isArray(answer) ? answer : null;
  if (!words?.every((word): word is string => typeof word === "string")) {
    throw wrong(question.name, "must be a word or a list of words");
  }
  const different = new Set(words.map((word) => normalized(question.name, word)));
  if (different.size > question.at_most) {
    throw wrong(question.name, `must be at most ${question.at_most} words`);
  }
  return new Set([...different].flatMap((word) => wordPositions(id, question, word)));
}

function wrong(field: string, rule: string, hint = ""): KrandError {
  return new KrandError("invalid-answer", field, rule, hint);
}
