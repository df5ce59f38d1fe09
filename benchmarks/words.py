"""Free words decoded against 10,000 candidates: krand beside RAPPOR and pure-ldp at the same ε.

    python benchmarks/words.py            # writes benchmarks/words.md
    python benchmarks/words.py --quick    # a smoke run: to the terminal only

Run it where krand and the peers are installed: scikit-learn for the lasso, pure-ldp with xxhash
below 4 (later ones refuse the text that pure-ldp hashes) and statsmodels. A way that cannot be
imported is listed with the reason, and its row is left out.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtr, ndtri
from words_limit import planned_limit

from krand.analysis.words.decoding import WordsEstimate, adjusted_p_values, decode_words
from krand.planning.making import make_plan
from krand.promise import Policy
from krand.survey.kinds.words import word_positions
from krand.survey.layout import Layout, layout_of
from krand.survey.plan import Plan
from krand.survey.questions import Words
from krand.survey.survey import Survey
from krand.wording.promises import if_they_collude
from running import conditions, progress, run_benchmark, table, verdict

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Found = tuple[NDArray[np.bool_], Floats]
"""Of every listed word: whether it is found, and its estimated count."""

RESULTS = Path(__file__).with_suffix(".md")
PEOPLE = 1_000_000
EPSILON, DELTA = 1.0, 1e-6
EXPONENT = 1.1
IN_USE = 6_667
LISTED = 10_000
EVERY = 4
"""Every fourth word in use is on no list."""
RATE = 0.05
QUESTION = Words(name="word", size=65_536, hashes=2)
SIZES = (16_384, 65_536, 262_144)
HASHES = (1, 2, 3)
LASSO_KEEPS = 500
"""What Google's decoder lets its lasso keep at most."""
OLH_HASHES = 1_000
COHORTS, FILTER = 8, 128
PEERS = ("krand", "numpy", "scipy", "scikit-learn", "pure-ldp")


@dataclass(frozen=True, slots=True)
class Size:
    """How much is simulated."""

    repeats: int
    users: int
    """Whom pure-ldp randomizes one by one."""
    olh_hashes: int


FULL, QUICK = Size(20, PEOPLE, OLH_HASHES), Size(2, 20_000, 20)


# --- the world -----------------------------------------------------------------------------------


def vocabulary() -> tuple[list[str], Floats, NDArray[np.bool_]]:
    """Words in use by frequency, their shares, and which of them are on the list."""
    ranks = np.arange(1, IN_USE + 1)
    shares = ranks**-EXPONENT
    return [f"word {rank}" for rank in ranks], shares / shares.sum(), ranks % EVERY != 0


WORDS, SHARES, ON_LIST = vocabulary()
USED = [word for word, listed in zip(WORDS, ON_LIST, strict=True) if listed]
CANDIDATES = USED + [f"unused {number}" for number in range(LISTED - len(USED))]


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """One simulated survey with hashes of its own: who named what, and where that falls."""

    layout: Layout
    named: Counts
    """By how many people, for each word in use."""
    positions: Counts
    """How many people set each position."""

    @property
    def truth(self) -> Counts:
        """By how many people, for each word of the list."""
        return np.concatenate([self.named[ON_LIST], np.zeros(LISTED - len(USED), np.int64)])


def survey(question: Words, survey_id: str) -> Survey:
    return Survey(
        id=survey_id,
        policy=Policy(epsilon=EPSILON, minimum_crowd=PEOPLE, delta=DELTA),
        questions=(question,),
    )


def world(repeat: int) -> World:
    survey_id = f"words-{repeat}"
    named = np.random.default_rng(repeat).multinomial(PEOPLE, SHARES)
    places = np.array([word_positions(survey_id, QUESTION, word) for word in WORDS])
    positions = np.zeros(QUESTION.size, dtype=np.int64)
    np.add.at(positions, places, named[:, None])
    return World(layout_of(survey(QUESTION, survey_id)), named, positions)


def estimated(true: Counts, noise: float, rng: np.random.Generator) -> Floats:
    """What is estimated for each position; the law of flipping everybody's bits one by one."""
    counts = rng.binomial(true, 1 - noise) + rng.binomial(PEOPLE - true, noise)
    return np.asarray((counts - noise * PEOPLE) / (1 - 2 * noise), dtype=np.float64)


def deviation(noise: float) -> float:
    return math.sqrt(PEOPLE * noise * (1 - noise)) / (1 - 2 * noise)


# --- the ways ------------------------------------------------------------------------------------


def columns(result: WordsEstimate) -> Found:
    return np.array([row.found for row in result.rows]), np.array([r.count for r in result.rows])


def by_krand(noise: float) -> Callable[[World, int], Found]:
    def run(seen: World, repeat: int) -> Found:
        estimates = estimated(seen.positions, noise, np.random.default_rng((repeat, 1)))
        sigma = deviation(noise)
        return columns(decode_words(seen.layout, "word", estimates, sigma, PEOPLE, CANDIDATES))

    return run


def rappor_noise() -> float:
    """f/2 of RAPPOR's permanent randomized response: ε = 2h ln((1 - f/2)/(f/2))."""
    return 1 / (1 + math.exp(EPSILON / (2 * QUESTION.hashes)))


def by_rappor(seen: World, repeat: int) -> Found:
    """Erlingsson, Pihur, Korolova 2014, §4: lasso, least squares, Bonferroni."""
    lasso: Any = importlib.import_module("sklearn.linear_model").Lasso
    noise = rappor_noise()
    values = estimated(seen.positions, noise, np.random.default_rng((repeat, 2)))
    places = [word_positions(seen.layout.survey_id, QUESTION, word) for word in CANDIDATES]
    rows = np.array(places, dtype=np.int32).ravel()
    owner = np.repeat(np.arange(LISTED, dtype=np.int32), QUESTION.hashes)
    design = sparse.csc_matrix((np.ones(rows.size), (rows, owner)), (QUESTION.size, LISTED))
    pull = np.sort(design.T @ (values - values.mean()))[-LASSO_KEEPS] / QUESTION.size
    kept = np.flatnonzero(lasso(alpha=pull, positive=True).fit(design, values).coef_ > 0)
    chosen = np.hstack([design[:, kept].toarray(), np.ones((QUESTION.size, 1))])
    inverse = np.linalg.pinv(chosen.T @ chosen, hermitian=True)
    fitted = (inverse @ (chosen.T @ values))[:-1]
    errors = deviation(noise) * np.sqrt(np.diag(inverse)[:-1])
    found, counts = np.zeros(LISTED, dtype=bool), np.zeros(LISTED)
    found[kept], counts[kept] = fitted / errors > ndtri(1 - RATE / LISTED), fitted
    return found, counts


def answers(seen: World, users: int, repeat: int) -> list[int]:
    """One word of each user, numbered: the list first, then words on no list."""
    number = np.empty(IN_USE, dtype=np.int64)
    number[ON_LIST] = np.arange(len(USED))
    number[~ON_LIST] = LISTED + np.arange(IN_USE - len(USED))
    everybody = np.repeat(number, seen.named)
    chosen: list[int] = np.random.default_rng(repeat).permutation(everybody)[:users].tolist()
    return chosen


def by_olh(size: Size) -> Callable[[World, int], Found]:
    """pure-ldp's optimised local hashing (its fast variant), every user randomized for real."""

    def run(seen: World, repeat: int) -> Found:
        module: Any = importlib.import_module("pure_ldp.frequency_oracles.local_hashing")
        seed_peers(repeat)
        asked = {"use_olh": True, "index_mapper": int}
        server = module.FastLHServer(EPSILON, LISTED, size.olh_hashes, **asked)
        client = module.FastLHClient(EPSILON, LISTED, size.olh_hashes, **asked)
        for answer in answers(seen, size.users, repeat):
            server.aggregate(client.privatise(answer))
        counts = np.array([server.estimate(word) for word in range(LISTED)])
        # Few hash functions add an error that no formula of the package tells: measured, robustly.
        sigma = float(np.median(np.abs(counts - np.median(counts)))) / ndtri(0.75)
        found = adjusted_p_values(ndtr(-(counts - np.median(counts)) / sigma)) <= RATE
        return found, counts * PEOPLE / size.users

    return run


def olh_chances() -> tuple[float, float]:
    """How often a report of OLH supports its own word, and any other word."""
    cells = round(math.exp(EPSILON)) + 1
    return math.exp(EPSILON) / (math.exp(EPSILON) + cells - 1), 1 / cells


def olh_deviation() -> float:
    own, other = olh_chances()
    return math.sqrt(PEOPLE * other * (1 - other)) / (own - other)


def by_ideal_olh(seen: World, repeat: int) -> Found:
    """OLH with a hash function for each user; each word's count is drawn from its law."""
    own, other = olh_chances()
    rng, truth = np.random.default_rng((repeat, 3)), seen.truth
    support = rng.binomial(truth, own) + rng.binomial(PEOPLE - truth, other)
    counts = np.asarray((support - other * PEOPLE) / (own - other), dtype=np.float64)
    return adjusted_p_values(ndtr(-counts / olh_deviation())) <= RATE, counts


def by_pure_rappor(size: Size) -> Callable[[World, int], Found]:
    """pure-ldp's RAPPOR, every user randomized for real; it finds what its lasso keeps."""

    def run(seen: World, repeat: int) -> Found:
        module: Any = importlib.import_module("pure_ldp.frequency_oracles.rappor")
        seed_peers(repeat)
        share, hashes = 2 * rappor_noise(), QUESTION.hashes
        server = module.RAPPORServer(share, FILTER, hashes, LISTED, COHORTS, index_mapper=int)
        functions = server.get_hash_funcs()
        client = module.RAPPORClient(share, FILTER, functions, COHORTS, index_mapper=int)
        for answer in answers(seen, size.users, repeat):
            server.aggregate(client.privatise(answer))
        counts = np.array([server.estimate(word) for word in range(LISTED)])
        return counts > 0, counts * PEOPLE / size.users

    return run


def seed_peers(seed: int) -> None:
    """pure-ldp draws from the generators that all of Python shares."""
    random.seed(seed)
    np.random.seed(seed)


# --- measuring -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Way:
    """A way to collect and decode words."""

    name: str
    sigma: float
    run: Callable[[World, int], Found]
    repeats: int


@dataclass(frozen=True, slots=True)
class Score:
    """What a way achieved in one survey."""

    recall: float
    """Of words at or above the limit."""
    near: float
    """Of words from the limit to half as much again: the hardest of these."""
    found: int
    false: float
    """Share of what was found that nobody named."""
    error: float
    """Root mean square error of the count, in people, of the 100 most frequent listed words."""


def score(seen: World, result: Found, limit: float) -> Score:
    found, counts = result
    truth = seen.truth
    above, near = truth >= limit, (truth >= limit) & (truth < 1.5 * limit)
    top = np.argsort(-truth)[:100]
    return Score(
        float(found[above].mean()),
        float(found[near].mean()),
        int(found.sum()),
        float((truth[found] == 0).mean()) if found.any() else 0.0,
        math.sqrt(float(((counts - truth)[top] ** 2).mean())),
    )


def measured(way: Way, limit: float) -> tuple[list[Score], float]:
    """The scores of all repeats, and seconds for one."""
    scores: list[Score] = []
    start = time.perf_counter()
    for repeat in range(way.repeats):
        progress(f"{way.name}: {repeat + 1} of {way.repeats}")
        seen = world(repeat)
        scores.append(score(seen, way.run(seen, repeat), limit))
    return scores, (time.perf_counter() - start) / way.repeats


def ways(plan: Plan, size: Size) -> list[Way]:
    noise, local = plan.blocks[0].noise, rappor_noise()
    users = "" if size.users == PEOPLE else f" ({size.users:,} users)"
    return [
        Way("krand", deviation(noise), by_krand(noise), size.repeats),
        Way("RAPPOR, its own decoding", deviation(local), by_rappor, size.repeats // 2),
        Way("RAPPOR, krand's decoding", deviation(local), by_krand(local), size.repeats),
        Way("OLH, drawn from its law", olh_deviation(), by_ideal_olh, size.repeats),
        Way(f"pure-ldp, OLH{users}", math.nan, by_olh(size), 1),
        Way(f"pure-ldp, RAPPOR{users}", math.nan, by_pure_rappor(size), 1),
    ]


# --- writing -------------------------------------------------------------------------------------


def percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.1f} %"


def mean(scores: Sequence[Score], name: str) -> float:
    return float(np.mean([getattr(one, name) for one in scores]))


def supposed(question: Words, sigma: float) -> float | None:
    """The limit that the plan tells if words are as frequent as Zipf's law says."""
    expected = SHARES * PEOPLE
    listed, outside = expected[ON_LIST].tolist(), expected[~ON_LIST].tolist()
    return planned_limit(question, sigma, LISTED, listed, outside, RATE)


def number(value: float | None) -> str:
    return "none" if value is None else f"{value:,.0f}"


def size_section() -> str:
    """Why this many positions and hashes."""
    rows = []
    for positions in SIZES:
        for hashes in HASHES:
            question = Words(name="word", size=positions, hashes=hashes)
            plan = make_plan(survey(question, "words"))
            sigma = plan.blocks[0].precision.sigma
            quiet = planned_limit(question, sigma, LISTED, (), (), RATE)
            limits = [number(quiet), number(supposed(question, sigma))]
            chosen = " (chosen)" if question == QUESTION else ""
            rows.append(
                [f"{positions:,} × {hashes}{chosen}", f"{sigma:.1f}", *limits, f"{plan.messages}"]
            )
    names = ["positions × hashes", "σ", "limit, quiet", "limit, these words", "messages a person"]
    return (
        "## Positions and hashes, from the plan alone\n\n"
        + table(names, rows)
        + "\n\nThe limit is the number of people from which on a listed word is found with 95 % "
        "confidence, before any data: *quiet* if nothing else is named, *these words* for the "
        "words of this page. Too few positions are crowded: then chance alone sets all positions "
        "of words that nobody named, and the limit is far above the noise. *None*: no count "
        "suffices, or only one of more than 1,000 σ. The chosen size comes close to the limit that "
        "noise alone allows at a number of messages that a device can send."
    )


def how(plan: Plan, size: Size, quick: bool, missing: list[str]) -> str:
    return conditions(
        "python benchmarks/words.py",
        quick,
        PEERS,
        f"Left out: {'; '.join(missing) or 'nothing'}.",
        f"Words: {PEOPLE:,} people name one word each, of {IN_USE:,} words by Zipf's law with "
        f"exponent {EXPONENT}. Every fourth is on no list; {SHARES[~ON_LIST].sum():.0%} of people "
        f"name one of those. The list has {LISTED:,} words, {LISTED - len(USED):,} of which nobody "
        "names.",
        f"krand: bit linkage, ε = {EPSILON:g}, δ = {DELTA:g}; {QUESTION.size:,} "
        f"positions, {QUESTION.hashes} hashes, q = {plan.blocks[0].noise:.3g}. "
        f"{if_they_collude(plan.promise.local_epsilon)}.",
        f"RAPPOR: the same positions and hashes, permanent randomized response with ε = "
        f"{EPSILON:g} for each report (f/2 = {rappor_noise():.4f}); the lasso keeps at most about "
        f"{LASSO_KEEPS} words, then least squares and Bonferroni at {RATE:.0%}.",
        f"pure-ldp really randomizes {size.users:,} users one by one, once: OLH (its fast "
        f"variant, {size.olh_hashes:,} hash functions; the package has no rule for what is found, "
        f"so Benjamini and Hochberg's at {RATE:.0%} with the spread of its own estimates) and "
        f"RAPPOR ({COHORTS} cohorts of {FILTER} bits; found is what its lasso keeps).",
        "The other ways' counts are drawn from the exact law that randomizing every report has. "
        "Averages over surveys, each with hashes of its own.",
    )


def row(way: Way, scores: list[Score], seconds: float) -> list[str]:
    return [
        way.name,
        "–" if math.isnan(way.sigma) else f"{way.sigma:,.1f}",
        str(way.repeats),
        percent(mean(scores, "recall")),
        percent(mean(scores, "near")),
        f"{mean(scores, 'found'):,.0f}",
        percent(mean(scores, "false")),
        f"{mean(scores, 'error'):,.0f}",
        f"{seconds:.1f} s",
    ]


def report(size: Size, quick: bool) -> str:
    plan = make_plan(survey(QUESTION, "words"))
    limit = supposed(QUESTION, plan.blocks[0].precision.sigma)
    assert limit is not None
    rows, missing, scores = [], [], {}
    for way in ways(plan, size):
        try:
            scores[way.name], seconds = measured(way, limit)
        except (ImportError, TypeError) as error:  # TypeError: pure-ldp with a later xxhash
            missing.append(f"{way.name} ({error})")
        else:
            rows.append(row(way, scores[way.name], seconds))
    recall, false = mean(scores["krand"], "recall"), mean(scores["krand"], "false")
    spread = float(np.std([one.false for one in scores["krand"]])) / math.sqrt(size.repeats)
    names = ["way", "σ of a count", "surveys", f"found of ≥ {limit:,.0f}", "of the hardest"]
    names += ["found", "of these false", "error, top 100", "time"]
    verdicts = [
        ["words at or above the limit found", "≥ 95 %", percent(recall), verdict(recall >= 0.95)],
        ["false discoveries", "≤ 5 %", f"{percent(false)} ± {100 * spread:.1f}",
         verdict(false <= RATE)],
    ]  # fmt: skip
    sections = [
        "# Free words against a list of candidates",
        "<!-- Written by benchmarks/words.py; do not edit. -->",
        how(plan, size, quick, missing),
        f"## Goals, for the limit of {limit:,.0f} people that the plan told before any data",
        table(["goal", "wanted", "seen", ""], verdicts),
        f"## Side by side at ε = {EPSILON:g}",
        table(names, rows),
        NOTES,
        size_section(),
    ]
    return "\n\n".join(sections) + "\n"


NOTES = (
    "*The hardest* are words from the limit to half as much again. *Error* is the root mean square "
    "error of the estimated counts, in people. A discovery is false if nobody named the word. "
    "The ε of krand is that of the shuffled survey, the ε of the others that of each report alone: "
    "they need no shuffler, and pay for it with this much noise. *Time* is for one survey, hashing "
    "included, on one core."
)


if __name__ == "__main__":
    run_benchmark(__doc__, RESULTS, lambda quick: report(QUICK if quick else FULL, quick))
