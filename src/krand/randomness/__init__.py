"""Random numbers that nobody can predict: exact flips, exact draws, uniform shuffles."""
