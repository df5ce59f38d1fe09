/** "What leaves this device": the submission itself, and which parts of it are noise. */

import type { Plan, Preview } from "../index.js";
import { meaningOf } from "../positions.js";
import { toHex } from "../bytes.js";
import { fill, fillWith, h } from "./dom.js";
import { plain, whole } from "./numbers.js";
import type { Texts } from "./texts.js";

const MOST_LINES = 200;

export function shownSubmission(plan: Plan, preview: Preview, texts: Texts): HTMLElement {
  const { body, reported, truth, messages } = preview;
  const number = (value: number): string => whole(value, texts.signs);
  const names = [...plan.mixers.slice(1).map(({ name }) => name), texts.analyst];
  const parts = reported?.flatMap((copy, place) => [
    reported.length > 1 ? h("h3", {}, fill(texts.copyNumber, { number: place + 1, all: reported.length })) : null,
    copyList(plan, copy, truth ?? [], texts),
  ]);
  const said = !reported ? texts.preparedEarlier : plan.survey.trust.noise === "mixers" ? texts.preparedWithMixers : texts.prepared;
  return h(
    "div",
    { class: "shown" },
    h("p", {}, said),
    ...(parts ?? []),
    reported && h("p", { class: "why" }, fill(texts.promise.why)),
    h("p", {}, fill(texts.sealedBytes, { messages: number(messages), bytes: number(body.length) })),
    h("p", {}, fill(texts.sealedFor, { names: names.join(", ") })),
    hexOf(body, texts),
  );
}

/** One line for everything that is sent as 1, or is an answer that the noise removed. */
function copyList(plan: Plan, copy: readonly number[], truth: readonly number[], texts: Texts): HTMLElement {
  const all = [...new Set([...truth, ...copy])].sort((one, other) => one - other);
  if (!all.length) return h("p", {}, texts.nothingReported);
  const lines = all.slice(0, MOST_LINES).map((position) => {
    const [isSent, isMine] = [copy.includes(position), truth.includes(position)];
    const text = !isMine ? texts.noiseAdded : isSent ? texts.truthKept : texts.truthGone;
    const kind = !isMine ? "added" : isSent ? "kept" : "gone";
    const meant = meaningOf(plan, position, texts, (value) => plain(value, texts.signs));
    const what = h("bdi", {}, meant.map(({ question, answer }) => fill(texts.cell, { question, answer })).join("; "));
    return h("li", { class: kind, "data-position": position }, ...fillWith(text, "what", what));
  });
  const more = all.length - lines.length;
  return h("ul", { class: "reported" }, ...lines, more > 0 && h("li", {}, texts.counted(texts.moreLines, more)));
}

function hexOf(body: Uint8Array, texts: Texts): HTMLElement {
  const place = h("pre", { tabindex: 0, dir: "ltr", role: "region", "aria-label": texts.hex });
  const open = (): void => void (place.textContent ||= toHex(body));
  return h("details", { ontoggle: open }, h("summary", {}, texts.hex), place);
}
