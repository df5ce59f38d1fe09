/** What messages say before they are sealed, so that people can be shown what is sent. */

import { isToken, isVector, positionIn } from "./messages.js";
import type { LaneMessages } from "./randomizer.js";

/** The positions that are 1: one list for all tokens, or one for each copy of a record. */
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
