/** Small pictures of the promise: how often a guess is right, and the way that answers take. */

import { h, svg } from "./dom.js";

/** The most decimals of a chance that are shown; a chance closer to 1 protects nobody. */
const MOST_SCALE = 1_000_000;

/** Times that a guess is right, of so many. */
interface Chance {
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

export type Stop = "you" | "crowd" | "mixer" | "organiser" | "results";

const SIZE = 48;

const dot = (x: number, y: number, kind: string, r = 3): SVGElement => svg("circle", { cx: x, cy: y, r, class: kind });

/** Places of a grid of so many columns and rows. */
const grid = (columns: number, rows: number): [number, number][] =>
  Array.from({ length: columns * rows }, (_, place) => [place % columns, Math.floor(place / columns)]);

const everybody = (noisy: (place: number) => boolean): SVGElement[] =>
  grid(5, 5).map(([x, y], place) => dot(6 + 9 * x, 6 + 9 * y, noisy(place) ? "noise" : "yes"));

const PICTURES: Record<Stop, () => SVGElement[]> = {
  you: () => [dot(24, 24, "ring", 12), dot(24, 24, "yes", 6)],
  // Some answers were changed, and nobody can tell which.
  crowd: () => everybody((place) => place % 4 === 2),
  mixer: () => [
    ...["M4 12H14L34 36H44M38 30l6 6-6 6", "M4 36H14L34 12H44M38 6l6 6-6 6"].map((d) => svg("path", { d, class: "line" })),
    dot(24, 7, "noise"),
    dot(24, 41, "noise"),
  ],
  organiser: () => [svg("rect", { x: 3, y: 3, width: 42, height: 42, rx: 6, class: "line" }), ...everybody(() => false)],
  results: () => [14, 34, 22].map((height, place) => svg("rect", { x: 5 + 14 * place, y: 44 - height, width: 10, height, class: "yes" })),
};

/** The stops with their names; the pictures say nothing more than the names. */
export function wayOf(stops: readonly [Stop, string][]): HTMLElement {
  const shown = stops.map(([stop, name]) => {
    const drawing = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, width: SIZE, height: SIZE, "aria-hidden": "true" }, ...PICTURES[stop]());
    return h("li", {}, drawing, h("span", {}, name));
  });
  return h("ol", { class: "way" }, ...shown);
}
