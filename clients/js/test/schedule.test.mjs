// Rounds of a schedule on a device: windows, periods, charges, what a closed round leaves behind.

import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { IDBFactory } from "fake-indexeddb";
import * as krand from "../build/internals.js";
import { clientOf, ANSWERS, planOf } from "./plans.mjs";

const WEEK = 7 * 24 * 3600 * 1000;
const STARTS = Date.parse("2027-01-04T00:00:00Z");
const week = (number) => STARTS + (number - 1) * WEEK + 1;
const refused = (code) => (error) => error instanceof krand.KrandError && error.code === code;

beforeEach(() => (globalThis.indexedDB = new IDBFactory()));

/** A plan with so many weekly rounds. */
const scheduled = (given = {}, rounds = 52, promised = {}) =>
  planOf(krand, (values) => {
    const schedule = { every: "week", promise: "campaign", campaign: "pets", first: 1, ...given };
    const opens = [];
    for (let round = schedule.first; round <= rounds + 1; round += 1) {
      opens.push(new Date(STARTS + (round - 1) * WEEK).toISOString().replace(".000", ""));
    }
    Object.assign(values.survey, { rounds, schedule: { opens, ...schedule } });
    Object.assign(values.survey.policy, promised);
  });

/** A device at a time, whose collector says that a round is open. */
function device(plan, ledger, round, now, status = { round, open: true }) {
  const fetch = async (address, request) =>
    new Response(JSON.stringify(address.endsWith("/open") ? status : { status: "accepted" }), {
      status: request.method === "POST" ? 202 : 200,
    });
  return clientOf(krand, plan, { url: "https://collector.example", ledger, fetch, now: () => now });
}

test("a collector cannot ask a year in a day", async () => {
  const [plan, ledger] = [await scheduled(), new krand.MemoryLedger()];
  for (let round = 1; round <= 52; round += 1) {
    const client = device(plan, ledger, round, week(7));
    if (round === 7) {
      assert.equal((await client.submit(ANSWERS)).status, "accepted");
      assert.equal((await client.submit(ANSWERS)).status, "already-submitted");
    } else {
      await assert.rejects(client.submit(ANSWERS), refused("outside-window"));
      await assert.rejects(client.prepare(ANSWERS, { round }), refused("outside-window"));
    }
  }
});

test("a window begins and ends to the millisecond", async () => {
  const { survey } = await scheduled();
  const ends = STARTS + WEEK;
  const open = (round, now) => krand.isOpen(survey, round, now);
  assert.deepEqual([open(1, STARTS - 1), open(1, STARTS), open(1, ends - 1), open(1, ends), open(2, ends)], [false, true, true, false, true]);
  assert.deepEqual([open(0, STARTS), open(52, STARTS + 52 * WEEK), open(53, STARTS + 52 * WEEK)], [false, false, false]);
});

test("a round is open until its own last day, where the reader is", async () => {
  const { survey } = await scheduled({}, 3);
  const days = { UTC: ["2027-01-10", "2027-01-17", "2027-01-24"] };
  const [before, zone] = [STARTS - WEEK, process.env.TZ];
  for (const [place, ends] of Object.entries({ ...days, "Asia/Tokyo": ["2027-01-11", "2027-01-18", "2027-01-25"] })) {
    process.env.TZ = place;
    const shown = [before, week(1), week(2), week(3)].map((now) => krand.lastDay(survey, now));
    assert.deepEqual(shown, [ends[0], ...ends]);
  }
  process.env.TZ = zone ?? "UTC";
  assert.equal(krand.lastDay({ ...survey, closes: "2027-01-24" }, week(9)), "2027-01-24");
  assert.equal(krand.lastDay({ closes: "2027-02-01" }, week(1)), "2027-02-01");
});

test("a closed or nonsensical status is told", async () => {
  const plan = await scheduled();
  const asked = (status) => device(plan, new krand.MemoryLedger(), 1, week(1), status).submit(ANSWERS);
  await assert.rejects(asked({ round: 1, open: false }), refused("closed"));
  await assert.rejects(asked(null), refused("closed"));
  await assert.rejects(asked({ round: "x", open: true }), refused("invalid-round"));
  await assert.rejects(asked({ round: 53, open: true }), refused("invalid-round"));
});

const periods = [
  [{}, 52, [1, 52], 1],
  [{ promise: "quarter" }, 52, [40, 52], 4],
  [{ promise: "quarter" }, 53, [53, 53], 5],
  [{ promise: "round" }, 52, [52, 52], 52],
  [{ promise: "quarter", every: "month" }, 12, [10, 12], 4],
  [{ promise: "quarter", every: "day" }, 30, [1, 30], 1],
  [{ promise: "quarter", first: 14 }, 52, [40, 52], 4],
  [{ first: 20 }, 52, [20, 52], 1],
];

test("periods follow from numbers, as in Python", async () => {
  for (const [given, rounds, [first, last], count] of periods) {
    const { survey } = await scheduled(given, rounds);
    assert.deepEqual(krand.periodOf(survey, rounds), { first, last });
    assert.equal(krand.periodsOf(survey), count);
  }
});

test("a plan is for its own rounds alone, and for the total of its campaign", async () => {
  for (const [first, last] of [[1, 13], [14, 26], [40, 52], [53, 53]]) {
    const plan = await scheduled({ promise: "quarter", first }, last);
    for (const round of [first, last]) assert.doesNotThrow(() => plan.checkRound(round));
    for (const round of [first - 1, last + 1]) {
      assert.throws(() => plan.checkRound(round), refused("invalid-round"));
      const asked = device(plan, new krand.MemoryLedger(), round, week(round));
      await assert.rejects(asked.submit(ANSWERS), refused("invalid-round"));
    }
    const { epsilon, delta } = plan.survey.policy;
    const charge = { campaign: "pets", first, last, epsilon, delta };
    assert.deepEqual({ ...krand.chargeOf(plan, last), most: undefined }, { ...charge, most: undefined });
    assert.equal(krand.chargeOf(plan, last).most.epsilon, Math.ceil(last / 13) * epsilon);
  }
  const windows = (await scheduled({ promise: "quarter" })).survey.schedule.opens;
  await assert.rejects(scheduled({ promise: "quarter", opens: windows }, 13), refused("wrong-plan"));
});

for (const Ledger of [krand.MemoryLedger, krand.IndexedDbLedger]) {
  test(`${Ledger.name}: what a closed round left behind is erased`, async () => {
    const [plan, ledger] = [await scheduled(), new Ledger()];
    const first = await device(plan, ledger, 1, week(1)).prepare(ANSWERS);
    const second = await device(plan, ledger, 2, week(2)).prepare(ANSWERS);
    assert.deepEqual([first.round, second.round, second.wasKept], [1, 2, false]);
    const state = (round) => new krand.LedgerRound(ledger, { plan: plan.hash, round }).state();
    assert.deepEqual([await state(1), await state(2)], ["delivered", "pending"]);
    assert.equal((await device(plan, ledger, 2, week(2)).resume()).round, 2);
  });

  test(`${Ledger.name}: a changed survey stays in its campaign`, async () => {
    // Of the first plan, of the second, the last round before the change, whether the next one is taken.
    const changes = [
      [{}, { first: 20 }, 19, false],
      [{ promise: "quarter" }, { promise: "quarter" }, 10, false],
      [{ promise: "quarter" }, { promise: "quarter", first: 14 }, 13, true],
      [{}, { promise: "round", first: 20 }, 19, false],
      [{ promise: "round" }, { promise: "round", first: 5 }, 4, true],
      [{}, { campaign: "other", first: 20 }, 19, true],
    ];
    for (const [before, after, last, taken] of changes) {
      globalThis.indexedDB = new IDBFactory();
      const ledger = new Ledger();
      const old = await scheduled(before);
      await device(old, ledger, last, week(last)).submit(ANSWERS);
      const changed = device(await scheduled(after), ledger, last + 1, week(last + 1));
      if (taken) assert.equal((await changed.submit(ANSWERS)).status, "accepted");
      else await assert.rejects(changed.submit(ANSWERS), refused("campaign-spent"));
    }
  });

  test(`${Ledger.name}: a survey that is changed with each quarter is answered to the end of the year`, async () => {
    const ledger = new Ledger();
    for (const first of [1, 14, 27, 40]) {
      const plan = await scheduled({ promise: "quarter", first });
      for (const round of [first, first + 12]) assert.equal((await device(plan, ledger, round, week(round)).submit(ANSWERS)).round, round);
    }
  });

  test(`${Ledger.name}: what a closed round of an earlier plan left behind is erased too`, async () => {
    const [old, ledger] = [await scheduled({ promise: "round" }), new Ledger()];
    await device(old, ledger, 4, week(4)).prepare(ANSWERS);
    const changed = await scheduled({ promise: "round", first: 5 });
    await device(changed, ledger, 5, week(5)).prepare(ANSWERS);
    assert.equal(await new krand.LedgerRound(ledger, { plan: old.hash, round: 4 }).state(), "delivered");
  });

  test(`${Ledger.name}: of two plans of a campaign that ask at once, one is answered`, async () => {
    const [plans, ledger] = [[await scheduled(), await scheduled()], new Ledger()];
    const asked = plans.map((plan) => device(plan, ledger, 1, week(1)).submit(ANSWERS));
    const [failed, ...more] = (await Promise.allSettled(asked)).filter(({ status }) => status === "rejected");
    assert.deepEqual([failed.reason.code, more], ["campaign-spent", []]);
  });

  test(`${Ledger.name}: what is no number has no share of a promise`, async () => {
    const ledger = new Ledger();
    const plans = [await scheduled({ promise: "quarter", every: "fortnight" }), await scheduled({}, 52, { epsilon: "one" })];
    for (const odd of plans) {
      await assert.rejects(device(odd, ledger, 1, week(1)).submit(ANSWERS), refused("campaign-spent"));
    }
    assert.equal((await device(await scheduled(), ledger, 1, week(1)).submit(ANSWERS)).status, "accepted");
  });

  test(`${Ledger.name}: quarters become rounds for what is left of the total`, async () => {
    const ledger = new Ledger();
    await device(await scheduled({ promise: "quarter" }), ledger, 13, week(13)).submit(ANSWERS);
    const plan = await scheduled({ promise: "round", first: 14 });
    for (const round of [14, 15, 16]) await device(plan, ledger, round, week(round)).submit(ANSWERS);
    await assert.rejects(device(plan, ledger, 17, week(17)).submit(ANSWERS), refused("campaign-spent"));
  });
}

test("windows that overlap or are missing make no plan", async () => {
  const at = (...days) => days.map((day) => `2027-01-${day}T00:00:00Z`);
  for (const opens of [at("04", "11"), at("04", "04", "18"), at("18", "11", "04"), ["x", "y", "z"]]) {
    await assert.rejects(scheduled({ opens }, 2), refused("wrong-plan"));
  }
});
