"""A store in one SQLite file: see `spool`."""
