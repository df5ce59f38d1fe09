"""Answers over rounds: counted, the mean of the last ones, and where they changed."""
