/** Short lists: one of them, or several. */

import type { PickAny } from "../index.js";
import { mostOnesOf } from "../questions.js";
import type { Asked, Control } from "./control.js";
import { fill, h, newId } from "./dom.js";
import type { Answer } from "./survey.js";

export interface Option {
  label: string;
  answer: Answer | null;
}

function line(type: "radio" | "checkbox", name: string, label: string, own: boolean): [HTMLElement, HTMLInputElement] {
  const input = h("input", { type, name, id: newId() });
  return [h("label", { class: "option", for: input.id }, input, h("span", { dir: own ? "auto" : undefined }, label)), input];
}

/** Radio buttons, with "prefer not to say" where it can be told apart from the other answers. */
export function radios(asked: Asked, options: Option[], silence: boolean): Control {
  const { texts, question, answer } = asked;
  const name = newId();
  const all = silence ? [...options, { label: texts.preferNot, answer: null }] : options;
  const inputs: HTMLInputElement[] = [];
  const lines = all.map((option) => {
    const [label, input] = line("radio", name, option.label, option.answer !== null && typeof option.answer !== "boolean");
    input.checked = answer === option.answer;
    input.addEventListener("change", asked.changed);
    inputs.push(input);
    return label;
  });
  const read = (): Option | undefined => all[inputs.findIndex((input) => input.checked)];
  const element = h("div", { class: question.type === "scale" ? "options scale" : "options" }, ...lines);
  if (!question.required && !silence) element.append(clearing(asked, inputs));
  return { element, read: () => ({ answer: read()?.answer }) };
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
  const most = mostOnesOf(question);
  const count = h("p", { class: "hint", role: "status" });
  const inputs: HTMLInputElement[] = [];
  const lines = choices.map((choice) => {
    const [label, input] = line("checkbox", newId(), choice, true);
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
