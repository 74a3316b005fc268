"""`cd.live`: a system in the browser, controlled by sliders and dragging, over a websocket.

The server listens on this machine alone by default. Its address has a random token; requests with another
Host or Origin, as from pages of other sites, are refused, and the page is all that it serves. A Host is a
numeric address, localhost, host= or, if other machines may connect, the name of this machine: a site that
points its own name at this machine (DNS rebinding) has none of these.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import re
import secrets
import socket
import threading
import weakref
import webbrowser
from functools import cached_property
from http import HTTPStatus
from typing import Any, Self

from condyle.arguments import with_call_hints
from condyle.arrays import is_whole
from condyle.errors import CondyleError, DescriptionError
from condyle.system.checked_arguments import check_system, number
from condyle.system.state import State
from condyle.system.system import System
from condyle.viewer.footing import FLOOR, with_floor
from condyle.viewer.page import page_of
from condyle.viewer.session import Session
from condyle.viewer.shown import titled

LOOPBACK = "127.0.0.1"
STATUS = 0.1
"""Seconds between two lines of status."""
LARGEST = 65536
"""Bytes of a message from a page."""
PATIENCE = 10.0
"""Seconds that a connection may take to send its request."""
GRACE = 0.5
"""Seconds that a page has to answer when the server closes."""
BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class LiveView:
    """A server with the page of one system, from `cd.live`. Each page that opens it has its own pose and run.

    Attributes:
        url: where the page is; only those who know it can open it.
        saved: poses that were saved on a page, {coordinate: value} each, newest last.
    """

    def __init__(
        self,
        system: System,
        state: State | None = None,
        *,
        host: str = LOOPBACK,
        port: int = 0,
        rate: float = 50.0,
        delay: float = 0.12,
        title: str | None = None,
    ) -> None:
        try:
            from websockets.sync.server import serve
        except ImportError:
            raise CondyleError(
                "live: the package websockets is missing; install it: pip install 'condyle[live]'"
            ) from None
        check_system("live", system)
        if state is not None and state.system is not system:
            raise DescriptionError("live: the state belongs to another system; make it with system.state()")
        if not is_whole(port, 0, 65535):
            raise DescriptionError(
                f"live: port: expected a whole number from 0 to 65535, 0 for any free port, got {port!r}"
            )
        self.system, self.saved = system, []  # type: ignore[var-annotated]
        self._given = (
            state,
            number("live: rate", rate, "frames per second"),
            number("live: delay", delay, "[s]"),
        )
        self._token = secrets.token_urlsafe(18)
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._session = self._new()  # compiles, and raises errors for invalid systems
        try:
            self._server = serve(
                self._talk,
                host,
                port,
                process_request=self._answer,
                max_size=LARGEST,
                compression=None,
                close_timeout=GRACE,
                create_connection=self._connect,  # type: ignore[arg-type]
                family=socket.AF_INET6 if ":" in host else socket.AF_INET,
                dualstack_ipv6=host == "::" and socket.has_dualstack_ipv6(),
            )
        except OSError as error:
            self._session.close()
            raise CondyleError(
                f"live: cannot listen at {host!r}, port {port}: {error.strerror or error}; "
                "host= is an address of this machine, port=0 uses any free port"
            ) from None
        self.host, self.port = host, self._server.socket.getsockname()[1]
        shown = _reachable(host)
        self.url = f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}/{self._token}/"
        self._names = {"localhost", host.lower()}
        if host not in (LOOPBACK, "::1", "localhost"):
            self._names |= {name := socket.gethostname().lower(), f"{name}.local"}
        self._title, self._making = title or titled(system), threading.Lock()
        self._pages = {"": self._page_of("", self._session)}
        self._thread = threading.Thread(target=self._server.serve_forever, name="condyle-live", daemon=True)
        self._thread.start()

    def _new(self, variant: str = "") -> Session:
        """A session of the system, or of the system on a floor."""
        state, rate, delay = self._given
        system = self._standing if variant == FLOOR else self.system
        return Session(system, state, rate=rate, delay=delay)

    @cached_property
    def _standing(self) -> System:
        return with_floor(self.system, self._given[0] or self.system.state())

    def _page_of(self, variant: str, session: Session) -> bytes:
        home = f"/{self._token}/"
        live = {"path": f"{home}{variant}{'/' if variant else ''}live", "floor": f"{home}{FLOOR}/"}
        scene = session.stream.scene(self._title)
        return page_of(scene, play=False, live=live | session.controls()).encode()

    def _page(self, variant: str) -> bytes:
        """Created on first use."""
        with self._making:
            if variant not in self._pages:
                self._pages[variant] = self._page_of(variant, self._new(variant))
            return self._pages[variant]

    # ---- requests ----------------------------------------------------------------------------------------

    def _connect(self, connected: socket.socket, *rest: Any, **options: Any) -> Any:
        """A connection, which `stop` can end. websockets does not answer a request line that is not ASCII."""
        from websockets.sync.server import ServerConnection

        self._sockets.add(connected)
        connected.settimeout(PATIENCE)
        if not connected.recv(LARGEST, socket.MSG_PEEK).partition(b"\r\n")[0].isascii():
            connected.recv(LARGEST)
            connected.sendall(BAD_REQUEST)
            raise ValueError("a request line that is not ASCII")  # websockets closes the connection
        connected.settimeout(None)
        return ServerConnection(connected, *rest, **options)

    def _is_ours(self, host: str) -> bool:
        """Whether a Host is one of this server's."""
        parts = re.fullmatch(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::\d+)?", host.lower())
        if parts is None:
            return False
        name = parts[1] or parts[2]
        with contextlib.suppress(ValueError):
            return bool(ipaddress.ip_address(name))
        return name in self._names

    def _answer(self, connection: Any, request: Any) -> Any:
        """The page, a refusal, or None: a websocket may be opened."""
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if len(hosts) > 1 or len(origins) > 1 or not request.path.isascii():
            return connection.respond(HTTPStatus.BAD_REQUEST, "not a request\n")
        if not hosts or not self._is_ours(hosts[0]):
            return connection.respond(HTTPStatus.FORBIDDEN, "another host\n")
        if origins and origins[0] != f"http://{hosts[0]}":
            return connection.respond(HTTPStatus.FORBIDDEN, "another origin\n")
        token, _, rest = request.path.lstrip("/").partition("/")
        if not secrets.compare_digest(token.encode(), self._token.encode()):
            return connection.respond(HTTPStatus.NOT_FOUND, "nothing here\n")
        standing = bool(self._session.loose)
        if rest == "live" or (rest == f"{FLOOR}/live" and standing):
            return None
        if rest != "" and not (rest == f"{FLOOR}/" and standing):
            return connection.respond(HTTPStatus.NOT_FOUND, "nothing here\n")
        try:
            page = self._page(rest.rstrip("/"))
        except CondyleError as error:
            return connection.respond(HTTPStatus.INTERNAL_SERVER_ERROR, f"{error}\n")
        out = connection.respond(HTTPStatus.OK, "")
        # 'self' is the websocket too, but not in older browsers; sources of a policy cannot be IPv6 addresses
        own = "" if "[" in hosts[0] else f" ws://{hosts[0]}"
        out.body = page.replace(
            b"img-src data: blob:", f"img-src data: blob:; connect-src 'self'{own}".encode(), 1
        )
        for name, value in {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Length": str(len(out.body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
        }.items():
            if name in out.headers:
                del out.headers[name]
            out.headers[name] = value
        return out

    def _talk(self, socket: Any) -> None:
        """Serve one page until it closes: orders come in, frames go out."""
        from websockets.exceptions import ConnectionClosed

        variant = FLOOR if socket.request.path.endswith(f"/{FLOOR}/live") else ""
        session, ending, lock = self._new(variant), threading.Event(), threading.Lock()

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

        sender = threading.Thread(target=send, name="condyle-live-send", daemon=True)
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
            session.changed.set()  # the sender waits for it
            sender.join()
            session.close()

    # ---- the end ----------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Close the pages and the server. Pages that do not answer within half a second are cut off."""
        cut = threading.Timer(GRACE, self._cut)
        cut.start()
        try:
            self._server.shutdown()
        finally:
            cut.cancel()
        self._thread.join()

    def _cut(self) -> None:
        for connected in list(self._sockets):
            with contextlib.suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait(self) -> None:
        """Serve until Ctrl-C."""
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self.stop()

    def __repr__(self) -> str:
        return f"LiveView({self.url})"


def _reachable(host: str) -> str:
    """The address to open: that of this machine in its network if the server listens at all of them."""
    if host not in ("", "0.0.0.0", "::"):
        return host
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect(("192.0.2.1", 9))  # finds the way; nothing is sent
        return str(out.getsockname()[0])
    return LOOPBACK


@with_call_hints()
def live(
    system: System,
    state: State | None = None,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    rate: float = 50.0,
    delay: float = 0.12,
    title: str | None = None,
    open: bool = True,
) -> LiveView:
    """View a system in the browser, move its coordinates with sliders, run it and pull at its bodies.

    Sliders keep couplers and other constraints. The run keeps pace with the clock: frames are shown `delay`
    behind it, so that short delays do not show (sherman2011, section 3.4); a system that is too large slows
    down evenly, and the page shows it. Parameters, Inputs and excitations of muscles have sliders too.

    Args:
        system: the system to show.
        state: the first pose; `system.state()` by default.
        host: the address that the server listens at: "127.0.0.1", which only this machine reaches, "0.0.0.0"
            for all addresses of this machine, or one of them. Anybody who reaches it and knows the token
            can open the page.
        port: 0 for any free one.
        rate: frames per second.
        delay: [s].
        title: of the page.
        open: whether to open the page in the browser.

    Returns:
        a LiveView: `view.url`, `view.saved` poses, `view.stop()`; `with cd.live(system) as view:` stops at
        the end.

    Raises:
        CondyleError: websockets is not installed, or invalid arguments.
    """
    made = LiveView(system, state, host=host, port=port, rate=rate, delay=delay, title=title)
    if open:
        webbrowser.open(made.url)
    return made
