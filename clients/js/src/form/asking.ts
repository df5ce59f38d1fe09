/** A question becomes a control, its hints, and its answer in words. */

import type { Asked, Control } from "./control.js";
import { fill, h } from "./dom.js";
import { numberField, rangeText, wordFields } from "./fields.js";
import { checkboxes, radios, type Option } from "./lists.js";
import { oneOfMany, searchHint, severalOfMany } from "./search.js";
import type { Answer, Question, Survey } from "./survey.js";
import { standsAlone } from "./survey.js";
import type { Texts } from "./texts.js";

/** Longer lists are searched. */
const LONGEST = 12;

const isLong = (question: Question): boolean => (question.choices?.length ?? 0) > LONGEST;
const levels = (question: Question): number => question.highest! - question.lowest! + 1;

/** Whether the answers are a group of radio buttons or check boxes. */
export const isGroup = (question: Question): boolean =>
  question.type === "yes_no" ||
  (question.type === "scale" && levels(question) <= LONGEST) ||
  ((question.type === "choice" || question.type === "pick_any") && !isLong(question));

/** Whether not answering can be told apart from every answer. */
const canTell = (survey: Survey, question: Question): boolean =>
  question.type === "pick_any" ? false : question.type !== "yes_no" || !standsAlone(survey, question.name);

export function controlFor(asked: Asked, survey: Survey): Control {
  const { question, texts } = asked;
  const silence = !question.required && canTell(survey, question);
  if (question.type === "yes_no") {
    return radios(asked, [{ label: texts.yes, answer: true }, { label: texts.no, answer: false }], silence);
  }
  if (isGroup(question)) {
    if (question.type === "pick_any") return checkboxes(asked);
    const options: Option[] =
      question.type === "scale"
        ? Array.from({ length: levels(question) }, (_, place) => ({
            label: scaleLabel(question, question.lowest! + place),
            answer: question.lowest! + place,
          }))
        : question.choices!.map((choice) => ({ label: choice, answer: choice }));
    return radios(asked, options, silence);
  }
  const written =
    question.type === "choice" ? oneOfMany(asked)
    : question.type === "pick_any" ? severalOfMany(asked)
    : question.type === "words" ? wordFields(asked)
    : numberField(asked);
  return silence ? orSilence(asked, written) : written;
}

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

/** 1, or "5: very good". */
function scaleLabel(question: Question, value: number): string {
  const { labels = [], lowest, highest } = question;
  const ends = labels.length === 2 && levels(question) > 2;
  const label = ends
    ? value === lowest ? labels[0] : value === highest ? labels[1] : undefined
    : labels[value - lowest!];
  return label === undefined ? String(value) : `${value}: ${label}`;
}

/** What a person should know before answering. */
export function hints(survey: Survey, question: Question, texts: Texts): string[] {
  const found: string[] = [];
  const written = question.type === "number" || (question.type === "scale" && !isGroup(question));
  if (written) found.push(rangeText(question, texts));
  if (question.type === "number") found.push(texts.onlyRange);
  if (isLong(question)) found.push(searchHint({ question, texts }));
  if (question.type === "pick_any" && question.at_most !== undefined && question.at_most < question.choices!.length) {
    found.push(fill(texts.atMost, { most: question.at_most }));
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
  if (typeof answer === "boolean") return answer ? texts.yes : texts.no;
  if (question.type === "scale") return scaleLabel(question, answer as number);
  if (typeof answer === "number") {
    const text = String(answer).replace(".", texts.signs.decimal);
    return question.unit ? `${text} ${question.unit}` : text;
  }
  return Array.isArray(answer) ? answer.join(", ") : answer;
}
