"""A survey with noise of devices and mixers: from its file to results, every message sealed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from krand.analysis.results import make_results
from krand.analysis.tally_checks import tally_checks
from krand.analysis.tallying import tally_batches
from krand.analysis.verification.results import results_checks
from krand.client.client import Client
from krand.mixing.keys import MixerKeys
from krand.mixing.mixer import MixOptions, mix_batch, sign_checked_plan
from krand.mixing.store import MixerStore, create_store
from krand.planning.making import make_plan
from krand.survey.limits import CrowdTooSmall
from krand.survey.plan_file import parse_plan
from krand.survey.reading import parse_survey
from krand.testing import FakeCollector, UnsafeMemoryLedger
from mixed_plans import chain_for
from survey_texts import question_text, survey_text

SURVEY = survey_text(
    "both",
    question_text("smokes", "yes_no"),
    question_text("pet", "choice", choices=["cat", "dog", "none"]),
    epsilon=8,
    delta=0.001,
    minimum_crowd=60,
    trust={"noise": "both", "mixers": 2},
)


@pytest.mark.parametrize("people", [20, 80])
def test_a_survey_with_both_is_collected_mixed_and_estimated(people: int, tmp_path: Path) -> None:
    """Two mixers sign and mix; below the crowd that flips need nothing is released."""
    chain = chain_for(make_plan(parse_survey(SURVEY)))
    plan = parse_plan(chain.plan.bytes)
    for hop, identity in enumerate(chain.identities, 1):
        keys = MixerKeys(identity, dict(enumerate(chain.keys.get(hop, ()), 1)))
        create_store(tmp_path / f"store-{hop}", f"mixer {hop}", keys)
    signatures = []
    for hop in (1, 2):
        with MixerStore(tmp_path / f"store-{hop}") as store:
            signatures.append(sign_checked_plan(store, plan))
    collector = FakeCollector(plan)
    for number in range(people):
        client = Client(
            plan,
            UnsafeMemoryLedger(),
            expected_hash=plan.hash,
            signatures=signatures,
            transport=collector,
        )
        client.submit(collector.url, {"smokes": number % 2 == 0, "pet": "dog"})
    with MixerStore(tmp_path / "store-1") as store:
        if people < 60:
            with pytest.raises(CrowdTooSmall):
                collector.release(tmp_path / "1", store)
            return
        first = collector.release(tmp_path / "1", store)
    with MixerStore(tmp_path / "store-2") as store:
        signed = first.with_suffix(".chain.json")
        last = mix_batch(store, plan, first, signed, tmp_path / "2", MixOptions(workers=1))
    tally = tally_batches(plan, [last.data], chain.analyst)
    assert [entry.says for entry in tally_checks(plan, tally) if entry.state == "failed"] == []
    results = make_results(plan, tally)
    assert (results.people, results.kept) == (people, True)
    assert results.flips is not None
    smokes, pet = results.questions
    assert abs(smokes.rows[0].count - people / 2) < 6 * smokes.rows[0].standard_error
    assert abs(pet.rows[1].count - people) < 6 * pet.rows[1].standard_error
    values = json.loads(json.dumps(results.values()))
    checks, _ = results_checks(values, "results.json", plan)
    assert [entry.says for entry in checks if entry.state == "failed"] == []
