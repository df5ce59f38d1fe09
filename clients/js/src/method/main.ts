/**
 * The method in 30 seconds: an element `<krand-method>` that shows how simulated people are counted
 * without being known. It needs nothing else, loads nothing and sends nothing. What the element holds
 * before is for browsers without scripts.
 */

import { chanceOf, guessBar } from "../form/chance.js";
import { fill, h, put, svg } from "../form/dom.js";
import { atMost, shown, whole } from "../form/numbers.js";
import { choice, followScheme, styled } from "./base.js";
import { HEIGHT, histogram, type Laws } from "./histogram.js";
import { countLaw, draw, estimate, margin, meanDummies, noiseAt, othersWhoSayYes, sent, type Draw, type Noise, type Who } from "./laws.js";
import { NOISE } from "./noise.js";
import { BEGINS, Picture, SECONDS } from "./picture.js";
import { STYLE } from "./style.js";
import { textsOf, type Texts } from "./texts.js";

/** How long a slider rests before screen readers are told. */
const REST = 600;
/** Times in 100 below which no number is told. */
const LEAST = 0.1;

class Method extends HTMLElement {
  private texts!: Texts;
  private who: Who = "devices";
  private people = 1;
  private epsilon = 2;
  private mine = false;
  private planned!: Noise;
  private drawn!: Draw;
  private laws!: Laws;
  private frame = 0;
  private telling = 0;
  private readonly stop = new AbortController();

  private readonly canvas = h("canvas", { role: "img" });
  private readonly panels = Array.from({ length: 4 }, () => h("div", { class: "panel" }));
  private readonly chart = svg("svg", { class: "histogram", height: HEIGHT, role: "img" });
  private readonly happens = h("p", { class: "small" });
  private readonly promise = h("div", { class: "promise" });
  private readonly told = h("p", { class: "told", "aria-live": "polite" });
  private readonly outputs = { people: h("output"), epsilon: h("output") };

  connectedCallback(): void {
    this.texts = textsOf(this.getAttribute("texts"), document.documentElement.lang);
    if (location.hash === "#mixers") this.who = "mixers";
    styled(this, STYLE).replaceChildren(this.built());
    if (this.hasAttribute("heading")) document.title = this.texts.title;
    this.ask(false);
    new ResizeObserver(() => this.show()).observe(this);
    followScheme(this, this.stop.signal, () => this.show());
  }

  disconnectedCallback(): void {
    cancelAnimationFrame(this.frame);
    this.stop.abort();
  }

  private built(): HTMLElement {
    const { texts } = this;
    const slider = (name: "people" | "epsilon", values: number[], label: string, ends: string[]): HTMLElement =>
      h(
        "div",
        { class: "slider" },
        h("label", { for: name }, `${label} `, this.outputs[name]),
        h("input", {
          ...{ id: name, type: "range", min: 0, max: values.length - 1, step: 1, value: this[name] },
          oninput: (event) => {
            this[name] = Number((event.target as HTMLInputElement).value);
            this.ask(false);
          },
        }),
        h("span", { class: "ends", "aria-hidden": "true" }, ...ends.map((end) => h("span", {}, end))),
      );
    const whoAdds = (value: Who): void => {
      this.who = value;
      this.ask(true);
    };
    const answer = (value: "yes" | "no"): void => {
      this.mine = value === "yes";
      this.drawn.answers[0] = this.mine;
      this.end();
    };
    return h(
      "figure",
      { "aria-label": texts.title },
      this.hasAttribute("heading") && h("h1", {}, texts.title),
      h("div", { class: "strip" }, ...this.panels, this.canvas),
      h(
        "div",
        { class: "controls" },
        h("button", { type: "button", onclick: () => this.ask(true) }, texts.again),
        choice("who", texts.noise, [["devices", texts.devices], ["mixers", texts.mixers]], this.who, whoAdds),
        slider("people", NOISE.people, texts.people, [NOISE.people[0]!, NOISE.people.at(-1)!].map(this.number)),
        slider("epsilon", NOISE.epsilons, texts.promised, [texts.private, texts.precise]),
      ),
      h("div", { class: "change" }, choice("mine", texts.change, [["yes", texts.yes], ["no", texts.no]], this.mine ? "yes" : "no", answer)),
      h("p", { class: "key" }, h("span", {}, h("i", { class: "hollow" }), texts.ifNo), h("span", {}, h("i", { class: "filled" }), texts.ifYes)),
      this.chart,
      h("p", { class: "small" }, texts.axis),
      this.happens,
      this.promise,
      this.told,
    );
  }

  /** Ask the simulated people, with new noise. */
  private ask(moving: boolean): void {
    this.planned = noiseAt(this.who, this.people, this.epsilon);
    this.drawn = draw(this.planned, this.mine);
    const others = othersWhoSayYes(this.planned);
    this.laws = { yes: countLaw(this.planned, others, true), no: countLaw(this.planned, others, false) };
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (moving && !still) this.play();
    else this.end();
  }

  private play(): void {
    cancelAnimationFrame(this.frame);
    const began = performance.now();
    const step = (now: number): void => {
      const at = (now - began) / 1000;
      this.show(at);
      if (at < SECONDS) this.frame = requestAnimationFrame(step);
      else this.tell();
    };
    this.say();
    this.frame = requestAnimationFrame(step);
  }

  /** The end at once. */
  private end(): void {
    cancelAnimationFrame(this.frame);
    this.say();
    this.show();
    clearTimeout(this.telling);
    this.telling = window.setTimeout(() => this.tell(), REST);
  }

  private get number(): (value: number) => string {
    return (value) => whole(value, this.texts.signs);
  }

  private get count(): number {
    return sent(this.drawn).filter(Boolean).length;
  }

  /** Every number that is told, by its name in the texts. */
  private get numbers(): Record<string, string> {
    const { planned: noise, drawn, number, count } = this;
    const yes = drawn.answers.filter(Boolean).length;
    return {
      people: number(noise.people),
      yes: number(yes),
      flips: number(drawn.flipped.filter(Boolean).length),
      chance: shown(100 * noise.flip, this.texts.signs, 2),
      dummies: number(2 * meanDummies(noise)),
      count: number(count),
      estimate: number(Math.max(0, Math.round(estimate(noise, count)))),
      margin: number(Math.ceil(margin(noise))),
      epsilon: shown(noise.epsilon, this.texts.signs),
      delta: atMost(NOISE.delta, this.texts.signs),
    };
  }

  /** All words. */
  private say(): void {
    const { texts, planned: noise, numbers, who, drawn } = this;
    const dummiesYes = this.number(drawn.dummies.filter(Boolean).length);
    const { answers, shuffled, counted, [who]: noisy } = texts.panels;
    [answers, { ...noisy, yes: dummiesYes }, shuffled, counted].forEach(({ title, text, ...more }, panel) =>
      put(this.panels[panel]!, h("div", { class: "box" }), h("strong", {}, title), h("p", {}, fill(text, { ...numbers, ...more }))),
    );
    put(this.outputs.people, numbers["people"]!);
    put(this.outputs.epsilon, numbers["epsilon"]!);
    const happens = { count: numbers["count"]!, yes: this.times(this.laws.yes), no: this.times(this.laws.no) };
    put(this.happens, fill(texts.happens, happens));
    const chance = chanceOf({ epsilon: noise.epsilon, delta: NOISE.delta })!;
    const odds = { right: chance.right, of: chance.of, half: chance.of / 2 };
    put(this.promise, h("p", {}, fill(texts.guess, odds)), guessBar(chance, this.number, texts), h("p", { class: "small" }, fill(who === "devices" ? texts.holdsWithDevices : texts.holdsWithMixers, numbers)));
    this.canvas.setAttribute("aria-label", `${texts.picture} ${this.summary()}`);
    this.chart.setAttribute("aria-label", fill(texts.histogram, this.compared()));
  }

  /** How often in 100 the count comes about. */
  private times(law: number[]): string {
    const often = 100 * (law[this.count] ?? 0);
    const { signs, lessThan } = this.texts;
    return often < LEAST ? fill(lessThan, { number: shown(LEAST, signs) }) : shown(often, signs, often < 1 ? 1 : 2);
  }

  /** The two histograms as numbers: their means, and how much they have in common. */
  private compared(): Record<string, string> {
    const { yes, no } = this.laws;
    const mean = (law: number[]): number => law.reduce((sum, mass, count) => sum + mass * count, 0);
    const common = yes.reduce((sum, mass, count) => sum + Math.min(mass, no[count]!), 0);
    return { yes: mean(yes).toFixed(1), no: mean(no).toFixed(1), overlap: String(Math.floor(100 * common)) };
  }

  private summary(): string {
    const { texts, numbers } = this;
    const yes = this.number(this.drawn.dummies.filter(Boolean).length);
    const noise = this.who === "devices" ? fill(texts.saidFlips, numbers) : fill(texts.saidDummies, { ...numbers, yes });
    return fill(texts.said, { ...numbers, noise });
  }

  /** For screen readers: what the pictures show now. */
  private tell(): void {
    put(this.told, [this.summary(), fill(this.texts.histogram, this.compared())].join(" "));
  }

  /** Both pictures, as they are at this second of the animation. */
  private show(at = SECONDS): void {
    const around = this.canvas.getBoundingClientRect();
    if (!around.width) return;
    const scale = devicePixelRatio;
    this.canvas.width = Math.round(around.width * scale);
    this.canvas.height = Math.round(around.height * scale);
    const context = this.canvas.getContext("2d")!;
    context.scale(scale, scale);
    const boxes = this.panels.map((panel) => {
      const box = panel.firstElementChild!.getBoundingClientRect();
      return { left: box.left - around.left, top: box.top - around.top, width: box.width, height: box.height };
    });
    this.panels.forEach((panel, place) => panel.classList.toggle("coming", at < BEGINS[place]! + (place ? 0.6 : 0)));
    const style = getComputedStyle(this);
    const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
    const colours = { ink: colour("ink"), faint: colour("faint"), yes: colour("yes"), no: colour("no"), noise: colour("noise"), paper: colour("paper"), font: style.fontFamily };
    const { planned: noise, drawn, texts, number } = this;
    new Picture(context, boxes, { noise, draw: drawn, words: texts, number }, colours).paint(at);
    this.chart.replaceChildren(...histogram(this.laws, this.count, this.chart.getBoundingClientRect().width, number));
  }
}

customElements.define("krand-method", Method);
