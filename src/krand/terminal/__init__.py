"""What commands show on a terminal, and which files they may overwrite."""
