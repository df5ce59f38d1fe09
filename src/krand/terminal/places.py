"""Where to listen, as people write it: HOST:PORT."""

from __future__ import annotations

from krand.errors import InvalidInput


def place_in(field: str, text: str) -> tuple[str, int]:
    """Host and port of HOST:PORT; the host of an IPv6 address is in brackets."""
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdecimal()):
        hint = f"--{field} 127.0.0.1:9090"
        raise InvalidInput(field, "must be HOST:PORT", text, hint)
    return host.removeprefix("[").removesuffix("]"), int(port)
