"""A site: what one organisation runs on one machine, each part a process of its own."""
