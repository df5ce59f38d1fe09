/** "Show me what is sent": the submission itself, and which parts of it are noise. */

import type { Plan } from "../index.js";
import { fill, fillWith, h } from "./dom.js";
import { whole } from "./numbers.js";
import { positionText } from "./positions.js";
import { Wording } from "./promise.js";
import type { Texts } from "./texts.js";

const MOST_LINES = 200;

export interface Prepared {
  body: Uint8Array;
  /** The positions that are 1 in what is sent, for each copy; null if it was sealed earlier. */
  reported: readonly (readonly number[])[] | null;
  truth: readonly number[];
}

export function shownSubmission(plan: Plan, prepared: Prepared, texts: Texts): HTMLElement {
  const { body, reported, truth } = prepared;
  const number = (value: number): string => whole(value, texts.signs);
  const sizes = { messages: number(plan.messages), bytes: number(body.length) };
  const parts = reported?.flatMap((copy, place) => [
    reported.length > 1 ? h("h3", {}, fill(texts.copyNumber, { number: place + 1, all: reported.length })) : null,
    copyList(plan, copy, truth, texts),
  ]);
  return h(
    "div",
    { class: "shown" },
    h("p", {}, !reported ? texts.preparedEarlier : plan.survey.trust.noise === "mixers" ? texts.preparedWithMixers : texts.prepared),
    ...(parts ?? []),
    reported && h("p", { class: "why" }, new Wording(plan, texts).why()),
    h("p", {}, fill(texts.sealedBytes, sizes)),
    hexOf(body, texts),
  );
}

/** One line for everything that is sent as 1, or is an answer that the noise removed. */
function copyList(plan: Plan, copy: readonly number[], truth: readonly number[], texts: Texts): HTMLElement {
  const sent = new Set(copy);
  const mine = new Set(truth);
  const all = [...new Set([...truth, ...copy])].sort((one, other) => one - other);
  if (!all.length) return h("p", {}, texts.nothingReported);
  const lines = all.slice(0, MOST_LINES).map((position) => {
    const isSent = sent.has(position);
    const text = !mine.has(position) ? texts.noiseAdded : isSent ? texts.truthKept : texts.truthGone;
    const kind = !mine.has(position) ? "added" : isSent ? "kept" : "gone";
    const what = h("bdi", {}, positionText(plan, position, texts));
    return h("li", { class: kind, "data-position": position }, ...fillWith(text, "what", what));
  });
  const more = all.length - lines.length;
  return h("ul", { class: "reported" }, ...lines, more > 0 && h("li", {}, texts.counted(texts.moreLines, more)));
}

function hexOf(body: Uint8Array, texts: Texts): HTMLElement {
  const place = h("pre", { tabindex: 0, dir: "ltr", role: "region", "aria-label": texts.hex });
  const open = (): void => {
    if (!place.textContent) place.textContent = Array.from(body, (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  return h("details", { ontoggle: open }, h("summary", {}, texts.hex), place);
}
