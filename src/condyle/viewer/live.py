"""`cd.view`: a system in the browser that answers sliders and the hand, over a websocket.

The server is on this machine alone unless told otherwise. Its address has a random token; requests with
another Host or Origin, which pages of other sites would have, are refused, and there is nothing but the page.
"""
from __future__ import annotations

import json
import secrets
import threading
import webbrowser
from http import HTTPStatus
from typing import Any, Self

from condyle.arguments import answered
from condyle.errors import CondyleError, DescriptionError
from condyle.system.given import check_system, number
from condyle.system.state import State
from condyle.system.system import System
from condyle.viewer.page import page_of
from condyle.viewer.session import Session
from condyle.viewer.shown import titled

LOOPBACK = "127.0.0.1"
STATUS = 0.1
"""Seconds between two lines of status."""
LARGEST = 65536
"""Bytes of a message from a page."""


class View:
    """A server with the page of one system, from `cd.view`. Each page that opens it has a pose and a run of
    its own.

    Attributes:
        url: where the page is; only who knows it can open it.
        saved: poses that were saved on a page, coordinates by name, newest last.
    """

    def __init__(self, system: System, state: State | None = None, *, host: str = LOOPBACK, port: int = 0,
                 rate: float = 50.0, delay: float = 0.12, title: str | None = None) -> None:
        try:
            from websockets.sync.server import serve
        except ImportError:
            raise CondyleError("view: the package websockets is missing; install it: pip install "
                               "'condyle[live]'") from None
        check_system("view", system)
        if state is not None and state.system is not system:
            raise DescriptionError("view: the state belongs to another system; make it with system.state()")
        if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
            raise DescriptionError("view: port: expected a whole number from 0 to 65535, 0 for any that is "
                                   f"free, got {port!r}")
        self.system, self.saved = system, []  # type: ignore[var-annotated]
        self._given = (state, number("view: rate", rate, "frames per second"),
                       number("view: delay", delay, "[s]"))
        self._token = secrets.token_urlsafe(18)
        self._session = self._new()                          # compiles, and refuses what cannot be
        try:
            self._server = serve(self._talk, host, port, process_request=self._answer, max_size=LARGEST,
                                 compression=None)
        except OSError as error:
            self._session.close()
            raise CondyleError(f"view: cannot listen at {host!r}, port {port}: {error.strerror or error}; "
                               "host= is an address of this machine, port=0 takes a port that is free"
                               ) from None
        self.host, self.port = host, self._server.socket.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        self._address = f"{shown}:{self.port}"
        self.url = f"http://{self._address}/{self._token}/"
        live = {"path": f"/{self._token}/live", **self._session.controls()}
        page = page_of(self._session.stream.scene(title or titled(system)), play=False, live=live)
        self._page = page.replace("img-src data: blob:",
                                  f"img-src data: blob:; connect-src ws://{self._address}", 1).encode()
        self._thread = threading.Thread(target=self._server.serve_forever, name="condyle-view", daemon=True)
        self._thread.start()

    def _new(self) -> Session:
        state, rate, delay = self._given
        return Session(self.system, state, rate=rate, delay=delay)

    # ---- requests ----------------------------------------------------------------------------------------

    def _answer(self, connection: Any, request: Any) -> Any:
        """The page, a refusal, or None: a websocket may be opened."""
        host, origin = request.headers.get("Host"), request.headers.get("Origin")
        local = {self._address, f"localhost:{self.port}"} if self.host == LOOPBACK else None
        if local is not None and host not in local:
            return connection.respond(HTTPStatus.FORBIDDEN, "another host\n")
        if origin is not None and origin not in {f"http://{h}" for h in (local or {host})}:
            return connection.respond(HTTPStatus.FORBIDDEN, "another origin\n")
        token, _, rest = request.path.lstrip("/").partition("/")
        if not secrets.compare_digest(token.encode(), self._token.encode()):
            return connection.respond(HTTPStatus.NOT_FOUND, "nothing here\n")
        if rest == "live":
            return None
        if rest != "":
            return connection.respond(HTTPStatus.NOT_FOUND, "nothing here\n")
        out = connection.respond(HTTPStatus.OK, "")
        out.body = self._page
        for name, value in {"Content-Type": "text/html; charset=utf-8",
                            "Content-Length": str(len(self._page)), "Cache-Control": "no-store",
                            "X-Content-Type-Options": "nosniff",
                            "Referrer-Policy": "no-referrer"}.items():
            if name in out.headers:
                del out.headers[name]
            out.headers[name] = value
        return out

    def _talk(self, socket: Any) -> None:
        """One page, until it closes: orders come in, frames go out."""
        from websockets.exceptions import ConnectionClosed

        session, ending, lock = self._new(), threading.Event(), threading.Lock()

        def send() -> None:
            last = float("-inf")
            try:
                while not ending.is_set():
                    frame, status = session.next()
                    with lock:
                        if frame is not None:
                            socket.send(frame)
                        if not status["playing"] or status["t"] - last >= STATUS or status["t"] < last:
                            socket.send(json.dumps({"status": status}))
                            last = status["t"]
            except ConnectionClosed:
                pass

        sender = threading.Thread(target=send, name="condyle-view-send", daemon=True)
        sender.start()
        try:
            for text in socket:
                try:
                    message = json.loads(text)
                except (ValueError, RecursionError):
                    message = None
                answer = session.obey(message)
                self.saved += session.saved
                session.saved.clear()
                if answer is not None:
                    with lock:
                        socket.send(json.dumps(answer))
        except ConnectionClosed:
            pass
        finally:
            ending.set()
            sender.join()
            session.close()

    # ---- the end ----------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Close the pages and the server."""
        self._server.shutdown()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait(self) -> None:
        """Go on until Ctrl-C."""
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self.stop()

    def __repr__(self) -> str:
        return f"View({self.url})"


@answered()
def view(system: System, state: State | None = None, *, host: str = LOOPBACK, port: int = 0,
         rate: float = 50.0, delay: float = 0.12, title: str | None = None, open: bool = True) -> View:
    """Look at a system in the browser, move its coordinates by sliders, run it and pull at its bodies.

    Sliders keep couplers and other constraints. The run keeps pace with the clock: frames are shown `delay`
    behind it, so that slow spells are not seen (sherman2011, section 3.4); where a system is too large, it
    slows evenly and says so. Parameters, Inputs and excitations of muscles have sliders too.

    Args:
        system: what is looked at.
        state: the first pose; `system.state()` by default.
        host: the address that the server listens at; others than this machine's own let anybody in the
            network open the page who knows its token.
        port: 0 takes a free one.
        rate: frames per second.
        delay: [s].
        title: of the page.
        open: whether to open the page in the browser.

    Returns:
        a View: `view.url`, `view.saved` poses, `view.stop()`; `with cd.view(system) as view:` stops by
        itself.

    Raises:
        CondyleError: websockets is not installed, or arguments that cannot be.
    """
    made = View(system, state, host=host, port=port, rate=rate, delay=delay, title=title)
    if open:
        webbrowser.open(made.url)
    return made
