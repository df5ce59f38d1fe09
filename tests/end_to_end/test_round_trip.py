"""Random surveys, random answers, the whole way: encode, report, seal, open, decode."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from krand.client.randomizer import payloads
from krand.promise import Linkage
from krand.randomness.generator import secure_random
from krand.survey.encoding import encode, level_of, levels_at
from krand.survey.kinds.words import word_positions
from krand.survey.layout import Block, Layout
from krand.survey.plan import Plan
from krand.survey.plan_file import parse_plan
from krand.survey.questions import Kind
from krand.survey.survey import Survey
from krand.wire.layers import Opened
from plans import plan_with_noise
from seals import opened_in_lanes, sealed_in_lanes
from survey.drawing import answers, surveys

SLOW = [HealthCheck.too_slow]
KEY = X25519PrivateKey.generate()
LEAST_NOISE = 1
"""q = 2^-32: a flip in all these tests together comes up once in some hundred thousand runs."""


def linked(survey: Survey, copies: int) -> Survey:
    """The same questions as whole records, which have no groups and no weights."""
    alike = tuple(replace(question, weight=1.0) for question in survey.questions)
    return replace(survey, questions=alike, together=(), linkage=Linkage.RECORD, copies=copies)


def sent(plan: Plan, person: dict[str, object]) -> Opened:
    """A person's messages as the analyst opens them; both know the plan from its file."""
    plan = parse_plan(plan.sealed_for(KEY.public_key()).bytes)
    made = payloads(plan, encode(plan.layout, person), secure_random())
    opened = opened_in_lanes(plan, KEY, sealed_in_lanes(plan, made))
    assert opened.messages == plan.messages
    assert not opened.rejected
    return opened


def told(layout: Layout, block: Block, positions: set[int]) -> list[dict[str, str | None]]:
    """What the positions of a block say."""
    return [levels_at(layout, p) for p in sorted(positions) if p in layout.positions_of(block)]


def meant(block: Block, person: dict[str, object]) -> list[dict[str, str | None]]:
    """What the answers to a block's questions say; a "no" that is not counted says nothing."""
    if block.kind is Kind.PICK_ANY:
        picked = set(person.get(block.name) or ())
        (question,) = block.questions
        return [{block.name: choice} for choice in question.choices if choice in picked]
    levels = {q: level_of(q, person.get(q.name)) for q in block.levels}
    if block.kind is Kind.YES_NO and block.positions == 1 and levels[block.levels[0]] == 1:
        return []
    names = {q.name: None if k is None else q.level_name(k) for q, k in levels.items()}
    return [names] if any(names.values()) else []


def check_decoded(layout: Layout, positions: set[int], person: dict[str, object]) -> None:
    """Every answer is found again, and nothing else; words by asking for candidates."""
    for block in layout.blocks:
        if block.kind is not Kind.WORDS:
            assert told(layout, block, positions) == meant(block, person)
            continue
        given = person.get(block.name) or ()
        words = [given] if isinstance(given, str) else list(given)
        (question,) = block.questions
        assert positions & set(layout.positions_of(block)) == {
            block.offset + place
            for word in words
            for place in word_positions(layout.survey_id, question, word)
        }


@pytest.mark.check
@settings(max_examples=100, suppress_health_check=SLOW)
@given(st.data())
def test_answers_arrive_as_tokens(data: st.DataObject) -> None:
    """Each position that the answers set arrives once, and tells the answers again."""
    survey = data.draw(surveys())
    person = data.draw(answers(survey))
    plan = plan_with_noise(survey, LEAST_NOISE)
    opened = sent(plan, person)
    positions = set(opened.positions.tolist())
    assert len(positions) == len(opened.positions)
    assert positions == set(encode(plan.layout, person))
    check_decoded(plan.layout, positions, person)


@settings(max_examples=100, suppress_health_check=SLOW)
@given(st.data())
def test_answers_arrive_as_records(data: st.DataObject) -> None:
    """Each copy of the record holds all answers, and its padding nothing."""
    survey = linked(data.draw(surveys()), data.draw(st.integers(1, 3)))
    person = data.draw(answers(survey))
    plan = plan_with_noise(survey, LEAST_NOISE)
    opened = sent(plan, person)
    assert len(opened.vectors) == survey.copies
    for row in opened.vectors:
        check_decoded(plan.layout, set(np.flatnonzero(np.unpackbits(row)).tolist()), person)
