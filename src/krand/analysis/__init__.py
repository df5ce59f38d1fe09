"""What the analyst does: open and count responses, estimate, give results with a promise."""
