"""Free words, hashed: found again among candidates."""
