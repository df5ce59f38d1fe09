"""What the analyst does: open and count reports, estimate, give results with a guarantee."""
