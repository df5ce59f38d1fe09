/**
 * From a person's answers to the positions they set, and back to words.
 *
 * A missing answer, or null, sets nothing. Everything else must fit its question: a wrong answer is
 * an error that names the question, never a guess.
 */

import { KrandError } from "./errors.js";
import type { Block, Plan } from "./plan.js";
import { labelOf, levelOf, levelsOf, placeNamed, setBy, silence, type LabelTexts, type Leveled, type Question } from "./questions.js";
import type { Answer, Answers, Survey } from "./survey.js";

/** The positions that the answers set, in rising order. */
export function encode({ survey, blocks }: Plan, answers: Answers): number[] {
  checkNames(survey, answers);
  const asked = new Set(askedQuestions(survey, answers));
  return blocks.flatMap((block) => {
    const inside = [...blockPositions(survey, block, asked, answers)].sort((a, b) => a - b);
    return inside.map((position) => block.offset + position);
  });
}

interface Meaning {
  readonly question: string;
  readonly answer: string;
}

/** The answer that a position stands for; in a group, one to each of its questions. */
export function meaningOf({ blocks }: Plan, position: number, texts?: LabelTexts, shown?: (value: number) => string): Meaning[] {
  const { questions, isGroup, offset } = blocks.findLast((each) => each.offset <= position)!;
  const meaning = (question: Question, level: number): Meaning => ({
    question: question.text || question.name,
    answer: level < 0 ? silence(texts) : labelOf(question, level, texts, shown),
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

/**
 * Which questions these answers lead to, in the order of the survey. Answers to others are never
 * read, even wrong ones. A gate that was not asked has no answer, and a wrong answer to a gate is
 * none of those that a condition names.
 */
export function askedQuestions(survey: Survey, answers: Answers): readonly Question[] {
  const asked = new Map<string, Question>();
  for (const question of survey.question) {
    const condition = question.asked_if;
    const gate = condition && asked.get(condition.question);
    if (!condition || (gate && gave(gate, answerTo(gate, answers), condition.is))) asked.set(question.name, question);
  }
  return [...asked.values()];
}

/** Whether somebody gave one of the named answers to a question, and no wrong one. */
function gave(gate: Question, answer: Answer, names: readonly string[]): boolean {
  if (answer === null || gate.type === "words") return false;
  try {
    const given = gate.type === "pick_any" ? setBy("", gate, answer) : new Set([levelOf(gate, answer)]);
    return names.some((name) => given.has(placeNamed(gate, name)));
  } catch {
    return false;
  }
}

/** Whether an answer fits its question, whether or not this is asked; an error says why not. */
export function checkAnswer(survey: Survey, name: string, answer: Answer): void {
  checkNames(survey, { [name]: answer });
  const question = survey.question.find((each) => each.name === name)!;
  if (answer !== null && answer !== undefined) setBy(survey.id, question, answer);
}

/** An answer to a question that is not in the survey is a mistake. */
function checkNames(survey: Survey, answers: Answers): void {
  const known = survey.question.map((question) => question.name);
  if (typeof answers !== "object" || answers === null || Array.isArray(answers)) {
    throw new KrandError("invalid-answer", "answers", "must be an object with an answer for each question");
  }
  if (Object.keys(answers).every((name) => known.includes(name))) return;
  throw new KrandError("invalid-answer", "answers", "must be answers to questions of the survey", `the questions are ${known.join(", ")}`);
}

function blockPositions(survey: Survey, block: Block, asked: Set<Question>, answers: Answers): Set<number> {
  const given = (question: Question): Answer => (asked.has(question) ? answerTo(question, answers) : null);
  if (block.isGroup) return cell(block.questions as readonly Leveled[], given);
  const question = block.questions[0]!;
  const answer = given(question);
  return answer === null ? new Set() : setBy(survey.id, question, answer);
}

/** Only the object's own entries are answers, whatever a question is called. */
function answerTo(question: Question, answers: Answers): NonNullable<Answer> | null {
  return Object.hasOwn(answers, question.name) ? (answers[question.name] ?? null) : null;
}

/** The cell of a group: digit 0 of each question is no answer, and no answer at all is no cell. */
function cell(members: readonly Leveled[], given: (question: Question) => Answer): Set<number> {
  const found = members.reduce((sum, question) => {
    const answer = given(question);
    return sum * (levelsOf(question) + 1) + (answer === null ? 0 : levelOf(question, answer) + 1);
  }, 0);
  return found ? new Set([found - 1]) : new Set();
}
