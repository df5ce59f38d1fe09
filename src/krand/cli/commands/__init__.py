"""One module for each command; the engine is imported inside the command, so help is instant."""
