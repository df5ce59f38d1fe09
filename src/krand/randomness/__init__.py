"""Unpredictable random numbers: exact flips, exact draws, uniform shuffles."""
