"""Sentences that several rooms show: numbers, promises, plans, failures."""
