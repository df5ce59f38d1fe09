/** What the picture says: English, or what the page gives it from the catalog of another language. */

import { signsOf, type Signs } from "../form/numbers.js";
import en from "./en.json";

type Said = typeof en;

export interface Texts extends Said {
  signs: Signs;
}

/** The texts that an element has as JSON, in its language. */
export const textsOf = (given: string | null, language: string): Texts =>
  given ? { ...(JSON.parse(given) as Said), signs: signsOf(language) } : { ...en, signs: signsOf("en") };
