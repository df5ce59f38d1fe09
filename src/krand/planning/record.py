"""The structure of a whole record for the accounting: which answers are possible.

Every question may be left unanswered, so a choice is "at most one of C", never "exactly one":
ExactlyOne would promise too much here.
"""

from __future__ import annotations

from krand.promise import AtMost, FreeBits, Linkage, ResponseFormat
from krand.survey.layout import Block, Layout
from krand.survey.survey import Survey


def record_blocks(layout: Layout) -> tuple[FreeBits | AtMost, ...]:
    """The structure of one record; bits that can take any value form one block."""
    free = sum(block.positions for block in layout.blocks if _is_free(block))
    sparse = tuple(
        AtMost(block.most_ones, block.positions) for block in layout.blocks if not _is_free(block)
    )
    return (FreeBits(free), *sparse) if free else sparse


def record_reports(survey: Survey, layout: Layout) -> ResponseFormat:
    """The response format if all bits are sent together, for the calibration of noise."""
    return ResponseFormat(
        layout.positions,
        linkage=Linkage.RECORD,
        copies=survey.copies,
        rounds=survey.promised_rounds,
        structure=record_blocks(layout),
    )


def _is_free(block: Block) -> bool:
    return block.most_ones == block.positions
