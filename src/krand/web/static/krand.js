// The pages work without this. With it, a form is sent whenever it changes, and the part of the
// page that the server rendered is exchanged; the newest answer wins.
"use strict";

document.documentElement.classList.add("with-script");

const WAIT = 250; // milliseconds of rest before a form is sent
const LATER = 900; // and before the slow part follows
const STEPS = 1000; // of a slider

// A part of the page: keeps what it shows, dimmed, until the next answer is there.
class Part {
  constructor(section) {
    this.section = section;
    this.request = null;
    this.timer = 0;
  }

  stop() {
    clearTimeout(this.timer);
    this.request?.abort();
    this.section.setAttribute("aria-busy", "true");
  }

  empty() {
    this.section.replaceChildren();
    this.section.setAttribute("aria-busy", "false");
  }

  // Ask after a while, unless stopped before; done(response) follows when it is shown.
  load(wait, address, options = {}, done = () => {}) {
    this.stop();
    this.timer = setTimeout(() => this.ask(address, options, done), wait);
  }

  async ask(address, options, done) {
    const request = (this.request = new AbortController());
    try {
      const response = await fetch(address(), { ...options, signal: request.signal });
      const html = await response.text();
      if (this.request !== request) return;
      this.section.innerHTML = html;
      this.section.setAttribute("aria-busy", "false");
      done(response);
    } catch (error) {
      if (error.name === "AbortError" || this.request !== request) return;
      this.section.innerHTML = '<p class="warning" role="alert">krand web does not answer.</p>';
      this.section.setAttribute("aria-busy", "false");
    }
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
function bind(slider) {
  const field = document.getElementById(slider.dataset.for);
  const low = Number(slider.dataset.low);
  const high = Number(slider.dataset.high);
  const place = () => {
    const value = read(field.value);
    const share = Math.log(value / low) / Math.log(high / low);
    if (Number.isFinite(share)) slider.value = Math.round(share * STEPS);
    else if ("emptyAtEnd" in slider.dataset && !field.value.trim()) slider.value = STEPS;
    slider.setAttribute("aria-valuetext", field.value || field.placeholder);
  };
  field.addEventListener("input", place);
  slider.addEventListener("input", () => {
    const share = Number(slider.value) / STEPS;
    const end = "emptyAtEnd" in slider.dataset && share === 1;
    field.value = end ? "" : write(low * (high / low) ** share, "whole" in slider.dataset);
    slider.setAttribute("aria-valuetext", field.value || field.placeholder);
  });
  place();
}

// Of δ and η, only the one that is promised is shown.
function rest(form) {
  for (const radio of form.querySelectorAll('input[name="promise"]')) {
    document.getElementById(radio.value).closest(".field").classList.toggle("resting", !radio.checked);
  }
}

function markInvalid(form, name) {
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  if (name) form.elements.namedItem(name)?.setAttribute?.("aria-invalid", "true");
}

function liveNumbers(form, result, frontier) {
  const query = () => new URLSearchParams(new FormData(form));
  const showFrontier = (wait) => frontier.load(wait, () => `${frontier.section.dataset.live}?${query()}`);
  const changed = () => {
    rest(form);
    frontier.stop();
    result.load(WAIT, () => `${form.dataset.live}?${query()}`, {}, (response) => {
      const state = response.headers.get("X-State");
      result.section.dataset.state = state;
      markInvalid(form, response.headers.get("X-Field"));
      history.replaceState(null, "", `/?${query()}${location.hash}`);
      if (state !== "invalid") showFrontier(LATER);
      else frontier.empty(); // nothing is computed: an old comparison would be of other values
    });
  };
  for (const slider of form.querySelectorAll(".slider")) bind(slider);
  rest(form);
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    changed();
  });
  const waits = frontier.section.querySelector(".placeholder");
  if (waits && result.section.dataset.state !== "invalid") showFrontier(LATER);
}

function liveSurvey(form, result) {
  const text = form.elements.survey;
  text.addEventListener("input", () => {
    const body = () => ({ method: "POST", body: withoutFile(form) });
    result.load(2 * WAIT, () => form.dataset.live, body(), (response) => {
      result.section.dataset.state = response.headers.get("X-State");
    });
  });
  form.elements.file.addEventListener("change", () => {
    if (form.elements.file.files.length) form.requestSubmit(document.getElementById("load-button"));
  });
  // A mistake's line number leads to its line.
  result.section.addEventListener("click", (event) => {
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
  const result = form && new Part(document.getElementById("result"));
  const frontier = document.getElementById("frontier");
  if (frontier) liveNumbers(form, result, new Part(frontier));
  else if (form) liveSurvey(form, result);
  const state = document.querySelector("[data-every]");
  if (state) watch(state);
});
