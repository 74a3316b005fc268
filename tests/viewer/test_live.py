"""Live views without a browser: orders of a page, and who may talk to the server."""

from __future__ import annotations

import json
import re
import socket
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest

import condyle as cd
from condyle.viewer import live_view
from condyle.viewer.hand import inputs as hand_inputs
from condyle.viewer.hand import with_hand
from condyle.viewer.live_view import LiveView
from condyle.viewer.session import Session

websockets = pytest.importorskip("websockets", reason="needs websockets: pip install 'condyle[live]'")


def coupled() -> cd.System:
    """Two pins whose angles are coupled, with a Parameter and an Input."""
    system = cd.System()
    system.add_body(
        "thigh",
        mobilizer=cd.Pin(),
        X_BM=(0, 0.4, 0),
        mass=cd.Parameter("mass", 2.0),
        inertia=(0.1, 0.1, 0.1),
        coordinates=[cd.Coordinate("hip", range=(-1.0, 2.0))],
    )
    system.add_body(
        "shank",
        "thigh",
        cd.Pin(),
        X_PF=(0, -0.1, 0),
        X_BM=(0, 0.4, 0),
        mass=1,
        inertia=(0.1, 0.1, 0.1),
        coordinates="knee",
    )
    system.add_constraint(
        "coupler", cd.constraints.CoordinateCoupler(lambda a, b: b - 2 * a, ("hip", "knee"))
    )
    system.add_force("push", cd.forces.MobilityForce("hip", cd.Input("push", 0.0)))
    return system


@pytest.fixture(scope="module")
def system() -> cd.System:
    return coupled()


def test_sliders_keep_couplers(system):
    session = Session(system)
    assert session.obey({"do": "pose", "name": "hip", "value": 0.4}) is None
    np.testing.assert_allclose(session.state.q, [0.4, 0.8], rtol=0, atol=1e-3)  # the knee gives way
    assert abs(session.state.q[1] - 2 * session.state.q[0]) < 1e-9
    controls = session.controls()
    assert [c["name"] for c in controls["coordinates"]] == ["hip", "knee"]
    assert controls["coordinates"][0]["low"] == -1.0
    assert [p["name"] for p in controls["parameters"]] == ["mass"]
    assert [p["name"] for p in controls["inputs"]] == ["push"]
    session.obey({"do": "parameter", "name": "mass", "value": 3.0})
    assert session.state.parameters[list(session.system.parameters).index("mass")] == 3.0
    assert session.obey({"do": "save"}) == {"saved": dict(zip(("hip", "knee"), session.state.q.tolist()))}


def test_where_no_page_can_be(system):
    with pytest.raises(cd.errors.DescriptionError, match=r"from 0 to 65535, .*, got 99999"):
        cd.live(system, open=False, port=99999)
    with (
        cd.live(system, open=False) as first,
        pytest.raises(cd.errors.CondyleError, match=f"port {first.port}: .*port=0 uses any free port"),
    ):
        cd.live(system, open=False, port=first.port)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"do": "pose", "name": "hipp", "value": 0.1}, "hip"),
        ({"do": "pose", "name": "hip", "value": 7.0}, "between"),
        ({"do": "pose", "name": "hip", "value": float("nan")}, "between"),
        ({"do": "pose", "name": "hip"}, "value"),
        ({"do": "pose", "name": "hip", "value": "1"}, "between"),
        ({"do": "eval", "code": "1"}, "unknown"),
        (None, "unknown"),
        ([], "unknown"),
        ({"do": ["pose"]}, "unknown"),
        ({"do": "pose"}, "without"),
        ({"do": "input", "name": "hand_thigh", "value": 1e9}, "unknown input"),
        ({"do": "speed", "value": 1e9}, "between"),
        ({"do": "integrator", "value": "__import__"}, "integrator"),
        ({"do": "grab", "body": "ground", "station": [0, 0, 0], "target": [0, 0, 0]}, "body"),
        ({"do": "curve", "path": "x", "coordinate": "hip"}, "path"),
        ({"do": "lock", "name": "knees", "on": True}, "knee"),
        ({"do": "lock", "name": "knee", "on": 1}, "true or false"),
        ({"do": "poses", "values": [0.1]}, "2 numbers"),
        ({"do": "poses", "values": [0.1, None]}, "number between"),
    ],
)
def test_what_a_page_may_not_send_is_answered_and_changes_nothing(system, message, said):
    session = Session(system)
    before = session.state
    answer = session.obey(message)
    assert answer is not None
    assert set(answer) == {"error"}
    assert re.search(said, answer["error"])
    assert session.state is before


def test_the_hand_pulls_a_body_to_its_target():
    """At rest, without gravity, a free body comes to where the hand holds it: 1e-4 after 2 s, 8 periods of a
    spring that is damped critically."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("ball", mobilizer=cd.Free(), mass=2.0, inertia=(0.1, 0.1, 0.1))
    pulled, stiffness = with_hand(system)
    state = pulled.state(inputs=hand_inputs(pulled, "ball", (0, 0, 0), (0.3, -0.2, 0.1), stiffness))
    end = cd.simulate(pulled, state, 2.0, accuracy=1e-6)[-1]
    np.testing.assert_allclose(end.station_position("ball", (0, 0, 0)), [0.3, -0.2, 0.1], rtol=0, atol=1e-4)
    free = pulled.state(inputs=hand_inputs(pulled, None))
    np.testing.assert_allclose(free.udot, 0, rtol=0, atol=1e-12)


def test_curves_over_a_coordinate():
    arm = cd.models.arm26(tendon="rigid")
    session = Session(arm)
    curve = session.obey({"do": "curve", "path": "BRA", "coordinate": "r_elbow_flex"})["curve"]
    q = np.array([0.0, curve["x"][30]])
    np.testing.assert_allclose(curve["length"][30], arm.path_lengths(q)[arm.paths.index("BRA")], rtol=1e-12)
    np.testing.assert_allclose(curve["arm"][30], arm.moment_arms(q)[arm.paths.index("BRA"), 1], rtol=1e-12)


def asked(url: str, **headers: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_only_who_knows_the_token_gets_the_page_and_nothing_else(system):
    from websockets.sync.client import connect

    with LiveView(system) as view:
        assert view.url.startswith("http://127.0.0.1:")
        status, page = asked(view.url)
        assert status == 200
        assert f"connect-src 'self' ws://127.0.0.1:{view.port}\"".encode() in page
        base = f"http://127.0.0.1:{view.port}"
        token = view.url.removeprefix(base).strip("/")
        for path in ("/", "/wrong/", f"/{token}x/", f"/{token}/../../etc/passwd", f"/{token}/page.py"):
            assert asked(base + path)[0] == 404
        assert asked(view.url, Host="evil.example")[0] == 403
        assert asked(view.url, Origin="http://evil.example")[0] == 403
        talk = view.url.replace("http:", "ws:") + "live"
        with pytest.raises(websockets.exceptions.InvalidStatus):
            connect(talk, origin="http://evil.example")
        with pytest.raises(websockets.exceptions.InvalidStatus):
            connect(talk.replace(token, "wrong"))
        with connect(talk) as page_:
            frame = page_.recv()
            assert np.isfinite(np.frombuffer(frame, "<f4")).all()
            assert "status" in json.loads(page_.recv())
            page_.send(json.dumps({"do": "pose", "name": "hip", "value": 0.5}))
            moved = [page_.recv(), page_.recv()]
            assert json.loads(moved[1])["status"]["q"] == pytest.approx([0.5, 1.0], abs=1e-3)
            page_.send("not json")
            answer = next(m for m in page_ if isinstance(m, str) and "error" in m)
            assert "unknown" in json.loads(answer)["error"]


def raw(view: LiveView, *lines: str) -> socket.socket:
    """A connection that has sent these lines."""
    out = socket.create_connection((view.host, view.port), timeout=30)
    out.sendall("".join(f"{line}\r\n" for line in lines).encode())
    return out


@pytest.mark.parametrize(
    ("host", "given", "status"),
    [
        ("127.0.0.1", "localhost:{port}", 200),
        ("127.0.0.1", "LocalHost:{port}", 200),
        ("127.0.0.1", "127.0.0.1:1234", 200),  # a port that ssh forwards
        ("127.0.0.1", "[::1]:{port}", 200),
        ("127.0.0.1", "localhost.evil.example", 403),
        ("127.0.0.1", "evil.example:{port}", 403),
        ("127.0.0.1", "localhost; script-src *", 403),
        ("127.0.0.1", "[fe80::1%x; script-src *]", 403),
        ("127.0.0.1", "evil@127.0.0.1", 403),
        ("127.0.0.1", "{name}:{port}", 403),
        ("0.0.0.0", "{name}:{port}", 200),
        ("0.0.0.0", "evil.example", 403),
        ("0.0.0.0", "192.0.2.2:{port}", 200),
        ("localhost", "localhost:{port}", 200),
    ],
)
def test_the_page_may_talk_to_the_host_by_which_it_was_reached(system, host, given, status):
    """And to no other. Hosts that a page of another site could have are refused, also where all machines
    may ask."""
    name = socket.gethostname()
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", name) or name == "localhost":
        name = "evil.example" if "{name}" in given and status == 403 else "127.0.0.1"
    with LiveView(system, host=host) as view:
        given = given.format(port=view.port, name=name)
        answer = asked(f"http://127.0.0.1:{view.port}/{view._token}/", Host=given)
        assert answer[0] == status
        policy = re.search(rb"connect-src ([^\"]*)", answer[1])
        wanted = "'self'" if "[" in given else f"'self' ws://{given}"
        assert (policy and policy[1].decode()) == (wanted if status == 200 else None)
        assert asked(view.url, Host=given, Origin="http://localhost:1")[0] == 403


def test_requests_that_are_none(system, caplog):
    """They get 400, and nothing is logged."""
    with LiveView(system) as view:
        start, host = f"GET /{view._token}/ HTTP/1.1", f"Host: 127.0.0.1:{view.port}"
        for lines in (
            (f"GET /{view._token}/é HTTP/1.1", host),
            (start, host, host),
            (start, host, "Origin: http://a", "Origin: http://b"),
        ):
            with raw(view, *lines, "") as connection:
                assert connection.recv(12) == b"HTTP/1.1 400"
    assert caplog.text == ""


@pytest.mark.parametrize("sent", ["nothing", "a page"])
def test_stop_does_not_wait_for_pages_that_do_not_answer(system, sent, monkeypatch):
    """Where websockets itself would wait forever, not the 10 s that it waits by default."""
    from websockets.sync import server

    made = server.ServerConnection
    monkeypatch.setattr(server, "ServerConnection", lambda *a, **k: made(*a, **k | {"close_timeout": None}))
    monkeypatch.setattr(live_view, "PATIENCE", 1e6)
    view = LiveView(system)
    lines = [
        f"GET /{view._token}/live HTTP/1.1",
        f"Host: 127.0.0.1:{view.port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
        "",
    ]
    with raw(view, *(lines if sent == "a page" else [])) as connection:
        if sent == "a page":
            assert connection.recv(12) == b"HTTP/1.1 101"
        stopping = threading.Thread(target=view.stop, daemon=True)
        stopping.start()
        stopping.join(60)
        assert not stopping.is_alive()


def thrown() -> cd.System:
    """Two bodies that nothing holds."""
    system = cd.System()
    system.add_body("pelvis", mobilizer=cd.Planar(), mass=5, inertia=(0.1, 0.1, 0.1))
    system.add_body("leg", "pelvis", cd.Pin(), X_BM=(0, 0.5, 0), mass=2, inertia=(0.1, 0.01, 0.1))
    return system


def test_locks_stay_in_runs_and_beside_sliders(system):
    """A coordinate that is locked keeps its value while others move; a coupled one is refused by none."""
    session = Session(thrown())
    session.obey({"do": "pose", "name": "leg", "value": 0.7})
    assert session.obey({"do": "lock", "name": "leg", "on": True}) is None
    assert session.status()["locked"] == ["leg"] and session.controls()["coordinates"][-1]["held"]
    end = cd.simulate(session.system, session.state.replace(u={"pelvis_rz": 1.0}), 0.5)[-1]
    assert end["leg"] == pytest.approx(0.7, abs=1e-12) and end["pelvis_rz"] == pytest.approx(0.5, abs=1e-6)
    session.obey({"do": "pose", "name": "leg", "value": 0.2})  # its own slider still moves it
    assert session.state["leg"] == 0.2 and session.status()["locked"] == ["leg"]
    session.obey({"do": "lock", "name": "leg", "on": False})
    assert session.status()["locked"] == []
    coupled_ = Session(system)
    coupled_.obey({"do": "poses", "values": [0.1, 0.2]})
    np.testing.assert_allclose(coupled_.state.q, [0.1, 0.2])


def test_what_nothing_holds():
    """It is said, and ends when it is held, tied, or stands on a floor."""
    free = thrown()
    session = Session(free)
    assert session.loose == ["pelvis"] and session.status()["loose"] == ["pelvis"]
    session.obey({"do": "hold", "on": True})
    assert session.loose == [] and set(session.status()["locked"]) == {
        "pelvis_rz",
        "pelvis_tx",
        "pelvis_ty",
    }
    tied = free.copy()
    spring = cd.forces.TwoPointSpring("ground", (0, 1, 0), "pelvis", (0, 0, 0), 100.0, 0.5)
    tied.add_force("spring", spring)
    assert Session(tied).loose == [] and Session(coupled()).loose == []
    weightless = cd.System(gravity=(0, 0, 0))
    weightless.add_body("ball", mobilizer=cd.Free(), mass=1, inertia=(1, 1, 1))
    assert Session(weightless).loose == []


def test_a_floor_carries_what_stands_on_it():
    """Its weight, when it has come to rest, and it stays above the floor."""
    from condyle.viewer.footing import falls, with_floor

    free = thrown()
    state = free.state()
    assert falls(state)
    standing = with_floor(free, state)
    assert Session(standing).loose == []
    run = cd.simulate(standing, standing.state(q=state.q), 4.0)
    end = run[-1]
    forces = np.asarray(end.contacts.forces())
    total = np.abs(forces.reshape(-1, 3).sum(axis=0))
    assert total[1] == pytest.approx(7 * 9.80665, rel=0.05)  # it still rocks a little
    lowest = -1.0  # of the leg, whose stick is 1 m long
    for name in ("pelvis", "leg"):
        assert end.station_position(name, (0, 0, 0))[1] > lowest - 0.05


def test_a_page_that_nobody_sees_computes_nothing():
    session = Session(thrown(), rate=50.0)
    session.obey({"do": "play"})
    run = session.run
    assert run is not None
    session.next()
    session.obey({"do": "hide"})
    assert session.run is None and not run._thread.is_alive()
    session.changed.clear()
    assert session.next(patience=0.05)[0] is None  # nothing to send
    session.obey({"do": "hide"})
    t = session.state.t
    session.obey({"do": "see"})
    assert session.run is not None and session.shown.t >= t
    session.close()
    session.obey({"do": "hide"})
    session.obey({"do": "see"})
    assert session.run is None  # it was not running


def test_the_page_with_a_floor_is_made_when_asked_for(system):
    from websockets.sync.client import connect

    with LiveView(thrown()) as view:
        assert list(view._pages) == [""]
        status, page = asked(view.url + "floor/")
        assert status == 200 and b"floor_pelvis_" in page
        with connect(view.url.replace("http:", "ws:") + "floor/live") as talk:
            assert len(talk.recv()) > 100
    with LiveView(system) as view:  # held: there is none
        assert asked(view.url + "floor/")[0] == 404
