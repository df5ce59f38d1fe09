/** Numbers and words: what is written, not chosen. */

import type { NumberQuestion, Scale, Words } from "../index.js";
import { isOpenAbove, isOpenBelow } from "../questions.js";
import type { Asked, Control, Read } from "./survey.js";
import { fill, h } from "./dom.js";
import { picked } from "./lists.js";
import { plain, typed } from "./numbers.js";
import type { Texts } from "./texts.js";

const MOST_CHARACTERS = 1000;

interface Range {
  low: number | null;
  high: number | null;
  /** Whether the highest number itself belongs to it. */
  closed: boolean;
  integer: boolean;
}

function rangeOf(question: NumberQuestion | Scale): Range {
  if (question.type === "scale") return { low: question.lowest, high: question.highest, closed: true, integer: true };
  const { edges, integer } = question;
  return {
    low: isOpenBelow(question) ? null : edges[0]!,
    high: isOpenAbove(question) ? null : edges.at(-1)! - (integer ? 1 : 0),
    closed: integer,
    integer,
  };
}

/** What may be written, in words. */
export function rangeText(question: NumberQuestion | Scale, texts: Texts): string {
  const { low, high, closed, integer } = rangeOf(question);
  const given = {
    low: low === null ? "" : plain(low, texts.signs),
    high: high === null ? "" : plain(high, texts.signs),
  };
  const pattern =
    low === null
      ? high === null
        ? ""
        : closed ? texts.upTo : texts.under
      : high === null ? texts.from : closed ? texts.between : texts.betweenUnder;
  return [integer ? texts.whole : "", fill(pattern, given)].filter(Boolean).join(" ");
}

function field(asked: Asked, attributes: Record<string, string | number>): HTMLInputElement {
  return h("input", {
    type: "text",
    autocomplete: "off",
    "aria-labelledby": asked.labelId,
    "aria-describedby": asked.hintId,
    oninput: asked.changed,
    ...attributes,
  });
}

/** A number, in the range that the question allows. */
export function numberField(asked: Asked<NumberQuestion | Scale>): Control {
  const { question, texts, answer } = asked;
  const { low, high, closed, integer } = rangeOf(question);
  const input = field(asked, { inputmode: integer && (low ?? -1) >= 0 ? "numeric" : low !== null && low >= 0 ? "decimal" : "text", class: "number" });
  if (typeof answer === "number") input.value = plain(answer, texts.signs);
  const read = (): Read => {
    if (!input.value.trim()) return { answer: undefined };
    const value = typed(input.value, texts.signs);
    if (value === null) return { error: texts.noNumber, at: input };
    if (integer && !Number.isInteger(value)) return { error: texts.noWhole, at: input };
    const outside = (low !== null && value < low) || (high !== null && (closed ? value > high : value >= high));
    return outside ? { error: `${texts.outside} ${rangeText(question, texts)}`, at: input } : { answer: value };
  };
  const unit = question.type === "number" && question.unit ? h("span", { class: "unit", dir: "auto" }, question.unit) : null;
  return { element: h("div", { class: "with-unit" }, input, unit), read };
}

/** Words, up to as many as the question takes. */
export function wordFields(asked: Asked<Words>): Control {
  const { question, texts, answer } = asked;
  const most = question.at_most;
  const given = typeof answer === "string" ? [answer] : picked(answer);
  const inputs: HTMLInputElement[] = [];
  const rows = h("div", { class: "words" });
  const add = (value: string): HTMLInputElement => {
    const number = inputs.length + 1;
    const named = most > 1 ? { "aria-label": fill(texts.word, { number }) } : {};
    const input = field(asked, { dir: "auto", ...named });
    if (most > 1) input.removeAttribute("aria-labelledby");
    input.value = value;
    inputs.push(input);
    rows.append(input);
    more.hidden = inputs.length >= most;
    return input;
  };
  const more = h("button", { type: "button", class: "link", onclick: () => add("").focus() }, texts.addWord);
  for (const value of given.length ? given : [""]) add(value);
  const read = (): Read => {
    const long = inputs.find((input) => [...input.value].length > MOST_CHARACTERS);
    if (long) return { error: texts.wordLength, at: long };
    const words = inputs.map((input) => input.value).filter((value) => value.trim());
    if (!words.length) return { answer: undefined };
    return { answer: most === 1 ? words[0]! : words };
  };
  return { element: h("div", {}, rows, more), read };
}
