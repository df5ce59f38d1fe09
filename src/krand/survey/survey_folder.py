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


@dataclass(frozen=True, slots=True)
class SurveyFolder:
    """The paths in a survey's folder; none of them need exist."""

    path: Path

    @property
    def site_file(self) -> Path:
        """The site file that serves this survey alone."""
        return self.path / "site.toml"

    @property
    def plan(self) -> Path:
        """The plan."""
        return self.path / "plan.json"

    @property
    def published(self) -> Path:
        """The hash of the plan that was served from here: no other one ever is."""
        return self.path / "published"

    @property
    def signatures(self) -> Path:
        """The folder with the plan's signatures, one file for each mixer."""
        return self.path / "signatures"

    def signature(self, hop: int) -> Path:
        """That of the mixer at this place of the chain."""
        return self.signatures / f"{hop}.sig.json"

    @property
    def partners(self) -> Path:
        """The folder with the descriptions of mixers that were paired with."""
        return self.path / "partners"

    @property
    def pairing(self) -> Path:
        """What was asked for when partners were paired with; the same in every run."""
        return self.path / "pairing.json"

    @property
    def route(self) -> Path:
        """Where every party of the chain is reached, signed by the organiser."""
        return self.path / "route.json"

    @property
    def invitations(self) -> Path:
        """The collector's file of `krand invite`, for a survey with invitations."""
        return self.path / "invitations.json"

    @property
    def collector(self) -> Path:
        """The collector's own folder."""
        return self.path / "collector"

    @property
    def identity(self) -> Path:
        """The private key of the collector's identity, which is the organiser's."""
        return self.collector / "identity.pem"

    @property
    def mixer_store(self) -> Path:
        """The collector's store as the first mixer; for mixers' noise."""
        return self.collector / "store"

    @property
    def deliveries(self) -> Path:
        """What is passed on to the next party, with its receipts."""
        return self.collector / "deliveries.sqlite"

    @property
    def clock(self) -> Path:
        """The time that was recorded last, for a survey with a schedule."""
        return self.collector / "clock.json"

    @property
    def ended(self) -> Path:
        """That the organiser has ended a schedule: no further round is opened."""
        return self.collector / "ended"

    @property
    def analyst(self) -> Path:
        """The analyst's own folder."""
        return self.path / "analyst"

    @property
    def analyst_key(self) -> Path:
        """The analyst's private key."""
        return self.analyst / "key.pem"

    @property
    def analyst_public(self) -> Path:
        """The analyst's public key."""
        return self.analyst_key.with_suffix(".pub.pem")

    @property
    def code(self) -> Path:
        """The code with which an organiser hands its plan to an analyst elsewhere."""
        return self.analyst / "code"

    @property
    def incoming(self) -> Path:
        """Batches that arrived, each with its chain beside it."""
        return self.analyst / "incoming"

    def make(self, field: str, *more: Path) -> None:
        """Make the folders that do not exist yet; an error names the field that asked for them."""
        for path in (self.path, self.collector, self.analyst, self.signatures, *more):
            try:
                path.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
            except OSError as error:
                raise unwritable(field, path, error) from None

    def spool(self, round_number: int) -> Path:
        """What the collector has received and not released."""
        return self.collector / f"round-{round_number}"

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
