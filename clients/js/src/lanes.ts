/** Lanes: which messages of a submission are about which positions. */

import type { Block } from "./layout.js";
import { tablesOf } from "./questions.js";
import type { Survey } from "./survey.js";

/** A list of at most so many options has a lane for each of them, where mixers add the noise. */
const MOST_OPTIONS_APART = 32;

export interface Lane {
  readonly number: number;
  /** The name of the question or group; empty where one lane has everything. */
  readonly block: string;
  readonly offset: number;
  readonly positions: number;
  readonly messages: number;
  /** Whether its messages are whole records instead of single positions. */
  readonly records: boolean;
}

type Part = Omit<Lane, "number" | "records">;

/** The lanes of a submission; `rooms` are the messages of each block where devices flip bits. */
export function lanesOf(
  survey: Survey,
  blocks: readonly Block[],
  rooms: readonly number[],
): readonly Lane[] {
  if (survey.linkage === "record") {
    const positions = blocks.reduce((sum, block) => sum + block.positions, 0);
    return [
      { number: 0, block: "", offset: 0, positions, messages: survey.copies, records: true },
    ];
  }
  const parts =
    survey.trust.noise === "devices"
      ? blocks.map((block, place) => part(block, 0, block.positions, rooms[place]!))
      : blocks.flatMap(partsOf);
  return parts.map((each, number) => ({ number, ...each, records: false }));
}

/** The lanes of a block where devices flip nothing. */
function partsOf(block: Block): Part[] {
  const question = block.questions[0]!;
  if (block.kind === "pick_any" && block.positions <= MOST_OPTIONS_APART) {
    return Array.from({ length: block.positions }, (_, place) => part(block, place, 1, 1));
  }
  if (block.kind === "words" && question.type === "words") {
    const most = question.at_most;
    return tablesOf(question).map(({ offset, size }) =>
      part(block, offset, size, Math.min(most, size)),
    );
  }
  return [part(block, 0, block.positions, block.mostOnes)];
}

function part(block: Block, inside: number, positions: number, messages: number): Part {
  return { block: block.name, offset: block.offset + inside, positions, messages };
}
