"""The command line and its tables. No other room imports it."""
