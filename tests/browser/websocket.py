"""As much of a WebSocket's client (RFC 6455) as a browser on the same machine needs."""

from __future__ import annotations

import base64
import secrets
import socket
import struct
from itertools import cycle

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
LAST, MASKED = 0x80, 0x80
SHORT, TWO_BYTES, EIGHT_BYTES = 126, 126, 127
"""Below SHORT a length stands in the header; else a mark, and the length in two or eight bytes."""


class WebSocket:
    """Texts in both directions; a peer that ends or says nothing for too long is an error."""

    def __init__(self, port: int, path: str, patience: float) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), patience)
        self._stream = self._socket.makefile("rb")
        self._socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {base64.b64encode(secrets.token_bytes(16)).decode()}\r\n"
            "\r\n".encode()
        )
        lines = list(iter(self._stream.readline, b"\r\n"))
        assert b" 101 " in lines[0], lines

    def send(self, text: str) -> None:
        self._send(TEXT, text.encode())

    def receive(self) -> str:
        """The next text, however many frames it came in."""
        whole = b""
        while True:
            first, length = self._read(2)
            if length >= SHORT:
                size, code = (2, ">H") if length == TWO_BYTES else (8, ">Q")
                (length,) = struct.unpack(code, self._read(size))
            content, kind = self._read(length), first & 0x0F
            assert kind != CLOSE, content
            if kind == PING:
                self._send(PONG, content)
            elif kind != PONG:
                whole += content
                if first & LAST:
                    return whole.decode()

    def close(self) -> None:
        self._stream.close()
        self._socket.close()

    def _send(self, kind: int, content: bytes) -> None:
        length, mask = len(content), secrets.token_bytes(4)
        if length < SHORT:
            head = struct.pack(">BB", LAST | kind, MASKED | length)
        elif length < 1 << 16:
            head = struct.pack(">BBH", LAST | kind, MASKED | TWO_BYTES, length)
        else:
            head = struct.pack(">BBQ", LAST | kind, MASKED | EIGHT_BYTES, length)
        masked = bytes(byte ^ key for byte, key in zip(content, cycle(mask), strict=False))
        self._socket.sendall(head + mask + masked)

    def _read(self, length: int) -> bytes:
        found = self._stream.read(length)
        assert len(found) == length, "the peer has ended"
        return found
