"""The exact law of the privacy ratio where everybody else answers alike, in floating point."""
