/**
 * The laws behind the picture: how the analyst's count comes about, and what is estimated from it.
 * Python's are `krand.analysis.mechanisms`; `tests/js_client/test_method.py` compares the two.
 */

import { NOISE } from "./noise.js";

/** Who adds the noise. */
export type Who = "devices" | "mixers";

/** The noise of one position of the sliders. */
export interface Noise {
  people: number;
  epsilon: number;
  /** The probability of a flip; 0 where mixers add the noise. */
  flip: number;
  /** The probabilities of 0, 1, …, 2R dummies that say yes; [1] where devices flip. */
  dummies: number[];
}

/** What happened to the people of one picture. */
export interface Draw {
  /** Everybody's true answer; the first is yours. */
  answers: boolean[];
  flipped: boolean[];
  /** What each of the dummies says. */
  dummies: boolean[];
  /** In which order people and dummies leave. */
  order: number[];
}

const FLIPS = 2 ** 32;
const DUMMIES = 2 ** 63;
const Z95 = 1.959963984540054;
/** The share of the simulated people who say yes. */
const YES = 0.38;

/** The noise that krand plans for one yes/no question; `people` and `epsilon` are places of sliders. */
export function noiseAt(who: Who, people: number, epsilon: number): Noise {
  const half = NOISE.dummies[epsilon]!.map((weight) => Number(weight) / DUMMIES);
  const devices = who === "devices";
  return {
    people: NOISE.people[people]!,
    epsilon: NOISE.epsilons[epsilon]!,
    flip: devices ? NOISE.flips[people]![epsilon]! / FLIPS : 0,
    dummies: devices ? [1] : [...half.slice(1).reverse(), ...half],
  };
}

/** The mean number R of dummies that say yes. */
export const meanDummies = (noise: Noise): number => (noise.dummies.length - 1) / 2;

/** The estimated number of people: the count without the noise that is to be expected. */
export const estimate = (noise: Noise, count: number): number =>
  (count - meanDummies(noise) - noise.people * noise.flip) / (1 - 2 * noise.flip);

/** The margin of error (95 %) of the estimate, in people. */
export function margin({ people, flip, dummies }: Noise): number {
  const mean = (dummies.length - 1) / 2;
  const variance = dummies.reduce((sum, mass, count) => sum + mass * (count - mean) ** 2, people * flip * (1 - flip));
  return (Z95 * Math.sqrt(variance)) / (1 - 2 * flip);
}

/** The law of the count if so many of the others say yes, and you say `mine`. */
export function countLaw({ people, flip, dummies }: Noise, others: number, mine: boolean): number[] {
  let law = dummies;
  for (let person = 0; person < people; person++) {
    const yes = person ? person <= others : mine;
    law = withOne(law, yes ? 1 - flip : flip);
  }
  return law;
}

/** The law of a count to which one more person adds 1 with this probability. */
const withOne = (law: number[], chance: number): number[] =>
  [...law, 0].map((mass, count) => mass * (1 - chance) + (law[count - 1] ?? 0) * chance);

/** Other people, and all that chance decides. Your answer is not drawn. */
export function draw(noise: Noise, mine: boolean, random: () => number = uniform): Draw {
  const others = shuffled(noise.people - 1, random).map((place) => place < othersWhoSayYes(noise));
  const yes = drawn(noise.dummies, random);
  return {
    answers: [mine, ...others],
    flipped: Array.from({ length: noise.people }, () => random() < noise.flip),
    dummies: Array.from({ length: noise.dummies.length - 1 }, (_, place) => place < yes),
    order: shuffled(noise.people + noise.dummies.length - 1, random),
  };
}

/** How many of the others say yes: the same number in every picture, so that histograms stay. */
export const othersWhoSayYes = (noise: Noise): number => Math.round(YES * (noise.people - 1));

/** What people and dummies say at last. */
export const sent = ({ answers, flipped, dummies }: Draw): boolean[] => [
  ...answers.map((answer, person) => answer !== flipped[person]),
  ...dummies,
];

/** A number by its law. */
function drawn(law: number[], random: () => number): number {
  let left = random();
  const found = law.findIndex((mass) => (left -= mass) < 0);
  return found < 0 ? law.length - 1 : found;
}

/** 0, 1, … in random order. */
function shuffled(length: number, random: () => number): number[] {
  const list = Array.from({ length }, (_, place) => place);
  for (let i = length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [list[i], list[j]] = [list[j]!, list[i]!];
  }
  return list;
}

/** A number from 0 to just below 1, of 53 bits of the system's own randomness. */
function uniform(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return (high! + (low! >>> 11) / 2 ** 21) / FLIPS;
}
