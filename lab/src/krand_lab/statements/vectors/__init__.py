"""R of whole vectors, its law, its moments and the bound on its tail: 000 §2, 001 §2–3, 003 §6."""
