"""What may be said about a result: it follows where the answers became noisy.

On devices nobody but the person saw an answer. A data holder saw all of them: the promise is
towards whoever sees the responses and the results. In a simulation there is nobody.
"""

from __future__ import annotations

from collections.abc import Iterator

from krand.batches.provenance import DistinctPeople, Provenance

__all__ = ["HOW_NOISY", "TRUSTED", "WORD", "declared"]

HOW_NOISY = {
    Provenance.DEVICES: "Every answer was made noisy on the device it came from.",
    Provenance.TABLE: (
        "A data holder had everybody's answers in a table, saw all of them, and made them noisy"
        " before handing them on."
    ),
    Provenance.SIMULATION: "Nobody was asked: the people and their answers are simulated.",
}

TRUSTED = {
    Provenance.DEVICES: "",
    Provenance.TABLE: (
        "A data holder saw all answers and randomized them: this is promised towards whoever sees"
        " the responses or these results, not towards the data holder."
    ),
    Provenance.SIMULATION: (
        "Nobody was asked: people and answers are simulated, and nothing is promised to anybody."
    ),
}
"""Beside a guarantee on the terminal."""

WORD = {
    DistinctPeople.DATA_HOLDER: "the data holder, in the files",
    DistinctPeople.ANALYST: "the analyst who counted them; nothing in the files says so",
}


def declared(who: DistinctPeople | None, files: int) -> Iterator[str]:
    """Who says that several files are about different people; nothing if nobody had to."""
    if who is not None:
        yield (
            f"That the {files:,} files are about different people was declared by {WORD[who]}."
            " If somebody is in two of them, more was revealed than the guarantee says."
        )
