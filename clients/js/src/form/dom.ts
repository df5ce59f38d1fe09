/** Elements, built without markup: every text becomes text. */

let surveyLanguage = "";

/** The language of the survey's own texts, which are those with `dir="auto"`. */
export function surveySpeaks(language: string): void {
  surveyLanguage = language;
}

type Child = Node | string | null | false | undefined;
type Attributes = Record<string, string | number | boolean | ((event: Event) => void) | undefined>;

/** An element; `false` and `undefined` leave an attribute out, functions listen. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, String(value));
  }
  if (attributes["dir"] === "auto" && surveyLanguage !== document.documentElement.lang) made.lang = surveyLanguage;
  put(made, ...children);
  return made;
}

/** Replace what an element holds. */
export function put(element: Element, ...children: Child[]): void {
  element.replaceChildren(...children.filter((child): child is Node | string => !!child));
}

let last = 0;

/** A new id. */
export const newId = (): string => `f${++last}`;

/** A text with an element in the place of one name: the element keeps its own direction of writing. */
export const fillWith = (text: string, name: string, element: Node): (Node | string)[] => {
  const [before = "", after = ""] = text.split(`{${name}}`);
  return [before, element, after];
};

const RIGHT_TO_LEFT = /^(ar|arc|ckb|dv|fa|he|iw|ks|ku-arab|nqo|ps|sd|syr|ug|ur|yi)\b/i;

export const directionOf = (tag: string): "rtl" | "ltr" => (RIGHT_TO_LEFT.test(tag) ? "rtl" : "ltr");

/** A text with its names in braces filled in. */
export function fill(text: string, values: Record<string, string | number> = {}): string {
  const filled = (around: (value: string) => string): string =>
    text.replace(/\{(\w+)\}/g, (whole, name: string) => around(String(values[name] ?? whole)));
  if (directionOf(document.documentElement.lang) === "ltr") return unbroken(filled((value) => value));
  // From right to left, whatever is filled in keeps its own order, and "ε = 1" is one formula.
  return filled((value) => value && `\u2068${value}\u2069`).replace(
    /(ε₀|ε|δ|η) ([=≤]) \u2068([^\u2068\u2069]*)\u2069/g,
    "\u2066$1\u00a0$2\u00a0$3\u2069",
  );
}

/** A text in which no line ends within "ε = 1", "95 %" or "20 people". */
const unbroken = (text: string): string =>
  text
    .replace(/(ε₀|ε|δ|η) ([=≤]) (?=\d)/g, "$1\u00a0$2\u00a0")
    .replace(/(\d) (?=%|(?:people|person|Personen|Person|personnes?|personas?)\b)/g, "$1\u00a0")
    .replace(/(\d) (?=(?:mixers?|points?|rounds?|bytes|Mischern?|Punkte|Runden?|Bytes|mélangeurs?)\b)/g, "$1\u00a0")
    .replace(/(\d) (to|bis|à|a) (?=\d)/g, "$1\u00a0$2\u00a0");
