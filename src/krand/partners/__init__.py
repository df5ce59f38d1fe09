"""Partners: organisations that run a survey together, and what passes between their machines."""
