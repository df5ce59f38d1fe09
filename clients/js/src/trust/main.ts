/**
 * A map of trust: an element `<krand-trust>` in which a reader chooses who works with the analyst, and sees
 * what remains. Every verdict is a row of the table that plans, results and reports show.
 */

import { guessBar } from "../form/chance.js";
import { h, put, svg } from "../form/dom.js";
import { choice, followScheme, styled } from "../method/base.js";
import { EXAMPLE } from "./example.js";

type Noise = keyof typeof EXAMPLE;
type People = "none" | "half" | "all";

interface Row {
  who: string;
  left: string;
  said: string;
  right: number[] | null;
}

const STYLE = `
.controls { display: grid; gap: .6rem 1.5rem; margin-block-end: 1rem; }
.map { display: flex; flex-wrap: wrap; align-items: start; gap: .5rem 0; margin-block: .75rem 1.25rem; list-style: none; padding: 0; }
.map li { display: flex; align-items: start; }
.map li + li::before { content: ""; inline-size: clamp(.4rem, 2.5cqi, 2rem); border-block-start: 2px solid var(--no); margin-block-start: 1.5rem; }
.node { display: grid; justify-items: center; gap: .25rem; padding: 0 .15rem; border: 0; background: none; font-size: .875rem; line-height: 1.25;
  inline-size: 4.4rem; text-align: center; }
button.node { cursor: pointer; }
.node svg { inline-size: 3rem; block-size: 3rem; }
.node circle { fill: var(--paper); stroke: var(--no); stroke-width: 2; }
.node path { fill: none; stroke: var(--faint); stroke-width: 2.5; stroke-linecap: round; stroke-linejoin: round; }
[aria-pressed=true] circle, .always circle { fill: var(--noise); stroke: var(--noise); }
[aria-pressed=true] path, .always path, .you path { stroke: var(--paper); }
[aria-pressed=true] { font-weight: 600; }
.whole .you circle { fill: var(--good); stroke: var(--good); } .weaker .you circle { fill: var(--less); stroke: var(--less); }
.nothing .you circle { fill: var(--bad); stroke: var(--bad); }
.verdict { border-block-start: 1px solid var(--grid); padding-block-start: 1rem; }
.verdict strong { display: block; font-size: 1.15rem; }
.whole .verdict strong { color: var(--good); } .weaker .verdict strong { color: var(--less); } .nothing .verdict strong { color: var(--bad); }
@container (min-width: 42rem) { .node { inline-size: 5.6rem; } }
`;

const VERDICTS: Record<string, string> = {
  whole: "You keep the whole promise.",
  weaker: "You keep a weaker promise.",
  nothing: "Nothing protects your answers.",
};
const SIGNS: Record<string, string> = { whole: "M15 24l6 6 12-13", weaker: "M15 24h18", nothing: "M17 17l14 14m0-14l-14 14" };
const ICONS = {
  mixer: "M14 18h6l8 12h6M14 30h6l8-12h6",
  analyst: "M17 32v-8M24 32v-16M31 32v-11",
  page: "M17 14h14v20h-14zM21 20h6M21 25h6",
};

class Trust extends HTMLElement {
  private kind: Noise = "devices";
  private people: People = "none";
  private readonly mixers = new Set<number>();
  private host = false;
  private readonly figure = h("figure", { "aria-label": "Who works together, and what remains" });
  private readonly map = h("ol", { class: "map" });
  private readonly verdict = h("div", { class: "verdict", "aria-live": "polite" });
  private readonly stop = new AbortController();

  connectedCallback(): void {
    const change = <T>(set: (value: T) => void) => (value: T): void => {
      set(value);
      this.show();
    };
    const noises: [Noise, string][] = [["devices", "devices"], ["mixers", "mixers"], ["both", "both"]];
    const helpers: [People, string][] = [["none", "nobody"], ["half", "half"], ["all", "all"]];
    put(
      this.figure,
      h(
        "div",
        { class: "controls" },
        choice("noise", "Noise from", noises, this.kind, change((value: Noise) => this.choose(value))),
        choice("people", "Of the other people, the analyst has on its side", helpers, this.people, change((value: People) => (this.people = value))),
      ),
      h("p", { class: "small" }, "Choose who works with the analyst."),
      this.map,
      this.verdict,
    );
    styled(this, STYLE).replaceChildren(this.figure);
    followScheme(this, this.stop.signal);
    this.choose(this.kind);
    this.show();
  }

  disconnectedCallback(): void {
    this.stop.abort();
  }

  /** Another kind of noise has another chain: draw it anew. */
  private choose(noise: Noise): void {
    this.kind = noise;
    this.mixers.clear();
    this.host = false;
    const { mixers } = EXAMPLE[noise];
    const places = Array.from({ length: mixers }, (_, place) => place + 1);
    const node = (icon: string, name: string): Node[] => [
      svg("svg", { viewBox: "0 0 48 48", "aria-hidden": "true", focusable: "false" }, svg("circle", { cx: 24, cy: 24, r: 20 }), svg("path", { d: icon })),
      document.createTextNode(name),
    ];
    const toggle = (icon: string, name: string, flip: () => boolean): HTMLElement => {
      const button = h("button", { type: "button", class: "node", "aria-pressed": "false" }, ...node(icon, name));
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", String(flip()));
        this.show();
      });
      return button;
    };
    const flipMixer = (place: number) => (): boolean => {
      if (!this.mixers.delete(place)) this.mixers.add(place);
      return this.mixers.has(place);
    };
    const nodes = [
      h("span", { class: "node you" }, ...node(SIGNS["whole"]!, "you")),
      toggle(ICONS.page, "host of the form", () => (this.host = !this.host)),
      ...places.map((place) => toggle(ICONS.mixer, place === 1 ? "collector" : `mixer ${place}`, flipMixer(place))),
      h("span", { class: "node always" }, ...node(ICONS.analyst, "analyst")),
    ];
    put(this.map, ...nodes.map((each) => h("li", {}, each)));
  }

  /** The row of the plan's table for those who are chosen, or for more: what remains then remains for fewer. */
  private row(): Row {
    const { mixers, rows } = EXAMPLE[this.kind];
    const known = rows as Record<string, Row>;
    const all = this.mixers.size === mixers;
    if (this.host) return known["page-host"]!;
    if (all) return known[this.people === "none" ? "all-mixers" : "everybody"]!;
    if (this.people === "none") return known[this.mixers.size ? "other-mixers" : "analyst"]!;
    return known[this.people === "all" || this.mixers.size ? "all-but-one-mixer" : "people"]!;
  }

  private show(): void {
    const row = this.row();
    const [right, of] = row.right ?? [];
    this.figure.className = row.left;
    this.map.querySelector(".you path")?.setAttribute("d", SIGNS[row.left]!);
    const number = (value: number): string => value.toLocaleString("en");
    const guess = right && of ? `Whoever sees the results and guesses how you answered is right at most ${number(right)} times in ${number(of)}; a coin toss would be ${number(of / 2)}.` : "";
    put(
      this.verdict,
      h("strong", {}, VERDICTS[row.left]!),
      guess && h("p", {}, guess),
      right && of ? guessBar({ right, of }, number, { coin: "a coin toss", certain: "certain" }) : null,
      h("p", { class: "small" }, `Row of the plan’s table: ${row.who}: ${row.said}.`),
    );
  }
}

customElements.define("krand-trust", Trust);
