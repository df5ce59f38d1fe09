import assert from "node:assert/strict";
import { test } from "node:test";
import * as krand from "../build/internals.js";

test("answers lead to questions; an answer is checked whether or not its question is asked", () => {
  const rating = { name: "rating", type: "scale", lowest: -1, highest: 1, asked_if: { question: "owns", is: ["yes"] } };
  const price = { name: "price", type: "number", edges: [0, 1e-5, 2.5], open: true };
  const survey = { id: "s", question: [
    { name: "owns", type: "yes_no" }, rating,
    { ...price, asked_if: { question: "rating", is: ["-1 (bad)", "1"] } },
    { name: "why", type: "yes_no", asked_if: { question: "price", is: ["below 0", "1e-05 to under 2.5"] } },
  ] };
  const asked = (answers) => krand.askedQuestions(survey, answers).map(({ name }) => name).join(" ");
  assert.equal(asked({}), "owns");
  assert.equal(asked({ owns: false, rating: 1, price: 1 }), "owns");
  assert.equal(asked({ owns: true, rating: 0, price: 1 }), "owns rating");
  assert.equal(asked({ owns: true, rating: -1, price: -3 }), "owns rating price why");
  assert.equal(asked({ owns: true, rating: 1, price: 1e-6 }), "owns rating price");
  assert.equal(asked({ owns: true, rating: 1, price: 2 }), "owns rating price why");
  assert.equal(asked({ owns: true, rating: 7, price: 2 }), "owns rating");
  assert.throws(() => krand.checkAnswer(survey, "rating", 7), { field: "rating" });
  for (const answer of [1, null, undefined]) krand.checkAnswer(survey, "rating", answer);
  assert.throws(() => krand.checkAnswer(survey, "nobody", 7), { field: "answers" });
  assert.throws(() => krand.checkAnswer(survey, "owns", "secretly"), (error) => !error.message.includes("secretly"));
});

test("words are normalized as the format says", () => {
  const pairs = [
    [" Straße\t", "straße"], ["ΣΊΣΥΦΟΣ", "σίσυφος"], ["ﬁ", "fi"], ["İ", "i\u0307"],
    ["\u0085x\u3000", "x"], ["\ufeffx", "\ufeffx"], ["\u001cx", "\u001cx"], ["Ａ", "a"],
  ];
  for (const [word, plain] of pairs) assert.equal(krand.normalized("q", word), plain);
  for (const word of ["", " \u2003", "\ud800", "x".repeat(1001)]) {
    assert.throws(() => krand.normalized("q", word), { code: "invalid-answer", field: "q" });
  }
  assert.equal(krand.normalized("q", "😀".repeat(1000)).length, 2000);
});
