/** The form's pages; `Form` decides which of them is shown. */

import type { Leveled, Plan, Question, Survey } from "../index.js";
import { lastDay } from "../schedule.js";
import { answerText, controlFor, hints, isGroup, optionsOf, unitAbove } from "./asking.js";
import { fill, h, newId, put } from "./dom.js";
import { matrixOf } from "./matrix.js";
import { hasConditions, titleOf, type Answers, type Given, type PageControl } from "./survey.js";
import type { Texts } from "./texts.js";

type Click = () => void;

/** What a collector tells everybody. */
export interface Status {
  round: number;
  open: boolean;
}

export const button = (label: string, click: Click, kind = ""): HTMLButtonElement =>
  h("button", { type: "button", class: kind || undefined, onclick: click }, label);

const heading = (...inside: (Node | string)[]): HTMLElement => h("h1", { tabindex: -1 }, ...inside);
const own = (text: string, tag: "p" | "div" = "p"): HTMLElement => h(tag, { class: "text", dir: "auto" }, text);

/** A text with the address of a page or of a mailbox in it; only such a whole text becomes a link. */
function contact(text: string): Node {
  const mail = /^[^\s@<>]+@[^\s@<>]+$/.test(text);
  if (!mail && !/^https:\/\/\S+$/.test(text)) return document.createTextNode(text);
  return h("a", { href: mail ? `mailto:${text}` : text, rel: "noreferrer" }, text);
}

/** The languages of a survey, each called as those who speak it call it. */
export function languageMenu(languages: readonly string[], shown: string, choose: (language: string) => void): HTMLElement {
  const names = languages.map((tag) => new Intl.DisplayNames([tag], { type: "language" }).of(tag)!);
  const options = languages.map((lang, place) => h("option", { lang, value: lang, selected: lang === shown }, names[place]));
  const menu = h("select", { class: "languages", "aria-label": names.join(", "), onchange: () => choose(menu.value) }, ...options);
  return menu;
}

export interface Context {
  plan: Plan;
  texts: Texts;
  collector: string;
  /** The address of whoever serves the page; empty in a preview. */
  home: string;
}

interface StartOptions {
  draft: "none" | "kept" | "changed";
  start: Click;
  startOver: Click;
}

/** By whom, and until when; nothing that the survey does not say. */
function factsOf(survey: Survey, texts: Texts, untilWhen = true): HTMLElement | null {
  const day = untilWhen ? lastDay(survey, Date.now()) : undefined;
  const closes = day && h("time", { datetime: day }, dayOf(day, survey.language));
  const facts: [string, Node | string | undefined | false][] = [
    [texts.organiser, survey.organiser],
    [texts.contact, survey.contact && contact(survey.contact)],
    [texts.openUntil, closes || undefined],
  ];
  const given = facts.filter((fact): fact is [string, Node | string] => !!fact[1]);
  if (!given.length) return null;
  return h("dl", { class: "facts" }, ...given.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", { dir: "auto" }, value))));
}

/** Whom this page comes from, by its own address, where the plan says where its parties are. */
function pageFrom({ plan, texts, home }: Context): HTMLElement | null {
  if (!home || !plan.mixers[0]!.url) return null;
  const own = plan.mixers.find(({ url }) => new URL(url).origin === location.origin);
  const said = own ? fill(texts.pageFrom, { name: own.name }) : fill(texts.pageFromNobody, { host: location.host });
  return h("p", { id: "page-from" }, said);
}

/** What is asked and by whom, what others can learn, and the button; the rest is unfolded. */
export function startPage(context: Context, options: StartOptions): HTMLElement {
  const { plan, texts, collector } = context;
  const { survey } = plan;
  const { hand, through, guess, leaves, holds, promise, assumptions } = texts.promise;
  const byCrowd = !hand && !through;
  const ahead = hasConditions(survey) ? texts.questionsUpTo : texts.questionsAhead;
  return h(
    "div",
    {},
    heading(h("span", { dir: "auto" }, titleOf(survey))),
    factsOf(survey, texts),
    survey.introduction ? own(survey.introduction, "div") : null,
    options.draft !== "none" && h("p", { class: "note" }, options.draft === "kept" ? texts.draftKept : texts.draftChanged),
    hand && h("p", { id: "one-hand", class: "note" }, fill(hand)),
    h(
      "section",
      { class: "promise" },
      through && h("p", { id: "through" }, fill(through)),
      pageFrom(context),
      h("p", { id: "guess" }, fill(guess)),
      byCrowd && h("p", { id: "holds" }, fill(holds)),
    ),
    h(
      "p",
      { class: "buttons" },
      button(options.draft === "none" ? texts.start : texts.goOn, options.start),
      options.draft !== "none" && button(texts.startOver, options.startOver, "second"),
      h("span", {}, texts.counted(ahead, survey.question.length)),
    ),
    survey.invitations && h("p", {}, texts.invited),
    h(
      "details",
      { id: "leaves" },
      h("summary", {}, texts.whatLeaves),
      ...leaves.map((text) => h("p", {}, fill(text))),
      h("p", {}, fill(texts.address, { collector })),
      h("p", {}, texts.keeping),
      h("p", { id: "host" }, fill(texts.host, { host: location.host })),
    ),
    h(
      "details",
      { id: "details" },
      h("summary", {}, texts.howItIs),
      !byCrowd && h("p", { id: "holds" }, fill(holds)),
      h("p", { id: "promise" }, fill(promise)),
      h("p", {}, texts.restsOn),
      h("ul", { id: "assumptions" }, ...assumptions.map((text) => h("li", {}, fill(text)))),
    ),
  );
}

function dayOf(day: string, language: string): string {
  try {
    return new Date(`${day}T12:00:00Z`).toLocaleDateString(language, { dateStyle: "long", timeZone: "UTC" });
  } catch {
    return day;
  }
}

interface QuestionOptions {
  /** How many questions stand before it in the survey: whoever looks on learns no answer from that. */
  before: number;
  answers: Answers;
  back: Click;
  /** Goes on with what was answered; the text of an error if it cannot. */
  next: (given: Given) => string | null;
  changed: (given: Given) => void;
}

/** A page of one question, or of all rows of a matrix. */
export function questionPage({ plan, texts }: Context, page: readonly Question[], options: QuestionOptions): HTMLElement {
  const { survey } = plan;
  const first = page[0]!;
  const [labelId, hintId, errorId] = [newId(), newId(), newId()];
  const error = h("p", { id: errorId, class: "error", role: "alert" });
  const changed = (): void => {
    refuse("", []);
    const read = control.read();
    if ("given" in read) options.changed(read.given);
  };
  const control = first.matrix ? tableOf(page, options.answers, texts, changed) : alone(first);
  function alone(question: Question): PageControl {
    const asked = { question, answer: options.answers[question.name], texts, labelId, hintId, changed };
    const { element, read } = controlFor(asked, survey);
    return {
      element,
      read: () => {
        const found = read();
        return "answer" in found ? { given: [[question, found.answer]] } : found;
      },
      inputsOf: () => [...element.querySelectorAll("input")],
    };
  }
  const refuse = (text: string, at: HTMLElement[]): void => {
    error.textContent = text;
    for (const input of control.element.querySelectorAll("input")) {
      if (at.includes(input)) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
    at[0]?.focus();
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const read = control.read();
    if ("error" in read) return refuse(read.error, [read.at]);
    const missing = read.given.find(([question, answer]) => question.required && (answer ?? null) === null);
    if (missing) return refuse(first.matrix ? texts.requiredRows : texts.required, control.inputsOf(missing[0]));
    const wrong = options.next(read.given);
    if (wrong) refuse(wrong, control.inputsOf(first));
  };
  const wording = first.matrix ?? first;
  const text = heading(h("span", { id: labelId, dir: "auto" }, `${wording.text || wording.name}${unitAbove(first)}`));
  const help = [
    first.required && h("p", { class: "must" }, texts.mustAnswer),
    first.help ? own(first.help) : null,
    h("p", { class: "hint" }, hints(survey, first, texts).join(" ")),
  ];
  const described = h("div", { id: hintId }, ...help);
  const inside = isGroup(first)
    ? h("fieldset", { "aria-describedby": `${hintId} ${errorId}` }, h("legend", {}, text), described, error, control.element)
    : h("div", { class: "field" }, text, described, error, control.element);
  const { before } = options;
  const all = survey.question.length;
  const numbers = { number: before + 1, last: before + page.length, all };
  const progress = fill(page.length > 1 ? texts.progressRows : texts.progress, numbers);
  return h(
    "form",
    { novalidate: true, onsubmit: submit },
    h("p", { class: "survey", dir: "auto" }, titleOf(survey)),
    h("p", { class: "progress" }, h("span", {}, progress), h("progress", { value: before, max: all, "aria-label": progress })),
    inside,
    h("p", { class: "buttons" }, h("button", {}, texts.next), button(texts.back, options.back, "second")),
  );
}

/** The rows of a matrix; whoever need not answer may also say so in a row. */
function tableOf(rows: readonly Question[], answers: Answers, texts: Texts, changed: Click): PageControl {
  const options = optionsOf(rows[0] as Leveled, texts);
  const silence = rows[0]!.required ? [] : [{ label: texts.preferNot, answer: null }];
  return matrixOf(rows, [...options, ...silence], answers, changed);
}

interface ReviewOptions {
  /** The questions that were asked, and all answers. */
  asked: readonly Question[];
  answers: Answers;
  change: (question: Question) => void;
  send: Click;
  /** What would be sent; null where nothing can be. */
  shown: (() => Promise<Node>) | null;
}

export function reviewPage({ plan, texts }: Context, options: ReviewOptions): HTMLElement {
  const { survey } = plan;
  const rows = options.asked.map((question, place) => {
    const text = question.text || question.name;
    const { matrix } = question;
    const isFirst = matrix?.text && matrix.name !== options.asked[place - 1]?.matrix?.name;
    const change = button(texts.change, () => options.change(question), "link");
    change.setAttribute("aria-label", fill(texts.changeWhat, { question: text }));
    const answer = answerText(question, options.answers[question.name], texts);
    return h("div", {}, h("dt", { dir: "auto" }, isFirst ? `${matrix.text}\n\n${text}` : text), h("dd", { dir: "auto" }, answer), h("dd", {}, change));
  });
  const inside = h("div", { role: "status" });
  const open = (): void => {
    if (!fold.open || inside.firstChild || !options.shown) return;
    put(inside, texts.loading);
    void options.shown().then((shown) => put(inside, shown));
  };
  const fold = h("details", { id: "sent", ontoggle: open }, h("summary", {}, texts.whatIsSent), inside);
  return h(
    "div",
    {},
    h("p", { class: "survey", dir: "auto" }, titleOf(survey)),
    heading(texts.review),
    h("dl", { class: "answers" }, ...rows),
    h("p", {}, texts.afterSending),
    h("p", { class: "buttons" }, button(texts.send, options.send)),
    options.shown && fold,
  );
}

/** Answers that were sealed before this page was opened. */
export function pendingPage({ plan, texts }: Context, send: Click): HTMLElement {
  return h(
    "div",
    {},
    h("p", { class: "survey", dir: "auto" }, titleOf(plan.survey)),
    heading(texts.problems["not-delivered"]!.title),
    h("p", {}, texts.preparedEarlier),
    h("p", { class: "buttons" }, button(texts.sendNow, send)),
  );
}

/** While it is sent; `told` is for what happens meanwhile, `now` for whoever does not want to wait. */
export function sendingPage({ plan, texts }: Context, told: HTMLElement, now: HTMLElement): HTMLElement {
  return h("div", {}, h("p", { class: "survey", dir: "auto" }, titleOf(plan.survey)), heading(texts.sending), told, now);
}

/** The same for everybody who has answered: what happens to answers, as far as it can be told. */
export function thanksPage({ plan, texts }: Context, said: string): HTMLElement {
  const { survey } = plan;
  const steps = [texts.acknowledged, ...texts.promise.leaves.slice(1).map((text) => fill(text)), texts.resultsWhen];
  return h(
    "div",
    {},
    h("p", { class: "survey", dir: "auto" }, titleOf(survey)),
    heading(texts.thanks),
    h("p", { id: "said" }, said),
    survey.thanks ? own(survey.thanks, "div") : h("p", {}, texts.resultsWhen),
    factsOf(survey, texts),
    h(
      "details",
      { id: "my-answers" },
      h("summary", {}, texts.myAnswers),
      h("ol", { class: "steps" }, ...steps.map((step) => h("li", {}, step))),
      h("p", { class: "note" }, texts.notCounted),
    ),
  );
}

interface ProblemOptions {
  why?: string;
  action?: [string, Click] | undefined;
  /** Whose organiser can be asked, once it is known. */
  survey?: Survey | undefined;
}

/** What is wrong, and what to do. */
export function problemPage(texts: Texts, code: string, options: ProblemOptions = {}): HTMLElement {
  const { title, text } = texts.problems[code] ?? texts.problems["internal"]!;
  return h(
    "div",
    { "data-problem": code },
    heading(title),
    h("p", {}, fill(text, { why: options.why ?? "" })),
    options.action && h("p", { class: "buttons" }, button(...options.action)),
    options.survey ? factsOf(options.survey, texts, false) : null,
  );
}
