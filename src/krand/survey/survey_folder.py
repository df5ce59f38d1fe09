"""The folder of one survey on one machine: what lies where.

`krand pair` and `krand run survey.toml` make such a folder, and `krand run` works in it. Each role
has a folder of its own, which nobody else needs to read: the collector never sees the analyst's
key, and the analyst never sees what is not released.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from krand.files import OWNER_FOLDER, unwritable

ENDING = ".krand"
"""A survey's folder lies beside survey.toml, as survey.krand."""


class _In:
    """What lies at a fixed place in the folder."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __get__(self, folder: SurveyFolder, _: object = None) -> Path:
        return folder.path / self.place


@dataclass(frozen=True)
class SurveyFolder:
    """The paths in a survey's folder; none of them need exist."""

    path: Path

    site_file = _In("site.toml")
    """The site file that serves this survey alone."""
    plan = _In("plan.json")
    published = _In("published")
    """The hash of the plan that was served from here: no other one ever is."""
    signatures = _In("signatures")
    """The folder with the plan's signatures, one file for each mixer."""
    partners = _In("partners")
    """The folder with the descriptions of mixers that were paired with."""
    pairing = _In("pairing.json")
    """What was asked for when partners were paired with; the same in every run."""
    route = _In("route.json")
    """Where every party of the chain is reached, signed by the organiser."""
    invitations = _In("invitations.json")
    """The collector's file of `krand invite`, for a survey with invitations."""

    collector = _In("collector")
    identity = _In("collector/identity.pem")
    """The private key of the collector's identity, which is the organiser's."""
    mixer_store = _In("collector/store")
    """The collector's store as the first mixer."""
    deliveries = _In("collector/deliveries.sqlite")
    """What is passed on to the next party, with its receipts."""
    clock = _In("collector/clock.json")
    """The time that was recorded last, for a survey with a schedule."""
    ended = _In("collector/ended")
    """That the organiser has ended a schedule: no further round is opened."""

    analyst = _In("analyst")
    analyst_key = _In("analyst/key.pem")
    """The analyst's private key."""
    analyst_public = _In("analyst/key.pub.pem")
    code = _In("analyst/code")
    """The code with which an organiser hands its plan to an analyst elsewhere."""
    incoming = _In("analyst/incoming")
    """Batches that arrived, each with its chain beside it."""

    def signature(self, hop: int) -> Path:
        """That of the mixer at this place of the chain."""
        return self.signatures / f"{hop}.sig.json"

    def make(self, field: str, *more: Path) -> None:
        """Make the folders that do not exist yet; an error names the field that asked for them."""
        for path in (self.path, self.collector, self.analyst, self.signatures, *more):
            try:
                path.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
            except OSError as error:
                raise unwritable(field, path, error) from None

    def batches(self, round_number: int) -> Path:
        """The batches that the collector released."""
        return self.collector / "batches" / f"round-{round_number}"

    def results(self, name: str, round_number: int, rounds: int) -> Path:
        """A file of the analyst's, such as report.html; with its round if there are several."""
        stem, dot, ending = name.partition(".")
        return self.analyst / (name if rounds == 1 else f"{stem}-{round_number}{dot}{ending}")


def folder_beside(survey_file: Path) -> SurveyFolder:
    """The folder of a survey file: survey.krand beside survey.toml."""
    return SurveyFolder(survey_file.with_suffix(ENDING))
