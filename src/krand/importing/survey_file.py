"""From an XLSForm to a survey file, with a list of what was lost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from krand.errors import InvalidInput
from krand.files import write_new
from krand.importing.questionnaire import FIELD, HEAD, Questionnaire, Remark
from krand.importing.texts import OTHER_TOOL
from krand.importing.xlsform import read_xlsform
from krand.mistakes import visible
from krand.survey.document import toml_lines, translation_lines
from krand.survey.reading import parse_survey
from krand.survey.rules import DATE_IN_ID, name_from
from krand.survey.survey import Survey

OTHER_FILES = {
    ".xls": "open it in a spreadsheet program and save it as .xlsx",
    ".xlsm": "save it as .xlsx, without macros",
    ".csv": "save survey, choices and settings as sheets of one .xlsx",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSurvey:
    """A survey file made from a questionnaire, and everything that is not as it was there.

    >>> from krand import ImportedSurvey
    >>> from krand.testing import SMALL_SURVEY, small_survey
    >>> made = ImportedSurvey(survey=small_survey(), text=SMALL_SURVEY, remarks=())
    >>> made.save("survey.toml")
    >>> made.left_out
    ()
    """

    survey: Survey
    text: str
    """The survey file; its comments are the remarks."""
    remarks: tuple[Remark, ...]

    @property
    def left_out(self) -> tuple[Remark, ...]:
        """What the survey does not ask."""
        return tuple(remark for remark in self.remarks if remark.left_out)

    @property
    def changed(self) -> tuple[Remark, ...]:
        """What it asks in another way."""
        return tuple(remark for remark in self.remarks if not remark.left_out)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the survey file; another file is replaced only if `overwrite` is true."""
        write_new("output", Path(path), self.text, overwrite=overwrite)


def import_survey(
    questionnaire: str | Path,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    noise: str = "mixers",
    crowd: int | None = None,
) -> ImportedSurvey:
    """A survey from an XLSForm (.xlsx).

    Whatever has no counterpart is left out and named: free text, files, exact dates and places,
    calculations. The promise is yours to choose, because no questionnaire has one: `epsilon` and
    `delta`, who adds the `noise`, and the `crowd` that devices' noise needs.

    >>> from openpyxl import Workbook
    >>> from krand import import_survey
    >>> book = Workbook()
    >>> sheet = book.active
    >>> sheet.title = "survey"
    >>> for row in (["type", "name", "label"], ["range", "mood", "How are you?"]):
    ...     sheet.append(row)
    >>> sheet.append(["text", "why", "Why?"])
    >>> book.save("form.xlsx")
    >>> made = import_survey("form.xlsx")
    >>> [question.name for question in made.survey.questions]
    ['mood']
    >>> made.left_out[0].place, made.left_out[0].name
    ('survey, row 3', 'why')
    """
    path = Path(questionnaire)
    if path.suffix.lower() != ".xlsx":
        hint = OTHER_FILES.get(path.suffix.lower(), "save the questionnaire as an XLSForm")
        raise InvalidInput(FIELD, "must be an XLSForm, which ends in .xlsx", str(path), hint)
    found = read_xlsform(path)
    found.end()
    if found.head.get("introduction") or found.head.get("thanks"):
        found.change("introduction and thanks", "", OTHER_TOOL)
    head = found.head
    head["id"] = next(filter(None, (name_from(each, "-") for each in _names(head, path))), "survey")
    if DATE_IN_ID.search(head["id"]):
        found.change("id", head["id"], "the report takes the date in it for that of this survey")
    if not found.questions:
        rule = "must have a question that krand can ask"
        lost = "; ".join(str(remark) for remark in found.remarks[:3])
        raise InvalidInput(FIELD, rule, str(path), lost or "it has none")
    promise: dict[str, Any] = {"epsilon": float(epsilon), "delta": float(delta)}
    if crowd is not None:
        promise["minimum_crowd"] = crowd
    text = _text(found, path, promise, noise)
    survey = parse_survey(text, source=path.name)
    return ImportedSurvey(survey=survey, text=text, remarks=tuple(found.remarks))


def _text(found: Questionnaire, path: Path, promise: dict[str, Any], noise: str) -> str:
    head = found.head
    texts = {key: head.get(key, "")[:longest].strip() for key, longest in HEAD.items()}
    about = {
        "id": head["id"],
        "language": head.get("language") or "en",
        **texts,
    }
    lines = [f"# Made by krand import from {visible(path.name)}."]
    lines += _comments("Left out:", [remark for remark in found.remarks if remark.left_out])
    lines += _comments("Look at:", [remark for remark in found.remarks if not remark.left_out])
    lines += ["", *toml_lines({key: value for key, value in about.items() if value})]
    lines += ["", "# What people are promised: choose it. docs/howto/choose-a-promise.md"]
    lines += ["[policy]", *toml_lines(promise)]
    lines += ["", "[trust]", *toml_lines({"noise": noise})]
    for question in found.questions:
        lines += ["", "[[question]]", *toml_lines(question)]
    lines += translation_lines(found.heads)
    return "\n".join(lines) + "\n"


def _names(head: dict[str, Any], path: Path) -> tuple[str, str, str]:
    """What a survey can be called by, the best first."""
    return head.get("id", ""), head.get("title", ""), path.stem


def _comments(title: str, remarks: list[Remark]) -> list[str]:
    return ["#", f"# {title}", *(f"#   {visible(str(r))}" for r in remarks)] if remarks else []
