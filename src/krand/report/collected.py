"""How answers were collected, and what no file can show about it: it follows the provenance."""

from __future__ import annotations

from krand.analysis.published import PublishedRelease
from krand.batches.provenance import Provenance
from krand.promise import Linkage
from krand.report.promise import Named
from krand.wording.provenance import declared

__all__ = ["BEFORE", "nobody_can_check", "travelled"]

BEFORE = {
    Provenance.DEVICES: " before it was sent",
    Provenance.TABLE: " before it was handed on",
    Provenance.SIMULATION: "",
}
APART = (
    "cannot be seen afterwards, so questions can be seen together only where that was planned"
    " before anybody answered."
)
WHOLE = (
    "The answers of a record stay together, so any questions can be seen together; the price is"
    " more noise."
)


def travelled(release: PublishedRelease) -> Named:
    """What left the person's device or the data holder, and in which form."""
    bits = release.plan.survey.linkage is Linkage.BIT
    if release.provenance is Provenance.TABLE:
        return Named("What was handed on", _bits_of_a_table() if bits else _records(release))
    text = _messages(release) if bits else _records(release)
    return Named("What travelled", text)


def _messages(release: PublishedRelease) -> str:
    simulated = release.provenance is Provenance.SIMULATION
    start = "The people are simulated. In a survey every" if simulated else "Every"
    verb = "travels" if simulated else "travelled"
    return (
        f"{start} position, a yes or no about one answer, {verb} alone in a sealed message"
        f" ({release.plan.messages:,} from each person, some of them empty), shuffled among those"
        f" of everybody. Which messages came from one person {APART}"
    )


def _bits_of_a_table() -> str:
    return (
        "The data holder saw all answers. It flipped bits of everybody's answers and handed on how"
        " often each position, a yes or no about one answer, came out as yes. Which of them came"
        f" from one person {APART}"
    )


def _records(release: PublishedRelease) -> str:
    copies, bits = release.plan.survey.copies, f"{release.plan.positions:,} bits"
    sent = "one noisy copy" if copies == 1 else f"{copies:,} copies, each made noisy anew,"
    said = {
        Provenance.DEVICES: f"Every person sent {sent} of the whole record of {bits}; the records"
        " of everybody were shuffled.",
        Provenance.TABLE: f"The data holder saw all answers. Of every person it handed on {sent} of"
        f" the whole record of {bits}, in random order.",
        Provenance.SIMULATION: f"The people are simulated. Each of them has {sent} of the whole"
        f" record of {bits}, in random order.",
    }[release.provenance]
    averaged = " The average over copies has less noise than one." if copies > 1 else ""
    return f"{said} {WHOLE}{averaged}"


def nobody_can_check(release: PublishedRelease) -> str:
    """What remains somebody's word."""
    if release.provenance is Provenance.DEVICES:
        return ""
    if release.provenance is Provenance.SIMULATION:
        return "There is nothing else to check: the people are simulated."
    word = (
        "That the data holder randomized as the plan says, and everybody's answers once, no file"
        " can show: that is the data holder's word."
    )
    return " ".join((word, *declared(release.distinct_people, len(release.ids))))
