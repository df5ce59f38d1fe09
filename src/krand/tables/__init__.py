"""A data holder's table becomes noisy responses."""
