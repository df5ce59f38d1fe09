"""XLSForm, as ODK, KoboToolbox and SurveyCTO use it: sheets of questions, choices and settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from krand.errors import InvalidInput
from krand.importing.questionnaire import (
    FIELD,
    Asked,
    Questionnaire,
    Statement,
    Words,
    allows,
    bounds,
    different_labels,
    from_codes,
    number_answers,
    number_keys,
    ranges_remark,
)
from krand.importing.texts import (
    COMPUTED,
    DEVICE,
    EXACT_TIME,
    FREE_TEXT,
    MEDIA,
    NO_BOUNDS,
    NO_LANGUAGE,
    PLACE,
    RANKING,
    language_tag,
    main_language,
    plain_line,
)
from krand.importing.workbooks import head_of, open_workbook, sheet_rows
from krand.showing import some
from krand.survey.rules import MAX_TEXT_LENGTH

MOST_ROWS, MOST_COLUMNS = 20_000, 500
"""Of a sheet; real questionnaires have some hundred rows."""
KEYS = {"type", "name", "label", "hint", "required", "relevant", "appearance", "constraint"}
KEYS |= {"choice_filter", "parameters", "disabled", "list_name", "value"}
MEDIA_KEYS = ("media", "image", "big-image", "audio", "video")
KEYS |= {*MEDIA_KEYS, "form_title", "form_id", "default_language"}
"""The columns that are read; all others are not looked at."""
OTHER_KEYS = {"relevance": "relevant", "list name": "list_name", "title": "form_title"}
TRANSLATED = ("label", "hint")
LEFT_OUT = {
    **dict.fromkeys(("text", "string", "barcode"), FREE_TEXT),
    **dict.fromkeys(("date", "time", "datetime"), EXACT_TIME),
    **dict.fromkeys(("geopoint", "geotrace", "geoshape", "start-geopoint", "gps"), PLACE),
    **dict.fromkeys(("image", "photo", "audio", "video", "file", "background-audio"), MEDIA),
    **dict.fromkeys(("start", "end", "today", "audit", "start time", "end time"), DEVICE),
    **dict.fromkeys(("deviceid", "device id", "username", "phonenumber", "email"), DEVICE),
    **dict.fromkeys(("simserial", "subscriberid", "phone number"), DEVICE),
    **dict.fromkeys(("calculate", "hidden", "xml-external", "csv-external"), COMPUTED),
    **dict.fromkeys(("acknowledge", "trigger"), "it asks nothing: put it into the introduction"),
    "rank": RANKING,
}
EXTERNAL = "its choices are in another file: list them in a file beside the survey, choices_file"
_SELECT = re.compile(
    r"(?P<how>select[_ ]one|select1|select[_ ]multiple|select all that apply|rank)(?: from)?"
    r"[ ]+(?P<list>\S+)(?P<other>[ ]+or[_ ](?:specify[_ ])?other)?",
    re.IGNORECASE,
)
_BEGIN = re.compile(r"begin[_ ]+(group|repeat|loop)\b", re.IGNORECASE)
_END = re.compile(r"end[_ ]+(group|repeat|loop)\b", re.IGNORECASE)
_AT_MOST = re.compile(r"count-selected\(\s*\.\s*\)\s*(<=?)\s*(\d{1,6})")
_PARAMETER = re.compile(r"(start|end|step)\s*=\s*(-?\d{1,9}(?:\.\d{1,9})?)")


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A row of a sheet: its keys, and its texts by language."""

    number: int
    keys: Mapping[str, str]
    texts: Mapping[str, Mapping[str, str]]

    def key(self, name: str) -> str:
        return self.keys.get(name, "").strip()

    @property
    def place(self) -> str:
        return f"survey, row {self.number}"

    @property
    def select(self) -> re.Match[str] | None:
        return _SELECT.fullmatch(self.key("type"))


def read_xlsform(path: str | Path) -> Questionnaire:
    """The questionnaire in a workbook."""
    with open_workbook(path) as book:
        sheets = {sheet.title.strip().lower(): sheet for sheet in book.worksheets}
        if "survey" not in sheets:
            rule = 'must have a sheet named "survey", as every XLSForm has'
            found = ", ".join(sheets)[:MAX_TEXT_LENGTH]
            hint = "a table of answers is a CSV file: krand randomize"
            raise InvalidInput(FIELD, rule, f"the sheets {found}", hint)
        lines = list(_lines(sheets["survey"], ("type", "name")))
        choices = list(_lines(sheets["choices"], ("list_name",))) if "choices" in sheets else []
        settings = list(_lines(sheets["settings"], ())) if "settings" in sheets else []
    return _Form(lines, choices, settings[0] if settings else Line(2, {}, {})).read()


def _lines(sheet: Any, needed: tuple[str, ...]) -> Iterator[Line]:
    head = head_of(sheet)
    columns = {place: _column(name) for place, name in enumerate(head)}
    known = {place: column for place, column in columns.items() if column[0] in KEYS}
    names = {key for key, _ in known.values()}
    for key in needed:
        if key not in names:
            rule = f"must have a column named {key} in its first row"
            found = ", ".join(filter(None, head))[:MAX_TEXT_LENGTH]
            raise InvalidInput(f"sheet {sheet.title}", rule, f"the columns {found}")
    if len(head) > MOST_COLUMNS:
        rule = f"must have at most {MOST_COLUMNS:,} columns"
        raise InvalidInput(
            f"sheet {sheet.title}", rule, len(head), "remove those that are not needed"
        )
    for number, row in sheet_rows(sheet, len(head), read=known):
        if number > MOST_ROWS + 1:
            rule = f"must have at most {MOST_ROWS:,} rows"
            hint = "krand asks people, and takes long lists from files: choices_file"
            raise InvalidInput(f"sheet {sheet.title}", rule, f"row {number:,}", hint)
        if number > 1:
            yield _line(number, row, known)


def _column(name: str) -> tuple[str, str]:
    """The key of a column, and its language: `label::English (en)`."""
    key, _, language = name.partition(":")
    key = key.strip().lower()
    return OTHER_KEYS.get(key, key), language.strip(": ")


def _line(number: int, row: tuple[str | None, ...], known: Mapping[int, tuple[str, str]]) -> Line:
    keys: dict[str, str] = {}
    texts: dict[str, dict[str, str]] = {key: {} for key in TRANSLATED}
    for place, (key, language) in known.items():
        value = row[place] if place < len(row) else None
        if value is None:
            continue
        if key in TRANSLATED:
            texts[key].setdefault(language, value)
        elif key in MEDIA_KEYS:
            keys.setdefault("media", value)
        elif not language:
            keys.setdefault(key, value)
    return Line(number, keys, texts)


class _Form:
    """The rows of a form, read from top to bottom."""

    def __init__(self, lines: list[Line], choices: list[Line], settings: Line) -> None:
        off = ("yes", "true")
        self._lines = [each for each in lines if each.key("disabled").lower() not in off]
        self._settings = settings
        self._languages = list(
            dict.fromkeys(
                language for line in (*lines, *choices) for language in line.texts["label"]
            )
        )
        self._language = main_language(self._languages, settings.key("default_language"))
        self._lists: dict[str, dict[str, str]] = {}
        self._others: dict[str, dict[str, dict[str, str]]] = {}
        self._tags: dict[str, str] = {}
        self._pictured: set[str] = set()
        self._headings: list[str] = []
        for line in choices:
            code = line.key("name") or line.key("value")
            if line.key("list_name") and code:
                known = self._lists.setdefault(line.key("list_name"), {})
                known.setdefault(code, self._text(line, "label"))
                others = self._others.setdefault(line.key("list_name"), {})
                for language, text in line.texts["label"].items():
                    others.setdefault(language, {}).setdefault(code, text)
                self._pictured |= {line.key("list_name")} if line.key("media") else set()
        self._made = Questionnaire(line.key("relevant") for line in lines)
        self._groups: list[Line] = []

    def read(self) -> Questionnaire:
        self._head()
        at = 0
        while at < len(self._lines):
            at += self._rows(at)
        if self._groups:
            raise _open(self._groups[-1])
        self._made.headings("survey", self._headings)
        return self._made

    def _rows(self, at: int) -> int:
        """Read the row there, and those that belong to it; how many they are."""
        line = self._lines[at]
        if begin := _BEGIN.match(line.key("type")):
            return self._begin(at, begin[1].lower())
        if _END.match(line.key("type")):
            if not self._groups:
                rule = "must end a group that was begun before"
                raise InvalidInput(line.place, rule, line.key("type"), "remove the row")
            self._groups.pop()
        elif table := _table_below(self._lines[at:]):
            self._table(line, table)
            return 1 + len(table)
        else:
            self._question(line)
        return 1

    def _head(self) -> None:
        made, settings = self._made, self._settings
        made.head["title"] = plain_line(settings.key("form_title"))
        made.head["id"] = settings.key("form_id")
        wanted = self._language or settings.key("default_language")
        made.head["language"] = language_tag(wanted)
        if not made.head["language"]:
            found = f'nobody knows the tag of "{wanted}"' if wanted else "the form does not say it"
            made.change("settings", "language", f'{found}: language = "en" is a guess')
        for other in self._languages:
            tag, known = language_tag(other), (made.head["language"] or "en", *self._tags.values())
            if other == self._language:
                continue
            if tag and tag not in known:
                self._tags[other] = tag
                made.heads[tag] = {"title": made.head["title"]}
            else:
                made.leave_out("survey", f"language {other}" if other else "label", NO_LANGUAGE)

    def _words(self, line: Line, rows: Sequence[Line] = ()) -> dict[str, Words]:
        """A question in the other languages."""
        select = (rows[0] if rows else line).select
        lists = self._others.get(select["list"], {}) if select else {}
        return {
            tag: Words(
                text=line.texts["label"].get(name, ""),
                help=line.texts["hint"].get(name, ""),
                labels={"other": "Other", **lists.get(name, {})},
                statements=tuple(row.texts["label"].get(name, "") for row in rows),
            )
            for name, tag in self._tags.items()
        }

    def _text(self, line: Line, key: str) -> str:
        texts = line.texts[key]
        return texts.get(self._language) or next(iter(texts.values()), "")

    def _begin(self, at: int, kind: str) -> int:
        line = self._lines[at]
        if kind != "group":
            inside = _inside(self._lines[at:])
            asked = sum(not (_BEGIN.match(t) or _END.match(t)) for t in _types(inside))
            said = f"questions that are repeated have no counterpart; {some(asked, 'row')} inside"
            said += ": ask about one of them, or each person in a survey of its own"
            self._made.leave_out(line.place, line.key("name"), said)
            return len(inside) + 2
        if "table-list" in line.key("appearance"):
            inside = _inside(self._lines[at:])
            if _is_table(inside):
                self._groups.append(line)
                self._table(line, inside)
                self._groups.pop()
                return len(inside) + 2
        self._groups.append(line)
        self._headings.append(self._text(line, "label"))
        return 1

    def _table(self, line: Line, rows: list[Line]) -> None:
        """The same choices for several statements."""
        codes = self._lists.get(str(rows[0].select and rows[0].select["list"]), {})
        if len(codes) < 2:
            for row in rows:
                self._question(row)
            return
        statements = [
            Statement(row.key("name"), self._text(row, "label"), (row.key("name"),)) for row in rows
        ]
        required = any(map(_required, rows))
        self._add(line, *from_codes(codes), statements, required=required, rows=rows)

    def _conditions(self, line: Line) -> tuple[str, ...]:
        lines = dict.fromkeys((*self._groups, line))
        return tuple(each.key("relevant") for each in lines if each.key("relevant"))

    def _question(self, line: Line) -> None:
        kind = line.key("type").lower()
        if line.select and not kind.startswith("rank"):
            self._select(line, line.select)
        elif kind == "note":
            text, conditions = self._text(line, "label"), self._conditions(line)
            others = {tag: words.text for tag, words in self._words(line).items()}
            self._made.note(line.place, line.key("name"), text, conditions, others)
        elif kind in ("integer", "int", "decimal", "range"):
            self._number(line, kind)
        else:
            self._made.leave_out(line.place, line.key("name"), _why_not(kind))

    def _select(self, line: Line, select: re.Match[str]) -> None:
        codes = dict(self._lists.get(select["list"], {}))
        name = line.key("name")
        if select["other"]:
            codes.setdefault("other", "Other")
            self._made.change(line.place, name, '"Other" is a choice; what it is cannot be written')
        if len(codes) < 2:
            said = f"its list {select['list']} has fewer than two choices on the sheet choices"
            self._made.leave_out(line.place, name, said)
            return
        if line.key("choice_filter"):
            said = f"all of its {len(codes):,} choices are shown: choices cannot be filtered"
            self._made.change(line.place, name, said)
        several = "multiple" in select["how"].lower() or "all" in select["how"].lower()
        if several:
            labels = different_labels(codes)
            keys: dict[str, Any] = {"type": "pick_any", "choices": labels}
            answers: Any = tuple((a, (c,)) for a, c in zip(labels, codes, strict=True))
            if found := _AT_MOST.search(line.key("constraint")):
                most = int(found[2]) - (found[1] == "<")
                keys |= {"at_most": most} if 1 <= most < len(codes) else {}
        else:
            keys, answers = from_codes(codes)
        if select["list"] in self._pictured:
            self._made.change(line.place, name, "pictures or sounds of its choices were left out")
        rule = line.key("constraint")
        if rule and not _AT_MOST.fullmatch(rule) and not (not several and allows(rule, codes)):
            self._made.change(line.place, name, f"this rule was left out: {rule}")
        self._add(line, keys, answers, required=_required(line))

    def _number(self, line: Line, kind: str) -> None:
        name = line.key("name")
        if kind == "range":
            given = {k: float(v) for k, v in _PARAMETER.findall(line.key("parameters"))}
            limits: Any = (given.get("start", 1.0), given.get("end", 10.0))
            whole = all(v.is_integer() for v in (*limits, given.get("step", 1.0)))
        else:
            whole = kind != "decimal"
            limits = bounds(line.key("constraint"), whole=whole)
        if limits is None or limits[0] >= limits[1]:
            self._made.leave_out(line.place, name, NO_BOUNDS)
            return
        keys = number_keys(*limits, whole=whole, thresholds=self._made.thresholds.get(name, ()))
        if keys["type"] == "number":
            self._made.change(line.place, name, ranges_remark(keys))
        required = _required(line)
        if re.search(r"\bor\b", line.key("constraint")):
            required = False  # nobody must invent a number who would have answered 999
            span = f"{limits[0]:g} to {limits[1]:g}"
            said = f"only {span} can be answered, so nobody must: its help may name other codes"
            self._made.change(line.place, name, said)
        self._add(line, keys, number_answers(keys), required=required)

    def _add(
        self,
        line: Line,
        keys: dict[str, Any],
        answers: Any,
        statements: Iterable[Statement] = (),
        *,
        required: bool,
        rows: Sequence[Line] = (),
    ) -> None:
        name = line.key("name")
        if line.key("media"):
            said = f"its picture or sound was left out: {line.key('media')}"
            self._made.change(line.place, name, said)
        self._made.add(
            Asked(
                place=line.place,
                code=name or f"row_{line.number}",
                text=self._text(line, "label"),
                help=self._text(line, "hint"),
                required=required,
                keys=keys,
                answers=answers,
                conditions=self._conditions(line),
                references=(name,),
                statements=tuple(statements),
                others=self._words(line, rows),
            )
        )


def _why_not(kind: str) -> str:
    if kind in LEFT_OUT or kind.partition(" ")[0] in LEFT_OUT:
        return LEFT_OUT.get(kind) or LEFT_OUT[kind.partition(" ")[0]]
    if "from_file" in kind or "external" in kind:
        return EXTERNAL
    return f'"{kind}" is not a type of question that krand knows' if kind else "it has no type"


def _required(line: Line) -> bool:
    return line.key("required").lower() in ("yes", "true", "true()", "1")


def _types(lines: Iterable[Line]) -> list[str]:
    return [line.key("type") for line in lines]


def _inside(lines: list[Line]) -> list[Line]:
    """The rows between the first, which begins a group or a repeat, and its end."""
    depth = 0
    for at, kind in enumerate(_types(lines)):
        depth += bool(_BEGIN.match(kind)) - bool(_END.match(kind))
        if not depth:
            return lines[1:at]
    raise _open(lines[0])


def _open(line: Line) -> InvalidInput:
    rule = "must be closed: there is no row that ends it"
    hint = f"add a row of type {line.key('type').replace('begin', 'end')}"
    return InvalidInput(line.place, rule, line.key("type"), hint)


def _is_table(lines: list[Line]) -> bool:
    """Whether all of them offer one of the same choices to everybody."""
    kinds = set(_types(lines))
    one = all(line.select and "one" in line.select["how"].lower() for line in lines)
    plain = not any(line.key("relevant") or line.key("choice_filter") for line in lines)
    return len(lines) > 1 and len(kinds) == 1 and one and plain


def _table_below(lines: list[Line]) -> list[Line]:
    """The rows whose choices stand above them, in the row that is only a label."""
    if not lines[0].select or lines[0].key("appearance") != "label":
        return []
    below: list[Line] = []
    for line in lines[1:]:
        if line.key("appearance") != "list-nolabel":
            break
        below.append(line)
    return below if _is_table(below) else []
