"""Counting kernels."""
