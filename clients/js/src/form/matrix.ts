/** Statements with the same answers: a table where there is room, one after another where there is not. */

import type { Question } from "../index.js";
import { h, newId } from "./dom.js";
import type { Option } from "./lists.js";
import type { Answers, Given, PageControl } from "./survey.js";

/** How many characters the headings of a table have room for, side by side; all are equally wide. */
const MOST_CHARACTERS = 80;

/** The room of a heading: its longest word, and no more than three lines. */
const roomOf = ({ label }: Option): number =>
  Math.max(4, Math.ceil(label.length / 3), ...label.split(/\s+/).map((word) => word.length)) + 1;

/** Characters that fit side by side on a phone, and how many answers then stand in one line, evenly. */
const MOST_ON_PHONES = 36;
function besideEachOther(options: readonly Option[]): number {
  const given = options.filter(({ answer }) => answer !== null);
  const longest = Math.max(3, ...given.flatMap(({ label }) => label.split(/\s+/).map((word) => word.length)));
  const fit = Math.max(1, Math.min(given.length, Math.floor(MOST_ON_PHONES / longest)));
  return Math.ceil(given.length / Math.ceil(given.length / fit));
}

/**
 * Rows of radio buttons, each named by its statement and its answer. On a phone the answers are written
 * out below their statement, side by side where they are short.
 */
export function matrixOf(rows: readonly Question[], options: Option[], answers: Answers, changed: () => void): PageControl {
  const headings = options.map((option) =>
    h("th", { scope: "col", id: newId() }, h("span", { dir: isOwn(option) ? "auto" : undefined }, option.label)),
  );
  const inputs = new Map<Question, HTMLInputElement[]>();
  const lines = rows.map((question) => {
    const name = newId();
    const statement = h("th", { scope: "row", id: newId() }, h("span", { dir: "auto" }, question.text || question.name));
    const own = options.map((option, place) => {
      const labels = `${statement.id} ${headings[place]!.id}`;
      const input = h("input", { type: "radio", name, "aria-labelledby": labels, onchange: changed });
      input.checked = question.name in answers && answers[question.name] === option.answer;
      return input;
    });
    inputs.set(question, own);
    const cells = own.map((input, place) => {
      const option = options[place]!;
      return h("td", { class: option.answer === null && "whole" }, h("label", { class: "option" }, input, h("span", { dir: isOwn(option) ? "auto" : undefined }, option.label)));
    });
    return h("tr", {}, statement, ...cells);
  });
  const fits = options.length * Math.max(...options.map(roomOf)) <= MOST_CHARACTERS;
  const element = h(
    "table",
    { class: fits ? "matrix table" : "matrix" },
    h("thead", {}, h("tr", {}, h("td", {}), ...headings)),
    h("tbody", {}, ...lines),
  );
  element.style.setProperty("--few", String(besideEachOther(options)));
  element.classList.toggle("beside", besideEachOther(options) > 1);
  const inputsOf = (question: Question): HTMLInputElement[] => inputs.get(question)!;
  const answerOf = (question: Question): Given[number] => [
    question,
    options[inputsOf(question).findIndex((input) => input.checked)]?.answer,
  ];
  return { element, read: () => ({ given: rows.map(answerOf) }), inputsOf };
}

/** Whether an answer is in the survey's language, not in that of the form. */
const isOwn = ({ answer }: Option): boolean => answer !== null && typeof answer !== "boolean";
