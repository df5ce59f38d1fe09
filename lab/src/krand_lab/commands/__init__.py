"""The commands that `krand` has when krand-lab is installed, one module each."""
