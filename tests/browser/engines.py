"""Browsers that playwright's chromium is not: Debian's Firefox and WebKitGTK, by their own drivers.

Firefox is driven by WebDriver BiDi, WebKitGTK by WebDriver: both are standards of the W3C. Keys and
clicks are the driver's, so a page gets them as it gets those of a person.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from browser.websocket import WebSocket
from collecting import until

PATIENCE = 300.0
"""Seconds until something counts as never happening."""
FIREFOX, DRIVER, SCREEN = ("firefox-esr", "firefox"), ("WebKitWebDriver",), ("Xvfb",)
"""Programs, each by the names that it may have."""
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "ArrowDown": "\ue015", "Space": " "}
PREFERENCES = {
    # Whatever Firefox asks on its own: nobody is there. The machine itself needs no proxy.
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.normandy.enabled": False,
}
PLACE = """(selector, text) => {
  const all = [...document.querySelectorAll(selector)].filter(
    (each) => each.checkVisibility() && (!text || each.textContent.trim() === text));
  if (all.length !== 1) return null;
  all[0].scrollIntoView({ block: "center", behavior: "instant" });
  const { x, y, width, height } = all[0].getBoundingClientRect();
  return [Math.round(x + width / 2), Math.round(y + height / 2)];
}"""


class Engine(ABC):
    """A browser with one page and a profile that has never been anywhere."""

    version: str

    @abstractmethod
    def open(self, url: str) -> None:
        """Load a page, until it is there."""

    @abstractmethod
    def _call(self, function: str, given: str) -> str:
        """What an asynchronous function of one text gives in the page, also a text."""

    @abstractmethod
    def _act(self, sources: Sequence[Mapping[str, Any]]) -> None:
        """Actions as WebDriver lists them."""

    def run(self, function: str, *given: Any) -> Any:
        """What a function gives in the page; as JSON, which can say lone surrogates."""
        told = self._call(
            f"async (given) => JSON.stringify(await ({function})(...JSON.parse(given)) ?? null)",
            json.dumps(given),
        )
        return json.loads(told)

    def press(self, *keys: str) -> None:
        """Keys one after another, each by its name or its letter."""
        values = [KEYS.get(key, key) for key in keys]
        both = [{"type": kind, "value": key} for key in values for kind in ("keyDown", "keyUp")]
        self._act([{"type": "key", "id": "keyboard", "actions": both}])

    def click(self, selector: str, text: str = "") -> None:
        """With the mouse, on the one visible element that is so; waits until there is one."""
        found: list[list[int]] = []

        def is_there() -> bool:
            found.extend(filter(None, [self.run(PLACE, selector, text)]))
            return bool(found)

        until(is_there, PATIENCE)
        x, y = found[0]
        steps = [
            {"type": "pointerMove", "x": x, "y": y},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}}
        self._act([{**mouse, "actions": steps}])

    def wait_for(self, text: str) -> None:
        """Until the page says so."""
        told = "(text) => document.body.innerText.includes(text)"
        try:
            until(lambda: self.run(told, text), PATIENCE)
        except AssertionError:
            pytest.fail(f"no {text!r}: {self.run('() => document.body.innerText')}")


class Firefox(Engine):
    """One window, by WebDriver BiDi."""

    def __init__(self, port: int) -> None:
        self._socket = WebSocket(port, "/session", PATIENCE)
        self._number = 0
        capabilities = self._ask("session.new", capabilities={})["capabilities"]
        self.version = f"Firefox {capabilities['browserVersion']}"
        # A tab that is opened has the focus; the first one does not get it.
        self._context: str = self._ask("browsingContext.create", type="tab")["context"]

    def open(self, url: str) -> None:
        self._ask("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def close(self) -> None:
        self._ask("browser.close")
        self._socket.close()

    def _call(self, function: str, given: str) -> str:
        told = self._ask(
            "script.callFunction",
            functionDeclaration=function,
            arguments=[{"type": "string", "value": given}],
            target={"context": self._context},
            awaitPromise=True,
        )
        assert told["type"] == "success", told
        return told["result"]["value"]

    def _act(self, sources: Sequence[Mapping[str, Any]]) -> None:
        self._ask("input.performActions", context=self._context, actions=sources)

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        asked = {"id": self._number, "method": method, "params": parameters}
        self._socket.send(json.dumps(asked))
        while (told := json.loads(self._socket.receive())).get("id") != self._number:
            pass  # events
        assert told["type"] == "success", told
        return told["result"]


class WebKit(Engine):
    """One window of the browser that comes with WebKitGTK, by WebDriver."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/session"
        made = self._ask("POST", "", capabilities={})
        self._url += f"/{made['sessionId']}"
        self.version = f"WebKitGTK {made['capabilities']['browserVersion']}"

    def open(self, url: str) -> None:
        self._ask("POST", "/url", url=url)

    def close(self) -> None:
        self._ask("DELETE", "")

    def _call(self, function: str, given: str) -> str:
        script = f"""const [given, done] = arguments;
            ({function})(given).then((value) => done({{ value }}), (error) => done({{
                error: String(error) }}));"""
        told = self._ask("POST", "/execute/async", script=script, args=[given])
        assert "value" in told, told
        return told["value"]

    def _act(self, sources: Sequence[Mapping[str, Any]]) -> None:
        self._ask("POST", "/actions", actions=sources)

    def _ask(self, method: str, path: str, **given: Any) -> Any:
        body = json.dumps(given).encode() if method == "POST" else None
        try:
            with urlopen(Request(self._url + path, body, method=method), timeout=PATIENCE) as told:
                return json.load(told)["value"]
        except HTTPError as error:
            pytest.fail(f"{method} {path}: {error.read().decode()}")


def _program(names: Sequence[str]) -> str:
    """The first that is installed; a skipped test where none is."""
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"skipped: {names[0]} is not installed")
    return found


@contextmanager
def _process(
    command: Sequence[str], log: Path, **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """A process until the block ends; what it says goes to a file."""
    with log.open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _found(pattern: str, log: Path) -> str:
    """What a process tells in its log when it is ready."""
    until(lambda: re.search(pattern, log.read_text(errors="replace")), PATIENCE)
    match = re.search(pattern, log.read_text(errors="replace"))
    assert match
    return match[1]


@contextmanager
def _running_firefox(folder: Path) -> Iterator[Engine]:
    program, log = _program(FIREFOX), folder / "firefox.log"
    lines = (f'user_pref("{name}", {json.dumps(value)});' for name, value in PREFERENCES.items())
    (folder / "user.js").write_text("\n".join(lines), encoding="utf-8")
    command = [program, "--headless", "--no-remote", "--profile", str(folder)]
    with _process([*command, "--remote-debugging-port=0", "about:blank"], log):
        engine = Firefox(int(_found(r"BiDi listening on ws://127\.0\.0\.1:(\d+)\n", log)))
        yield engine
        engine.close()


@contextmanager
def _running_webkit(folder: Path) -> Iterator[Engine]:
    driver, screen = map(_program, (DRIVER, SCREEN))
    shown, log = folder / "screen.log", folder / "driver.log"
    size = ["-screen", "0", "1280x900x24", "-nolisten", "tcp"]
    with ExitStack() as processes:
        processes.enter_context(_process([screen, "-displayfd", "1", *size], shown))
        environment = {
            **os.environ,
            "DISPLAY": ":" + _found(r"(?m)^(\d+)$", shown),
            "GDK_BACKEND": "x11",
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",  # as root; the pages are our own
        }
        port = _free_port()
        processes.enter_context(_process([driver, f"--port={port}"], log, env=environment))
        until(lambda: _answers(port), PATIENCE)
        engine = WebKit(port)
        yield engine
        engine.close()


def _free_port() -> int:
    """A port that was free a moment ago: this driver chooses none itself."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


ENGINES = {"firefox": _running_firefox, "webkit": _running_webkit}
NEEDED = {"firefox": (FIREFOX,), "webkit": (DRIVER, SCREEN)}


def require_engine(name: str) -> None:
    """A skipped test where the engine is not installed, also with KRAND_REQUIRE_ALL=1."""
    for names in NEEDED[name]:
        _program(names)


@contextmanager
def running_engine(name: str, folder: Path) -> Iterator[Engine]:
    """The browser in a new profile."""
    folder.mkdir(parents=True)
    with ENGINES[name](folder) as engine:
        yield engine
