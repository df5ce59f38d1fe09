// The pages work without this. With it, a form is sent whenever it changes, and the parts of the
// page that the server rendered are exchanged. What belongs to other values than the form's is struck
// out from the moment of the change: first comes a bound that is proven at once, then the plan, then
// one by one the parts that take longer.
"use strict";

document.documentElement.classList.add("with-script");

const WAIT = 50; // milliseconds of rest before a form is sent
const PAUSE = 150; // and between the quick bound and the search
const LATER = 900; // and before a slow part follows
const STEPS = 1000; // of a slider

const pause = (time) => new Promise((done) => setTimeout(done, time));

// A form and the parts of the page that answer it.
class Live {
  constructor(form) {
    this.form = form;
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
          state = await this.show(part, part.dataset.quick, signal);
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
    const get = this.form.method === "get";
    const query = this.query();
    const response = get
      ? await fetch(`${address}?${query}`, { signal })
      : await fetch(address, { method: "POST", body: withoutFile(this.form), signal });
    const html = await response.text();
    signal.throwIfAborted();
    const state = response.headers.get("X-State") ?? (response.ok ? "planned" : "failed");
    const quick = address === part.dataset.quick;
    if (quick && !["quick", "invalid"].includes(state)) return state; // stays struck out
    part.innerHTML = html;
    this.mark(part, false, state === "quick"); // more is to come
    if (part.dataset.quick) this.answered(part, state, response.headers.get("X-Field"), get && query);
    return state;
  }

  answered(part, state, field, query) {
    part.dataset.state = state;
    this.say(part.querySelector("[data-said]")?.dataset.said ?? "");
    markInvalid(this.form, field);
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
    const changes = this.form.method === "get" ? this.form : this.form.elements.survey;
    changes.addEventListener("input", () => this.changed());
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-fill]");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (new URL(link.href).pathname !== this.form.getAttribute("action")) return;
      event.preventDefault();
      this.fill(link);
    });
    addEventListener("pageshow", (event) => event.persisted && this.changed());
    const empty = this.parts.filter((part) => part.querySelector(".placeholder"));
    if (this.form.method === "get" && !this.isAnswered()) this.changed();
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

function markInvalid(form, name) {
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  if (name) form.elements.namedItem(name)?.setAttribute?.("aria-invalid", "true");
}

function surveyFile(form, result) {
  const text = form.elements.survey;
  form.elements.file.addEventListener("change", () => {
    if (form.elements.file.files.length) form.requestSubmit(document.getElementById("load-button"));
  });
  // A mistake's line number leads to its line.
  result.addEventListener("click", (event) => {
    const line = Number(event.target.closest("a[data-line]")?.dataset.line);
    if (!line) return;
    event.preventDefault();
    const lines = text.value.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    text.focus();
    text.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    text.scrollTop = ((line - 4) * text.scrollHeight) / lines.length;
  });
}

function withoutFile(form) {
  const data = new FormData(form);
  data.delete("file");
  return data;
}

// The dashboard looks again every few seconds, as long as somebody looks at it.
function watch(section) {
  const lost = document.getElementById("unreachable");
  let seen = "";
  setInterval(async () => {
    if (document.hidden) return;
    try {
      const response = await fetch(section.dataset.src);
      if (response.status === 401) location.reload();
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

document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("form[data-live]");
  if (form) new Live(form).start();
  if (form?.elements.file) surveyFile(form, document.getElementById("result"));
  const state = document.querySelector("[data-every]");
  if (state) watch(state);
});
