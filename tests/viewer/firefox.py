"""Firefox without a window, by WebDriver BiDi: the browser that a distribution has, no driver beside it."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests import process

PREFERENCES = """user_pref("webgl.force-enabled", true);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("app.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("remote.active-protocols", 1);
"""


def firefox() -> str | None:
    """Where Firefox is, if it is there."""
    return next((path for name in ("firefox-esr", "firefox") if (path := shutil.which(name))), None)


class Tab:
    """One page of it.

    Attributes:
        said: errors and warnings of the console, and errors of scripts.
    """

    def __init__(self, socket: Any) -> None:
        self.socket, self.number, self.said = socket, 0, list[str]()
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self.context = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **parameters: Any) -> Any:
        """A command, and its answer."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=120))
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self.said.append(str(message["params"]["text"]))
            if message.get("id") == self.number:
                if message["type"] == "error":
                    raise AssertionError(f"{method}: {message['error']}: {message['message']}")
                return message["result"]

    def goto(self, url: str, width: int = 1000, height: int = 600) -> None:
        self.ask(
            "browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height}
        )
        self.ask("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def wait(self, expression: str) -> None:
        """Until something holds."""
        for _ in range(600):
            if self.evaluate(expression):
                return
            time.sleep(0.1)
        raise AssertionError(f"it never came: {expression}")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, by way of JSON."""
        found = self.ask(
            "script.evaluate",
            expression=f"(async () => JSON.stringify((await ({expression})) ?? null))()",
            target={"context": self.context},
            awaitPromise=True,
        )
        if found["type"] != "success":
            raise AssertionError(found["exceptionDetails"]["text"])
        return json.loads(found["result"]["value"])

    def click(self, x: float, y: float, count: int = 1) -> None:
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}] * count
        move = {"type": "pointerMove", "x": round(x), "y": round(y)}
        self.ask(
            "input.performActions",
            context=self.context,
            actions=[{"type": "pointer", "id": "mouse", "actions": [move, *press]}],
        )

    def press(self, key: str) -> None:
        self.ask(
            "input.performActions",
            context=self.context,
            actions=[
                {
                    "type": "key",
                    "id": "keys",
                    "actions": [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")],
                }
            ],
        )

    def picture(self) -> bytes:
        """The page as a PNG file."""
        found = self.ask("browsingContext.captureScreenshot", context=self.context)
        return base64.b64decode(found["data"])


@contextlib.contextmanager
def screen() -> Iterator[dict[str, str]]:
    """The environment of a program that draws: on a screen in memory by Xvfb, if that is there. Firefox without
    a window has no WebGL where there is no graphics processor; on such a screen it has Mesa's."""
    path = shutil.which("Xvfb")
    if path is None:
        yield {}
        return
    quiet = 'exec "$0" "$@" 2>/dev/null'
    options = ["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]
    server = process.start("sh", "-c", quiet, path, *options)
    try:
        assert server.stdout is not None
        number = server.stdout.readline().strip()
        yield {"DISPLAY": f":{number}", "LIBGL_ALWAYS_SOFTWARE": "1", "MOZ_ENABLE_WAYLAND": "0"}
    finally:
        process.end(server)


@contextlib.contextmanager
def started() -> Iterator[Tab]:
    """A Firefox of its own, ended at the end."""
    from websockets.sync.client import connect

    path = firefox()
    assert path is not None
    with tempfile.TemporaryDirectory(prefix="condyle-firefox-") as folder, screen() as environment:
        Path(folder, "user.js").write_text(PREFERENCES, encoding="utf-8")
        log = Path(folder, "log.txt")
        command = [path, "--no-remote", "--profile", folder, "--remote-debugging-port=0"]
        headless = [] if "DISPLAY" in environment else ["--headless"]
        into = f'exec "$0" "$@" >{log} 2>&1'
        started_ = process.start("sh", "-c", into, *command, *headless, environment=environment)
        try:
            url = None
            for _ in range(600):
                said = log.read_text(errors="replace") if log.exists() else ""
                if url := re.search(r"WebDriver BiDi listening on (ws://\S+)", said):
                    break
                assert started_.poll() is None, said[-500:]
                time.sleep(0.1)
            assert url, "Firefox does not listen"
            with connect(f"{url[1]}/session", max_size=None, open_timeout=60) as socket:
                yield Tab(socket)
        finally:
            process.end(started_)
