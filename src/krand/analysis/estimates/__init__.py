"""From counts to people: unbiased estimates with their intervals, question by question."""
