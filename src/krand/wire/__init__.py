"""What travels: the format of a message, its seal, the keys, and why a message is refused.

A message says nothing outside its seal, and all messages of a plan have one length. The format is
written down byte by byte in docs/reference/formats.md.
"""
