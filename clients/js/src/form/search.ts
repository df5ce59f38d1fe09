/** Long lists, up to a million entries: a combobox that searches, for one entry or several. */

import type { Choice, PickAny } from "../index.js";
import { mostOf } from "../questions.js";
import type { Asked, Control } from "./survey.js";
import { fill, h, newId, put } from "./dom.js";
import { countText, picked as pickedIn, some } from "./lists.js";
import type { Texts } from "./texts.js";

const MOST_SHOWN = 50;
const ASCII = /^[\x20-\x7e]*$/;

/** A text as it is compared: without case and accents. */
const folded = (text: string): string =>
  ASCII.test(text) ? text.toLowerCase() : text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** The places of entries that begin with the text, then of those that hold it; a few more than shown. */
export function find(entries: readonly string[], text: string): number[] {
  const wanted = folded(text.trim());
  const first: number[] = [];
  const later: number[] = [];
  for (let place = 0; place < entries.length && first.length <= MOST_SHOWN; place++) {
    const found = entries[place]!.indexOf(wanted);
    if (found === 0) first.push(place);
    else if (found > 0 && later.length <= MOST_SHOWN) later.push(place);
  }
  return [...first, ...later].slice(0, MOST_SHOWN + 1);
}

/** The field and its list. `chosen` gets the entry, or null if the text is that of none. */
class Search {
  readonly input: HTMLInputElement;
  readonly element: HTMLElement;
  private readonly list: HTMLUListElement;
  private readonly status = h("p", { class: "hint", role: "status" });
  private entries: string[] | null = null;
  private places: number[] = [];
  private active = -1;

  constructor(
    private readonly asked: Asked<Choice | PickAny>,
    private readonly chosen: (choice: string | null) => void,
    private readonly keepsText: boolean,
  ) {
    const id = newId();
    this.list = h("ul", { id, role: "listbox", "aria-labelledby": asked.labelId, class: "found", hidden: true });
    this.input = h("input", {
      type: "text",
      role: "combobox",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": id,
      "aria-labelledby": asked.labelId,
      "aria-describedby": asked.hintId,
      placeholder: asked.texts.search,
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
      oninput: () => this.typed(),
      onkeydown: (event) => this.key(event as KeyboardEvent),
      onblur: () => this.close(),
      onclick: () => this.open(),
    });
    this.element = h("div", { class: "search" }, this.input, this.list, this.status);
  }

  private typed(): void {
    const exact = this.asked.question.choices.includes(this.input.value) ? this.input.value : null;
    if (this.keepsText) this.chosen(exact);
    if (this.input.value) return this.open();
    this.close();
    this.status.textContent = "";
  }

  private open(): void {
    const { texts } = this.asked;
    this.entries ??= this.asked.question.choices.map(folded);
    this.places = find(this.entries, this.input.value);
    const more = this.places.length > MOST_SHOWN;
    this.places = this.places.slice(0, MOST_SHOWN);
    this.active = -1;
    put(this.list, ...this.places.map((place, row) => this.row(place, row)));
    this.expand(this.places.length > 0);
    const number = this.places.length;
    this.status.textContent = !number ? texts.foundNone : texts.counted(more ? texts.foundMore : texts.found, number);
  }

  private row(place: number, row: number): HTMLElement {
    const choose = (event: Event): void => {
      event.preventDefault(); // the field keeps the focus
      this.choose(row);
    };
    const label = this.asked.question.choices[place]!;
    return h("li", { role: "option", id: `${this.list.id}-${row}`, "aria-selected": "false", dir: "auto", onmousedown: choose }, label);
  }

  private choose(row: number): void {
    const choice = this.asked.question.choices[this.places[row]!]!;
    this.input.value = this.keepsText ? choice : "";
    this.close();
    this.status.textContent = fill(this.asked.texts.chosen, { what: choice });
    this.chosen(choice);
  }

  private key(event: KeyboardEvent): void {
    const open = !this.list.hidden;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!open) this.open();
      this.move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter") {
      event.preventDefault(); // never sends the form
      if (open && this.places.length) this.choose(Math.max(0, this.active));
    } else if (event.key === "Escape" && open) {
      event.preventDefault();
      this.close();
    }
  }

  private move(by: number): void {
    const rows = this.list.children;
    if (!rows.length) return;
    rows[this.active]?.setAttribute("aria-selected", "false");
    this.active = this.active < 0 && by < 0 ? rows.length - 1 : (this.active + by + rows.length) % rows.length;
    const row = rows[this.active]!;
    row.setAttribute("aria-selected", "true");
    row.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", row.id);
  }

  private close(): void {
    this.expand(false);
  }

  private expand(open: boolean): void {
    this.list.hidden = !open;
    this.input.setAttribute("aria-expanded", String(open));
    this.input.removeAttribute("aria-activedescendant");
  }
}

/** One of a long list. */
export function oneOfMany(asked: Asked<Choice>): Control {
  const { texts, answer } = asked;
  let chosen = typeof answer === "string" ? answer : null;
  const search = new Search(
    asked,
    (choice) => {
      chosen = choice;
      asked.changed();
    },
    true,
  );
  search.input.value = chosen ?? "";
  return {
    element: search.element,
    read: () => {
      if (chosen === null && search.input.value.trim()) return { error: texts.chooseListed, at: search.input };
      return { answer: chosen ?? undefined };
    },
  };
}

/** Several of a long list: what was chosen stands above the field, each with a button to remove it. */
export function severalOfMany(asked: Asked<PickAny>): Control {
  const { texts, question, answer } = asked;
  let picked = pickedIn(answer);
  const most = mostOf(question);
  const chips = h("ul", { class: "chips" });
  const count = h("p", { class: "hint", role: "status" });
  const search = new Search(
    asked,
    (choice) => {
      if (choice !== null && !picked.includes(choice) && picked.length < most) picked = [...picked, choice];
      tell();
      asked.changed();
    },
    false,
  );
  const remove = (choice: string) => (): void => {
    picked = picked.filter((each) => each !== choice);
    tell();
    search.input.focus();
    asked.changed();
  };
  const tell = (): void => {
    put(
      chips,
      ...picked.map((choice) =>
        h(
          "li",
          {},
          h("span", { dir: "auto" }, choice),
          h("button", { type: "button", class: "remove", "aria-label": fill(texts.remove, { what: choice }), onclick: remove(choice) }, "×"),
        ),
      ),
    );
    chips.hidden = !picked.length;
    search.input.disabled = picked.length >= most;
    if (most < question.choices.length) count.textContent = countText(texts, picked.length, most);
  };
  tell();
  return { element: h("div", {}, chips, count, search.element), read: () => ({ answer: some(picked) }) };
}

/** How many entries there are. */
export const searchHint = ({ choices }: Choice | PickAny, texts: Texts): string =>
  texts.counted(texts.searchHint, choices.length);
