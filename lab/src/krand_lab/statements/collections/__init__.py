"""Probabilities of synthetic collections: 002 §2–3, 003 §2–3 and §7–8, 004."""
