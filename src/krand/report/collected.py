"""How answers were collected, and what no file can show about it; both depend on the provenance."""

from __future__ import annotations

from krand.analysis.results import Results
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
    "came from the same person, so questions can be seen together only where that was planned"
    " before anybody answered."
)
WHOLE = (
    "All answers of a person stay together in one record, so any questions can be seen together."
    " This needs more noise."
)


def travelled(results: Results) -> Named:
    """What left each person's device, or the data holder, and in which form."""
    bits = results.plan.survey.linkage is Linkage.BIT
    if results.provenance is Provenance.TABLE:
        return Named("What was handed on", _bits_of_a_table() if bits else _records(results))
    text = _messages(results) if bits else _records(results)
    return Named("What was sent", text)


def _messages(results: Results) -> str:
    simulated = results.provenance is Provenance.SIMULATION
    start = "The people are simulated. In a survey, each" if simulated else "Each"
    is_sent, sends = ("is", "sends") if simulated else ("was", "sent")
    are = "are" if simulated else "were"
    each = results.plan.messages
    messages = (
        "1 message, which may be empty"
        if each == 1
        else f"{each:,} messages, of which some may be empty"
    )
    return (
        f"{start} position that a device reports as yes {is_sent} sent by itself in a sealed"
        f" message; a position is a yes or no about one answer. Every person {sends} {messages},"
        f" and everybody's messages {are} shuffled together. Nobody can tell afterwards which"
        f" messages {APART}"
    )


def _bits_of_a_table() -> str:
    return (
        "The data holder saw all answers. It flipped bits of everybody's answers at random and"
        " handed on how often each position, a yes or no about one answer, came out as yes. Nobody"
        f" can tell afterwards which of these {APART}"
    )


def _records(results: Results) -> str:
    copies, bits = results.plan.survey.copies, f"{results.plan.layout.positions:,} bits"
    sent = "one noisy copy" if copies == 1 else f"{copies:,} copies, each with its own noise,"
    said = {
        Provenance.DEVICES: f"Every person sent {sent} of the whole record of {bits}. Everybody's"
        " records were shuffled.",
        Provenance.TABLE: "The data holder saw all answers. For every person it handed on"
        f" {sent} of the whole record of {bits}, in random order.",
        Provenance.SIMULATION: f"The people are simulated. Each of them has {sent} of the whole"
        f" record of {bits}, in random order.",
    }[results.provenance]
    averaged = " The average of the copies has less noise than one copy." if copies > 1 else ""
    return f"{said} {WHOLE}{averaged}"


def nobody_can_check(results: Results) -> str:
    """What nobody can check and somebody has to be trusted with."""
    if results.provenance is Provenance.DEVICES:
        return ""
    if results.provenance is Provenance.SIMULATION:
        return "There is nothing else to check: the people are simulated."
    word = (
        "No file can show that the data holder randomized as the plan says, and everybody's answers"
        " only once: for that there is only the data holder's word."
    )
    return " ".join((word, *declared(results.distinct_people, len(results.ids))))
