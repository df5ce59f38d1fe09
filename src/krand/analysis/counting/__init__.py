"""Counting kernels: numpy alone, or compiled where it pays."""
