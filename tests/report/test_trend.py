"""A trend on a page of its own and in the report of a round: the same words, in every language."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from analysis.simulated_years import results_of_round, yearly_plan
from krand.analysis.estimates.values import Interval
from krand.analysis.results import Results
from krand.analysis.trends.series import Break, LineKind
from krand.analysis.trends.trend import Line, Trend, make_trend
from krand.errors import InvalidInput
from krand.report import report_page
from krand.report.languages import language_of, languages
from krand.report.trend_page import trend_page
from krand.report.trend_texts import words_for
from krand.survey.choices import Choices
from krand.survey.questions import Choice, YesNo
from report.foreign import Foreign, foreign_language, untranslated

KNOWN = {"crash", "browser", "fox", "Did it crash?", "weekly", "help", "krand", "n/N", "n", "N"}


@pytest.fixture(scope="module")
def foreign() -> Foreign:
    return foreign_language(language_of("en"))


@cache
def rounds() -> tuple[Results, ...]:
    """Six; crashes rise in the last two."""
    browser = Choice(name="browser", choices=Choices(("fox", "chrome")))
    plan = yearly_plan([browser, YesNo(name="crash", text="Did it crash?")], 6)
    return tuple(
        results_of_round(plan, number, [300, 500, 300 if number > 4 else 20], 940, seed=1)
        for number in range(1, 7)
    )


@cache
def trend() -> Trend:
    return make_trend(rounds())


def variants() -> tuple[Trend, ...]:
    """Trends that together need every sentence."""
    line = trend().lines[0]
    (up,) = line.changes
    down = replace(up, share_before=0.9, share_after=0.5)
    later = replace(up, found=6, before=(5, 5), after=(6, 6))
    more, fewer = (replace(up, people=people) for people in ((1, 900.0), (900.0, 1)))
    changed = [(up,), (down,), (up, later), (more,), (fewer,), (up, down), *[(up,)] * 7]
    breaks = [{"added": ("fox",)}, {"removed": ("fox",)}, {"changed": ("help",)}]
    breaks.append(breaks[0] | breaks[1])
    shown = [
        replace(line, changes=changes, breaks=tuple(Break(4, "", **b) for b in breaks[:i]))  # type: ignore[arg-type]
        for i, changes in enumerate(changed)
    ]
    shown += [
        replace(line, answer="fox", changes=(), kind=kind, exact=False, points=line.points[start:])
        for kind in (LineKind.ANSWER, LineKind.WORD)
        for start in (1, 2)
    ]
    assert line.mean is not None
    shown.append(replace(line, mean=replace(line.mean, exact=False)))
    days = tuple(replace(each, kept=False) for each in trend().rounds)
    return (
        replace(trend(), lines=tuple(shown[:14]), missing=(3,)),
        replace(trend(), lines=(shown[0], *shown), missing=(3, 5), promises=2, rounds=days),
        replace(trend(), lines=tuple(shown[-2:-1])),
    )


def test_every_word_of_a_trend_is_in_its_language(
    foreign: Foreign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On its page and in a report; and no text of the catalogs is unused."""
    monkeypatch.setattr("krand.report.labels.language_of", lambda *_: foreign.language)
    pages = [trend_page(each, "xx") for each in variants()]
    pages.append(report_page(rounds()[-1], language="xx", trend=trend()))
    for page in pages[:-1]:
        assert untranslated(page, KNOWN) == []
    told = [(path, at) for path, at in foreign.numbers.items() if path.startswith("texts.trend.")]
    assert [path for path, at in told if f"⟦{at}⟧" not in "".join(pages)] == []


@pytest.mark.parametrize("code", languages())
def test_a_report_says_what_the_page_of_the_trend_says(code: str) -> None:
    """The same sentences, pictures and numbers, without script or network."""
    page = trend_page(trend(), code)
    report = report_page(rounds()[-1], language=code, trend=trend())
    words = words_for(trend(), code)
    for said in (words.lead(), words.test(), *(words.headline(line) for line in trend().lines)):
        assert _spaced(said) in _spaced(page)
        assert _spaced(said) in _spaced(report)
    drawn = re.findall(r'<path class="(?:mean|band|dots)" d="[^"]+"', page)
    assert len(drawn) == 3 * len(trend().lines)
    assert all(each in report for each in drawn)
    assert f'<html lang="{code}">' in page
    assert "<script" not in report
    assert not re.search(r"(src|href)=\"(?!#|data:)", report)


def _spaced(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_the_trend_of_a_report_ends_with_its_round() -> None:
    with pytest.raises(InvalidInput, match="must end with the round of the report, 5"):
        report_page(rounds()[4], trend=trend())


def test_answers_are_named_in_the_language() -> None:
    """What krand names, too: unanswered, and cells of two questions."""
    words = words_for(trend(), "de")
    line = next(each for each in trend().lines if each.answer == "unanswered")
    assert words.name(line) == "browser: keine Antwort"
    cell: Line = replace(
        line, kind=LineKind.CELL, question="browser × crash", answer="fox × no or unanswered"
    )
    assert words.name(cell) == "browser × crash: fox × nein oder keine Antwort"


def test_many_answers_without_a_change_are_folded_away() -> None:
    """A dozen pictures at once, and all of answers that changed; each is on the page once."""
    same, crash = trend().line("browser", "fox"), trend().line("crash", "yes")
    lines = tuple(replace(same, answer=f"feature {number}") for number in range(40))
    for changed, folded in ((1, 29), (13, 40)):
        shown = replace(trend(), lines=(*[crash] * changed, *lines))
        page = trend_page(shown)
        before, _, rest = page.partition('<details class="rest">')
        assert f"<summary>{folded} more answers, without a change</summary>" in rest
        assert before.count("<h3 dir") == changed + 40 - folded
        assert page.count("<h3 dir") == changed + 40
    assert '<details class="rest">' not in trend_page(replace(trend(), lines=lines[:12]))


def test_what_was_last_counted_rounds_ago_is_not_now() -> None:
    """An option that was removed."""
    line = trend().line("browser", "fox")
    removed = replace(line, points=line.points[:3], changes=())
    shown = replace(trend(), lines=(removed,))
    page = _spaced(trend_page(shown))
    assert "in round 3 <small>" in page
    assert " now " not in page
    assert " in round 3 (" in words_for(shown).headline(removed)
    assert "now (" in words_for(shown).headline(line)


def test_no_share_that_people_read_is_below_zero() -> None:
    """A count below zero is shown as the nearest possible share, inside its interval."""
    line = trend().line("browser", "fox")
    last = replace(line.last, count=-19.0, share=-0.02, interval=Interval(0.0, 0.0))
    assert line.mean is not None
    low = replace(
        line, points=(*line.points[:-1], last), mean=replace(line.mean, share=-0.01), changes=()
    )
    words = words_for(replace(trend(), lines=(low,)))
    assert words.share_now(low)[0] == "0 %"
    assert "mean of rounds 3 to 6: 0" in words.mean_said(low)
    assert "−" not in words.headline(low)
    rows = trend_page(words.trend).partition("<tbody>")[2].partition("</tbody>")[0]
    assert rows.count("<tr>") == len(low.points)
    assert "−" not in rows


def test_an_answer_that_went_back_is_not_up_from_what_it_was() -> None:
    """40 % now is not up from 45 %, though a change upwards was found in between."""
    line = trend().line("crash", "yes")
    (up,) = line.changes
    words, share = words_for(trend()), line.last.share
    past = replace(up, share_before=share + 0.05, share_after=share + 0.2)
    said = words.headline(replace(line, changes=(past,)))
    assert words.change(past) in said
    assert words.change(past) not in words.headline(line)
