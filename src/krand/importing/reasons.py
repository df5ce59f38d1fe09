"""Why something of a questionnaire is left out, and what to do instead; in English alone."""

from __future__ import annotations

FREE_TEXT = "free text cannot be made anonymous: offer choices, or ask it outside of krand"
EXACT_TIME = "an exact date or time: offer ranges as choices"
PLACE = "an exact place: offer areas as choices"
MEDIA = "a recording or a file cannot be made anonymous"
DEVICE = "krand records nothing about devices, people or times"
COMPUTED = "krand computes nothing from answers"
RANKING = "a ranking has no counterpart: ask for the first choice"
NO_BOUNDS = (
    "krand counts numbers by ranges, and nothing says where they begin and end: add a number with"
    " edges to the survey file"
)
NO_HEADINGS = "the form has no headings: say in the questions what they are about"
NO_QUESTION = "a text that is no question: put it into a question, the introduction or thanks"
OTHER_TOOL = "written for another tool: check what they say about data, contacts and promises"
NO_LANGUAGE = "nobody knows the tag of this language, or it is there already"
