"""[trust] in survey files: who adds the noise, and what goes with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from krand.survey import mechanisms
from krand.survey.document import document_of, survey_of
from krand.survey.reading import SurveyErrors, parse_survey
from krand.survey.survey import Trust

HEAD = 'id = "s"\n[policy]\nepsilon = 1\ndelta = 1e-6\n'
CROWD = "minimum_crowd = 1000\n"
YES = '[[question]]\nname = "a"\ntype = "yes_no"\n'
MIXERS = '[trust]\nnoise = "mixers"\n'


def test_a_survey_without_trust_has_devices_noise() -> None:
    """One collector, and a crowd: the file need not say so."""
    plain = parse_survey(HEAD + CROWD + YES)
    assert plain.trust == Trust()
    assert parse_survey(HEAD + CROWD + YES + "[trust]\n") == plain
    assert parse_survey(HEAD + CROWD + YES + '[trust]\nnoise = "devices"\n') == plain


def test_mixers_need_no_crowd() -> None:
    """Two people, of whom none is counted on to collude; what is written is kept."""
    survey = parse_survey(HEAD + YES + MIXERS + "mixers = 3\n")
    assert survey.trust == Trust(noise=mechanisms.MIXERS, mixers=3)
    assert (survey.policy.minimum_crowd, survey.policy.colluding) == (2, 0)
    assert survey_of(document_of(survey)) == survey
    named = parse_survey(HEAD + CROWD + "colluding = 7\n" + YES + MIXERS)
    assert (named.policy.minimum_crowd, named.policy.colluding) == (1000, 7)
    crowd = parse_survey(HEAD + CROWD + YES + MIXERS)
    assert (crowd.policy.minimum_crowd, crowd.policy.colluding) == (1000, 0)


WRONG = [
    (HEAD + YES, "policy.minimum_crowd", 2, "must be given", "100000"),
    (
        HEAD + CROWD + YES + '[trust]\nnoise = "none"\n',
        "trust.noise",
        10,
        '"devices", "mixers"',
        "",
    ),
    (HEAD + YES + MIXERS + "mixers = 0\n", "trust.mixers", 10, "at least 1", "mixers = 3"),
    (HEAD + YES + MIXERS + "mixers = 9\n", "trust.mixers", 10, "at most 8", "mixers = 3"),
    *(
        (HEAD + YES + MIXERS + f"mixers = 3\nanalyst_runs = {places}\n", path, 11, rule, "[1]")
        for places, path, rule in (
            ("[4]", "trust.analyst_runs", "from 1 to 3"),
            ("[2, 1]", "trust.analyst_runs", "ascending"),
            ("[1, 1]", "trust.analyst_runs", "different"),
            ("[0]", "trust.analyst_runs[0]", "at least 1"),
            ('["1"]', "trust.analyst_runs[0]", "whole number"),
            ("1", "trust.analyst_runs", "a list"),
        )
    ),
    (HEAD + YES + MIXERS + "mixer = 2\n", "trust.mixer", 10, "not a key", "mixers?"),
    (HEAD + CROWD + YES + "[trust]\nmixers = 2\n", "trust.mixers", 10, "must be 1", 'noise = "mix'),
    ('linkage = "record"\n' + HEAD + YES + MIXERS, "trust.noise", 10, "all records", "together"),
    (
        HEAD + "max_local_epsilon = 3\n" + YES + MIXERS,
        "policy.max_local_epsilon",
        5,
        "ε₀",
        "devices",
    ),
    (HEAD + "colluding = 1\n" + YES + MIXERS, "policy.colluding", 5, "at least 2", "however many"),
]
"""File, path, line, and words of rule and hint."""


@pytest.mark.parametrize(("text", "path", "line", "rule", "hint"), WRONG)
def test_what_does_not_go_together_is_told(
    text: str, path: str, line: int, rule: str, hint: str
) -> None:
    """One problem each, at its line."""
    with pytest.raises(SurveyErrors) as caught:
        parse_survey(text)
    (problem,) = caught.value.problems
    assert (problem.path, problem.line) == (path, line)
    assert rule in problem.rule
    assert hint in problem.hint


def test_an_analyst_who_also_collects_keeps_the_mixers_it_runs() -> None:
    """Nothing that the survey says about one hand is forgotten."""
    trust = Trust(noise="mixers", mixers=3)
    assert trust.with_analyst_as_collector().analyst_runs == (1,)
    runs = replace(trust, analyst_runs=(1, 3)).with_analyst_as_collector()
    assert (runs.analyst_runs, runs.in_one_hand) == ((1, 3), False)
    assert replace(trust, analyst_runs=(2, 3)).with_analyst_as_collector().in_one_hand
