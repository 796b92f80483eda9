"""What the HAProxy reader takes for granted beside the rows, asked of a real HAProxy: which of several mechanisms comes
first, what counts as marked down, what happens to the cursor, to silent streams and to single events."""

from __future__ import annotations

import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests import proxies
from tests.premises.haproxy_lab import CHECK, Client, Lab, Setup, lab
from tests.premises.haproxy_setups import BY_ADDRESS, INSERT, REDISPATCH

pytestmark = pytest.mark.premises

PINNED = f"{CHECK} cookie {{n}}"


def refused(text: str, folder: Path) -> str:
    """What `haproxy -c` says of a configuration that it does not take; empty if it takes it."""
    path = folder / "haproxy.cfg"
    path.write_text(text)
    done = subprocess.run([proxies.haproxy(), "-c", "-f", path], capture_output=True, text=True, timeout=20)
    return done.stderr if done.returncode else ""


# -- which mechanism comes first ---------------------------------------------------------------------------------------


def test_use_server_comes_before_the_cookie(tmp_path: Path) -> None:
    setup = Setup(f"use-server r1 if {{ req.hdr(X-Client-Id) -m found }}\n{INSERT}", PINNED, client="header")
    with lab(setup, tmp_path) as at:
        client = Client("header")
        client.jar["SRV"] = "r2"
        assert client.stream(at.port).replica == "r1"


def test_cookie_comes_before_the_stick_table(tmp_path: Path) -> None:
    with lab(Setup(f"{INSERT}\n{BY_ADDRESS}", PINNED), tmp_path) as at:
        client = Client("browser")
        learnt = client.stream(at.port).replica
        other = next(name for name in at.members if name != learnt)
        client.jar["SRV"] = other
        assert client.stream(at.port).replica == other


@pytest.mark.parametrize(("lines", "meets"), [(BY_ADDRESS, "same"), ("", "other")])
def test_stick_table_comes_before_the_hash(lines: str, meets: str, tmp_path: Path) -> None:
    """Draining moves every client of a hash and none of a table."""
    with lab(Setup(f"{lines}\nbalance source".replace("balance roundrobin", "")), tmp_path) as at:
        at.establish(12)
        name, victims = at.victim()
        at.set_state(name, "drain")
        assert set(at.reconnect(victims)) == {meets}


@pytest.mark.parametrize(
    ("lines", "rule", "moves"),
    [
        (INSERT, "", False),
        (INSERT, "ignore-persist if { path_beg /events }", True),
        (INSERT, "ignore-persist if { path_beg /other }", False),
        (BY_ADDRESS, "ignore-persist if { path_beg /events }", False),
    ],
)
def test_ignore_persist_skips_the_cookie_and_not_the_table(lines: str, rule: str, moves: bool, tmp_path: Path) -> None:
    """Of 30 clients balanced at random at least one moves, but for a probability of 3**-30."""
    with lab(Setup(f"{lines}\n{rule}", PINNED), tmp_path) as at:
        at.establish()
        assert bool(at.reconnect(at.clients)["other"]) is moves


@pytest.mark.parametrize(
    ("rules", "moves"),
    [
        ("force-persist if TRUE\nignore-persist if TRUE", False),
        ("ignore-persist if TRUE\nforce-persist if TRUE", True),
        ("ignore-persist if FALSE\nforce-persist if TRUE", False),
    ],
)
def test_of_several_persistence_rules_that_hold_the_first_decides(rules: str, moves: bool, tmp_path: Path) -> None:
    with lab(Setup(f"{INSERT}\n{rules}", PINNED), tmp_path) as at:
        at.establish()
        assert bool(at.reconnect(at.clients)["other"]) is moves


@pytest.mark.parametrize(("path", "moves"), [("/events", False), ("/other", True)])
def test_a_stick_rule_for_some_paths_leaves_the_others_alone(path: str, moves: bool, tmp_path: Path) -> None:
    with lab(Setup(f"{BY_ADDRESS} if {{ path_beg {path} }}"), tmp_path) as at:
        at.establish()
        assert bool(at.reconnect(at.clients)["other"]) is moves


@pytest.mark.parametrize(("algorithm", "moves"), [("source", False), ("leastconn", True)])
def test_whom_a_cookie_leaves_alone_the_algorithm_brings_back(algorithm: str, moves: bool, tmp_path: Path) -> None:
    with lab(Setup(f"cookie SRV insert postonly\nbalance {algorithm}", PINNED), tmp_path) as at:
        at.establish()
        assert bool(at.reconnect(at.clients)["other"]) is moves


# -- what counts as marked down ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("watch", "moves"), [("track be/{n}", True), ("", False)])
def test_a_tracked_server_is_marked_down_with_the_one_it_tracks(watch: str, moves: bool, tmp_path: Path) -> None:
    class Tracking(Lab):
        def text(self, port: int, control: Path) -> str:
            lines = super().text(port, control).replace("default_backend be", "default_backend streams")
            servers = [self._server(n).replace(CHECK.format(inter=self.interval), "") for n in self.members]
            servers = [f"{line} {watch.format(n=line.split()[1])}" for line in servers]
            return "\n".join([lines + "backend streams", *INSERT.splitlines(), *servers, ""])

    with Tracking(Setup(INSERT, PINNED), tmp_path) as at:
        at.establish(9)
        name, victims = at.victim()
        at.replicas[name].crash()
        at.wait_down(name)
        met = at.reconnect(victims)
    assert set(met) == ({"other"} if moves else {"error"})


@pytest.mark.parametrize(("directive", "meets"), [("http-check disable-on-404", "same"), ("", "other")])
def test_disable_on_404_drains_instead_of_marking_down(directive: str, meets: str, tmp_path: Path) -> None:
    with lab(Setup(f"{INSERT}\n{directive}", PINNED), tmp_path) as at:
        at.establish(9)
        name, victims = at.victim()
        at.replicas[name].health = 404
        at.wait(lambda: at.status(name).startswith("NOLB" if directive else "DOWN"))
        assert set(at.reconnect(victims)) == {meets}


@pytest.mark.parametrize("cuts", [False, True])
def test_streams_of_a_server_that_is_marked_down_are_cut_only_if_that_is_written(cuts: bool, tmp_path: Path) -> None:
    extra = " on-marked-down shutdown-sessions" if cuts else ""
    with lab(Setup("balance roundrobin", CHECK + extra), tmp_path) as at:
        for replica in at.replicas.values():
            replica.heartbeat = 0.1
        at.establish(3)
        name, victims = at.victim()
        at.replicas[name].health = 503
        at.wait_down(name)
        time.sleep(0.3)
        assert (_ended(victims[0])) is cuts


def _ended(client: Client) -> bool:
    """Whether an open stream that brings a line every 0.1 s has ended."""
    deadline = time.monotonic() + 1.0
    while time.monotonic() < deadline:
        if not client.next_line():
            return True
    return False


@pytest.mark.parametrize(("parameter", "reached"), [("weight 0", False), ("disabled", False), ("weight 1", True)])
def test_servers_of_weight_0_and_disabled_ones_get_no_clients(parameter: str, reached: bool, tmp_path: Path) -> None:
    """By round robin, so that of nine clients three reach it if any can."""
    with lab(Setup("balance roundrobin", special={"r2": f"{CHECK} {parameter}"}), tmp_path) as at:
        at.establish(9)
        assert ("r2" in {client.replica for client in at.clients}) is reached


def test_use_server_reaches_a_server_of_weight_0(tmp_path: Path) -> None:
    setup = Setup("balance roundrobin\nuse-server r2 if { req.hdr(X-Client-Id) -m found }", special={"r2": "weight 0"})
    with lab(setup, tmp_path) as at:
        assert Client("header").stream(at.port).replica == "r2"


@pytest.mark.parametrize("default", [True, False])
def test_a_default_backend_takes_what_the_servers_of_a_listen_would_get(default: bool, tmp_path: Path) -> None:
    class Listening(Lab):
        def text(self, port: int, control: Path) -> str:
            own = f"    server own 127.0.0.1:{self.replicas['r4'].port}\n"
            text = super().text(port, control).replace("frontend fe", "listen fe")
            return text.replace("    default_backend be\n", own + "    default_backend be\n" * default)

    with Listening(Setup("balance roundrobin"), tmp_path) as at:
        at.establish(9)
        assert {client.replica for client in at.clients} == ({"r1", "r2", "r3"} if default else {"r4"})


# -- failing over ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "meets"),
    [
        ("", "error"),
        (REDISPATCH, "other"),
        (f"{REDISPATCH}\nno option redispatch", "error"),
        (f"{REDISPATCH}\nretries 0", "error"),
        (f"{REDISPATCH} 0", "error"),
        (f"{REDISPATCH} 3\nretries 3", "other"),
        (f"{REDISPATCH} 4\nretries 3", "error"),
        (f"{REDISPATCH} -1\nretries 1", "other"),
        (f"{REDISPATCH} -2\nretries 3", "other"),
        (f"{REDISPATCH} 5", "error"),
        (f"{REDISPATCH} -3\nretries 1", "other"),
    ],
)
def test_when_a_redispatch_comes_round(lines: str, meets: str, tmp_path: Path) -> None:
    with lab(Setup(INSERT + lines, "cookie {n}"), tmp_path) as at:
        at.establish(9)
        name, victims = at.victim()
        at.replicas[name].crash()
        assert set(at.reconnect(victims)) == {meets}


@pytest.mark.parametrize("algorithm", ["roundrobin", "static-rr", "leastconn", "random"])
def test_a_redispatch_may_choose_any_other_server(algorithm: str, tmp_path: Path) -> None:
    with lab(Setup(f"balance {algorithm}\ncookie SRV insert indirect{REDISPATCH}", "cookie {n}"), tmp_path) as at:
        at.establish(12)
        name, victims = at.victim()
        at.replicas[name].crash()
        assert at.reconnect(victims)["other"]


# -- the cursor --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "arrives"),
    [
        ("", "42"),
        ("http-request del-header Last-Event-ID", None),
        ("http-request del-header last-event-id", None),
        ("http-request del-header Last- -m beg", None),
        ("http-request del-header -id -m end", None),
        ("http-request del-header vent -m sub", None),
        ("http-request del-header ^last-.*-id$ -m reg", None),
        ("http-request del-header Last-Event-Id2", "42"),
        ("http-request del-header Last-Event-ID if METH_POST", "42"),
        ("http-request del-header Last-Event-ID if FALSE", "42"),
        ("http-request set-header Last-Event-ID 7", "7"),
        ("http-request set-header Last-Event-ID %[req.hdr(Last-Event-ID)]", "42"),
        ("http-request replace-value Last-Event-ID .* 7", "7"),
        ("http-response del-header Last-Event-ID", "42"),
    ],
)
def test_what_becomes_of_the_cursor(rule: str, arrives: str | None, tmp_path: Path) -> None:
    with lab(Setup(f"balance roundrobin\n{rule}"), tmp_path) as at:
        client = Client("browser")
        client.cursor = "42"
        client.stream(at.port)
        assert client.event["headers"].get("last-event-id") == arrives


# -- silent streams and single events ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "cut"),
    [
        ("timeout server 400ms", True),
        ("timeout tunnel 400ms", False),
        ("timeout server 400ms\ntimeout tunnel 1h", True),
    ],
)
def test_timeout_server_cuts_a_silent_stream_and_timeout_tunnel_does_not(line: str, cut: bool, tmp_path: Path) -> None:
    with lab(Setup(f"balance roundrobin\n{line}"), tmp_path) as at:
        assert _silent_stream_is_cut(at) is cut


def test_timeout_client_does_not_cut_a_silent_stream(tmp_path: Path) -> None:
    with lab(Setup("balance roundrobin"), tmp_path) as at:
        pass
    setup = replace(at.setup, frontend="timeout client 400ms\nuse_backend be if TRUE")
    with lab(setup, tmp_path) as at:
        assert not _silent_stream_is_cut(at)


def _silent_stream_is_cut(at: Lab) -> bool:
    client = Client("browser")
    assert client.stream(at.port).status == 200
    assert client._connection and client._connection.sock
    client._connection.sock.settimeout(1.5)
    begun = time.monotonic()
    client.rest()
    return time.monotonic() - begun < 1.2


@pytest.mark.parametrize(
    ("frontend", "backend", "late"), [(False, False, True), (True, False, False), (False, True, False)]
)
def test_events_are_late_without_http_no_delay_on_either_side(
    frontend: bool, backend: bool, late: bool, tmp_path: Path
) -> None:
    """Ten events in a row: the median, so that a busy machine does not decide."""
    with Undelayed(Setup("balance roundrobin"), tmp_path, frontend, backend) as at:
        for replica in at.replicas.values():
            replica.heartbeat = 0.3
        client = Client("browser")
        client.stream(at.port)
        waits = sorted(_lateness(client) for _ in range(7))
    assert (waits[3] > 0.1) is late, waits


class Undelayed(Lab):
    """With `option http-no-delay` only where asked."""

    def __init__(self, setup: Setup, folder: Path, frontend: bool, backend: bool) -> None:
        super().__init__(setup, folder)
        self.sides = frontend, backend

    def text(self, port: int, control: Path) -> str:
        option = "    option http-no-delay\n"
        text = super().text(port, control).replace(option, "")
        for wanted, header in zip(self.sides, ("frontend fe\n", "backend be\n"), strict=True):
            text = text.replace(header, header + option if wanted else header)
        return text


def _lateness(client: Client) -> float:
    """How long a heartbeat, which says when it was sent, was on its way."""
    while not (line := client.next_line()).startswith(b": "):
        assert line, "the stream ended"
    return time.time() - float(line[2:])


# -- what HAProxy does not take ----------------------------------------------------------------------------------------

WHOLE = "defaults\n mode http\n timeout connect 1s\n timeout client 1s\n timeout server 1s\nbackend be\n"


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        (" balance \\\n  source\n", "balance only supports"),
        (' server r1 "127.0.0.1:80\n', "quote"),
        (" server r1 127.0.0.1:80\n server r1 127.0.0.1:81\n", "distinct names"),
        (" balance nothing\n", "balance only supports"),
    ],
)
def test_what_haproxy_refuses(lines: str, word: str, tmp_path: Path) -> None:
    assert not refused(WHOLE, tmp_path), "the look-alike is taken"
    assert word in refused(WHOLE + lines, tmp_path)
