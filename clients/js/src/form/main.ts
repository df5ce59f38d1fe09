/** The page: reads what it is about, refuses what it cannot do safely, then asks. */

import { Client, inLanguage, languagesOf, Plan, supported, type PlanSignature, type Survey } from "../index.js";
import { addressOf } from "../fetching.js";
import { checkOpen } from "../schedule.js";
import { directionOf, h, put, surveySpeaks } from "./dom.js";
import { Draft } from "./draft.js";
import { Form, problemOf, showPage } from "./form.js";
import { problemPage, type Status } from "./pages.js";
import { english, interfaceLanguage, textsFor, type Texts } from "./texts.js";

const PLAIN: RequestInit = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" };

/** Where a tab keeps the language that was chosen in it. */
const CHOSEN = "krand-language";

const meta = (name: string): string => document.querySelector<HTMLMetaElement>(`meta[name="krand-${name}"]`)?.content ?? "";

const place = document.querySelector("main")!;
const hash = meta("plan");
/** A page that shows an organiser what people will see: its plan has keys that nobody has, and nothing is sent. */
const preview = meta("preview") !== "";
/** The address of whoever serves this page, which stands below it under the plan's hash. */
const home = (location.origin + location.pathname.replace(/[^/]*$/, "")).replace(`/${hash}/`, "/").replace(/\/$/, "");

let texts: Texts = english;
let asked: Survey | undefined;

function problem(code: string, why = ""): void {
  const again = code === "offline" ? ([texts.retry, () => void main()] as [string, () => void]) : undefined;
  showPage(place, problemPage(texts, code, { why, action: again, survey: asked }), document.title);
}

class Offline extends Error {}

/** A file of this site; cached or not, the hash decides. */
async function file(name: string, integrity = ""): Promise<ArrayBuffer> {
  try {
    const answer = await fetch(name, { ...PLAIN, integrity });
    if (answer.ok) return await answer.arrayBuffer();
  } catch {
    // told below
  }
  throw new Offline(name);
}

async function statusNow(collector: string): Promise<Status | null> {
  try {
    const answer = await fetch(addressOf(collector, hash, "open"), { ...PLAIN, cache: "no-store" });
    return answer.ok ? ((await answer.json()) as Status) : null;
  } catch {
    return null;
  }
}

/** The first language of the survey that this person wants: chosen here, in the link, or in the browser. */
function wanted(languages: readonly string[]): string {
  const chosen = [sessionStorage.getItem(CHOSEN), new URLSearchParams(location.search).get("lang"), ...navigator.languages];
  for (const tag of chosen) {
    for (const parts = tag?.split("-") ?? []; parts.length; parts.pop()) {
      const start = parts.join("-").toLowerCase();
      const found = languages.find((each) => `${each}-`.toLowerCase().startsWith(`${start}-`));
      if (found) return found;
    }
  }
  return languages[0]!;
}

function speak(language: string): void {
  document.documentElement.lang = interfaceLanguage(language);
  document.documentElement.dir = directionOf(language);
  surveySpeaks(language);
}

/** The code of a personal link stands in the fragment, which browsers send to nobody. */
const invitation = (): string | undefined => location.hash.slice(1) || undefined;

async function main(): Promise<void> {
  try {
    put(place, h("p", {}, texts.loading));
    texts = await textsFor(document.documentElement.lang, file);
    put(place, h("p", {}, texts.loading));
    if (!isSecureContext) return problem("insecure");
    if (!(await supported())) return problem("unsupported");
    const plan = Plan.parse(new Uint8Array(await file("plan.json")), hash);
    const { survey } = plan;
    const languages = languagesOf(survey);
    const language = languages.length > 1 ? wanted(languages) : survey.language;
    speak(language);
    // All of them at once: nothing that is loaded tells which one is read.
    const all = await Promise.all(languages.map((tag) => textsFor(tag, file)));
    const textsIn = (tag: string): Texts => all[languages.indexOf(tag)]!;
    texts = textsIn(language);
    asked = inLanguage(survey, language);
    if (survey.invitations && !invitation() && !preview) return problem("missing-invitation");
    const signatures = !preview
      ? (JSON.parse(new TextDecoder().decode(await file("signatures.json"))) as PlanSignature[])
      : [];
    const collector = plan.mixers[0]!.url || home;
    const client = new Client(plan, { url: collector, signatures });
    if (!preview) await client.ready();
    const status = preview ? Promise.resolve(null) : statusNow(collector);
    const several = survey.rounds > 1 ? await status : null;
    if (survey.rounds > 1 && !several && !preview) return problem("offline");
    if (several?.open) checkOpen(survey, several.round, Date.now());
    await new Form({
      client,
      draft: new Draft(location.pathname, preview ? "preview" : hash),
      preview,
      context: { plan: plan.worded(asked), texts, collector, home: preview ? "" : home },
      speak: (tag) => {
        sessionStorage.setItem(CHOSEN, tag);
        speak(tag);
        return (texts = textsIn(tag));
      },
      round: several?.round ?? survey.schedule?.first ?? 1,
      invitation: survey.invitations && !preview ? invitation() : undefined,
      status,
      place,
    }).begin();
  } catch (error) {
    if (error instanceof Offline) problem("offline");
    else problem(...problemOf(error));
  }
}

// Another personal link in the same tab changes the fragment alone; whatever was entered is kept.
addEventListener("hashchange", () => location.reload());

void main();
