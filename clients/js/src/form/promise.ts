/** The promise in words: the sentences of krand's own pages, with the numbers of the plan. */

import type { Plan, PlanPromise } from "../index.js";
import { mixersOf, noiseOf, type Trust } from "../survey.js";
import { fill } from "./dom.js";
import { atMost, factor, whole } from "./numbers.js";
import type { Texts } from "./texts.js";

/** Up to these values of ε₀ the noise of one device alone protects well, weakly, hardly at all. */
const [REAL, WEAK, SLIGHT] = [1, 3, 7];

/** The most decimals of a chance that are shown; a chance closer to 1 protects nobody. */
const MOST_SCALE = 1_000_000;

/**
 * The largest chance of a right guess between two equally likely sets of answers, (e^ε + δ)/(1 + e^ε),
 * rounded up to whole times in 100, or in more if that would be always; null if it is always.
 */
export function chanceOf({ epsilon, delta }: PlanPromise): { right: number; of: number } | null {
  const shrunk = Math.exp(-epsilon);
  const chance = (1 + delta * shrunk) / (1 + shrunk);
  for (let of = 100; of <= MOST_SCALE; of *= 10) {
    const right = Math.ceil(chance * of);
    if (right < of) return { right, of };
  }
  return null;
}

export class Wording {
  constructor(
    private readonly plan: Plan,
    private readonly texts: Texts,
  ) {}

  get noise(): Trust["noise"] {
    return noiseOf(this.plan.survey);
  }

  get mixers(): number {
    return mixersOf(this.plan.survey);
  }

  /** What leaves the device, and what happens to it. */
  leaves(): string[] {
    const { texts, noise } = this;
    const flips = noise === "mixers" ? texts.noFlips : texts.flips;
    const passed = noise === "devices" ? texts.passedByCollector : this.some(texts.passedByMixers);
    return [flips, fill(passed, { crowd: this.whole(this.plan.promise.crowd), number: this.mixers })];
  }

  /** The promise as the chance of a right guess, in whole numbers. */
  guess(): string {
    const { texts, plan } = this;
    const rounds = plan.survey.rounds === 1 ? "" : fill(texts.rounds, { rounds: this.whole(plan.survey.rounds) });
    const chance = chanceOf(plan.promise);
    if (!chance) return fill(texts.guessAlways, { rounds });
    const { right, of } = chance;
    return fill(texts.guess, { rounds, right: this.whole(right), of: this.whole(of), half: this.whole(of / 2) });
  }

  /** How it is known, when it holds, and what remains otherwise. */
  holds(): string {
    const { texts, plan } = this;
    const { said } = this.local(plan.flips ?? plan.promise);
    const held =
      this.noise === "devices"
        ? fill(texts.holdsInCrowd, { crowd: this.whole(plan.promise.crowd), said })
        : fill(texts.holdsWithMixers, { one_mixer: this.one(texts.oneMixer), all_mixers: this.one(texts.allMixers), said });
    return `${texts.known[plan.promise.assurance]} ${held}`;
  }

  /** Why an answer is protected that leaves the device as it is. */
  why(): string {
    const { texts, plan } = this;
    return this.noise === "mixers" ? texts.whyWithMixers : fill(texts.whyInCrowd, { crowd: this.whole(plan.promise.crowd) });
  }

  /** What nobody can learn, in the symbols of the proof. */
  promise(): string {
    const { plan, texts } = this;
    const given = {
      rounds: plan.survey.rounds === 1 ? "" : fill(texts.rounds, { rounds: this.whole(plan.survey.rounds) }),
      factor: this.factor(plan.promise.epsilon),
      slack: this.slack(plan.promise),
      how_known: texts.assurances[plan.promise.assurance],
    };
    if (this.noise === "devices") {
      return fill(texts.promise, {
        ...given,
        crowd: this.whole(plan.promise.crowd),
        helpers: this.helpers(plan.promise),
        if_they_collude: fill(texts.ifTheyCollude, this.local(plan.promise)),
      });
    }
    const all = this.one(texts.allMixers);
    const otherwise = plan.flips ? "" : fill(texts.noHonestMixer, { all_mixers: all });
    const mixers = fill(texts.promiseOfMixers, {
      ...given,
      one_mixer: this.one(texts.oneMixer),
      however_few: texts.howeverFew,
      otherwise,
    });
    return plan.flips ? `${mixers} ${this.ofFlips(plan.flips, all)}` : mixers;
  }

  /** Everything that it rests on. */
  assumptions(): string[] {
    const { assumptions, crowd, colluding } = this.plan.promise;
    return assumptions.map((code) => {
      const text = fill(this.texts.assumptions[code] ?? code, { honest: this.whole(crowd - colluding) });
      if (code !== "honest-crowd" || !colluding) return text;
      return fill(this.texts.colluders, { crowd: text, colluding: this.whole(colluding) });
    });
  }

  private ofFlips(flips: PlanPromise, all: string): string {
    const { said, epsilon } = this.local(flips);
    return fill(this.texts.promiseOfFlips, {
      crowd: this.whole(flips.crowd),
      slack: this.slack(flips),
      helpers: this.helpers(flips),
      all_mixers: all,
      remains: said,
      epsilon,
    });
  }

  private some([one, other]: readonly [string, string]): string {
    return this.mixers === 1 ? one : other;
  }

  private one(texts: readonly [string, string]): string {
    return fill(this.some(texts), { number: this.mixers });
  }

  private whole(value: number): string {
    return whole(value, this.texts.signs);
  }

  private factor(epsilon: number): string {
    const { signs } = this.texts;
    return fill(this.texts.factor, { ratio: factor(epsilon, signs), epsilon: atMost(epsilon, signs) });
  }

  private slack(promise: PlanPromise): string {
    const { texts } = this;
    const isDelta = this.plan.survey.policy.delta !== undefined;
    return fill(isDelta ? texts.slackDelta : texts.slackEta, {
      value: atMost(isDelta ? promise.delta : promise.eta, texts.signs),
    });
  }

  private helpers({ colluding }: PlanPromise): string {
    if (!colluding) return "";
    const [one, other] = this.texts.helpers;
    return fill(colluding === 1 ? one : other, { number: this.whole(colluding) });
  }

  private local(promise: PlanPromise): { said: string; epsilon: string } {
    const { real, weak, slight, none } = this.texts.protections;
    const local = promise.local_epsilon ?? Infinity;
    const said = local <= REAL! ? real : local <= WEAK! ? weak : local <= SLIGHT! ? slight : none;
    return { said, epsilon: Number.isFinite(local) ? atMost(local, this.texts.signs) : "∞" };
  }
}
