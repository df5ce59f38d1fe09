"""The commands of `krand-lab`, one module each."""
