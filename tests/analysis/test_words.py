"""Words decoded: what is found, how often that is wrong, counts, and what cannot be known."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import estimates
import krand
from coverage_table import Case, Table, Trial
from draws import Draws
from effort import EFFORT
from krand.testing import MIXED_SURVEY

PEOPLE = 30_000
LISTED = tuple(f"listed {number}" for number in range(120))
UNKNOWN = tuple(f"unknown {number}" for number in range(80))
CASE = Case("mixer", PEOPLE)


@cache
def draws(positions: int = 1024, hashes: int = 2) -> Draws:
    """One person for each word."""
    head, _, _ = MIXED_SURVEY.replace("mixers = 2", "mixers = 1").partition("[[question]]")
    question = f'name = "town"\ntype = "words"\npositions = {positions}\nhashes = {hashes}\n'
    plan = krand.make_plan(krand.parse_survey(f"{head}[[question]]\n{question}"))
    return Draws(plan, tuple({"town": [word]} for word in (*LISTED, *UNKNOWN)))


def places_of(word: str, made: Draws) -> NDArray[np.int64]:
    return np.flatnonzero(made.ones[(*LISTED, *UNKNOWN).index(word)])


def decoded(
    named: Mapping[str, int], seed: int, listed: Any = LISTED, made: Draws | None = None
) -> tuple[krand.Results, krand.Tally]:
    """Of people who name one word each, so many as is said; the others name none."""
    made = made or draws()
    kinds = [*(named.get(word, 0) for word in (*LISTED, *UNKNOWN)), PEOPLE - sum(named.values())]
    everybody = Draws(made.plan, (*made.answers, {}))
    everybody.__dict__["ones"] = np.vstack([made.ones, np.zeros(made.ones.shape[1], np.int64)])
    tally = everybody.tally(kinds, np.random.default_rng(seed))
    return krand.make_results(
        made.plan, tally, krand.ResultsOptions(candidates={"town": listed})
    ), tally


def chosen(seed: int, many: int, unknown: int = 0) -> dict[str, int]:
    """Some words of the list and some that are on none, a few of them very popular."""
    random = np.random.default_rng([seed, 5])
    words = [
        *random.choice(LISTED, many, replace=False),
        *random.choice(UNKNOWN, unknown, replace=False),
    ]
    random.shuffle(words)
    return {str(word): 2_000 // rank for rank, word in enumerate(words, 1)}


def test_chances_are_those_of_a_random_position_of_each_table() -> None:
    """How many positions of each half count as much as the least of the word's; and the rule of
    Benjamini and Hochberg, as scipy has it."""
    results, tally = decoded(chosen(1, 20, 20), 1)
    rows, (first, second) = estimates.words(results, "town"), np.split(tally.counts, 2)
    for word in LISTED[:40]:
        least = tally.counts[places_of(word, draws())].min()
        chance = np.mean(first >= least) * np.mean(second >= least)
        assert rows[word].p_value == pytest.approx(chance), word
    adjusted = stats.false_discovery_control([rows[word].p_value for word in LISTED])
    assert [rows[word].adjusted for word in LISTED] == pytest.approx(adjusted)
    assert all(rows[word].found == (rows[word].adjusted <= 0.05) for word in LISTED)


@pytest.mark.parametrize(("many", "unknown"), [(0, 0), (0, 60), (40, 0), (40, 60)])
def test_what_is_found_was_named_and_counts_hold(many: int, unknown: int) -> None:
    """With popular words on no list, or none named at all: at most 5 % of findings are false."""
    table = Table()
    for seed in range(10 * EFFORT):
        named = chosen(seed, many, unknown)
        rows = estimates.words(decoded(named, seed)[0], "town")
        false = [row.word not in named for row in rows.values() if row.found]
        table.add(
            "found", CASE, [Trial("town", not each) for each in false] or [Trial("town", True)]
        )
        known = [row for row in rows.values() if row.standard_error is not None]
        held = [
            Trial("town", row.low - 1e-9 <= named.get(row.word, 0) <= row.high + 1e-9)
            for row in known
            if not row.same_positions
        ]
        table.add("counted", CASE, held)
        assert all(0 <= row.low <= row.count <= row.high <= PEOPLE for row in known)
        assert {word for word in named if word in rows and named[word] >= 500} <= {
            row.word for row in rows.values() if row.found
        }
    table.check()


def test_a_word_at_the_reported_limit_is_found() -> None:
    """As surely as the limit says: it holds for a word that is added to the same survey."""
    table = Table()
    for seed in range(8 * EFFORT):
        named = chosen(seed, 20, 20)
        absent = next(word for word in LISTED if word not in named)
        limit = decoded(named, seed)[0].words[0].detection_limit
        assert limit is not None
        found = decoded({**named, absent: int(np.ceil(limit))}, seed + 1_000)[0]
        table.add("limit", CASE, [Trial("town", estimates.words(found, "town")[absent].found)])
    table.check()


def test_a_popular_unknown_word_is_nobody_elses() -> None:
    """It shares one position with a candidate: that one is not found, and if it is, not swollen."""
    made = draws()
    pairs = ((a, b) for a in LISTED for b in UNKNOWN)
    ours, other = next(
        (a, b) for a, b in pairs if len({*places_of(a, made)} & {*places_of(b, made)}) == 1
    )
    row = estimates.words(decoded({other: 15_000}, 7)[0], "town")[ours]
    assert not row.found
    assert abs(row.unclipped) < 5 * row.standard_error
    row = estimates.words(decoded({other: 15_000, ours: 700}, 7)[0], "town")[ours]
    assert row.found
    assert abs(row.unclipped - 700) < 5 * row.standard_error


def test_what_the_list_does_not_explain_is_told() -> None:
    """The total counts every word; what is unexplained is what unknown words were named."""
    found = decoded(dict.fromkeys(LISTED[:10], 500) | {UNKNOWN[0]: 8_000}, 2)[0].words[0]
    assert abs(found.named - 13_000) < 5 * found.named_error
    assert abs(found.unexplained - 8_000) < 5 * found.named_error
    assert {row.word for row in found.found} >= set(LISTED[:10])


def test_with_few_positions_words_cannot_all_be_told_apart() -> None:
    """Those with the same positions are one finding; four in a circle have no known count."""
    made = draws(64)
    by_places: dict[tuple[int, ...], list[str]] = {}
    for word in LISTED:
        by_places.setdefault(tuple(places_of(word, made)), []).append(word)
    first, second = next(words[:2] for words in by_places.values() if len(words) > 1)
    rows = estimates.words(decoded({first: 9_000}, 1, [first, second], made)[0], "town")
    assert (rows[first].same_positions, rows[second].same_positions) == ((second,), (first,))
    assert (rows[first].count, rows[first].found) == (rows[second].count, rows[second].found)
    circles = (
        [by_places[pair][0] for pair in ((a, c), (a, d), (b, c), (b, d))]
        for (a, c), (b, d) in combinations(sorted(by_places), 2)
        if a != b and c != d and {(a, d), (b, c)} <= by_places.keys()
    )
    circle = next(circles)
    rows = estimates.words(decoded(dict.fromkeys(circle, 5_000), 3, circle, made)[0], "town")
    assert [(row.found, row.standard_error) for row in rows.values()] == [(True, None)] * 4


def test_one_hash_and_many_candidates_find_nothing() -> None:
    """Every finding could be chance, and the limit says so."""
    found = decoded({LISTED[0]: 20_000}, 1, LISTED, draws(64, 1))[0].words[0]
    assert (found.found, found.detection_limit) == ((), None)


def test_spellings_of_one_word_are_one_candidate() -> None:
    """What the encoder takes for one word is one row, spelled as most are; others are counted."""
    listed = ["zürich", "Zürich", " ZÜRICH", "Zu\u0308rich ", "BERN", "Bern", "\ufdfa" * 1000]
    (found,) = decoded({}, 4, listed)[0].words
    assert [row.word for row in found.rows][:2] == ["Zürich", "BERN"]  # of equals the first
    assert (found.merged, len(found.rows)) == (4, 3)
