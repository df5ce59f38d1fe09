// The pages work without this. With it, a survey is saved whenever its form changes, and the parts of
// the page that the server rendered are exchanged. What belongs to other values than the file's is
// faint from the moment of the change, under a thin line of progress: first comes the plan, then one
// by one the parts that take longer.
"use strict";

document.documentElement.classList.add("with-script");

const SAVE = 500; // milliseconds of rest before a survey is saved
const LATER = 900; // and before a busy machine is asked again
const AGAIN = 40; // times that a busy machine is asked

const pause = (time) => new Promise((done) => setTimeout(done, time));

// The parts of the page that answer a survey's file.
class Live {
  constructor() {
    this.parts = [...document.querySelectorAll("[data-part]")];
    this.status = document.getElementById("status");
    this.request = null;
  }

  mark(part, stale, busy = stale) {
    part.classList.toggle("stale", stale);
    part.setAttribute("aria-busy", String(busy));
  }

  say(text) {
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  // Ask for some parts, one after the other, until something changes.
  async run(parts) {
    this.request?.abort();
    const { signal } = (this.request = new AbortController());
    for (const part of parts) {
      try {
        await this.show(part, signal);
      } catch {
        if (signal.aborted) return;
        this.clear(part);
        this.say(this.status.dataset.lost);
      }
    }
  }

  // Before anything else happens, nothing on the page passes for an answer any longer.
  changed() {
    this.request?.abort();
    for (const part of this.parts) this.mark(part, true);
  }

  clear(part) {
    part.replaceChildren();
    this.mark(part, false);
  }

  async show(part, signal) {
    let response = await fetch(part.dataset.part, { signal });
    for (let again = 0; response.status === 503 && again < AGAIN; again += 1) {
      await pause(LATER); // the machine is busy: what is there stays, and the numbers follow
      signal.throwIfAborted();
      response = await fetch(part.dataset.part, { signal });
    }
    const html = await response.text();
    signal.throwIfAborted();
    part.innerHTML = html;
    this.mark(part, false);
    if ("main" in part.dataset) this.say(part.querySelector("[data-said]")?.dataset.said ?? "");
  }
}

function markInvalid(form, names) {
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  for (const name of names) if (name) form.elements.namedItem(name)?.setAttribute?.("aria-invalid", "true");
}

// A form that becomes a file: it is saved whenever it changes, unless somebody else wrote the file.
class Saving {
  constructor(form) {
    this.form = form;
    this.live = document.querySelector("[data-part]") ? new Live() : null;
    this.said = document.getElementById("saving");
    this.mistakes = document.getElementById("mistakes");
    this.preview = document.getElementById("preview");
    this.timer = 0;
    this.last = Promise.resolve();
  }

  start() {
    this.form.addEventListener("input", () => this.changed());
    this.form.addEventListener("submit", () => clearTimeout(this.timer)); // it saves by itself
    addEventListener("beforeunload", (event) => this.timer && event.preventDefault());
    document.addEventListener("click", (event) => {
      const away = event.target.closest("a[href]:not([href^='#'])");
      if (away && this.timer) this.save(); // before the page goes; the request outlives it
    });
    this.kinds();
    if (this.live) this.live.run(this.live.parts.filter((part) => !part.childElementCount));
  }

  changed() {
    clearTimeout(this.timer);
    this.kinds();
    this.said.textContent = "";
    this.live?.changed();
    this.timer = setTimeout(() => this.save(), SAVE);
  }

  save() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.last = this.last.then(() => this.send());
  }

  async send() {
    try {
      const body = new URLSearchParams(new FormData(this.form));
      const answer = await fetch(`${this.form.getAttribute("action")}?part`, { method: "POST", body, keepalive: body.toString().length < 60000 });
      this.show(await answer.json());
    } catch {
      this.said.textContent = this.said.dataset.lost;
    }
  }

  show({ state, base, text, html, fields }) {
    this.mistakes.innerHTML = html;
    markInvalid(this.form, fields);
    this.said.textContent = base ? this.said.dataset.saved : this.said.dataset.unsaved;
    if (!base) return;
    for (const field of document.querySelectorAll('[name="base"]')) field.value = base;
    const file = document.getElementById("survey");
    if (file) file.value = text;
    this.preview?.classList.toggle("stale", state !== "saved");
    if (state !== "saved") return;
    this.preview?.contentWindow.location.reload();
    this.live?.run(this.live.parts);
  }

  // Of each question only the fields of its kind are shown; a kind is proposed, never changed.
  kinds() {
    for (const kind of this.form.querySelectorAll("select.kind")) {
      const question = kind.closest(".question");
      for (const entry of question.querySelectorAll("[data-kinds]")) {
        entry.classList.toggle("off", !entry.dataset.kinds.split(" ").includes(kind.value));
      }
      const scale = /\b(\d+)\s*(?:-|–|to|bis)\s*(\d+)\b/.exec(question.querySelector("textarea").value);
      question.querySelector(".propose").hidden = !scale || !["yes_no", "choice"].includes(kind.value);
    }
  }
}

function buttons(event) {
  const button = event.target.closest("button");
  if (button?.dataset.copy) {
    navigator.clipboard.writeText(button.dataset.copy).then(() => (button.textContent = button.dataset.copied));
  }
  if (button?.dataset.kindTo) {
    const kind = button.closest(".question").querySelector("select.kind");
    kind.value = button.dataset.kindTo;
    kind.dispatchEvent(new Event("input", { bubbles: true }));
    kind.focus();
  }
}

// A page of something that runs looks again every few seconds, as long as somebody looks at it.
function watch(section) {
  const lost = document.getElementById("unreachable");
  let seen = "", leaving = false;
  addEventListener("submit", () => (leaving = true)); // its answer comes next, not this page anew
  addEventListener("pageshow", () => (leaving = false));
  setInterval(async () => {
    if (leaving || document.hidden || section.contains(document.activeElement?.closest("form"))) return;
    try {
      const response = await fetch(section.dataset.src);
      if (leaving) return;
      const stage = response.headers.get("X-Stage");
      if (response.status === 401 || (stage && stage !== section.dataset.stage)) return location.reload();
      const html = await response.text();
      lost.hidden = response.ok;
      if (response.ok && html !== seen) {
        section.innerHTML = html; // only what is new, so that nothing is read aloud twice
        seen = html;
      }
    } catch {
      lost.hidden = false;
    }
  }, 1000 * Number(section.dataset.every));
}

document.addEventListener("click", buttons);
document.addEventListener("DOMContentLoaded", () => {
  const saved = document.querySelector("form[data-save]");
  if (saved && !saved.querySelector("fieldset.all:disabled")) new Saving(saved).start();
  else if (saved && document.querySelector("[data-part]")) {
    const live = new Live();
    live.run(live.parts);
  }
  const state = document.querySelector("[data-every]");
  if (state) watch(state);
});
