"""The JSON Schema of survey files, for editors; `python -m krand.survey.schema` prints it."""

from __future__ import annotations

import json
from typing import Any

from krand.survey.models import SurveyFile


def survey_schema() -> dict[str, Any]:
    """What a survey file may hold, as far as a schema can say it."""
    schema = SurveyFile.model_json_schema()
    cleaned: dict[str, Any] = _without_noise(schema)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "krand survey",
        **cleaned,
    }


def _without_noise(value: Any) -> Any:
    """Without titles that repeat the key, and without a null default, which TOML cannot say."""
    if isinstance(value, dict):
        return {
            key: _without_noise(entry)
            for key, entry in value.items()
            if not (key == "title" and isinstance(entry, str))
            and not (key == "default" and entry is None)
        }
    return [_without_noise(entry) for entry in value] if isinstance(value, list) else value


if __name__ == "__main__":
    print(json.dumps(survey_schema(), indent=2, ensure_ascii=False))
