"""Answers over rounds: counted, smoothed, and where they changed."""
