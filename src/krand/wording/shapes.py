"""What is said about responses: tokens, which travel apart, or whole records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from krand.batches.provenance import Provenance
from krand.promise import Linkage
from krand.wording.mechanisms import words_of

if TYPE_CHECKING:
    from krand.analysis.results import Results
    from krand.survey.survey import Survey
    from krand.wording.texts import Texts


class ShapeWords(ABC):
    """The sentences in which responses differ."""

    reported: str
    """What was handed on, after a number."""
    counted: str
    """What was counted, after a number."""

    @abstractmethod
    def method(self, survey: Survey) -> str:
        """What a comparison calls a survey with such responses."""

    @abstractmethod
    def travelled(self, results: Results, texts: Texts) -> str:
        """What left each person's device, or the data holder, and in which form."""


class TokensWords(ShapeWords):
    """Every position that is reported travels by itself."""

    reported = "positions reported as 1"
    counted = "tokens"

    def method(self, survey: Survey) -> str:
        return words_of(survey.trust.noise).source(survey.trust.mixers)

    def travelled(self, results: Results, texts: Texts) -> str:
        own, each = texts.tokens, results.plan.messages
        if results.provenance is Provenance.TABLE:
            return own.bits_of_a_table
        simulated = results.provenance is Provenance.SIMULATION
        said = own.messages_simulation if simulated else own.messages
        return said.of(each).format(number=texts.numbers.whole(each))


class RecordsWords(ShapeWords):
    """All bits of a person travel together."""

    reported = "noisy records"
    counted = "set bits"

    def method(self, survey: Survey) -> str:
        return records_name(survey.copies)

    def travelled(self, results: Results, texts: Texts) -> str:
        own, whole, copies = texts.records, texts.numbers.whole, results.plan.survey.copies
        sent = own.copies.of(copies).format(number=whole(copies))
        bits = whole(results.plan.layout.positions)
        said = own.records[results.provenance].format(copies=sent, bits=bits)
        return " ".join((said, own.whole, own.averaged) if copies > 1 else (said, own.whole))


def records_name(copies: int) -> str:
    """What copies of whole records are called."""
    return f"records, k = {copies:,}"


_WORDS: dict[Linkage, ShapeWords] = {Linkage.BIT: TokensWords(), Linkage.RECORD: RecordsWords()}


def shape_words(survey: Survey) -> ShapeWords:
    """What is said about the responses of a survey."""
    return _WORDS[survey.shape.linkage]
