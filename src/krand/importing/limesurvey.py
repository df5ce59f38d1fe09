"""LimeSurvey's survey structure, .lss: tables of a database as XML, of version 1.9 to today."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from krand.errors import InvalidInput
from krand.files import unreadable
from krand.importing.languages import language_tag
from krand.importing.questionnaire import (
    FIELD,
    Asked,
    Codes,
    Questionnaire,
    Statement,
    Words,
    different_labels,
    from_codes,
    number_answers,
    number_keys,
    ranges_remark,
)
from krand.importing.reasons import (
    COMPUTED,
    EXACT_TIME,
    FREE_TEXT,
    MEDIA,
    NO_BOUNDS,
    NO_LANGUAGE,
    RANKING,
)
from krand.importing.texts import plain_line, plain_text
from krand.survey.kinds.number import MAX_EDGE

LARGEST = 2**24
"""Bytes of a file; one with a hundred questions in five languages has less than one million."""
DEEPEST = 16
EXPORT = "export the survey structure from LimeSurvey again: .lss"
OTHER = "-oth-"
"""LimeSurvey's code for the answer that people write themselves."""
WORDS = {
    "de": "Ja|Nein|Unsicher|Weiblich|Männlich|Zunahme|Gleich|Abnahme|Sonstiges",
    "en": "Yes|No|Uncertain|Female|Male|Increase|Same|Decrease|Other",
    "es": "Sí|No|Dudoso|Femenino|Masculino|Aumentar|Igual|Disminuir|Otro",
    "fr": "Oui|Non|Incertain|Féminin|Masculin|Augmenter|Sans changement|Diminuer|Autre",
}
"""What LimeSurvey itself writes beside the choices of some types, in the order of `NAMES`."""
NAMES = ("yes", "no", "uncertain", "female", "male", "increase", "same", "decrease", "other")
REASONS = {
    **dict.fromkeys("STUQ;", FREE_TEXT),
    ":": "a table of numbers has no counterpart: ask a question for each",
    "D": EXACT_TIME,
    "|": MEDIA,
    "*": COMPUTED,
    "R": RANKING,
    "1": "a table with two scales has no counterpart: ask two questions",
    "I": "the form has its own choice of languages",
}
RULES = ("min_answers", "exclude_all_others", "em_validation_q", "em_validation_sq")
"""Attributes that forbid some answers, and that krand's form does not know."""
Row = Mapping[str, str]
SLIDER = (("min", "0"), ("max", "100"))
"""The ends of a slider that does not say them."""
LINE = "#line"
"""The key of a row for the line where it begins."""


def read_limesurvey(path: str | Path) -> Questionnaire:
    """The questionnaire in a file."""
    tables = _tables(path)
    kind = tables.kind.strip()
    if kind != "Survey":
        rule = 'must be a survey structure: its LimeSurveyDocType must be "Survey"'
        raise InvalidInput(FIELD, rule, kind or str(path), EXPORT)
    return _Form(tables.rows).read()


@dataclass
class _Tables:
    """A file's tables, as they are found: document / table / rows / row / field."""

    kind: str = ""
    rows: dict[str, list[dict[str, str]]] = field(default_factory=dict)


def _tables(path: str | Path) -> _Tables:
    """Read the XML as it stands: no document type, so no entities and nothing from elsewhere."""
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except OSError as error:
        raise unreadable(FIELD, path, error) from None
    if len(content) > LARGEST:
        rule = f"must have at most {LARGEST:,} bytes"
        raise InvalidInput(FIELD, rule, str(path), "export the structure alone, without responses")
    found, parser = _Tables(), expat.ParserCreate()
    parser.buffer_text = True
    where: list[str] = []
    texts: list[str] = []

    def refuse(*_: object) -> None:
        place = f"line {parser.CurrentLineNumber}"
        raise InvalidInput(place, "must not declare a document type", str(path), EXPORT)

    def start(tag: str, _: Mapping[str, str]) -> None:
        where.append(tag)
        texts.clear()
        if len(where) > DEEPEST:
            place = f"line {parser.CurrentLineNumber}"
            raise InvalidInput(place, "must not be nested so deeply", tag, EXPORT)
        if len(where) == 4 and where[2:] == ["rows", "row"]:
            line = {LINE: str(parser.CurrentLineNumber)}
            found.rows.setdefault(where[1], []).append(line)

    def end(tag: str) -> None:
        if len(where) == 5 and where[2:4] == ["rows", "row"]:
            found.rows[where[1]][-1][tag] = "".join(texts)
        elif len(where) == 2 and tag == "LimeSurveyDocType":
            found.kind = "".join(texts)
        where.pop()
        texts.clear()

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = texts.append
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        line = getattr(error, "lineno", 1)
        hint = f"{EXPORT} ({str(error).partition(':')[0]})"
        raise InvalidInput(f"line {line}", "must be XML", str(path), hint) from None
    return found


@dataclass(frozen=True)
class _Texts:
    """What a survey says in another language."""

    questions: Mapping[str, Row]
    answers: Mapping[str, dict[str, str]]
    groups: Mapping[str, str]


class _Form:
    """The tables of a survey, question by question in the order of the form."""

    def __init__(self, rows: Mapping[str, list[dict[str, str]]]) -> None:
        self._rows = rows
        survey = next(iter(rows.get("surveys", [])), {})
        self._id, self._language = survey.get("sid", ""), survey.get("language", "en")
        self._others = survey.get("additional_languages", "").split()
        self._tag = _tag(self._language)
        self._tags: dict[str, str] = {}
        self._word = _words_of(self._tag)
        self._groups = {
            row.get("gid", ""): row for row in self._own("groups", "group_l10ns", "gid")
        }
        every = self._own("questions", "question_l10ns", "qid")
        below = [row for row in every if row.get("parent_qid", "0") not in ("", "0")]
        below += self._own("subquestions", "question_l10ns", "qid")
        self._questions = sorted((row for row in every if row not in below), key=self._place)
        self._statements = _by(below, "parent_qid", "question_order")
        self._answers = _by(self._own("answers", "answer_l10ns", "aid"), "qid", "sortorder")
        self._texts: dict[str, _Texts] = {}
        self._attributes: dict[str, dict[str, str]] = {}
        for row in rows.get("question_attributes", []):
            if row.get("language", "") not in ("", self._language):
                continue
            own = self._attributes.setdefault(row.get("qid", ""), {})
            own.setdefault(row.get("attribute", ""), row.get("value", ""))
        self._made = Questionnaire(
            condition for row in self._questions for condition in self._conditions(row)
        )

    def _own(
        self, table: str, texts: str, key: str, language: str | None = None
    ) -> list[dict[str, str]]:
        """The rows of a table with their texts in a language, the survey's own, each once."""
        language = language or self._language
        translated = {
            row.get(key, ""): row
            for row in self._rows.get(texts, [])
            if row.get("language") == language
        }
        found = []
        for row in self._rows.get(table, []):
            if row.get("language", language) == language:
                more = translated.get(row.get(key, ""), {})
                found.append({**{k: v for k, v in more.items() if k not in ("id", LINE)}, **row})
        return found

    def _place(self, row: Row) -> tuple[int, int]:
        group = self._groups.get(row.get("gid", ""), {})
        return _whole(group.get("group_order", "")), _whole(row.get("question_order", ""))

    def _conditions(self, row: Row) -> tuple[str, ...]:
        group = self._groups.get(row.get("gid", ""), {})
        given = (group.get("grelevance", ""), row.get("relevance", ""))
        return tuple(text.strip() for text in given if text.strip() not in ("", "1"))

    def read(self) -> Questionnaire:
        made = self._made
        made.head = {**self._about(self._language), "language": self._tag}
        for other in self._others:
            tag = _tag(other)
            if not tag or tag in (self._tag, *self._tags.values()):
                made.leave_out("surveys", f"language {other}", NO_LANGUAGE)
                continue
            self._tags[other], made.heads[tag] = tag, self._about(other)
            self._read_in(other)
        group: Row = {}
        for row in self._questions:
            if row.get("gid", "") != group.get("gid", ""):
                group = self._groups.get(row.get("gid", ""), {"gid": row.get("gid", "")})
                if text := group.get("description", ""):
                    name, conditions = group.get("group_name", ""), self._conditions(group)
                    others = self._described(group.get("gid", ""))
                    made.note(f"line {group[LINE]}", name, text, conditions, others)
            self._question(row)
        titles = sorted(self._groups.values(), key=lambda row: _whole(row.get("group_order", "")))
        made.headings("groups", (row.get("group_name", "") for row in titles))
        return made

    def _about(self, language: str) -> dict[str, Any]:
        """What is said before and after the questions."""
        rows = self._rows.get("surveys_languagesettings", [])
        texts = next((row for row in rows if row.get("surveyls_language") == language), {})
        parts = (texts.get("surveyls_description", ""), texts.get("surveyls_welcometext", ""))
        return {
            "title": plain_line(texts.get("surveyls_title", "")),
            "introduction": "\n".join(text for part in parts if (text := plain_text(part))),
            "thanks": plain_text(texts.get("surveyls_endtext", "")),
        }

    def _read_in(self, language: str) -> None:
        """Texts of questions, answers and groups in another language, by their numbers."""
        questions = self._own("questions", "question_l10ns", "qid", language)
        questions += self._own("subquestions", "question_l10ns", "qid", language)
        answers = self._own("answers", "answer_l10ns", "aid", language)
        groups = self._own("groups", "group_l10ns", "gid", language)
        codes: dict[str, dict[str, str]] = {}
        for row in answers:
            codes.setdefault(row.get("qid", ""), {})[row.get("code", "")] = row.get("answer", "")
        self._texts[language] = _Texts(
            {row.get("qid", ""): row for row in questions},
            codes,
            {row.get("gid", ""): row.get("description", "") for row in groups},
        )

    def _described(self, group: str) -> dict[str, str]:
        return {tag: self._texts[name].groups.get(group, "") for name, tag in self._tags.items()}

    def _words(self, row: Row, slider: tuple[str, float, float] | None = None) -> dict[str, Words]:
        """A question in the other languages."""
        number, found = row.get("qid", ""), {}
        below = self._statements.get(number, [])
        for language, tag in self._tags.items():
            texts = self._texts[language]
            own = texts.questions.get(number, {})
            found_below = (texts.questions.get(each.get("qid", ""), {}) for each in below)
            rows = [each.get("question", "") for each in found_below]
            if slider is not None:
                rows = [_slider({"question": text}, *slider)["question"] for text in rows]
            if row["type"] in "MP":
                codes = dict(zip((each.get("title", "") for each in below), rows, strict=True))
            else:
                codes = texts.answers.get(number) or _fixed(row["type"], _words_of(tag))
            other, text = _words_of(tag)["other"], own.get("question", "")
            if row["type"] == "K" and len(rows) == 1:
                text = f"{text}\n{rows[0]}" if text else ""
            found[tag] = Words(
                text=text,
                help=own.get("help", ""),
                labels={OTHER: other, "other": other, **codes},
                statements=tuple(rows),
            )
        return found

    def _question(self, row: Row) -> None:
        kind, place, code = row.get("type", ""), f"line {row[LINE]}", row.get("title", "")
        own = self._attributes.get(row.get("qid", ""), {})
        if own.get("hidden") == "1":
            self._made.leave_out(place, code, "it is hidden, and people cannot answer it")
        elif kind == "X":
            others = {tag: words.text for tag, words in self._words(row).items()}
            text, conditions = row.get("question", ""), self._conditions(row)
            self._made.note(place, code, text, conditions, others)
        elif kind in REASONS:
            self._made.leave_out(place, code, REASONS[kind])
        elif kind in _KINDS:
            _KINDS[kind](self, row, own)
        else:
            said = f'"{kind}" is not a type of question that krand knows'
            self._made.leave_out(place, code, said)

    def one_of(self, row: Row, own: Row) -> None:
        """A list of which people choose one."""
        self._choice(row, self._codes(row), own)

    def fixed(self, row: Row, own: Row) -> None:
        """Choices that the type itself has."""
        self._choice(row, _fixed(row["type"], self._word), own)

    def _choice(self, row: Row, codes: dict[str, str], own: Row) -> None:
        if row.get("other") == "Y" and row["type"] in "L!":
            word = own.get("other_replace_text") or self._word["other"]
            said = f'"{word}" is a choice; what it is cannot be written'
            if plain_line(word) in map(plain_line, codes.values()):
                said = f'its second "{word}" was left out: there is such a choice already'
            else:
                codes[OTHER] = word
            self._change(row, said)
        if row["type"] == "O":
            self._change(row, "its comment was left out: free text cannot be made anonymous")
        if self._has_two(row, codes):
            self._add(row, *from_codes(codes))

    def table(self, row: Row, own: Row) -> None:
        """Statements, and one scale for all of them."""
        kind = row["type"]
        codes = self._codes(row) if kind in "FH" else _fixed(kind, self._word)
        statements = self._statements.get(row.get("qid", ""), [])
        if own.get("array_filter") or own.get("array_filter_exclude"):
            self._change(row, "all of its statements are shown: they cannot be filtered")
        if not statements:
            self._made.leave_out(f"line {row[LINE]}", row.get("title", ""), "it has no statements")
        elif self._has_two(row, codes):
            self._add(row, *from_codes(codes), statements=self._rows_below(row, statements))

    def _rows_below(self, row: Row, below: Iterable[Row]) -> list[Statement]:
        return [
            Statement(code, each.get("question", ""), self._references(row, code))
            for each in below
            for code in [each.get("title", "")]
        ]

    def several(self, row: Row, own: Row) -> None:
        """Options of which people pick any."""
        below = self._statements.get(row.get("qid", ""), [])
        codes = {each.get("title", ""): each.get("question", "") for each in below}
        if row.get("other") == "Y":
            codes["other"] = own.get("other_replace_text") or self._word["other"]
            self._change(row, f'"{codes["other"]}" is an option; what it is cannot be written')
        if row["type"] == "P":
            self._change(row, "its comments were left out: free text cannot be made anonymous")
        if not self._has_two(row, codes):
            return
        labels = different_labels(codes)
        keys: dict[str, Any] = {"type": "pick_any", "choices": labels}
        most = _whole(own.get("max_answers", ""))
        if 1 <= most < len(labels):
            keys["at_most"] = most
        options = {
            reference: label
            for code, label in zip(codes, labels, strict=True)
            for reference in self._references(row, code)
        }
        self._add(row, keys, tuple((a, (c,)) for a, c in zip(labels, codes, strict=True)), options)

    def figure(self, row: Row, own: Row) -> None:
        """A number or several, or sliders, if the form says between which bounds."""
        low, high = (_bound(own.get(f"{end}_num_value_n", "")) for end in ("min", "max"))
        whole = own.get("num_value_int_only") == "1"
        below: list[Row] = [*self._statements.get(row.get("qid", ""), [])]
        if own.get("slider_layout") == "1":
            low, high = (_bound(own.get(f"slider_{end}") or given) for end, given in SLIDER)
            whole = _bound(own.get("slider_accuracy") or "1") == 1
        if low is None or high is None or low >= high:
            self._made.leave_out(f"line {row[LINE]}", row.get("title", ""), NO_BOUNDS)
            return
        slider = None
        if own.get("slider_layout") == "1":
            slider = (own.get("slider_separator") or "|", low, high)
            below = [_slider(each, *slider) for each in below]
        rows = self._rows_below(row, below)
        references = [each for own in rows for each in own.references] or self._references(row)
        thresholds = [e for each in references for e in self._made.thresholds.get(each, ())]
        keys = number_keys(low, high, whole=whole, thresholds=thresholds)
        if keys["type"] == "number":
            self._change(row, ranges_remark(keys))
        if len(rows) == 1:
            row = {**row, "question": f"{row.get('question', '')}\n{rows[0].text}"}
            references = rows[0].references
            self._add(row, keys, number_answers(keys), references=references, slider=slider)
        else:
            self._add(row, keys, number_answers(keys), statements=rows, slider=slider)

    def _has_two(self, row: Row, codes: Codes) -> bool:
        if len(codes) < 2:
            place, said = f"line {row[LINE]}", "it has fewer than two choices"
            self._made.leave_out(place, row.get("title", ""), said)
        return len(codes) >= 2

    def _codes(self, row: Row) -> dict[str, str]:
        answers = self._answers.get(row.get("qid", ""), [])
        first = [each for each in answers if each.get("scale_id", "0") in ("", "0")]
        return {each.get("code", ""): each.get("answer", "") for each in first}

    def _references(self, row: Row, below: str = "") -> tuple[str, ...]:
        """What conditions call a question, or a statement or an option below it."""
        number = f"{self._id}X{row.get('gid', '')}X{row.get('qid', '')}{below}"
        code = row.get("title", "")
        return (f"{code}_{below}" if below else code, number)

    def _change(self, row: Row, said: str) -> None:
        self._made.change(f"line {row[LINE]}", row.get("title", ""), said)

    def _add(
        self,
        row: Row,
        keys: Mapping[str, Any],
        answers: Any,
        options: Mapping[str, str] | None = None,
        statements: Iterable[Statement] = (),
        references: tuple[str, ...] = (),
        slider: tuple[str, float, float] | None = None,
    ) -> None:
        own = self._attributes.get(row.get("qid", ""), {})
        for rule in RULES:
            if own.get(rule, "") not in ("", "0"):
                self._change(row, f"this rule was left out: {rule} = {own[rule]}")
        self._made.add(
            Asked(
                place=f"line {row[LINE]}",
                code=row.get("title", ""),
                text=row.get("question", ""),
                help=row.get("help", ""),
                required=row.get("mandatory") == "Y",
                keys=keys,
                answers=answers,
                conditions=self._conditions(row),
                references=references or self._references(row),
                options=options or {},
                statements=tuple(statements),
                others=self._words(row, slider),
            )
        )


_KINDS: dict[str, Callable[[_Form, Row, Row], None]] = {
    **dict.fromkeys("L!O", _Form.one_of),
    **dict.fromkeys("Y5G", _Form.fixed),
    **dict.fromkeys("FHABCE", _Form.table),
    **dict.fromkeys("MP", _Form.several),
    **dict.fromkeys("NK", _Form.figure),
}
"""By LimeSurvey's letter for the type."""


def _tag(language: str) -> str:
    return language_tag(language.removesuffix("-informal"))


def _words_of(tag: str) -> dict[str, str]:
    """LimeSurvey's own words in a language, or in English."""
    return dict(zip(NAMES, WORDS.get(tag[:2], WORDS["en"]).split("|"), strict=True))


def _fixed(kind: str, word: Mapping[str, str]) -> dict[str, str]:
    """Choices that a type has without saying them."""
    match kind:
        case "5" | "A":
            return {str(value): str(value) for value in range(1, 6)}
        case "B":
            return {str(value): str(value) for value in range(1, 11)}
        case "C":
            return {"Y": word["yes"], "U": word["uncertain"], "N": word["no"]}
        case "E":
            return {"I": word["increase"], "S": word["same"], "D": word["decrease"]}
        case "G":
            return {"F": word["female"], "M": word["male"]}
    return {"Y": "yes", "N": "no"}


def _slider(row: Row, separator: str, low: float, high: float) -> Row:
    """A slider's row: its text, and what stands at its ends, which LimeSurvey keeps in one."""
    text, *ends = (part.strip() for part in row.get("question", "").split(separator))
    if len(ends) == 2 and not any(end.strip(" %").isdecimal() for end in ends):
        text = f"{text}\n{low:g}: {ends[0]}; {high:g}: {ends[1]}"
    return {**row, "question": text}


def _by(rows: Iterable[dict[str, str]], key: str, order: str) -> dict[str, list[dict[str, str]]]:
    """The rows of each question, in their order."""
    found: dict[str, list[dict[str, str]]] = {}
    for row in sorted(rows, key=lambda row: _whole(row.get(order, ""))):
        if row.get("scale_id", "0") in ("", "0") or order == "sortorder":
            found.setdefault(row.get(key, ""), []).append(row)
    return found


def _whole(text: str) -> int:
    """The number of a field of the database; 0 where it is none."""
    return int(text) if text.strip().isdecimal() and len(text) < 10 else 0


def _bound(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if abs(found) < MAX_EDGE else None
