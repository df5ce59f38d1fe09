"""A user's program with every public name: `mypy --strict` must accept it (see test_api)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

import krand


def noise(crowd: int) -> tuple[float, float]:
    """From a promise to the noise, and back."""
    policy: krand.Policy = krand.Policy(epsilon=1.0, minimum_crowd=crowd, delta=1e-4)
    responses = krand.ResponseFormat(bits=4, linkage=krand.Linkage.BIT)
    plan: krand.NoisePlan = krand.plan_noise(policy, responses)
    kept: krand.Promise = krand.assess(responses, plan.noise, crowd, policy.epsilon)
    return kept.delta, plan.precision.sigma


def plan_of(path: str) -> krand.Plan:
    """From a survey to its plan, by way of files."""
    survey: krand.Survey = krand.read_survey(path)
    assert krand.parse_survey(krand.testing.SMALL_SURVEY) != survey
    assert len(krand.simulation.simulated_people(survey, 2, seed=1)) == 2
    key = krand.read_private_key("key.pem").public_key().public_bytes_raw().hex()
    collector = krand.Mixer(name="town", identity="5a" * 32, url="https://town.example")
    analyst = krand.Analyst(key=key, identity="5b" * 32)
    plan = krand.make_plan(survey).with_parties((collector,), analyst)
    assert krand.promise_of(plan).delta <= survey.policy.asked
    plan.save("plan.json")
    return krand.read_plan("plan.json")


def own_survey(policy: krand.Policy) -> krand.Survey:
    """A survey without a file, and one from another tool's."""
    pet = krand.Choice(name="pet", choices=krand.Choices(("cat", "dog", "none")))
    tools = krand.PickAny(name="tools", choices=pet.choices, at_most=2)
    survey = krand.Survey(
        id="habits",
        policy=policy,
        questions=(
            krand.YesNo(name="smokes"),
            pet,
            tools,
            krand.Number(name="age", edges=(0, 18, 65), open="above"),
            krand.Scale(name="pay", lowest=1, highest=5),
            krand.Words(name="browser", size=1024, hashes=2),
        ),
        together=(krand.Together(questions=("smokes", "pet")),),
        trust=krand.Trust(noise=krand.Trust().noise),
        title="Habits",
        translations=(krand.Translation(language="fr", texts={"title": "Habitudes"}),),
        schedule=krand.Schedule(every="week", starts=date(2027, 1, 4)),
    )
    imported: krand.ImportedSurvey = krand.import_survey("form.xlsx", epsilon=2.0)
    imported.save("survey.toml", overwrite=True)
    lost = [f"{remark.place}: {remark.said}" for remark in imported.left_out]
    values: dict[str, object] = {"id": "habits", "question": [{"name": "a", "type": "yes_no"}]}
    return survey if lost else krand.Survey.from_values(values)


def take_part(plan: krand.Plan, url: str, answers: Mapping[str, object]) -> bool:
    """On a device."""
    signed: list[krand.PlanSignature] = [*krand.read_signatures("signatures.json")]
    ledger = krand.Ledger("ledger")
    client = krand.Client(plan, ledger, expected_hash="5a" * 32, signatures=signed)
    try:
        client.submit(answers)
    except krand.KrandError as error:
        return error.exit_code != 75
    return True


def collect(plan: krand.Plan, everybody: Iterable[Mapping[str, object]]) -> krand.Tally:
    """With a collector that is none."""
    chain = krand.testing.FakeChain(plan)
    for answers in everybody:
        ledger, collector = krand.testing.UnsafeMemoryLedger(), chain.collector
        client = krand.Client.open(chain.url, chain.plan.hash, ledger, transport=collector)
        client.submit(answers)
    return krand.tally_batches(chain.plan, [chain.release(".")], chain.key)


def results(plan: krand.Plan, table: object) -> krand.Results:
    """From a table to a report."""
    noisy = krand.randomize_table(plan, table, "responses.parquet", skip_bad_rows=True)
    assert len(noisy.to_pandas()) == len(noisy.to_polars()) == noisy.to_arrow().num_rows
    options = krand.ResultsOptions(confidence=0.9, sample_of="everybody")
    found = krand.make_results(plan, krand.tally_responses(plan, ["responses.parquet"]), options)
    found.save("results.csv")
    found.to_csv("estimates.csv")
    assert len(found.to_pandas()) == len(found.to_polars()) == found.to_arrow().num_rows
    found.save("results.json")
    krand.save_report(found, "report.html")
    earlier = krand.read_results("results.json")
    (change,) = krand.compare_results([earlier, found]).questions["pet"]
    largest = max(row.difference for row in change.differences)
    trend: krand.Trend = krand.make_trend([earlier, found])
    trend.save("trend.html")
    return earlier if largest > 0 else found


def count(plan: krand.Plan, batch: str) -> int:
    """An analyst who loads keys."""
    key = krand.read_private_key("key.pem", b"a long passphrase")
    assert krand.generate_private_key() != key
    tally = krand.tally_batches(plan, [batch], key)
    tally.save("tally.json")
    return krand.read_tally("tally.json").people


def sent(plan: krand.Plan, answers: dict[str, object]) -> str:
    """A device without a page of its own, and what its caller may be told."""
    krand.save_form(plan, "form", krand.read_signatures("signatures.json"), overwrite=True)
    try:
        client = krand.Client.open(plan.mixers[0].url, plan.hash, krand.Ledger("ledger"))
        assert client.submit(answers) == 1
    except (krand.AlreadySubmitted, krand.CampaignSpent, krand.UsedInvitation) as error:
        return error.rule
    except (krand.SurveyErrors, krand.BadRows, krand.AlreadyRandomized) as error:
        return error.field
    except (krand.CrowdTooSmall, krand.Exists, krand.Unwritable, krand.InvalidInput) as error:
        return error.hint
    except krand.CannotMeet as error:
        return error.reason
    except (krand.NotDelivered, krand.StoreUnavailable, krand.Unavailable):
        return "later"
    except (krand.MissingComponent, krand.NoEntropy, krand.InternalError) as error:
        return str(error)
    return str([found.state for found in krand.verify_files(["results.json"], plan)])


VERSION: str = krand.__version__
