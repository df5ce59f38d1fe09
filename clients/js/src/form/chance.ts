/** How often a guess is right: the promise as a number that people know, and as a bar. */

import { svg } from "./dom.js";

/** The most decimals of a chance that are shown; a chance closer to 1 protects nobody. */
const MOST_SCALE = 1_000_000;

/** Times that a guess is right, of so many. */
export interface Chance {
  right: number;
  of: number;
}

/**
 * The largest chance of a right guess between two equally likely sets of answers, (e^ε + δ)/(1 + e^ε),
 * rounded up to whole times in 100, or in more if that would be always; null if it is always.
 */
export function chanceOf({ epsilon, delta }: { epsilon: number; delta: number }): Chance | null {
  const shrunk = Math.exp(-epsilon);
  const chance = (1 + delta * shrunk) / (1 + shrunk);
  for (let of = 100; of <= MOST_SCALE; of *= 10) {
    const right = Math.ceil(chance * of);
    if (right < of) return { right, of };
  }
  return null;
}

/** From a coin toss to certainty: a bar that ends where a guess is right at most. A sentence stands beside it. */
export function guessBar({ right, of }: Chance, whole: (value: number) => string, ends: { coin: string; certain: string }): SVGElement {
  const end = 200 * (right / of) - 100;
  // From right to left the bar grows to the left; "start" and "end" of a text follow by themselves.
  const mirrored = document.documentElement.dir === "rtl";
  const at = (part: number): string => `${mirrored ? 100 - part : part}%`;
  const anchor = end < 10 ? "start" : end > 90 ? "end" : "middle";
  const label = (x: string, y: number, text: string, place: string, kind: string): SVGElement =>
    svg("text", { x, y, "text-anchor": place, class: kind }, text);
  return svg(
    "svg",
    { class: "guess-bar", width: "100%", height: 50, "aria-hidden": "true", focusable: "false" },
    svg("rect", { class: "track", y: 20, width: "100%", height: 10, rx: 5 }),
    svg("rect", { class: "reached", x: mirrored ? at(end) : 0, y: 20, width: `${end}%`, height: 10, rx: 5 }),
    label(at(end), 14, whole(right), anchor, "most"),
    label(at(0), 46, `${whole(of / 2)} ${ends.coin}`, "start", "end"),
    label(at(100), 46, `${whole(of)} ${ends.certain}`, "end", "end"),
  );
}
