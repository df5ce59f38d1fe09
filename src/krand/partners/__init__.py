"""Organisations that mix for each other: how they meet, what they sign, how they fetch."""
