"""Where to listen, as people write it: HOST:PORT."""

from __future__ import annotations

from typing import NamedTuple

from krand.errors import InvalidInput


class Place(NamedTuple):
    """Where to listen."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def place_in(field: str, text: str) -> Place:
    """Host and port of HOST:PORT; the host of an IPv6 address is in brackets."""
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdecimal()):
        hint = f"--{field.replace('_', '-')} 127.0.0.1:8080"
        raise InvalidInput(field, "must be HOST:PORT", text, hint)
    if int(port) >= 2**16:
        raise InvalidInput(field, "must have a port up to 65,535", text, "for example 8080")
    return Place(host.removeprefix("[").removesuffix("]"), int(port))
