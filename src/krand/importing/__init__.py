"""Questionnaires made with other tools become survey files: XLSForm, LimeSurvey."""
