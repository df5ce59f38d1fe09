/**
 * Which position belongs to what: the survey as a row of blocks. A block is a question, or a group
 * of questions that are analysed jointly; a group stands where the first of its questions is asked.
 */

import { isLeveled, levelsOf, mostOnesOf, positionsOf } from "./questions.js";
import type { Leveled, Question, Survey, Together } from "./survey.js";

export interface Block {
  readonly name: string;
  readonly kind: Question["type"] | "together";
  readonly questions: readonly Question[];
  readonly offset: number;
  readonly positions: number;
  readonly mostOnes: number;
}

export function layoutOf(survey: Survey): readonly Block[] {
  const blocks: Block[] = [];
  const placed = new Set<Together>();
  let offset = 0;
  for (const question of survey.question) {
    const groups = survey.together.filter((group) => group.questions.includes(question.name));
    const here = groups.length ? groups.filter((group) => !placed.has(group)) : [question];
    for (const part of here) {
      const block = "questions" in part ? joint(survey, part, offset) : alone(part, offset);
      if ("questions" in part) placed.add(part);
      blocks.push(block);
      offset += block.positions;
    }
  }
  return blocks;
}

function alone(question: Question, offset: number): Block {
  return {
    name: question.name,
    kind: question.type,
    questions: [question],
    offset,
    positions: positionsOf(question),
    mostOnes: mostOnesOf(question),
  };
}

/** One choice over the cells; the cell in which nothing is answered is no position. */
function joint(survey: Survey, group: Together, offset: number): Block {
  const members = group.questions.map((name) => memberOf(survey, name));
  const cells = members.reduce((product, member) => product * (levelsOf(member) + 1), 1) - 1;
  const name = group.questions.join("+");
  return { name, kind: "together", questions: members, offset, positions: cells, mostOnes: 1 };
}

function memberOf(survey: Survey, name: string): Leveled {
  const found = survey.question.find((question) => question.name === name);
  if (!found || !isLeveled(found)) throw new TypeError(`${name} cannot be in a group`);
  return found;
}
