"""The demonstration: a whole survey, from its file to its report, answered by simulated people."""
