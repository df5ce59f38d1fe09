"""What the reproduction computes, in pieces that run side by side."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from os import cpu_count

from krand_lab.reproduction.entries import Number, Picture, Section
from krand_lab.reproduction.numbers import NUMBERS_OF, Numbers
from krand_lab.reproduction.pictures import PICTURES_OF
from krand_lab.reproduction.statements import STATEMENTS_OF
from krand_lab.statements.verdict import Verdict

Result = Numbers | Picture | Verdict


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work; it gives some numbers, one picture or one verdict."""

    section: Section
    compute: Callable[[], Result]

    @property
    def title(self) -> str:
        """What the progress bar says."""
        if isinstance(self.compute, partial):
            return " ".join(map(str, self.compute.args))
        return self.compute.__name__.strip("_").replace("_", " ")


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Everything that was computed, in the order of the page."""

    sections: tuple[Section, ...]
    numbers: Numbers
    pictures: tuple[Picture, ...]
    verdicts: tuple[tuple[Section, Verdict], ...]


def tasks(sections: tuple[Section, ...]) -> tuple[Task, ...]:
    """The work of the given sections, in the order of the page."""
    found: list[Task] = []
    for section in sections:
        found += [Task(section, compute) for compute in NUMBERS_OF[section]]
        found += [Task(section, compute) for compute in PICTURES_OF[section]]
        found += [Task(section, compute) for compute in STATEMENTS_OF[section]]
    return tuple(found)


def reproduce(
    sections: tuple[Section, ...],
    work: tuple[Task, ...],
    progress: Callable[[str], None] | None = None,
) -> Reproduction:
    """Do the work on all cores; what comes out does not depend on how many there are."""
    results = []
    with ProcessPoolExecutor(cpu_count(), mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(task.compute) for task in work]
        try:
            for task, future in zip(work, futures, strict=True):
                results.append((task.section, future.result()))
                if progress is not None:
                    progress(task.title)
        except BaseException:  # Ctrl-C too: what has not begun need not begin
            pool.shutdown(cancel_futures=True)
            raise
    return _gathered(sections, results)


def _gathered(sections: tuple[Section, ...], results: list[tuple[Section, Result]]) -> Reproduction:
    numbers: list[Number] = []
    pictures, verdicts = [], []
    for section, result in results:
        match result:
            case Picture():
                pictures.append(result)
            case Verdict():
                verdicts.append((section, result))
            case _:
                numbers.extend(result)
    return Reproduction(sections, tuple(numbers), tuple(pictures), tuple(verdicts))
