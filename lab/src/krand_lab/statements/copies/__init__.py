"""R of k copies and its moments: 001 §6 and §8."""
