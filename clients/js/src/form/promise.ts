/** The promise in words: the sentences of krand's own pages, with the numbers of the plan. */

import type { Plan } from "../index.js";
import { periodsOf, promisedRounds } from "../schedule.js";
import { deltaOf, inOneHand, type Policy, type Trust } from "../survey.js";
import { fill } from "./dom.js";
import { atMost, factor, times, whole } from "./numbers.js";
import type { Forms, Texts } from "./texts.js";
import { chanceOf, guessBar, type Stop } from "./pictures.js";

/** Up to these values of ε₀ the noise of one device alone protects well, weakly, hardly at all. */
const [REAL, WEAK, SLIGHT] = [1, 3, 7];

export class Wording {
  constructor(
    private readonly plan: Plan,
    private readonly texts: Texts,
  ) {}

  private get policy(): Policy {
    return this.plan.survey.policy;
  }

  /** How many people the promise is planned for. */
  private get crowd(): string {
    return this.whole(this.policy.minimum_crowd);
  }

  get noise(): Trust["noise"] {
    return this.plan.survey.trust.noise;
  }

  /** Whether the organiser can look at each person's messages: then the promise is about readers. */
  get inOneHand(): boolean {
    return inOneHand(this.plan.survey);
  }

  /** What the organiser can learn, and whom the promise is about; null if others mix too. */
  oneHand(): string | null {
    const { texts, plan } = this;
    if (!this.inOneHand) return null;
    const hand = this.some(texts.hand);
    const { said, epsilon } = this.local();
    const sees = plan.localEpsilon <= SLIGHT!;
    const organiser = fill(sees ? texts.organiserSees : texts.organiserReads, { hand, said, epsilon });
    return fill(texts.oneHand, { organiser });
  }

  get mixers(): number {
    return this.plan.survey.trust.mixers;
  }

  /** What leaves the device, and what happens to it. */
  leaves(): string[] {
    const { texts, noise } = this;
    if (this.inOneHand) {
      const sealed = noise === "mixers" ? texts.sealedForOrganiser : texts.flips;
      return [sealed, noise === "devices" ? texts.keptByOrganiser : texts.mixedByOrganiser];
    }
    if (noise !== "devices") return [texts.noFlips, this.some(texts.passedByMixers)];
    return [texts.flips, fill(texts.passedByCollector, { crowd: this.crowd })];
  }

  /** In all rounds together, or in those of a period, with the total of all; empty for one. */
  private rounds(): string {
    const { texts, policy } = this;
    const { survey } = this.plan;
    const all = this.whole(survey.rounds);
    const periods = periodsOf(survey);
    if (periods === 1) return survey.rounds === 1 ? "" : fill(texts.rounds, { rounds: all });
    const name = policy.delta === undefined ? "η" : "δ";
    const [epsilon, most] = [policy.epsilon, deltaOf(policy)].map((each) => atMost(times(periods, each), texts.signs));
    const total = `ε = ${epsilon}, ${name} = ${most}`;
    return fill(texts.period, { rounds: this.whole(promisedRounds(survey)), all, total });
  }

  /** The promise as the chance of a right guess, in whole numbers. */
  guess(): string {
    const { texts } = this;
    const rounds = this.rounds();
    const chance = this.chance();
    if (!chance) return fill(texts.guessAlways, { rounds });
    const { right, of } = chance;
    const results = this.inOneHand ? texts.onlyResults : texts.results;
    return fill(texts.guess, { results, rounds, right: this.whole(right), of: this.whole(of), half: this.whole(of / 2) });
  }

  /** The same as a bar, from a coin toss to certainty; null if nothing is hidden. */
  guessBar(): SVGElement | null {
    const chance = this.chance();
    return chance && guessBar(chance, (value) => this.whole(value), this.texts);
  }

  private chance(): ReturnType<typeof chanceOf> {
    return chanceOf({ epsilon: this.policy.epsilon, delta: deltaOf(this.policy) });
  }

  /** Whom the answers pass on their way to the results. */
  stops(): [Stop, string][] {
    const { texts, noise } = this;
    const { you, crowd, organiser, results } = texts.way;
    const people = fill(crowd, { crowd: this.crowd });
    const mixer = (place: number): [Stop, string] => ["mixer", place ? fill(texts.theMixer, { number: place + 1 }) : texts.theCollector];
    const between: [Stop, string][] = this.inOneHand
      ? [["organiser", organiser]]
      : noise === "devices" ? [["crowd", people]] : Array.from({ length: this.mixers }, (_, place) => mixer(place));
    return [["you", you], ...between, ["results", results]];
  }

  /** How it is known, when it holds, and what remains otherwise. */
  holds(): string {
    const { texts } = this;
    const { said } = this.local();
    const { known } = texts;
    if (this.inOneHand) {
      const held = this.noise === "devices" ? texts.holdsInCrowdOfReaders : texts.holdsIfOrganiserAdds;
      return `${known} ${fill(held, { crowd: this.crowd })}`;
    }
    const held =
      this.noise === "devices"
        ? fill(texts.holdsInCrowd, { crowd: this.crowd, said })
        : fill(texts.holdsWithMixers, { one_mixer: this.oneMixer(), all_mixers: this.allMixers(), said });
    return [known, this.alsoRuns(), held].filter(Boolean).join(" ");
  }

  /** Why an answer is protected that leaves the device as it is. */
  why(): string {
    const { texts } = this;
    const hand = this.oneHand();
    if (hand) return hand;
    return this.noise === "mixers" ? texts.whyWithMixers : fill(texts.whyInCrowd, { crowd: this.crowd });
  }

  /** What nobody can learn, in the symbols of the proof. */
  promise(): string {
    const { policy, texts } = this;
    const given = {
      rounds: this.rounds(),
      factor: this.factor(policy.epsilon),
      slack: this.slack(),
      how_known: texts.howKnown,
    };
    const hand = this.oneHand();
    if (hand) return this.toReaders(hand, given);
    if (this.noise === "devices") {
      return fill(texts.promise, {
        ...given,
        crowd: this.crowd,
        helpers: this.helpers(),
        if_they_collude: fill(texts.ifTheyCollude, this.local()),
      });
    }
    const otherwise = fill(texts.noHonestMixer, { all_mixers: this.allMixers() });
    const mixers = fill(texts.promiseOfMixers, {
      ...given,
      one_mixer: this.oneMixer(),
      however_few: texts.howeverFew,
      otherwise,
    });
    return [this.alsoRuns(), mixers].filter(Boolean).join(" ");
  }

  /** Everything that it rests on. */
  assumptions(): string[] {
    const { minimum_crowd: crowd, colluding } = this.policy;
    return this.codes().map((code) => {
      const hand = this.inOneHand && this.texts.handAssumptions[code];
      if (hand) return hand;
      const text = fill(this.texts.assumptions[code] ?? code, { honest: this.whole(crowd - colluding) });
      if (code !== "honest-crowd" || !colluding) return text;
      return fill(this.texts.colluders, { crowd: text, colluding: this.whole(colluding) });
    });
  }

  /** What it rests on, as codes; no true answer to a record's question sets more bits than it may. */
  private codes(): string[] {
    if (this.noise === "mixers") return ["one-honest-mixer", "seals-hold", "participation-visible"];
    const { layout, survey } = this.plan;
    const limited = survey.linkage === "record" && layout.some(({ mostOnes, positions }) => 2 * mostOnes < positions);
    const codes = ["honest-crowd", "collector-keeps-secrets", "participation-visible"];
    return limited ? [...codes, "limited-answers"] : codes;
  }

  private toReaders(hand: string, given: Record<string, string>): string {
    const { texts } = this;
    const { colluding } = this.policy;
    const helpers = colluding ? texts.counted(texts.readerHelpers, colluding) : "";
    const devices = this.noise === "devices";
    return fill(texts.promiseToReaders, {
      ...given,
      one_hand: hand,
      condition: devices ? fill(texts.ifCrowd, { crowd: this.crowd }) : texts.ifNoise,
      others: devices ? helpers : ` ${texts.howeverFew}`,
    });
  }

  /** The analyst also runs the collector; empty if it runs no mixer. */
  private alsoRuns(): string {
    const { texts } = this;
    const roles = this.plan.survey.trust.analyst_runs.map((place) => (place === 1 ? texts.theCollector : fill(texts.theMixer, { number: place })));
    if (!roles.length) return "";
    const last = roles.pop()!;
    return fill(texts.alsoRuns, { roles: roles.length ? fill(texts.allOf, { first: roles.join(", "), last }) : last });
  }

  private oneMixer(): string {
    return this.party(this.texts.oneParty) ?? this.some(this.texts.oneMixer);
  }

  private allMixers(): string {
    return this.party(this.texts.allParties) ?? this.some(this.texts.allMixers);
  }

  /** A text with the number of other parties, if a party has several roles; otherwise null. */
  private party(forms: Forms): string | null {
    const number = this.plan.otherParties;
    return number === this.mixers ? null : this.texts.counted(forms, number);
  }

  /** A text with the number of mixers. */
  private some(forms: Forms): string {
    return this.texts.counted(forms, this.mixers);
  }

  private whole(value: number): string {
    return whole(value, this.texts.signs);
  }

  private factor(epsilon: number): string {
    const { signs } = this.texts;
    return fill(this.texts.factor, { ratio: factor(epsilon, signs), epsilon: atMost(epsilon, signs) });
  }

  private slack(): string {
    const { texts, policy } = this;
    const said = policy.delta === undefined ? texts.slackEta : texts.slackDelta;
    return fill(said, { value: atMost(deltaOf(policy), texts.signs) });
  }

  private helpers(): string {
    const { colluding } = this.policy;
    return colluding ? this.texts.counted(this.texts.helpers, colluding) : "";
  }

  private local(): { said: string; epsilon: string } {
    const { real, weak, slight, none } = this.texts.protections;
    const local = this.plan.localEpsilon;
    const said = local <= REAL! ? real : local <= WEAK! ? weak : local <= SLIGHT! ? slight : none;
    return { said, epsilon: Number.isFinite(local) ? atMost(local, this.texts.signs) : "∞" };
  }
}
