"""How answers were collected, and what no file can show about it; both depend on the provenance."""

from __future__ import annotations

from krand.analysis.results import Results
from krand.batches.provenance import Provenance
from krand.report.languages import Language
from krand.report.promise import Named
from krand.wording.mechanisms import words_of
from krand.wording.provenance import declared
from krand.wording.shapes import shape_words

__all__ = ["nobody_can_check", "noise", "travelled"]


def travelled(results: Results, language: Language) -> Named:
    """What left each person's device, or the data holder, and in which form."""
    own, table = language.texts.collected, results.provenance is Provenance.TABLE
    text = shape_words(results.plan.survey).travelled(results, language.shared)
    return Named(own.handed_on if table else own.sent, text)


def noise(results: Results, language: Language) -> Named:
    """How often bits were flipped, or how many dummies were added."""
    said = words_of(results.plan.mechanism).noise(results, language.shared)
    return Named(language.texts.collected.noise, said)


def nobody_can_check(results: Results, language: Language) -> str:
    """What nobody can check and somebody has to be trusted with; empty for devices."""
    own = language.texts.verify
    if results.provenance is Provenance.DEVICES:
        return ""
    if results.provenance is Provenance.SIMULATION:
        return own.simulation
    said = declared(results.distinct_people, len(results.ids), language.shared)
    return " ".join((own.data_holder, *said))
