/**
 * The form's languages. English is part of the script; a file of the site, for each language of the
 * survey, has the sentences of the plan's promise and what the form says in other languages.
 */

import en from "./en.json";
import { fill } from "./dom.js";
import { signsOf, whole, type Signs } from "./numbers.js";

/** A text in the plural forms of its language, by CLDR's names. */
type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** The promise of the plan, as its organiser's krand puts it. */
interface PromiseTexts {
  /** What the organiser can read, where it runs everything. */
  readonly hand: string | null;
  /** Which mixers answers pass, and who could learn them together; empty where there are none. */
  readonly through: string;
  readonly guess: string;
  readonly leaves: readonly string[];
  readonly holds: string;
  readonly promise: string;
  readonly assumptions: readonly string[];
  /** Why an answer is protected that is sent as it is. */
  readonly why: string;
}

type Said = Omit<typeof en, "problems"> & {
  /** By codes that an error may have. */
  problems: Record<string, { title: string; text: string }>;
  promise: PromiseTexts;
};

export interface Texts extends Said {
  language: string;
  signs: Signs;
  /** A text in its form for a number, with the number filled in. */
  counted(forms: Forms, number: number): string;
}

function speaking(language: string, said: Partial<Said>): Texts {
  const rules = new Intl.PluralRules(language);
  const signs = signsOf(language);
  const counted = (forms: Forms, number: number): string =>
    fill(forms[rules.select(number)] ?? forms.other, { number: whole(number, signs) });
  return { ...(en as unknown as Said), ...said, language, signs, counted };
}

/** What is said before a file is there. */
export const english = speaking("en", {});

/** The digests of the languages' files, by their codes. */
const files = (): Record<string, string> =>
  JSON.parse(document.querySelector<HTMLMetaElement>('meta[name="krand-languages"]')?.content || "{}") as Record<string, string>;

/** The language of the interface for a survey in this one. */
export const interfaceLanguage = (tag: string): string => {
  const main = tag.toLowerCase().split("-")[0]!;
  return main in files() ? main : "en";
};

const known = new Map<string, Texts>();

/** All that the form says in a language, loaded once; `file` fetches a file of this site, if its digest is right. */
export async function textsFor(tag: string, file: (name: string, integrity?: string) => Promise<ArrayBuffer>): Promise<Texts> {
  const language = interfaceLanguage(tag);
  if (!known.has(language)) {
    const content = await file(`form.${language}.json`, files()[language]);
    known.set(language, speaking(language, JSON.parse(new TextDecoder().decode(content)) as Partial<Said>));
  }
  return known.get(language)!;
}
