/** Two laws of one count, drawn over each other: filled if you say yes, an outline if you say no. */

import { svg } from "../form/dom.js";

const HEIGHT = 130;
const BOTTOM = HEIGHT - 22;
const HEAD = 18;
/** Counts that are rarer than this part of the most frequent one are not shown. */
const RARE = 3e-4;

export interface Laws {
  yes: number[];
  no: number[];
}

export function histogram(laws: Laws, count: number, width: number, number: (value: number) => string): SVGElement[] {
  const most = Math.max(...laws.yes, ...laws.no);
  const shown = (mass: number): boolean => mass > RARE * most;
  const first = Math.min(laws.no.findIndex(shown), laws.yes.findIndex(shown), count) - 1;
  const last = Math.max(laws.no.findLastIndex(shown), laws.yes.findLastIndex(shown), count) + 1;
  const step = width / (last - first + 1);
  const x = (value: number): number => (value - first) * step;
  const y = (mass: number): number => BOTTOM - (mass / most) * (BOTTOM - HEAD);
  const outline = (law: number[]): string => {
    const tops = Array.from({ length: last - first + 1 }, (_, place) => `V${y(law[first + place] ?? 0).toFixed(1)}H${x(first + place + 1).toFixed(1)}`);
    return `M0 ${BOTTOM}${tops.join("")}V${BOTTOM}`;
  };
  const middle = x(count + 0.5);
  const anchor = middle < 40 ? "start" : middle > width - 40 ? "end" : "middle";
  return [
    svg("path", { class: "yes", d: `${outline(laws.yes)}Z` }),
    svg("path", { class: "no", d: outline(laws.no) }),
    svg("path", { class: "axis", d: `M0 ${BOTTOM + 0.5}H${width}` }),
    svg("path", { class: "seen", d: `M${middle} ${HEAD - 2}V${BOTTOM}` }),
    svg("text", { class: "seen-word", x: middle, y: 12, "text-anchor": anchor }, number(count)),
    ...ticks(first, last, (tick) => x(tick + 0.5) > 12 && x(tick + 0.5) < width - 12).map((tick) =>
      svg("text", { x: x(tick + 0.5), y: HEIGHT - 6, "text-anchor": "middle" }, number(tick)),
    ),
  ];
}

export { HEIGHT };

/** Round numbers along the axis. */
function ticks(first: number, last: number, fits: (tick: number) => boolean): number[] {
  const apart = [1, 2, 5, 10, 20, 50, 100].find((each) => (last - first) / each <= 7) ?? 200;
  const all = Array.from({ length: Math.ceil((last - first) / apart) + 1 }, (_, place) => (Math.ceil(first / apart) + place) * apart);
  return all.filter((tick) => tick >= 0 && tick <= last && fits(tick));
}
