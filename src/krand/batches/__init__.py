"""Batches of messages with their chains of signed links, and files of responses."""
