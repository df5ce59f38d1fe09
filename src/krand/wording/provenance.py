"""What may be said about a result depends on where the answers became noisy.

On devices nobody but the person saw an answer. A data holder saw all answers, so the promise covers
only those who see the responses and the results. In a simulation there are no people to protect.
"""

from __future__ import annotations

from collections.abc import Iterator

from krand.batches.provenance import DistinctPeople, Provenance

__all__ = ["HOW_NOISY", "TRUSTED", "WORD", "declared"]

HOW_NOISY = {
    Provenance.DEVICES: "Every answer was made noisy on the device it came from.",
    Provenance.TABLE: (
        "A data holder had all answers in a table, could see them, and made them noisy before"
        " passing them on."
    ),
    Provenance.SIMULATION: "Nobody was asked: the people and their answers are simulated.",
}

TRUSTED = {
    Provenance.DEVICES: "",
    Provenance.TABLE: (
        "A data holder saw all answers and randomized them. The promise is about what others can"
        " learn from the responses or these results, not about the data holder."
    ),
    Provenance.SIMULATION: (
        "Nobody was asked: people and answers are simulated, so there is no promise to anybody."
    ),
}
"""Shown with a guarantee on the terminal."""

WORD = {
    DistinctPeople.DATA_HOLDER: "The data holder",
    DistinctPeople.ANALYST: "The analyst who counted them",
}
WHERE = {
    DistinctPeople.DATA_HOLDER: ", in the files",
    DistinctPeople.ANALYST: "; nothing in the files says so",
}


def declared(who: DistinctPeople | None, files: int) -> Iterator[str]:
    """Who declared that the files are about different people; empty if nobody had to."""
    if who is not None:
        yield (
            f"{WORD[who]} declared that the {files:,} files are about different people"
            f"{WHERE[who]}. If somebody is in two of them, more was revealed than the guarantee"
            " says."
        )
