"""Turns a data holder's table into noisy responses."""
