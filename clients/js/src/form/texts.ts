/**
 * The form's languages. English is part of the script; another one is a file beside it, made from the
 * language's catalog. The page names those that it has; every other survey is asked in English.
 */

import en from "./en.json";
import { fill } from "./dom.js";
import { signsOf, whole, type Signs } from "./numbers.js";

/** A text in the plural forms of its language, by CLDR's names. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** Texts by codes that a plan or an error may have. */
interface ByCode {
  assumptions: Record<string, string>;
  handAssumptions: Record<string, string>;
  problems: Record<string, { title: string; text: string }>;
}

type Said = Omit<typeof en, keyof ByCode> & ByCode;

export interface Texts extends Said {
  language: string;
  signs: Signs;
  /** A text in its form for a number, with the number filled in. */
  counted(forms: Forms, number: number): string;
}

function speaking(language: string, said: Said): Texts {
  const rules = new Intl.PluralRules(language);
  const signs = signsOf(language);
  const counted = (forms: Forms, number: number): string =>
    fill(forms[rules.select(number)] ?? forms.other, { number: whole(number, signs) });
  return { ...said, language, signs, counted };
}

export const english = speaking("en", en);

/** The digests of the languages' files, by their codes. */
const files = (): Record<string, string> =>
  JSON.parse(document.querySelector<HTMLMetaElement>('meta[name="krand-languages"]')?.content || "{}") as Record<string, string>;

/** The language of the interface for a survey in this one. */
export const interfaceLanguage = (tag: string): string => {
  const main = tag.toLowerCase().split("-")[0]!;
  return main in files() ? main : "en";
};

/** Fetches a file of this site; with a digest, only if it is unchanged. */
type Fetching = (name: string, integrity?: string) => Promise<ArrayBuffer>;

const known: Record<string, Texts> = { en: english };

/** All that the form says in a language; its file is loaded once. */
export async function textsFor(tag: string, file: Fetching): Promise<Texts> {
  const language = interfaceLanguage(tag);
  if (!known[language]) {
    const content = await file(`form.${language}.json`, files()[language]);
    known[language] = speaking(language, JSON.parse(new TextDecoder().decode(content)) as Said);
  }
  return known[language];
}
