/** What pictures on pages share: colours, controls, the guess bar, and light or dark as the page is. */

import { h } from "../form/dom.js";

const BASE = `
:host { display: block; container-type: inline-size; font: 1rem/1.5 system-ui, sans-serif; margin: 1.5rem 0;
  --ink: #1b1f24; --faint: #57606a; --yes: #0072b2; --no: #848d97; --noise: #b34700; --paper: #fff; --grid: #d5d9de;
  --good: #00694f; --less: #7a5900; --bad: #a40e26; }
:host(.dark) { --ink: #e6e8eb; --faint: #a9b2bc; --yes: #5cb8f0; --no: #8b95a1; --noise: #ff9a57; --paper: #14181d;
  --grid: #39414b; --good: #3ccf9f; --less: #e3b341; --bad: #ff9aa2; }
* { box-sizing: border-box; }
figure { margin: 0; padding: 1rem; background: var(--paper); color: var(--ink); border: 1px solid var(--grid);
  border-radius: .6rem; }
p { margin: 0; }
.small { font-size: .875rem; line-height: 1.45; color: var(--faint); margin-block-start: .4rem; }
button, input, label, legend { font: inherit; color: inherit; }
fieldset { border: 0; margin: 0; padding: 0; min-inline-size: 0; }
legend { padding-inline: 0; float: inline-start; margin-inline-end: .75rem; padding-block: .5rem; }
.choice { display: inline-flex; border: 1px solid var(--no); border-radius: .5rem; overflow: hidden; }
.choice label { position: relative; padding: .3rem .9rem; min-block-size: 2.5rem; display: grid; place-items: center;
  cursor: pointer; }
.choice input { position: absolute; inset: 0; opacity: 0; margin: 0; cursor: pointer; }
.choice label:has(:checked) { background: var(--yes); color: var(--paper); font-weight: 600; }
.choice label:has(:focus-visible), :focus-visible { outline: 3px solid var(--noise); outline-offset: 2px; }
.guess-bar { display: block; margin-block: .2rem .3rem; overflow: visible; }
.guess-bar .track { fill: var(--grid); }
.guess-bar .reached { fill: var(--yes); }
.guess-bar text { fill: var(--faint); font-size: 13px; }
.guess-bar .most { fill: var(--ink); font-weight: 700; font-size: 15px; }
@container (min-width: 30rem) { figure { padding: 1.25rem 1.5rem; } }
`;

/** The styles of a picture, which the page's own do not reach. */
export function styled(element: HTMLElement, ...styles: string[]): ShadowRoot {
  const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(BASE + styles.join(""));
  root.adoptedStyleSheets = [sheet];
  return root;
}

/** Dark where the page is: where its text is light. */
export function followScheme(element: HTMLElement, signal: AbortSignal, changed: () => void = () => {}): void {
  const look = (): void => {
    const [red = 0, green = 0, blue = 0] = (getComputedStyle(element.parentElement!).color.match(/[\d.]+/g) ?? []).map(Number);
    element.classList.toggle("dark", red + green + blue > 384);
    changed();
  };
  look();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", look, { signal });
  const theme = new MutationObserver(look);
  theme.observe(document.body, { attributeFilter: ["data-theme"] });
  signal.addEventListener("abort", () => theme.disconnect());
}

/** A choice among few, as buttons side by side. */
export function choice<T extends string>(name: string, label: string, values: [T, string][], chosen: T, choose: (value: T) => void): HTMLElement {
  const option = ([value, text]: [T, string]): HTMLElement =>
    h("label", {}, h("input", { type: "radio", name, value, checked: value === chosen, onchange: () => choose(value) }), text);
  return h("fieldset", {}, h("legend", {}, label), h("span", { class: "choice" }, ...values.map(option)));
}
