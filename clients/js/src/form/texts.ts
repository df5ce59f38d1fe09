/** The interface's languages; every other survey is asked in English. */

import { de } from "./de.js";
import { en } from "./en.js";

export type Texts = typeof en;

const LANGUAGES: Record<string, Texts> = { de, en };
const RIGHT_TO_LEFT = /^(ar|arc|ckb|dv|fa|he|iw|ks|ku-arab|nqo|ps|sd|syr|ug|ur|yi)\b/i;

/** The language of the interface for a survey in this one. */
export const interfaceLanguage = (tag: string): string => {
  const main = tag.toLowerCase().split("-")[0]!;
  return main in LANGUAGES ? main : "en";
};

export const textsFor = (tag: string): Texts => LANGUAGES[interfaceLanguage(tag)]!;

export const directionOf = (tag: string): "rtl" | "ltr" => (RIGHT_TO_LEFT.test(tag) ? "rtl" : "ltr");
