/** A small picture of the way that answers take: through a crowd, through mixers, or to one organiser. */

import { h, svg } from "./dom.js";

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
