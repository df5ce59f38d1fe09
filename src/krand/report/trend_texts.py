"""A trend in sentences: what an answer is now, what changed, what a change of people can do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from krand.analysis.estimates.values import Interval
from krand.analysis.results_comparison import moved_by_people
from krand.analysis.trends.changes import Change
from krand.analysis.trends.series import Break, LineKind
from krand.analysis.trends.trend import Line, Trend
from krand.report.labels import Labels, labels_of, spoken_survey
from krand.report.languages import Language
from krand.report.texts import TrendTexts
from krand.showing import decimals_for, number
from krand.survey.encoding import UNANSWERED
from krand.survey.survey import Survey
from krand.wording.number_format import NumberFormat


@dataclass(frozen=True, slots=True)
class TrendWords:
    """What is said of a trend, in one language."""

    trend: Trend
    language: Language
    survey: Survey
    """As it was asked last, in that language if it has it."""
    labels: Labels

    @property
    def own(self) -> TrendTexts:
        return self.language.texts.trend

    @property
    def numbers(self) -> NumberFormat:
        return self.language.numbers

    def name(self, line: Line) -> str:
        """By the names of the survey file, for tables: browser: Safari."""
        if line.kind is LineKind.ANSWER and line.answer == "yes":
            return line.question
        return f"{line.question}: {self._answer(line)}"

    def question(self, line: Line) -> str:
        """As it was asked; its name where it has no text."""
        texts = {each.name: each.text for each in self.survey.questions}
        return " × ".join(texts.get(name) or name for name in line.question.split(" × "))

    def title(self, line: Line) -> str:
        """The answer; the question where it is simply yes."""
        is_yes = line.kind is LineKind.ANSWER and line.answer == "yes"
        return self.question(line) if is_yes else self._answer(line)

    def _whole_title(self, line: Line) -> str:
        """Did it crash? yes. An answer to the only question goes without it."""
        question, title = self.question(line), self.title(line)
        is_sentence = question.endswith(("?", ".", "!", "؟", "…"))
        if title == question:
            return f"{question} {self._answer(line)}" if is_sentence else question
        if len({each.question for each in self.trend.lines}) == 1:
            return title
        return f"{question}{'' if is_sentence else ':'} {title}"

    def _answer(self, line: Line) -> str:
        if line.kind is LineKind.WORD:
            return line.answer
        questions, answers = line.question.split(" × "), line.answer.split(" × ")
        if len(questions) != len(answers):  # an answer that has the sign itself
            questions, answers = [line.question], [line.answer]
        return " × ".join(map(self._label, questions, answers))

    def _label(self, question: str, answer: str) -> str:
        if answer == UNANSWERED:
            return self.labels.silent(question)
        return self.labels.measured(question, answer)

    def percent(self, share: float, half: float) -> str:
        """A share, the nearest that is possible, up to the first digit of its margin: 4.1 %."""
        numbers, possible = self.numbers, min(1.0, max(0.0, share))
        return numbers.with_percent(numbers.rounded(100 * possible, decimals_for(100 * half)))

    def ends(self, interval: Interval) -> str:
        """3.2 to 5.1 %."""
        decimals = decimals_for(50 * (interval.high - interval.low))
        low, high = (
            self.numbers.rounded(100 * end, decimals) for end in (interval.low, interval.high)
        )
        return self._span(low, self.numbers.with_percent(high))

    def _span(self, low: str, high: str) -> str:
        return self.language.texts.answers.ends.format(low=low, high=high)

    def share_now(self, line: Line) -> tuple[str, str]:
        """What an answer was when it was last counted, and its interval."""
        return self.estimate(line.last.share, line.last.interval)

    def mean(self, line: Line) -> tuple[str, str] | None:
        """The mean of the last rounds, and its interval."""
        return self.estimate(line.mean.share, line.mean.interval) if line.mean else None

    def mean_said(self, line: Line) -> str:
        """Mean of rounds 3 to 6: 4.1 % (3.2 to 5.1 %); empty where there is none."""
        if line.mean is None:
            return ""
        share, interval = self.estimate(line.mean.share, line.mean.interval)
        first, last = map(self.numbers.whole, line.mean.rounds)
        return self.own.mean.format(first=first, last=last, share=share, interval=interval)

    def estimate(self, share: float, interval: Interval) -> tuple[str, str]:
        """An interval contains what is shown beside it."""
        shown = interval.containing(min(1.0, max(0.0, share)))
        return self.percent(share, shown.half), self.ends(shown)

    def when(self, line: Line) -> str:
        """Now, or the round in which it was last counted."""
        last = line.last.round
        if last == self.trend.rounds[-1].number:
            return self.own.now
        return self.own.in_round.format(number=self.numbers.whole(last))

    def change(self, change: Change) -> str:
        """Up from 2.0 % in rounds 1 to 12 to 4.2 % in rounds 13 to 14, found after round 14."""
        before, after = self._shares(change)
        return (self.own.up if change.difference > 0 else self.own.down).format(
            before=before,
            rounds_before=self._rounds(change.before),
            after=after,
            rounds_after=self._rounds(change.after),
            found=self.round(change.found),
            people=self._with_people(change),
        )

    def _rounds(self, pair: tuple[int, int]) -> str:
        first, last = map(self.numbers.whole, pair)
        if first == last:
            return self.own.in_round.format(number=first)
        return self.own.in_rounds.format(first=first, last=last)

    def _shares(self, change: Change) -> tuple[str, str]:
        half = change.interval.half
        return self.percent(change.share_before, half), self.percent(change.share_after, half)

    def _with_people(self, change: Change) -> str:
        """Said where those who came or left could have made the change."""
        if change.by_people < min(abs(change.interval.low), abs(change.interval.high)):
            return ""
        before, after = change.people
        said = self.own.more_people if after > before else self.own.fewer_people
        return said.format(part=self.numbers.short_percent(100 * change.by_people))

    def latest(self, line: Line) -> str:
        """The last changes in one direction: where they began, and when they were found.

        The share before has the digits of the share that is now. Where that is back on the other
        side of it, the change is told with both of its own shares.
        """
        last = line.changes[-1]
        run = [last]
        for change in reversed(line.changes[:-1]):
            if change.difference * last.difference < 0:
                break
            run.append(change)
        first = run[-1]
        is_back = (line.last.share - first.share_before) * first.difference <= 0
        said = (self.own.latest_up if first.difference > 0 else self.own.latest_down).format(
            before=self.percent(first.share_before, line.last.interval.half),
            rounds_before=self._rounds(first.before),
            found=self.round(first.found),
            people=self._with_people(first),
        )
        if is_back:
            said = self.change(last)
        elif first is not last:
            said = self.own.further.format(latest=said, round=self.round(last.found))
        if len(run) < len(line.changes):
            said = self.own.turned.format(latest=said)
        return said

    def round(self, number: int) -> str:
        """Round 14, with the day on which it opened."""
        day = next(each.opened for each in self.trend.rounds if each.number == number)
        shown = self.numbers.whole(number)
        return self.own.round_on.format(number=shown, day=day.isoformat())

    def headline(self, line: Line) -> str:
        """The answer first: what it is, and what changed."""
        share, interval = self.share_now(line)
        said = {"answer": self._whole_title(line), "share": share, "interval": interval}
        said["when"] = self.when(line)
        if not line.changes:
            return self.own.headline_same.format(**said)
        return self.own.headline_changed.format(**said, changed=self.latest(line))

    def lead(self) -> str:
        """How many rounds and people; which rounds are missing."""
        trend, whole = self.trend, self.numbers.whole
        people = [each.people for each in trend.rounds]
        fewest, most = whole(min(people)), whole(max(people))
        said = self.own.lead.format(
            number=whole(len(trend.rounds)),
            planned=whole(trend.planned),
            first=whole(trend.rounds[0].number),
            last=whole(trend.rounds[-1].number),
            people=fewest if fewest == most else self._span(fewest, most),
        )
        if not trend.missing:
            return said
        missing = self.own.missing.of(len(trend.missing))
        return f"{said} {missing.format(rounds=', '.join(map(whole, trend.missing)))}"

    def test(self) -> str:
        """What a found change means."""
        rate = self.numbers.with_percent(self.numbers.number(100 * self.trend.error_rate, 3))
        return self.own.test.format(rate=rate, planned=self.numbers.whole(self.trend.planned))

    def promise(self) -> str:
        """What whoever took part in all rounds has spent."""
        trend, bound = self.trend, self.numbers.at_most
        said = {"epsilon": bound(trend.epsilon), "delta": bound(trend.delta)}
        if trend.promises == 1:
            return self.own.promise.format(**said)
        return self.own.promise_sum.format(**said, promises=self.numbers.whole(trend.promises))

    def notes(self, line: Line) -> Iterator[str]:
        """What has to be said beside a line."""
        for each in line.breaks:
            shown = self.numbers.whole(each.round)
            yield self.own.broken.format(round=shown, reason=self._reason(each))
        yield from self._gaps(line)
        if not line.exact:
            yield self.own.inexact
        elif line.mean is not None and not line.mean.exact:
            yield self.own.inexact_mean

    def _reason(self, found: Break) -> str:
        added = self.own.added.format(answers=", ".join(map(repr, found.added)))
        removed = self.own.removed.format(answers=", ".join(map(repr, found.removed)))
        if found.added and found.removed:
            return self.own.added_and_removed.format(added=added, removed=removed)
        if found.added or found.removed:
            return added if found.added else removed
        return self.own.changed.format(keys=", ".join(found.changed))

    def _gaps(self, line: Line) -> Iterator[str]:
        """The rounds in which the answer was not counted."""
        counted, whole = {point.round for point in line.points}, self.numbers.whole
        by_counted = groupby((each.number for each in self.trend.rounds), counted.__contains__)
        runs = [list(run) for is_counted, run in by_counted if not is_counted]
        if runs:
            shown = (
                whole(r[0]) if len(r) == 1 else self._span(whole(r[0]), whole(r[-1])) for r in runs
            )
            said = self.own.no_word if line.kind is LineKind.WORD else self.own.no_answer
            yield said.of(sum(map(len, runs))).format(rounds=", ".join(shown))


def words_for(trend: Trend, language: str | None = None) -> TrendWords:
    """In a language of krand's or of the survey's; without one, the survey's own."""
    words, survey = spoken_survey(trend.asked, language)
    return TrendWords(trend, words, survey, labels_of(survey, words, trend.asked))


def people_text(earlier: int, later: int) -> str:
    """What a change of the people can do between two rounds; for commands, so in English."""
    if earlier == later:
        said = f"{earlier:,} people took part both times."
    else:
        more = "more" if later > earlier else "fewer"
        said = (
            f"{abs(later - earlier):,} {more} people took part later ({later:,}) than earlier"
            f" ({earlier:,}). Whatever they answered, they alone can move a share by at most"
            f" {number(100 * moved_by_people(earlier, later), 2)} points, and a count by"
            f" {abs(later - earlier):,}."
        )
    return (
        f"{said} krand does not know who took part: if others came in place of some, more may be"
        " due to who they are."
    )
