"""What a device sends: the format of messages, seals, keys, and reasons to refuse a message.

A message reveals nothing outside its seal, and all messages of a plan have the same length.
docs/reference/formats.md describes the format byte by byte.
"""
