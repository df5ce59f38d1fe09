"""What the privacy engine is told about a whole record: which answers are possible at all.

Every question may be left unanswered, so a choice is "at most one of C", never "exactly one": the
engine's ExactlyOne would promise too much here.
"""

from __future__ import annotations

from krand.promise import AtMost, FreeBits, Linkage, ResponseFormat
from krand.survey.layout import Block, Layout
from krand.survey.survey import Survey

__all__ = ["record_blocks", "record_reports"]


def record_blocks(layout: Layout) -> tuple[FreeBits | AtMost, ...]:
    """The structure of one record; bits that can take any value are put into one block."""
    free = sum(block.positions for block in layout.blocks if _is_free(block))
    sparse = tuple(
        AtMost(block.most_ones, block.positions) for block in layout.blocks if not _is_free(block)
    )
    return (FreeBits(free), *sparse) if free else sparse


def record_reports(survey: Survey, layout: Layout) -> ResponseFormat:
    """What one person sends if all bits travel together, as the planner of noise asks for it."""
    return ResponseFormat(
        layout.positions,
        Linkage.RECORD,
        survey.copies,
        rounds=survey.rounds,
        structure=record_blocks(layout),
    )


def _is_free(block: Block) -> bool:
    return block.most_ones == block.positions
