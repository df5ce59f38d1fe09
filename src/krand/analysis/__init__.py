"""What the analyst does: open and count reports, estimate, release with a guarantee."""
