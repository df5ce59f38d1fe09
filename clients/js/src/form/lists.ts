/** Short lists: one of them, or several. */

import type { PickAny } from "../index.js";
import { mostOf } from "../questions.js";
import { fill, h, newId } from "./dom.js";
import type { Answer, Asked, Control } from "./survey.js";

export interface Option {
  label: string;
  answer: Answer | null;
  /** What is seen of the label in a row of numbers; the ends are named below it. */
  short?: string | undefined;
}

function line(type: "radio" | "checkbox", name: string, { label, short }: Option, own: boolean): [HTMLElement, HTMLInputElement] {
  const input = h("input", { type, name, id: newId() });
  const dir = own ? "auto" : undefined;
  const text = short === undefined ? [h("span", { dir }, label)] : [h("span", { "aria-hidden": "true" }, short), h("span", { class: "told", dir }, label)];
  return [h("label", { class: "option", for: input.id }, input, ...text), input];
}

/** Radio buttons, with "prefer not to say" where it can be told apart from the other answers. */
export function radios(asked: Asked, options: Option[], silence: boolean): Control {
  const { texts, question, answer } = asked;
  const name = newId();
  const all = silence ? [...options, { label: texts.preferNot, answer: null }] : options;
  const inputs: HTMLInputElement[] = [];
  const lines = all.map((option) => {
    const [label, input] = line("radio", name, option, option.answer !== null && typeof option.answer !== "boolean");
    input.checked = answer === option.answer;
    input.addEventListener("change", asked.changed);
    inputs.push(input);
    return label;
  });
  const read = (): Option | undefined => all[inputs.findIndex((input) => input.checked)];
  const element = h("div", { class: "options" }, ...(question.type === "scale" ? inRow(options, lines) : lines));
  if (!question.required && !silence) element.append(clearing(asked, inputs));
  return { element, read: () => ({ answer: read()?.answer }) };
}

/** How many numbers, or numbers with a name each, a phone has room for, side by side. */
const [MOST_NUMBERS, MOST_NAMES] = [6, 3];

/** The numbers of a scale side by side, in two rows on phones if they are many; the rest follows. */
function inRow(options: readonly Option[], lines: HTMLElement[]): HTMLElement[] {
  const count = options.length;
  const named = options.some(({ short, label, answer }) => short === undefined && label !== String(answer));
  if (named && count > 2 * MOST_NAMES) return lines;
  const row = h("div", { class: "scale" }, ...lines.slice(0, count));
  row.style.setProperty("--all", String(count));
  row.style.setProperty("--few", String(count > (named ? MOST_NAMES : MOST_NUMBERS) ? Math.ceil(count / 2) : count));
  const end = (option: Option | undefined): HTMLElement => h("span", { dir: "auto" }, option!.label);
  const ends = options[0]!.short !== undefined && h("p", { class: "ends", "aria-hidden": "true" }, end(options[0]), end(options.at(-1)));
  return [row, ...(ends ? [ends] : []), ...lines.slice(count)];
}

/** A radio button cannot be unchecked: this does it. */
function clearing(asked: Asked, inputs: HTMLInputElement[]): HTMLElement {
  const clear = (): void => {
    for (const input of inputs) input.checked = false;
    asked.changed();
  };
  return h("button", { type: "button", class: "link", onclick: clear }, asked.texts.clear);
}

/** Check boxes, at most so many of them checked. */
export function checkboxes(asked: Asked<PickAny>): Control {
  const { texts, question, answer } = asked;
  const before = new Set(picked(answer));
  const { choices } = question;
  const most = mostOf(question);
  const count = h("p", { class: "hint", role: "status" });
  const inputs: HTMLInputElement[] = [];
  const lines = choices.map((choice) => {
    const [label, input] = line("checkbox", newId(), { label: choice, answer: choice }, true);
    input.checked = before.has(choice);
    input.addEventListener("change", () => {
      tell();
      asked.changed();
    });
    inputs.push(input);
    return label;
  });
  const tell = (): void => {
    const number = inputs.filter((input) => input.checked).length;
    for (const input of inputs) input.disabled = number >= most && !input.checked;
    if (most < choices.length) count.textContent = countText(texts, number, most);
  };
  tell();
  const read = (): string[] => choices.filter((_, place) => inputs[place]!.checked);
  return { element: h("div", { class: "options" }, count, ...lines), read: () => ({ answer: some(read()) }) };
}

/** How many of at most so many are chosen. */
export const countText = (texts: Asked["texts"], number: number, most: number): string =>
  fill(number >= most ? texts.chosenFull : texts.chosenOf, { number, most });

/** What was chosen before. */
export const picked = (answer: Answer | null | undefined): readonly string[] =>
  typeof answer === "object" && answer !== null ? answer : [];

/** Nothing chosen is no answer. */
export const some = (chosen: readonly string[]): readonly string[] | undefined => (chosen.length ? chosen : undefined);
