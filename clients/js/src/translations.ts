/** A survey in other languages: the same questions and positions, in other words. */

import type { Question } from "./questions.js";
import type { Answer, Answers, QuestionTexts, Survey } from "./survey.js";

/** The languages in which a survey can be read, its own first. */
export const languagesOf = (survey: Survey): readonly string[] => [
  survey.language,
  ...Object.keys(survey.translations ?? {}),
];

/** The survey as if it had been written in one of its languages. */
export function inLanguage(survey: Survey, language: string): Survey {
  if (language === survey.language || !languagesOf(survey).includes(language)) return survey;
  const { question: texts = {}, ...about } = survey.translations![language]!;
  const question = survey.question.map((each) => {
    const { asked_if } = each;
    const gate = asked_if && survey.question.find(({ name }) => name === asked_if.question)!;
    const is = gate && asked_if.is.map((name) => chosen(name, gate, texts));
    return worded(is ? { ...each, asked_if: { ...asked_if, is } } : each, texts);
  });
  return { ...survey, ...about, language, question };
}

type Texts = Readonly<Record<string, QuestionTexts>>;

/** Where help and answers stand: once for all rows of a matrix. */
const tableOf = ({ matrix, name }: Question, texts: Texts): QuestionTexts => texts[(matrix ?? { name }).name] ?? {};

const chosen = (choice: string, question: Question, texts: Texts): string =>
  "choices" in question ? itemIn(tableOf(question, texts).choices, choice) : choice;

const itemIn = (table: QuestionTexts["choices"], item: string): string =>
  typeof table === "object" ? (table[item] ?? item) : item;

function worded(question: Question, texts: Texts): Question {
  const { text: above = "", choices, labels, ...other } = tableOf(question, texts);
  const { text = "" } = texts[question.name] ?? {};
  const { matrix } = question;
  return {
    ...question,
    ...other,
    text,
    ...(matrix && { matrix: { ...matrix, text: above } }),
    ...("choices" in question && { choices: question.choices.map((each) => itemIn(choices, each)) }),
    ...("labels" in question && { labels: question.labels?.map((each) => itemIn(labels, each)) }),
  } as Question;
}

/** Answers to one survey in the words of the same survey in another language. */
export function reworded(answers: Answers, from: Survey, to: Survey): Answers {
  const found: Record<string, Answer> = { ...answers };
  from.question.forEach((asked, place) => {
    const same = to.question[place]!;
    if (!("choices" in asked) || !("choices" in same) || !Object.hasOwn(answers, asked.name)) return;
    const other = (choice: unknown): string => same.choices[asked.choices.indexOf(choice as string)] ?? String(choice);
    const answer = answers[asked.name];
    if (typeof answer === "string") found[asked.name] = other(answer);
    else if (Array.isArray(answer)) found[asked.name] = answer.map(other);
  });
  return found;
}
