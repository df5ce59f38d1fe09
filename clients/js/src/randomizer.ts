/** Turns true positions into messages: flips them, and fills the lanes of a submission. */

import { KrandError } from "./errors.js";
import { empty, isToken, isVector, positionIn, token, vector } from "./messages.js";
import type { Lane, Plan } from "./plan.js";
import type { Random } from "./random.js";

/** What one lane sends, before it is sealed. */
export interface LaneMessages {
  readonly lane: Lane;
  readonly plaintexts: readonly Uint8Array[];
}

/** One person's messages before they are sealed, in the order in which they are sent. */
export function messagesOf(plan: Plan, trueOnes: readonly number[], random: Random): LaneMessages[] {
  if (plan.survey.linkage === "record") {
    return [{ lane: plan.lanes[0]!, plaintexts: recordMessages(plan, trueOnes, random) }];
  }
  const ones = reportedPositions(plan, trueOnes, random);
  let first = 0;
  return plan.lanes.map((lane) => {
    const end = lane.offset + lane.positions;
    const start = first;
    while (first < ones.length && ones[first]! < end) first++;
    return { lane, plaintexts: laneMessages(plan, lane, ones.slice(start, first), random) };
  });
}

/** The positions reported as 1, in rising order: each bit is flipped with its lane's noise. */
export function reportedPositions(
  plan: Plan,
  trueOnes: readonly number[],
  random: Random,
): number[] {
  const isOne = new Set(trueOnes);
  const reported: number[] = [];
  for (const { number, offset, positions } of plan.lanes) {
    const numerator = plan.flipsBits ? plan.numerators[number]! : 0; // where devices flip, a lane is a block
    for (let position = offset; position < offset + positions; position++) {
      const flipped = numerator > 0 && random.word() < numerator;
      if (isOne.has(position) !== flipped) reported.push(position);
    }
  }
  return reported;
}

/** Tokens and nulls in random order; if there are more tokens than messages, some are dropped. */
function laneMessages(
  plan: Plan,
  lane: Lane,
  ones: readonly number[],
  random: Random,
): Uint8Array[] {
  if (ones.length > lane.messages && !plan.flipsBits) { // without flips every answer fits
    throw new KrandError("internal", `lane ${lane.number}`, "must have room for its answers");
  }
  const messages = ones.map((position) => token(position));
  while (messages.length < lane.messages) messages.push(empty());
  random.shuffle(messages);
  return messages.slice(0, lane.messages);
}

/** k noisy copies of the record, packed: the first position is the highest bit of a byte. */
function recordMessages(plan: Plan, trueOnes: readonly number[], random: Random): Uint8Array[] {
  const numerator = plan.numerators[0]!;
  const record = new Uint8Array(Math.ceil(plan.positions / 8));
  for (const position of trueOnes) record[position >> 3]! |= 0x80 >> (position & 7);
  return Array.from({ length: plan.survey.copies }, () => {
    const copy = Uint8Array.from(record);
    for (let position = 0; position < plan.positions; position++) {
      if (random.word() < numerator) copy[position >> 3]! ^= 0x80 >> (position & 7);
    }
    return vector(copy);
  });
}

/** What messages say, to be shown: the positions that are 1, one list for all tokens, or one for each copy of a record. */
export function reportedIn(lanes: readonly LaneMessages[]): number[][] {
  const all = lanes.flatMap(({ plaintexts }) => plaintexts);
  const records = all.filter(isVector);
  if (records.length) return records.map(onesOf);
  return [all.filter(isToken).map(positionIn).sort((one, other) => one - other)];
}

function onesOf(record: Uint8Array): number[] {
  return [...record.subarray(2)].flatMap((byte, at) =>
    [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => byte & (0x80 >> bit)).map((bit) => 8 * at + bit),
  );
}
