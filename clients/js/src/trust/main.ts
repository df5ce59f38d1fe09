/**
 * A map of trust: an element `<krand-trust>` in which a reader chooses who works with the analyst, and sees
 * what remains. Every verdict is a row of the table that plans, results and reports show.
 */

import { guessBar } from "../form/chance.js";
import { h, put, svg } from "../form/dom.js";
import { choice, followScheme, styled } from "../method/base.js";
import { EXAMPLE } from "./example.js";

/** Where somebody stands on the way of answers: `own` is the analyst's and follows it, others can be chosen. */
interface Place {
  kind: string;
  icon: string;
  label: string;
  name: string;
}

interface Row {
  left: string;
  right: number[] | null;
  who: string;
  said: string;
  guess: string;
}

/** One plan: whom one can choose, and the row for none, some or all of the parties and for so many people. */
interface TrustMap {
  people: string[];
  nodes: Place[];
  rows: Row[];
  shown: number[][];
  host: number;
}

interface Given {
  texts: typeof EXAMPLE.texts;
  maps: Record<string, TrustMap>;
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
[aria-pressed=true] circle, .together circle { fill: var(--noise); stroke: var(--noise); }
[aria-pressed=true] path, .together path, .you path { stroke: var(--paper); }
[aria-pressed=true] { font-weight: 600; }
.whole .you circle { fill: var(--good); stroke: var(--good); } .weaker .you circle { fill: var(--less); stroke: var(--less); }
.nothing .you circle { fill: var(--bad); stroke: var(--bad); }
.node { overflow-wrap: anywhere; }
slot { display: none; }
@media print { figure { display: none; } slot { display: block; } }
.verdict { border-block-start: 1px solid var(--grid); padding-block-start: 1rem; }
.verdict strong { display: block; font-size: 1.15rem; }
.whole .verdict strong { color: var(--good); } .weaker .verdict strong { color: var(--less); } .nothing .verdict strong { color: var(--bad); }
@container (min-width: 42rem) { .node { inline-size: 5.6rem; } }
`;

const SIGNS: Record<string, string> = { whole: "M15 24l6 6 12-13", weaker: "M15 24h18", nothing: "M17 17l14 14m0-14l-14 14" };
const ICONS: Record<string, string> = {
  mixer: "M14 18h6l8 12h6M14 30h6l8-12h6",
  analyst: "M17 32v-8M24 32v-16M31 32v-11",
  page: "M17 14h14v20h-14zM21 20h6M21 25h6",
};

class Trust extends HTMLElement {
  private given: Given = EXAMPLE;
  private shown = "";
  private people = 0;
  private readonly chosen = new Set<Place>();
  private readonly figure = h("figure");
  private readonly helpers = h("div");
  private readonly map = h("ol", { class: "map" });
  private readonly verdict = h("div", { class: "verdict", "aria-live": "polite" });
  private readonly stop = new AbortController();

  connectedCallback(): void {
    if (this.dataset["map"]) this.given = JSON.parse(this.dataset["map"]) as Given;
    const { texts, maps } = this.given;
    this.shown = Object.keys(maps)[0]!;
    this.figure.setAttribute("aria-label", texts.lead);
    const noises = Object.keys(maps).map((noise): [string, string] => [noise, noise]);
    const noise = noises.length > 1 && choice("noise", texts.noise, noises, this.shown, (value) => this.choose(value));
    put(this.figure, h("div", { class: "controls" }, noise, this.helpers), h("p", { class: "small" }, texts.lead), this.map, this.verdict);
    // What the page itself has in the element is for printing, and for browsers without scripts.
    styled(this, STYLE).replaceChildren(this.figure, h("slot"));
    followScheme(this, this.stop.signal);
    this.choose(this.shown);
  }

  disconnectedCallback(): void {
    this.stop.abort();
  }

  private get plan(): TrustMap {
    return this.given.maps[this.shown]!;
  }

  /** Another plan has other parties: draw them anew. */
  private choose(noise: string): void {
    this.shown = noise;
    this.chosen.clear();
    this.people = 0;
    const { texts } = this.given;
    const people = this.plan.people.map((text, place): [string, string] => [String(place), text]);
    const helped = (value: string): void => {
      this.people = Number(value);
      this.show();
    };
    put(this.helpers, people.length > 1 && choice("people", texts.helpers, people, "0", helped));
    put(this.map, ...[h("span", { class: "node you" }, icon(SIGNS["whole"]!), texts.you), ...this.plan.nodes.map((node) => this.node(node))].map((each) => h("li", {}, each)));
    this.show();
  }

  private node(node: Place): HTMLElement {
    const said = [icon(ICONS[node.icon]!), h("span", {}, node.label), node.name && h("span", { dir: "auto" }, node.name)];
    if (node.kind === "own") return h("span", { class: "node own" }, ...said);
    const button = h("button", { type: "button", class: "node", "aria-pressed": "false" }, ...said);
    button.addEventListener("click", () => {
      if (!this.chosen.delete(node)) this.chosen.add(node);
      button.setAttribute("aria-pressed", String(this.chosen.has(node)));
      this.show();
    });
    return button;
  }

  private show(): void {
    const { rows, shown, host, nodes } = this.plan;
    const { texts } = this.given;
    const chosen = [...this.chosen].filter(({ kind }) => kind === "party").length;
    const all = chosen === nodes.filter(({ kind }) => kind === "party").length;
    const row = rows[chosen < this.chosen.size ? host : shown[all ? 2 : Math.min(chosen, 1)]![this.people]!]!;
    this.figure.className = row.left;
    this.map.querySelector(".you path")?.setAttribute("d", SIGNS[row.left]!);
    // The analyst's own mixers work with it: always, or once the analyst itself is chosen.
    const together = all || nodes.at(-1)!.kind === "own";
    for (const own of this.map.querySelectorAll(".own")) own.classList.toggle("together", together);
    const number = (value: number): string => value.toLocaleString(document.documentElement.lang || "en");
    const [right, of] = row.right ?? [];
    put(
      this.verdict,
      h("strong", {}, texts.verdicts[row.left as keyof typeof texts.verdicts]),
      row.guess && h("p", {}, row.guess),
      right && of ? guessBar({ right, of }, number, texts) : null,
      h("p", { class: "small" }, texts.row.replace("{who}", row.who).replace("{said}", row.said)),
    );
  }
}

function icon(path: string): SVGElement {
  return svg("svg", { viewBox: "0 0 48 48", "aria-hidden": "true", focusable: "false" }, svg("circle", { cx: 24, cy: 24, r: 20 }), svg("path", { d: path }));
}

customElements.define("krand-trust", Trust);
