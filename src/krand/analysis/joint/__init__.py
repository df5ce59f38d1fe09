"""Questions seen together: joint and conditional tables, independence."""
