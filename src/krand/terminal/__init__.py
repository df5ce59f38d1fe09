"""Output of commands on a terminal, and the files that they may overwrite."""
