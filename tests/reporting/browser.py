"""A real browser for tests: headless chromium, spoken to over a pipe, so that nothing beside chromium is needed."""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

HAND_OVER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def _pipe() -> tuple[int, int]:
    """Return a pipe whose ends are not 3 and 4: chromium uses these numbers itself."""
    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return high[0], high[1]


class Browser:
    """One page. What it logs, and what it asks of the network, is kept in `messages` and `requests`."""

    def __init__(self, profile: Path, *, width: int = 1400, height: int = 1000) -> None:
        assert PROGRAM is not None
        to_read, self._to_write = _pipe()
        self._from_read, from_write = _pipe()
        command = [
            PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--remote-debugging-pipe", f"--user-data-dir={profile}", f"--window-size={width},{height}", "about:blank",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-c", HAND_OVER, str(to_read), str(from_write), *command],
            pass_fds=(to_read, from_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(from_write)
        self._numbers = itertools.count(1)
        self._unread = b""
        self.messages: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", {"url": "about:blank"}, page=False)["targetId"]
        self._session: str | None = None
        attached = self.call("Target.attachToTarget", {"targetId": target, "flatten": True}, page=False)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._to_write)
        os.close(self._from_read)

    def call(
        self, method: str, parameters: dict[str, Any] | None = None, *, page: bool = True
    ) -> dict[str, Any]:
        """Call a method of the DevTools protocol and return its answer."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters or {}}
        if page:
            message["sessionId"] = self._session
        os.write(self._to_write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, page: Path) -> None:
        """Load a page and wait until it has loaded."""
        self.call("Page.navigate", {"url": page.absolute().as_uri()})
        while self._receive().get("method") != "Page.loadEventFired":
            pass

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.call(
            "Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True}
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str, code: int) -> None:
        """Press a key of the keyboard."""
        parts = {"key": key, "windowsVirtualKeyCode": code} | ({"text": key} if len(key) == 1 else {})
        self.call("Input.dispatchKeyEvent", {"type": "keyDown", **parts})
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", **parts})

    def prefer(self, scheme: str) -> None:
        """Set whether the page prefers a light or a dark theme."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", {"features": features})

    def picture(self, path: Path) -> None:
        """Return the contents of the window as a PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            data = os.read(self._from_read, 1 << 20)
            assert data, "the browser went away"
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._listen(message)
        return message

    def _listen(self, message: dict[str, Any]) -> None:
        parts = message.get("params", {})
        match message.get("method"):
            case "Runtime.consoleAPICalled":
                self.messages.append(str(parts["args"]))
            case "Runtime.exceptionThrown":
                self.messages.append(str(parts["exceptionDetails"]))
            case "Log.entryAdded":
                self.messages.append(str(parts["entry"]["text"]))
            case "Page.javascriptDialogOpening":
                self.messages.append(f"dialog: {parts['message']}")
            case "Network.requestWillBeSent":
                self.requests.append(parts["request"]["url"])
