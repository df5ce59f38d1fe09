/** A question becomes a control, its hints, and its answer in words. */

import type { Choice, Leveled, NumberQuestion, PickAny, Question, Scale, Survey } from "../index.js";
import { answerAt, hasEndsAlone, labelOf, levelOf, levelsOf, mostOf, positionsOf } from "../questions.js";
import { fill, h } from "./dom.js";
import { numberField, rangeText, wordFields } from "./fields.js";
import { checkboxes, radios, type Option } from "./lists.js";
import { plain } from "./numbers.js";
import { oneOfMany, searchHint, severalOfMany } from "./search.js";
import { standsAlone, type Answer, type Asked, type Control } from "./survey.js";
import type { Texts } from "./texts.js";

/** Longer lists are searched, and a number of a longer scale is written. */
const LONGEST = 12;

const isLong = (question: Choice | PickAny | Scale): boolean => positionsOf(question) > LONGEST;

/** Whether the answers are a group of radio buttons or check boxes. */
export function isGroup(question: Question): boolean {
  if (question.type === "words") return false;
  if (question.type === "number") return question.asked_as === "ranges";
  return question.type === "yes_no" || !isLong(question);
}

/** Whether not answering can be told apart from every answer. */
function canTell(survey: Survey, question: Question): boolean {
  if (question.type === "pick_any") return false;
  return question.type !== "yes_no" || question.counts === "both" || !standsAlone(survey, question.name);
}

export function controlFor(asked: Asked, survey: Survey): Control {
  const { question, texts } = asked;
  const silence = !question.required && canTell(survey, question);
  const field = (control: Control): Control => (silence ? orSilence(asked, control) : control);
  if (question.type === "pick_any") return isLong(question) ? severalOfMany({ ...asked, question }) : checkboxes({ ...asked, question });
  if (question.type === "words") return field(wordFields({ ...asked, question }));
  if (isGroup(question)) return radios(asked, optionsOf(question, texts), silence);
  if (question.type === "choice") return field(oneOfMany({ ...asked, question }));
  return field(numberField({ ...asked, question: question as NumberQuestion | Scale }));
}

/** The answers of a question of which one is chosen. */
export function optionsOf(question: Leveled, texts: Texts): Option[] {
  return Array.from({ length: levelsOf(question) }, (_, level) => ({
    label: labelIn(question, level, texts),
    answer: answerAt(question, level),
    short: question.type === "scale" && hasEndsAlone(question) ? String(question.lowest + level) : undefined,
  }));
}

const labelIn = (question: Leveled, level: number, texts: Texts): string =>
  labelOf(question, level, texts, (value) => plain(value, texts.signs));

/** The unit of ranges that are chosen stands above them, because it fits badly into their names. */
export const unitAbove = (question: Question): string =>
  question.type === "number" && isGroup(question) && question.unit ? ` (${question.unit})` : "";

/** A field with "prefer not to say" below it. */
function orSilence(asked: Asked, control: Control): Control {
  const input = h("input", { type: "checkbox", id: `${asked.labelId}-none` });
  input.checked = asked.answer === null;
  const fields = (): HTMLInputElement[] => [...control.element.querySelectorAll("input")];
  const tell = (): void => fields().forEach((field) => (field.disabled = input.checked));
  input.addEventListener("change", () => {
    tell();
    asked.changed();
  });
  tell();
  const label = h("label", { class: "option silence", for: input.id }, input, h("span", {}, asked.texts.preferNot));
  return {
    element: h("div", {}, control.element, label),
    read: () => (input.checked ? { answer: null } : control.read()),
  };
}

/** What a person should know before answering. */
export function hints(survey: Survey, question: Question, texts: Texts): string[] {
  const found: string[] = [];
  if (question.type === "number" && !isGroup(question)) found.push(rangeText(question, texts), texts.onlyRange);
  if (question.type === "scale" && isLong(question)) found.push(rangeText(question, texts));
  if (question.type === "choice" || question.type === "pick_any") {
    if (isLong(question)) found.push(searchHint(question, texts));
  }
  if (question.type === "pick_any" && mostOf(question) < question.choices.length) {
    found.push(fill(texts.atMost, { most: mostOf(question) }));
  }
  if (!question.required) {
    found.push(texts.optional);
    if (question.type === "pick_any") found.push(texts.noneIsSilence);
    else if (!canTell(survey, question)) found.push(texts.noIsSilence);
  }
  return found.filter(Boolean);
}

/** An answer in words. */
export function answerText(question: Question, answer: Answer | null | undefined, texts: Texts): string {
  if (answer === undefined) return texts.unanswered;
  if (answer === null) return texts.preferNot;
  if (typeof answer === "object") return answer.join(", ");
  if (question.type === "words" || question.type === "pick_any") return String(answer);
  if (question.type !== "number" || typeof answer === "string") return labelIn(question, levelOf(question, answer), texts) + unitAbove(question);
  const text = plain(Number(answer), texts.signs);
  return question.unit ? `${text} ${question.unit}` : text;
}
