/** One person's way through the survey: which page is shown, and what is kept meanwhile. */

import {
  inLanguage,
  KrandError,
  languagesOf,
  reworded,
  type Client,
  type Question,
  type Survey,
} from "../index.js";
import { askedQuestions, checkAnswer } from "../positions.js";
import { fill, h, put } from "./dom.js";
import type { Draft } from "./draft.js";
import {
  button,
  languageMenu,
  pendingPage,
  problemPage,
  questionPage,
  reviewPage,
  sendingPage,
  startPage,
  thanksPage,
  type Context,
  type Status,
} from "./pages.js";
import { shownSubmission } from "./shown.js";
import { pagesOf, titleOf, type Answer, type Answers, type Given as Answered } from "./survey.js";
import type { Texts } from "./texts.js";

/**
 * A page that the browser's own "back" can come to, a question by its place in the survey; none of
 * them has an answer in its address.
 */
type Step = "start" | "review" | number;

export interface Given {
  client: Client;
  draft: Draft;
  context: Context;
  round: number;
  invitation: string | undefined;
  status: Promise<Status | null>;
  place: HTMLElement;
  /** Lets the page speak a language of the survey, and gives the texts for it. */
  speak: (language: string) => Texts;
  /** Whether nothing can be sent, because the organiser looks at the form before it is published. */
  preview?: boolean;
}

export class Form {
  /** In the words of the language that is shown; what is kept and sent is in the survey's own. */
  private answers: Answers = {};
  private draftState: "none" | "kept" | "changed" = "none";
  private busy = false;
  /** Whether this page has had a sealed submission: there must never be a second one. */
  private sealed = false;
  /** Sent, or on its way: the answers can no longer be changed. */
  private over = false;

  constructor(private given: Given) {}

  /** The first page, by what this browser has done before. */
  async begin(): Promise<void> {
    const { client, round, draft, context, status } = this.given;
    addEventListener("popstate", (event) => this.cameTo((event.state as Step | null) ?? "start"));
    const state = await client.state(round);
    if (state === "delivered") return this.thank(context.texts.thanksEarlier);
    this.sealed = state === "pending";
    if (this.sealed) return this.show(pendingPage(context, () => void this.send()));
    this.takeUp(await draft.read().catch(() => null));
    const before = history.state as Step | null;
    this.cameTo(this.draftState === "kept" && before !== null ? before : "start");
    const [found, link] = await Promise.all([status, this.linkProblem()]);
    if (this.over) return;
    if (found && !found.open) return this.fail(new KrandError("closed", "round", "is closed"));
    if (link) this.stop(link);
  }

  /** What is wrong with the personal link, as far as the collector tells before the first question. */
  private async linkProblem(): Promise<"unknown-link" | "used-link" | null> {
    const { client, round, invitation } = this.given;
    if (invitation === undefined) return null;
    try {
      const status = await client.invitationStatus(invitation, round);
      return status === "unknown" ? "unknown-link" : status === "used" ? "used-link" : null;
    } catch {
      return "unknown-link"; // not a code at all
    }
  }

  /** Nothing can be sent from this page. */
  private stop(code: string): void {
    this.over = true;
    this.show(problemPage(this.given.context.texts, code, { survey: this.survey }));
  }

  private takeUp(found: Awaited<ReturnType<Draft["read"]>>): void {
    if (!found) return;
    const fitting = Object.entries(found.answers).filter(([name, answer]) => this.fits(name, answer));
    this.answers = reworded(Object.fromEntries(fitting), this.own, this.survey) as Answers;
    if (Object.keys(this.answers).length) this.draftState = found.samePlan ? "kept" : "changed";
  }

  private fits(name: string, answer: Answer | null): boolean {
    try {
      checkAnswer(this.own, name, answer);
      return true;
    } catch {
      return false;
    }
  }

  /** Go to a page, so that the browser's "back" leads here again. */
  private go(step: Step): void {
    history.pushState(step, "");
    this.cameTo(step);
  }

  private cameTo(step: Step): void {
    if (this.over) return;
    if (step === "review") return this.show(this.reviewPage());
    if (step === "start") return this.show(this.startPage());
    const pages = pagesOf(this.asked);
    const number = pages.findIndex((page) => this.placeOf(page.at(-1)!) >= step);
    const [before, page] = [pages[number - 1], pages[number]];
    if (!page) return this.show(this.reviewPage()); // nothing is asked from there on
    this.show(
      questionPage(this.given.context, page, {
        before: this.placeOf(page[0]!),
        answers: this.answers,
        back: () => this.go(before ? this.placeOf(before[0]!) : "start"),
        next: (given) => this.next(given),
        changed: (given) => this.keep(given),
      }),
    );
  }

  private get survey(): Survey {
    return this.given.context.plan.survey;
  }

  /** The survey in its own language. */
  private get own(): Survey {
    return this.given.client.plan.survey;
  }

  /** The answers in the survey's own language. */
  private get ownAnswers(): Answers {
    return reworded(this.answers, this.survey, this.own) as Answers;
  }

  /** The same page in another language of the survey; what was answered stays. */
  private change(language: string): void {
    const { client, context, speak } = this.given;
    const answers = this.ownAnswers;
    const plan = client.plan.worded(inLanguage(this.own, language));
    this.given = { ...this.given, context: { ...context, plan, texts: speak(language) } };
    this.answers = reworded(answers, this.own, this.survey) as Answers;
    this.cameTo((history.state as Step | null) ?? "start");
  }

  /** What is asked as the answers stand. */
  private get asked(): readonly Question[] {
    return askedQuestions(this.survey, this.answers);
  }

  private placeOf(question: Question): number {
    return this.survey.question.indexOf(question);
  }

  private startPage(): HTMLElement {
    const { context, draft } = this.given;
    return startPage(context, {
      draft: this.draftState,
      start: () => this.go(this.firstOpen()),
      startOver: () => {
        this.answers = {};
        this.draftState = "none";
        void draft.clear().then(() => this.go(0));
      },
    });
  }

  /** Where to go on: the first question that was not touched, or the review. */
  private firstOpen(): Step {
    if (this.draftState === "none") return 0;
    const open = this.asked.find(({ name }) => !(name in this.answers));
    return open ? this.placeOf(open) : "review";
  }

  private next(given: Answered): string | null {
    const { texts } = this.given.context;
    for (const [question, answer] of given) {
      try {
        checkAnswer(this.survey, question.name, answer);
      } catch (error) {
        return question.type === "words" ? texts.wordInvalid : error instanceof Error ? error.message : texts.required;
      }
    }
    this.keep(given);
    const last = this.placeOf(given.at(-1)![0]);
    const next = this.asked.find((question) => this.placeOf(question) > last);
    this.go(next ? this.placeOf(next) : "review");
    return null;
  }

  /** Answers to questions that are no longer asked are kept too, until something is sent. */
  private keep(given: Answered): void {
    for (const [{ name }, answer] of given) {
      if (answer === undefined) delete this.answers[name];
      else this.answers[name] = answer;
    }
    if (!this.over) void this.given.draft.save(this.ownAnswers);
    this.draftState = "kept";
  }

  private reviewPage(): HTMLElement {
    const page = reviewPage(this.given.context, {
      asked: this.asked,
      answers: this.answers,
      change: (question) => this.go(this.placeOf(question)),
      send: () => void this.send(),
      shown: this.given.preview ? null : () => this.shown(),
    });
    for (const each of this.given.preview ? page.querySelectorAll<HTMLButtonElement>(".buttons button") : []) each.disabled = true;
    return page;
  }

  /** What would be sent, in the words of the language that is shown. */
  private async shown(): Promise<Node> {
    const { client, context, round, invitation } = this.given;
    try {
      return shownSubmission(context.plan, await client.preview(this.ownAnswers, { round, invitation }), context.texts);
    } catch (error) {
      const { problems } = context.texts;
      return h("p", { class: "error" }, (problems[problemOf(error)[0]] ?? problems["internal"]!).title);
    }
  }

  /** The first required question without an answer gets its page instead. */
  private isComplete(): boolean {
    const missing = this.asked.find(({ required, name }) => required && (this.answers[name] ?? null) === null);
    if (missing) this.go(this.placeOf(missing));
    return !missing;
  }

  /** Prepared once, sent until it arrives: the bytes are the same however often this is called. */
  private async send(): Promise<void> {
    if (this.busy) return;
    const { client, context, round, draft, invitation } = this.given;
    const { texts } = context;
    this.busy = true;
    const told = h("p", { role: "status" });
    const abort = new AbortController();
    const again = (): void => abort.abort();
    const now = h("p", { class: "buttons", hidden: true }, button(texts.sendNow, again, "second"));
    try {
      if ((await client.state(round)) === "none") {
        if (this.sealed) return this.lost();
        if (!this.isComplete()) return;
        await client.prepare(this.ownAnswers, { round, invitation });
        this.sealed = true;
      }
      this.over = true;
      await draft.erase();
      this.show(sendingPage(context, told, now));
      addEventListener("online", again);
      const sent = await client.resume({
        round,
        invitation,
        signal: abort.signal,
        onRetry: ({ attempt, waitSeconds }) => {
          const seconds = Math.ceil(waitSeconds);
          told.textContent = fill(texts.retrying, { attempt, seconds });
          now.hidden = false;
        },
      });
      if (!sent && (await client.state(round)) === "none") return this.lost();
      this.answers = {};
      await this.thank(!sent ? texts.thanksEarlier : sent.status === "known" ? texts.thanksKnown : texts.thanksText);
    } catch (error) {
      this.busy = false;
      if (error instanceof KrandError && error.code === "aborted") return void this.send();
      if (error instanceof KrandError && error.code === "already-submitted") return void this.thank(texts.thanksEarlier);
      this.fail(error);
    } finally {
      this.busy = false;
      removeEventListener("online", again);
    }
  }

  /** The browser's storage was cleared after the answers were sealed. */
  private lost(): void {
    this.over = true;
    const { texts } = this.given.context;
    this.show(problemPage(texts, "lost", { survey: this.survey, action: [texts.reload, () => location.reload()] }));
  }

  private async thank(said: string): Promise<void> {
    this.over = true;
    const { context, draft } = this.given;
    await draft.erase();
    this.show(thanksPage(context, said));
  }

  private fail(error: unknown): void {
    const { texts } = this.given.context;
    const [told, why] = problemOf(error);
    const code = told === "wrong-plan" ? "unknown-plan" : told;
    const sendable = code === "not-delivered" || code === "unknown-plan" || code === "refused";
    const action: [string, () => void] | undefined = sendable
      ? [texts.retry, () => void this.send()]
      : code === "internal" ? [texts.reload, () => location.reload()] : undefined;
    this.over = this.over || code === "closed";
    this.show(problemPage(texts, code, { why, action, survey: this.survey }));
  }

  private show(page: HTMLElement): void {
    const { place, context } = this.given;
    const languages = languagesOf(this.own);
    if (languages.length > 1 && !this.over) {
      page.prepend(languageMenu(languages, this.survey.language, (language) => this.change(language)));
    }
    showPage(place, page, titleOf(context.plan.survey));
  }
}

/** Puts a page into its place, and the focus on its heading. */
export function showPage(place: HTMLElement, page: HTMLElement, title: string): void {
  put(place, page);
  const heading = page.querySelector<HTMLElement>("h1")!;
  document.title = heading.textContent === title ? title : `${heading.textContent} – ${title}`;
  heading.focus({ preventScroll: true });
  scrollTo(0, 0);
}

const CODES: Record<string, string> = {
  "no-storage": "storage",
  "wrong-signature": "signatures",
  unreachable: "offline",
  "invalid-invitation": "missing-invitation",
};

/** Which problem an error is, and what the organiser should be told; never an answer. */
export function problemOf(error: unknown): [string, string] {
  if (!(error instanceof KrandError)) return ["internal", error instanceof Error ? error.name : ""];
  return [CODES[error.code] ?? error.code, error.message];
}
