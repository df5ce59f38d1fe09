"""The demonstration: a whole survey, from file to report, with simulated people."""
