"""Pure mathematics of k-randomization: numpy and scipy only, no I/O, no clock, no hidden RNG."""
