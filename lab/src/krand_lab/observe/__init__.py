"""What the outcome that was seen reveals."""
