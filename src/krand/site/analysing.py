"""The analyst's part: batches that arrived are counted, estimated and reported.

Whenever there are other batches of a round than the results are about, they are counted anew. Files
that are still being copied are left alone: they are taken when they are the same at two looks. The
results also name other plans that the mixers signed for the survey.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from krand.analysis.engines.source import Source
from krand.analysis.results import Results, make_results
from krand.analysis.results_file import read_results
from krand.analysis.tallying import batch_in, tally_sources
from krand.analysis.trends.trend import Trend, make_trend
from krand.batches.batch import ENDING as BATCH_ENDING
from krand.batches.batch import chain_beside
from krand.batches.chain import read_chain
from krand.files import write_atomically
from krand.partners.clock import Clock
from krand.report import report_page
from krand.site.checks import published_plan
from krand.site.part import Say, look_again
from krand.site.site_file import COLLECTOR, SiteSurvey
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan
from krand.survey.survey_folder import ENDING, SurveyFolder
from krand.wire.keys import read_private_key

Seen = tuple[tuple[Path, int, int], ...]
"""The files of a round, with size and time of change."""


def run(survey: SiteSurvey, say: Say, _: Clock) -> None:
    """Count what arrives, again and again: the only part that has the analyst's key."""
    look_again(_Counting(survey, published_plan(survey.folder), say).look, say)


class _Counting:
    """One survey, all its rounds up to the open one."""

    def __init__(self, survey: SiteSurvey, plan: Plan, say: Say) -> None:
        self._survey, self._folder, self._plan, self._say = survey, survey.folder, plan, say
        self._seen: dict[int, Seen] = {}
        self._rounds: dict[tuple[Path, int], int] = {}
        self._has_news = False
        """Whether a round was reported that the trend does not have."""
        self._done: dict[int, Seen] = {}

    def look(self) -> None:
        """Count what is there, unless it is counted."""
        arrived: dict[int, list[tuple[Path, int, int]]] = {}
        for number, file in self._files():
            arrived.setdefault(number, []).append(file)
        for number in sorted(arrived):
            now = tuple(sorted(arrived[number]))
            settled = now == self._seen.get(number)
            self._seen[number] = now
            if now and settled and now != self._done.get(number):
                self._report(number, [path for path, *_ in now])
                self._done[number] = now
                self._has_news = True
        if self._has_news and self._plan.survey.schedule is not None:
            self._follow()
        self._has_news = False

    def _follow(self) -> None:
        """Reports that are older than their results, with the trend up to them; the page of all.

        Means and tests cost no privacy. The last report is written last: it ends the site.
        """
        own = [read_results(path) for path in self._folder.analyst.glob("results*.json")]
        found = sorted([*self._earlier(), *own], key=lambda each: each.round)
        rounds = {each.round: each for each in found}
        page = self._folder.analyst / "trend.html"
        for number, results in rounds.items():
            is_last = number == max(rounds)
            if number < self._plan.survey.first_round:
                continue
            if not is_last and self._is_fresh(number, self._path("report.html", number)):
                continue
            earlier = tuple(rounds[each] for each in rounds if each <= number)
            trend = make_trend(earlier) if len(earlier) > 1 else None
            if trend is not None and is_last:
                trend.save(page)
                self._say("followed", rounds=len(rounds), page=str(page))
            self._write(results, trend)

    def _earlier(self) -> Iterator[Results]:
        """Results of the plans that this one continues, whose folders are beside its own."""
        own, schedule = self._folder.path, self._plan.survey.schedule
        assert schedule is not None
        for path in own.parent.glob(f"*{ENDING}/plan.json") if schedule.first > 1 else ():
            other = read_plan(path).survey.schedule
            if path.parent != own and other is not None and other.campaign == schedule.campaign:
                found = map(read_results, SurveyFolder(path.parent).analyst.glob("results*.json"))
                yield from (each for each in found if each.round < schedule.first)

    def _is_fresh(self, number: int, page: Path) -> bool:
        """Whether a page was written after the results of a round."""
        results = self._path("results.json", number)
        return page.is_file() and page.stat().st_mtime_ns >= results.stat().st_mtime_ns

    def _files(self) -> Iterator[tuple[int, tuple[Path, int, int]]]:
        """Batches that arrived, or of a collector beside, each with its round.

        With further mixers, the collector's are for the next one.
        """
        here = COLLECTOR in self._survey.roles and len(self._plan.mixers) == 1
        collected = self._folder.batches(1).parent.glob(f"round-*/*{BATCH_ENDING}") if here else ()
        for data in (*collected, *self._folder.incoming.glob(f"*{BATCH_ENDING}")):
            signed = chain_beside(data)
            number = self._round_of(signed) if signed.is_file() else 0
            if number:
                found = data.stat()
                yield number, (data, found.st_size, found.st_mtime_ns)

    def _round_of(self, signed: Path) -> int:
        """As a chain says, which is verified before anything is counted."""
        stamp = signed, signed.stat().st_mtime_ns
        if stamp not in self._rounds:
            self._rounds[stamp] = read_chain(signed)[-1].record.round
        return self._rounds[stamp]

    def _report(self, number: int, files: list[Path]) -> None:
        source = batch_in(self._plan, files)
        results = self._known(number, source) or self._counted(number, source)
        if self._plan.survey.schedule is None:
            self._write(results, None)

    def _write(self, results: Results, trend: Trend | None) -> None:
        report = self._path("report.html", results.round)
        page = report_page(results, invited=self._invited(), trend=trend)
        write_atomically("report", report, page)
        self._say("reported", round=results.round, people=results.people, report=str(report))

    def _invited(self) -> int | None:
        """How many people have a link, where the collector's file of them is here."""
        from krand.collector.invitations import read_invitations

        path = self._folder.invitations
        here = self._plan.survey.invitations and path.is_file()
        return read_invitations(path, self._plan, 1).invited if here else None

    def _path(self, name: str, number: int) -> Path:
        return self._folder.results(name, number, self._plan.survey.rounds)

    def _known(self, number: int, source: Source) -> Results | None:
        """The results, if they are of exactly this batch."""
        path = self._path("results.json", number)
        found = read_results(path) if path.is_file() else None
        same = found is not None and found.batches == (source.sha256,)
        return found if same else None

    def _counted(self, number: int, source: Source) -> Results:
        key = read_private_key(self._folder.analyst_key)
        tally = tally_sources(self._plan, [source], key=key)
        tally.save(self._path("tally.json", number))
        results = make_results(self._plan, tally)
        results.save(self._path("results.json", number))
        return results
