// The pages work without this. With it, a form is sent whenever it changes, and the parts of the
// page that the server rendered are exchanged. What belongs to other values than the form's is faint
// from the moment of the change, under a thin line of progress: first comes a bound that is proven at
// once, then the plan, then one by one the parts that take longer.
"use strict";

document.documentElement.classList.add("with-script");

const WAIT = 50; // milliseconds of rest before a form is sent
const SAVE = 500; // and before a survey is saved
const QUICK = 3000; // the longest wait for the quick bound
const PAUSE = 150; // and between the quick bound and the search
const LATER = 900; // and before a slow part follows
const AGAIN = 40; // times that a busy machine is asked
const STEPS = 1000; // of a slider

const pause = (time) => new Promise((done) => setTimeout(done, time));

// A form and the parts of the page that answer it.
class Live {
  constructor(form) {
    this.form = form; // one that is saved has its values in the survey file, not in the address
    this.saved = "save" in form.dataset;
    this.parts = [...document.querySelectorAll("[data-part]")];
    this.status = document.getElementById("status");
    this.request = null;
    this.timer = 0;
  }

  query() {
    return new URLSearchParams(new FormData(this.form));
  }

  // Before anything else happens, nothing on the page passes for an answer any longer.
  changed() {
    clearTimeout(this.timer);
    this.request?.abort();
    rest(this.form);
    for (const part of this.parts) this.mark(part, true);
    this.say(this.status.dataset.computing);
    this.timer = setTimeout(() => this.run(this.parts), WAIT);
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
    const { signal } = (this.request = new AbortController());
    let state = parts[0].dataset.quick ? "" : this.parts[0].dataset.state;
    for (const part of parts) {
      try {
        if (part.dataset.when && !part.dataset.when.split(" ").includes(state)) {
          this.clear(part);
          continue;
        }
        if (part.dataset.quick) {
          const soon = new AbortController(); // a bound that comes late is of no use
          signal.addEventListener("abort", () => soon.abort());
          const quick = this.show(part, part.dataset.quick, soon.signal).catch(() => "late");
          state = await Promise.race([quick, pause(QUICK).then(() => "late")]);
          if (state === "late") soon.abort();
          if (state === "invalid") continue; // nothing more precise can follow
          await pause(PAUSE);
        }
        if ("wait" in part.dataset) await pause(LATER);
        if (signal.aborted) return;
        const found = await this.show(part, part.dataset.part, signal);
        if (part.dataset.quick) state = found;
      } catch (error) {
        if (signal.aborted) return;
        this.clear(part);
        this.say(this.status.dataset.lost);
        if (part.dataset.quick) state = "failed";
      }
    }
  }

  clear(part) {
    part.replaceChildren();
    this.mark(part, false);
  }

  async show(part, address, signal) {
    const query = this.query();
    const ask = () => fetch(this.saved ? address : `${address}?${query}`, { signal });
    let response = await ask();
    for (let again = 0; response.status === 503 && again < AGAIN; again += 1) {
      await pause(LATER); // the machine is busy: what is there stays, and the numbers follow
      signal.throwIfAborted();
      response = await ask();
    }
    const html = await response.text();
    signal.throwIfAborted();
    const state = response.headers.get("X-State") ?? (response.ok ? "planned" : "failed");
    const quick = address === part.dataset.quick;
    if (quick && !["quick", "invalid"].includes(state)) return state; // stays faint
    part.innerHTML = html;
    this.mark(part, false, state === "quick"); // more is to come
    if (part.dataset.quick) this.answered(part, state, response.headers.get("X-Field"), !this.saved && query);
    return state;
  }

  answered(part, state, field, query) {
    part.dataset.state = state;
    this.say(part.querySelector("[data-said]")?.dataset.said ?? "");
    if (!this.saved) markInvalid(this.form, [field]);
    if (query) history.replaceState(null, "", `${this.form.getAttribute("action")}?${query}${location.hash}`);
  }

  // Whether the page that was loaded answers what its form says: browsers may fill in old values.
  isAnswered() {
    const answer = this.parts[0].querySelector("[data-request]")?.dataset.request;
    const request = new URLSearchParams(answer);
    const plain = (text) => text?.replaceAll("\r\n", "\n");
    return [...this.query()].every(([name, text]) => plain(request.get(name)) === plain(text));
  }

  // A link to this page with other values fills in the form.
  fill(link) {
    for (const [name, value] of new URL(link.href).searchParams) {
      const field = this.form.elements.namedItem(name);
      if (field) field.value = value;
    }
    for (const slider of this.form.querySelectorAll(".slider")) place(slider);
    this.changed();
  }

  start() {
    for (const slider of this.form.querySelectorAll(".slider")) bind(slider);
    rest(this.form);
    this.form.addEventListener("input", () => this.changed());
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-fill]");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (new URL(link.href).pathname !== this.form.getAttribute("action")) return;
      event.preventDefault();
      this.fill(link);
    });
    addEventListener("pageshow", (event) => event.persisted && this.changed());
    const empty = this.parts.filter((part) => part.querySelector(".placeholder"));
    if (!this.isAnswered()) this.changed();
    else if (empty.length) this.run(empty);
  }
}

// Numbers as people write them: 10M, 1e7, 10_000_000, 1/3.
function read(text) {
  const scale = { k: 1e3, m: 1e6, g: 1e9, b: 1e9, t: 1e12 };
  const [above, below] = text.trim().replaceAll("_", "").split("/").map((part) => {
    const suffix = scale[part.slice(-1).toLowerCase()];
    return suffix ? Number(part.slice(0, -1) || NaN) * suffix : Number(part || NaN);
  });
  return below === undefined ? above : above / below;
}

function write(value, whole) {
  const short = Number(value.toPrecision(2));
  if (!whole) return String(short);
  const count = Math.round(short);
  if (count >= 1e9) return `${count / 1e9}G`;
  if (count >= 1e6) return `${count / 1e6}M`;
  return String(count);
}

// A slider and its field say the same, on a logarithmic scale.
function place(slider) {
  const field = document.getElementById(slider.dataset.for);
  const low = Number(slider.dataset.low);
  const share = Math.log(read(field.value) / low) / Math.log(Number(slider.dataset.high) / low);
  if (Number.isFinite(share)) slider.value = Math.round(share * STEPS);
  else if ("emptyAtEnd" in slider.dataset && !field.value.trim()) slider.value = STEPS;
  slider.setAttribute("aria-valuetext", field.value || field.placeholder);
}

function bind(slider) {
  const field = document.getElementById(slider.dataset.for);
  const low = Number(slider.dataset.low);
  const high = Number(slider.dataset.high);
  field.addEventListener("input", () => place(slider));
  slider.addEventListener("input", () => {
    const share = Number(slider.value) / STEPS;
    const end = "emptyAtEnd" in slider.dataset && share === 1;
    field.value = end ? "" : write(low * (high / low) ** share, "whole" in slider.dataset);
    slider.setAttribute("aria-valuetext", field.value || field.placeholder);
  });
  place(slider);
}

// Of δ and η only the one that is promised is shown; without mixers, no number of them.
function rest(form) {
  const hide = (name, hidden) => {
    form.querySelector(`[data-field="${name}"]`)?.classList.toggle("resting", hidden);
  };
  for (const radio of form.querySelectorAll('input[name="promise"]')) hide(radio.value, !radio.checked);
  const noise = form.elements.noise?.value;
  if (noise) hide("mixers", noise === "devices");
}

function markInvalid(form, names) {
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  for (const name of names) if (name) form.elements.namedItem(name)?.setAttribute?.("aria-invalid", "true");
}

// A form that becomes a file: it is saved whenever it changes, unless somebody else wrote the file.
class Saving {
  constructor(form) {
    this.form = form;
    this.live = document.querySelector("[data-part]") ? new Live(form) : null;
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
    if (this.live) for (const part of this.live.parts) this.live.mark(part, true);
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

// The dashboard looks again every few seconds, as long as somebody looks at it.
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
  const form = document.querySelector("form[data-live]");
  if (form) new Live(form).start();
  const saved = document.querySelector("form[data-save]");
  if (saved && !saved.querySelector("fieldset.all:disabled")) new Saving(saved).start();
  else if (saved && document.querySelector("[data-part]")) {
    const live = new Live(saved);
    live.run(live.parts);
  }
  const state = document.querySelector("[data-every]");
  if (state) watch(state);
});
