"""Which variants of slow tests the suite leaves to `make long`.

The files below try one statement for many parameters, and take long for each. The suite tries every
third of them, the first one included; KRAND_LONG=1 tries all. Pages of the documentation that take
long or that no newcomer begins with, the gallery (which a test of its own runs) and the drafts'
pictures are left to `make long` as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

__all__ = ["beyond_the_sample"]

EVERY = 3
SAMPLED = (
    "accounting/test_bits.py",
    "accounting/test_blanket.py",
    "accounting/test_composition.py",
    "accounting/test_coupling.py",
    "accounting/test_density.py",
    "accounting/test_division.py",
    "accounting/test_dummies.py",
    "accounting/test_frontier.py",
    "accounting/test_independent.py",
    "accounting/test_mechanism.py",
    "accounting/test_planner.py",
    "accounting/test_ratio.py",
    "accounting/test_small_crowds.py",
    "analysis/engines/test_engines.py",
    "analysis/engines/test_resuming.py",
    "analysis/test_both.py",
    "analysis/test_conditional.py",
    "analysis/test_counting.py",
    "analysis/test_mixed_questions.py",
    "analysis/test_words_decoding.py",
    "attacks/test_copied_folder.py",
    "attacks/test_mixers.py",
    "attacks/test_pipelines.py",
    "browser/test_every_page.py",
    "cli/test_hostile_parquet.py",
    "cli/test_mix_bad_input.py",
    "cli/test_verify_command.py",
    "collector/test_kills_at_writes.py",
    "collector/test_order.py",
    "docs/test_explanation_numbers.py",
    "end_to_end/test_collector.py",
    "end_to_end/test_messages_say_nothing.py",
    "end_to_end/test_mixed_analysis.py",
    "mixing/test_watching.py",
    "oracles/test_dp_accounting.py",
    "oracles/test_dummies.py",
    "planning/test_making.py",
    "randomness/test_flips.py",
    "randomness/test_shuffling.py",
    "randomness/test_sparse.py",
    "report/test_languages.py",
    "tables/test_randomizing.py",
    "lab/tests/statements/test_counts.py",
    "lab/tests/statements/test_equations.py",
    "lab/tests/statements/test_ratios_of_sums.py",
    "lab/tests/test_simulation.py",
)
LONG_FILE = "lab/tests/reproduction/test_pictures.py"
LONG_PAGES = (
    "docs/gallery",
    "docs/howto/audit",
    "docs/howto/count-and-estimate",
    "docs/howto/link-whole-records",
    "docs/howto/plan-in-a-browser",
    "docs/howto/publish-results",
    "docs/howto/spark-and-dask",
    "docs/howto/write-a-survey",
    "docs/index",  # README has the same commands
    "docs/tutorial/organiser",
    "docs/tutorial/researcher",
    "docs/tutorial/telemetry",
)
LONG_RUNS = tuple(f"test_a_page_runs_from_top_to_bottom[{page}]" for page in LONG_PAGES)


def beyond_the_sample(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """What is left out."""
    seen: Counter[str] = Counter()
    found = []
    for item in items:
        file, _, test = item.nodeid.partition("::")
        if file.endswith(LONG_FILE) or test in LONG_RUNS:
            found.append(item)
        elif file.endswith(SAMPLED) and "[" in test:
            name = item.nodeid.partition("[")[0]
            if seen[name] % EVERY:
                found.append(item)
            seen[name] += 1
    return found
